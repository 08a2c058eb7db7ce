import type { CaseRecord } from '../store/schemas/case-record.ts'
import type { RunStatus, RunSummary } from '../store/schemas/run-summary.ts'
import { type CaseFigures, summariseCases } from './summarise-cases.ts'

export type RunEnd = {
  readonly at: Date
  readonly isInterrupted: boolean
  /** What broke the run itself; null when nothing did. */
  readonly failure: unknown
  readonly ingestMs: number | null
}

/** The summary of a run as its records have it. Nothing in it is taken from anywhere else. */
export function summaryOf(run: RunSummary, records: readonly CaseRecord[], end: RunEnd): RunSummary {
  const complete = completeCases(records, run.repeats ?? 1)
  const { counts, metrics, intervals, flaky, latency } = summariseCases(complete)
  const seen = Object.values(counts).reduce((total, count) => total + count, 0)
  const pendingCases = run.totalCases - seen
  const status = statusOf({ counts, pendingCases, end })
  const { metrics: _, intervals: _intervals, latency: _latency, completedAt: _completedAt, ...begun } = run
  return {
    ...begun,
    status,
    // A clock that was set back in between must not make a run end before it began.
    ...(status === 'completed' ? { completedAt: laterOf(end.at, run.startedAt) } : {}),
    ...counts,
    pendingCases,
    flakyCases: flaky.length,
    ...(Object.keys(metrics).length === 0 ? {} : { metrics: { ...metrics } }),
    ...(Object.keys(intervals).length === 0 ? {} : { intervals: { ...intervals } }),
    ...(latency === null
      ? {}
      : { latency: { ...latency, ...(end.ingestMs === null ? {} : { ingestMs: end.ingestMs }) } }),
    ...(end.failure === null ? {} : { failure: messageOf(end.failure) }),
  }
}

/** Only cases of which every repeat was reached: the others are still to come. */
function completeCases(records: readonly CaseRecord[], repeats: number): readonly CaseRecord[] {
  return [...Map.groupBy(records, ({ caseId }) => caseId).values()].filter((own) => own.length === repeats).flat()
}

function statusOf({
  counts,
  pendingCases,
  end,
}: {
  readonly counts: CaseFigures['counts']
  readonly pendingCases: number
  readonly end: RunEnd
}): RunStatus {
  if (end.failure !== null && !end.isInterrupted) return 'failed'
  if (pendingCases > 0) return end.isInterrupted ? 'partial' : 'failed'
  // A system that never answered was not measured.
  const hasJudged = counts.passedCases + counts.failedCases + counts.unjudgedCases + counts.skippedCases > 0
  return hasJudged ? 'completed' : 'failed'
}

const laterOf = (at: Date, startedAt: string): string =>
  new Date(Math.max(at.getTime(), Date.parse(startedAt))).toISOString()

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
