import { z } from 'zod'
import { canonicalJson } from '../../json.ts'
import { type CaseFigures, figuresOfRun, summariseCases } from '../score/figures.ts'
import { readCaseLog } from '../store/case-log.ts'
import { requireRun } from '../store/documents.ts'
import { problemText } from '../store/parse-artifact.ts'
import type { CaseRecord, CaseVerdict } from '../store/schemas/run.ts'
import { comparability, dust } from './compare.ts'

/** The stages of an answer in order; a diff names the first stage that differs. */
const stages = ['answered', 'query', 'match', 'score', 'rank', 'pinned', 'questions', 'prelude', 'judged'] as const
type Stage = (typeof stages)[number]

/** One case in both runs. */
export type CaseDiff = {
  readonly id: string
  readonly base: CaseVerdict
  readonly candidate: CaseVerdict
  /** The first stage that differs; null if none does. */
  readonly firstStage: Stage | null
  /** Returned ids that were added, removed or moved, with their ranks. */
  readonly returned: ReturnType<typeof idChanges>
  readonly failures: readonly string[]
}

export type RunDiff = Awaited<ReturnType<typeof diffRuns>>

/** Compares two runs case by case. */
export async function diffRuns(root: string, baseId: string, candidateId: string) {
  const base = await loadRun(root, baseId)
  const candidate = await loadRun(root, candidateId)
  const before = indexById(base.records)
  const after = indexById(candidate.records)
  const verdictsOf = ({ results }: CaseFigures) => new Map(results.map(({ id, verdict }) => [id, verdict]))
  const verdicts = { base: verdictsOf(base.figures), candidate: verdictsOf(candidate.figures) }
  const isSameBenchmark = base.run.benchmarkId === candidate.run.benchmarkId
  const isShared = (id: string): boolean => isSameBenchmark && before.has(id) && after.has(id)
  const shared = [...before.keys()].filter(isShared).sort()
  const cases = shared.map((id): CaseDiff => {
    const record = before.get(id) as CaseRecord
    const other = after.get(id) as CaseRecord
    return {
      id,
      base: verdicts.base.get(id) ?? record.verdict,
      candidate: verdicts.candidate.get(id) ?? other.verdict,
      firstStage: firstDifference(record, other),
      returned: idChanges(record, other),
      failures: other.error === undefined ? other.failures : [other.error.message],
    }
  })
  const passes = (verdict: CaseVerdict): boolean => verdict === 'pass'
  const bothPass = cases.filter((diff) => passes(diff.base) && passes(diff.candidate))
  const { obstacles, notes } = comparability(
    figuresOfRun(base.run, base.figures.results),
    figuresOfRun(candidate.run, candidate.figures.results),
  )
  const unlike = isSameBenchmark
    ? []
    : [`Different benchmarks: ${base.run.benchmarkId} and ${candidate.run.benchmarkId}.`]
  return {
    base: base.run,
    candidate: candidate.run,
    /** Differences between the runs that make the comparison less certain. */
    notes: [...unlike, ...obstacles, ...notes, ...base.problems, ...candidate.problems],
    fixed: cases.filter((diff) => !passes(diff.base) && passes(diff.candidate)),
    broken: cases.filter((diff) => passes(diff.base) && !passes(diff.candidate)),
    stillFailing: cases.filter((diff) => !passes(diff.base) && !passes(diff.candidate)),
    newCases: [...after.keys()].filter((id) => !isShared(id)).sort(),
    removedCases: [...before.keys()].filter((id) => !isShared(id)).sort(),
    /** Cases that passed in some repeats and failed in others, in either run. */
    flaky: [...new Set([...base.figures.flaky, ...candidate.figures.flaky])].sort(),
    changed: bothPass.filter(({ firstStage }) => firstStage !== null),
    unchanged: bothPass.filter(({ firstStage }) => firstStage === null).length,
  }
}

async function loadRun(root: string, runId: string) {
  const run = requireRun(root, runId)
  const { records, problems } = await readCaseLog(root, runId)
  const unreadable = problems.map((problem) => `${problemText(problem)}.`)
  const none = records.length === 0 ? [`The run ${runId} kept no case records.`] : []
  return { run, records, figures: summariseCases(records), problems: [...none, ...unreadable] }
}

/** The first repeat of each case. Later repeats differ only if results vary; `flaky` reports such cases. */
function indexById(records: readonly CaseRecord[]): ReadonlyMap<string, CaseRecord> {
  const first = new Map<string, CaseRecord>()
  for (const record of records) {
    const earlier = first.get(record.caseId)
    if (earlier === undefined || record.repeat < earlier.repeat) first.set(record.caseId, record)
  }
  return first
}

/** The explanation that our own systems give with an answer. Other systems give less, or none. */
const Explained = z.looseObject({
  group: z.string().nullish(),
  query: z.string().optional(),
  prelude: z.string().nullish(),
  matches: z
    .array(
      z.looseObject({
        id: z.string(),
        clauses: z
          .array(z.looseObject({ path: z.string(), term: z.string(), score: z.number().optional() }))
          .optional(),
      }),
    )
    .optional(),
  nearMisses: z.array(z.looseObject({ id: z.string(), reason: z.string() })).optional(),
})

function firstDifference(a: CaseRecord, b: CaseRecord): Stage | null {
  const mine = stagesOf(a)
  const its = stagesOf(b)
  return stages.find((stage) => !isSame(mine[stage], its[stage])) ?? null
}

/** The result of each stage, excluding the results of earlier stages. */
function stagesOf(record: CaseRecord): Readonly<Record<Stage, unknown>> {
  const parsed = Explained.safeParse(record.explanation)
  const { query, prelude, matches } = parsed.success ? parsed.data : {}
  const tier = (name: string) => record.returned.filter((item) => item.tier === name)
  const relevant = record.returned.filter(({ tier: own }) => own !== 'pinned' && own !== 'question')
  return {
    answered: record.verdict === 'error',
    query,
    match: Object.fromEntries(
      relevant.map(({ id }) => {
        const clauses = matches?.find((match) => match.id === id)?.clauses ?? []
        return [id, clauses.map(({ path, term }) => `${path} ${term}`).sort()]
      }),
    ),
    score: Object.fromEntries(relevant.map(({ id, score }) => [id, score])),
    rank: relevant.map(({ id }) => id),
    pinned: tier('pinned').map(({ id }) => id),
    questions: tier('question').map(({ id }) => id),
    prelude,
    judged: record.verdict,
  }
}

/** Compares values; scores that differ only by rounding errors are equal. */
function isSame(a: unknown, b: unknown): boolean {
  const round = (value: unknown): unknown => {
    if (typeof value === 'number') return Math.round(value / dust) * dust
    if (Array.isArray(value)) return value.map(round)
    if (value === null || typeof value !== 'object') return value
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, round(inner)]))
  }
  return canonicalJson(round(a)) === canonicalJson(round(b))
}

function idChanges(a: CaseRecord, b: CaseRecord) {
  const ranks = (record: CaseRecord) =>
    new Map(record.returned.map(({ id, tier = '', rank }) => [`${tier}\0${id}`, rank]))
  const before = ranks(a)
  const after = ranks(b)
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((key) => {
    const [tier = '', id = ''] = key.split('\0')
    const from = before.get(key) ?? null
    const to = after.get(key) ?? null
    return from === to ? [] : [{ id, tier, from, to }]
  })
}
