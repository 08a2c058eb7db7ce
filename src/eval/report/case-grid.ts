import { worstVerdict } from '../score/figures.ts'
import type { CaseRecord, CaseVerdict, RunSummary } from '../store/schemas/run.ts'

/** The verdict of each case in each of the given runs, oldest run first. */
export async function caseGrid(
  runs: readonly RunSummary[],
  recordsOf: (runId: string) => Promise<readonly CaseRecord[]>,
) {
  const columns: ReadonlyMap<string, readonly CaseRecord[]>[] = []
  for (const { runId } of runs) columns.push(Map.groupBy(await recordsOf(runId), ({ caseId }) => caseId))
  const ids = [...new Set(columns.toReversed().flatMap((column) => [...column.keys()]))]
  return {
    runs,
    cases: ids.map((caseId) => ({ caseId, verdicts: columns.map((column) => worstVerdict(column.get(caseId) ?? [])) })),
  }
}

/** Compares the last run of a grid with the run `referenceId`. */
export function standingOf({ runs, cases }: Awaited<ReturnType<typeof caseGrid>>, referenceId: string | null) {
  const last = runs.length - 1
  const reference = runs.findIndex(({ runId }) => runId === referenceId)
  const isPass = (verdicts: readonly (CaseVerdict | null)[], at: number): boolean => verdicts[at] === 'pass'
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
    /** The latest run in which one of the broken cases began to fail; null if no case is broken. */
    since: broken.length === 0 ? null : (runs[Math.max(...began)] ?? null),
  }
}
