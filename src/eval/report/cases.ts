import { z } from 'zod'
import { askedIn, loadPack } from '../kinds/retrieval/pack.ts'
import type { CaseRecord, RunSummary, Verdict } from '../store/schemas/run.ts'

const ExpectedBelief = z.object({
  id: z.string(),
  tier: z.enum(['pinned', 'relevant', 'question', 'any']),
  must: z.enum(['include', 'exclude']),
})
type ExpectedBelief = z.infer<typeof ExpectedBelief>

/** The question and the expectations of a case. `beliefs`: every belief that it expects, rejects or got. */
export const CaseTexts = z.object({
  message: z.string(),
  scopes: z.array(z.string()).readonly(),
  expected: z.array(ExpectedBelief),
  beliefs: z.record(z.string(), z.object({ name: z.string(), content: z.string() })),
})

/** The same of a case of a retrieval or session pack; null if it has no such case. */
export function caseTexts(packDirectory: string, caseId: string, records: readonly CaseRecord[]) {
  const { pack } = loadPack(packDirectory, { strict: false })
  const all = askedIn(pack)
  const found = all.find(({ id }) => id === caseId)
  if (found === undefined) return null
  const { message, scopes, expect } = found.asked
  const { pinnedFacts = {}, relevantBeliefs = {}, openQuestions = {}, noiseCheck = {} } = expect
  const listed = (
    ids: readonly string[] | undefined,
    tier: ExpectedBelief['tier'],
    must: ExpectedBelief['must'],
  ): readonly ExpectedBelief[] => (ids ?? []).map((id) => ({ id, tier, must }))
  const wanted = [relevantBeliefs.mustInclude, relevantBeliefs.shouldInclude, relevantBeliefs.shouldOnlyInclude]
  const expected = [
    ...listed(pinnedFacts.mustInclude, 'pinned', 'include'),
    ...listed([...new Set(wanted.flatMap((ids) => ids ?? []))], 'relevant', 'include'),
    ...listed(openQuestions.mustInclude, 'question', 'include'),
    ...listed(pinnedFacts.mustExclude, 'pinned', 'exclude'),
    ...listed(relevantBeliefs.mustExclude, 'relevant', 'exclude'),
    ...listed(openQuestions.mustExclude, 'question', 'exclude'),
    ...listed(noiseCheck.mustNotSurface, 'any', 'exclude'),
  ]
  const made = all.flatMap(({ asked }) => ('updates' in asked ? asked.updates : []))
  const known = [...pack.beliefs, ...made.flatMap((one) => (one.kind === 'create' ? [one.belief] : []))]
  const needed = new Set([
    ...expected.map(({ id }) => id),
    ...records.flatMap((one) => one.returned.map(({ id }) => id)),
  ])
  const shown = known.filter(({ id }) => needed.has(id))
  const beliefs = Object.fromEntries(shown.map(({ id, name, content }) => [id, { name, content }]))
  return { message, scopes, expected, beliefs } satisfies z.infer<typeof CaseTexts>
}

/** The verdict of each case in each of some runs, oldest run first. */
type CaseGrid = {
  readonly runs: readonly RunSummary[]
  readonly cases: readonly { readonly caseId: string; readonly verdicts: readonly (Verdict | null)[] }[]
}

const severity: readonly Verdict[] = ['error', 'fail', 'unjudged', 'skipped', 'pass']

/** The worst verdict of a case over its repeats. */
const worst = (verdicts: readonly Verdict[]): Verdict | null =>
  severity.find((verdict) => verdicts.includes(verdict)) ?? null

export async function caseGrid(
  runs: readonly RunSummary[],
  recordsOf: (runId: string) => Promise<readonly CaseRecord[]>,
): Promise<CaseGrid> {
  const columns: ReadonlyMap<string, readonly Verdict[]>[] = []
  for (const { runId } of runs) {
    const byCase = Map.groupBy(await recordsOf(runId), ({ caseId }) => caseId)
    columns.push(new Map([...byCase].map(([id, records]) => [id, records.map(({ verdict }) => verdict)])))
  }
  const ids = [...new Set(columns.toReversed().flatMap((column) => [...column.keys()]))]
  return {
    runs,
    cases: ids.map((caseId) => ({ caseId, verdicts: columns.map((one) => worst(one.get(caseId) ?? [])) })),
  }
}

/** Where a pack stands against the run it is compared with. */
type Standing = {
  readonly broken: readonly string[]
  readonly fixed: readonly string[]
  readonly failing: number
  readonly total: number
  /** The first run in which the cases that are broken now did not pass any more; the latest of them. */
  readonly since: RunSummary | null
}

/** Compares the last run of a grid with one of its columns. */
export function standingOf({ runs, cases }: CaseGrid, referenceId: string | null): Standing {
  const last = runs.length - 1
  const reference = runs.findIndex(({ runId }) => runId === referenceId)
  const isPass = (verdicts: readonly (Verdict | null)[], at: number): boolean => verdicts[at] === 'pass'
  const measured = cases.filter(({ verdicts }) => verdicts[last] != null)
  const compared = reference < 0 ? [] : measured.filter(({ verdicts }) => verdicts[reference] != null)
  const broken = compared.filter(({ verdicts }) => isPass(verdicts, reference) && !isPass(verdicts, last))
  const fixed = compared.filter(({ verdicts }) => !isPass(verdicts, reference) && isPass(verdicts, last))
  const began = broken.map(({ verdicts }) => verdicts.findLastIndex((_, at) => isPass(verdicts, at)) + 1)
  return {
    broken: broken.map(({ caseId }) => caseId),
    fixed: fixed.map(({ caseId }) => caseId),
    failing: measured.filter(({ verdicts }) => !isPass(verdicts, last)).length,
    total: measured.length,
    since: broken.length === 0 ? null : (runs[Math.max(...began)] ?? null),
  }
}
