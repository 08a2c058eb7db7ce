import type { PackCase } from '../kinds/kind.ts'
import type { MetricDeclaration } from '../store/schemas/primitives.ts'
import type { BaselineBenchmark, CaseRecord, CaseResult, RunStatus, RunSummary, Verdict } from '../store/schemas/run.ts'
import { type Interval, mean, percentile, z95 } from './statistics.ts'

/** What the case records of a run come to. The counts of a run summary are these and nothing else. */
export type CaseFigures = {
  readonly results: readonly CaseResult[]
  readonly counts: {
    readonly passedCases: number
    readonly failedCases: number
    readonly errorCases: number
    readonly skippedCases: number
    readonly unjudgedCases: number
  }
  /** Cases that passed in some repeats and failed in others. */
  readonly flaky: readonly string[]
  readonly metrics: Readonly<Record<string, number>>
  /** Of every metric that at least two cases have. */
  readonly intervals: Readonly<Record<string, Interval>>
  readonly latency: { readonly p50Ms: number; readonly p95Ms: number } | null
}

/**
 * Derives the figures of a run. A case passes when every repeat of it passed. A metric is the mean over cases of a
 * case's mean over repeats; what does not apply to a case is left out and never becomes zero. The order of the records
 * does not matter.
 */
export function summariseCases(records: readonly CaseRecord[]): CaseFigures {
  const byCase = [...Map.groupBy(records, ({ caseId }) => caseId)].sort(([one], [other]) => (one < other ? -1 : 1))
  const results = byCase.map(([id, repeats]) => ({ id, verdict: verdictOf(repeats), scores: meanScores(repeats) }))
  const count = (verdict: Verdict): number => results.filter((result) => result.verdict === verdict).length
  const metrics = Object.entries(meanScores(results)).flatMap(([name, value]) =>
    value === null ? [] : [[name, value]],
  )
  return {
    results,
    counts: {
      passedCases: count('pass'),
      failedCases: count('fail'),
      errorCases: count('error'),
      skippedCases: count('skipped'),
      unjudgedCases: count('unjudged'),
    },
    flaky: byCase.filter(([, repeats]) => isFlaky(repeats)).map(([id]) => id),
    metrics: Object.fromEntries(metrics),
    intervals: intervalsOf(results),
    latency: latencyOf(records),
  }
}

function intervalsOf(results: readonly CaseResult[]): Readonly<Record<string, Interval>> {
  const names = [...new Set(results.flatMap(({ scores = {} }) => Object.keys(scores)))].sort()
  return Object.fromEntries(
    names.flatMap((name) => {
      const values = results.flatMap(({ scores = {} }) => scores[name] ?? [])
      const centre = mean(values)
      if (centre === null || values.length < 2) return []
      const variance = values.reduce((sum, value) => sum + (value - centre) ** 2, 0) / (values.length - 1)
      const half = z95 * Math.sqrt(variance / values.length)
      return [[name, { low: centre - half, high: centre + half }]]
    }),
  )
}

/** The worst that happened: one failed repeat makes a failed case. */
const severity: readonly Verdict[] = ['fail', 'error', 'unjudged', 'skipped', 'pass']

function verdictOf(repeats: readonly Pick<CaseRecord, 'verdict'>[]): Verdict {
  return severity.find((verdict) => repeats.some((record) => record.verdict === verdict)) ?? 'skipped'
}

const isFlaky = (repeats: readonly CaseRecord[]): boolean =>
  repeats.some(({ verdict }) => verdict === 'pass') && repeats.some(({ verdict }) => verdict === 'fail')

type Scored = { readonly scores?: Readonly<Record<string, number | null>> | undefined; readonly repeat?: number }

function meanScores(scored: readonly Scored[]): Record<string, number | null> {
  const inOrder = [...scored].sort((one, other) => (one.repeat ?? 0) - (other.repeat ?? 0))
  const names = [...new Set(inOrder.flatMap(({ scores = {} }) => Object.keys(scores)))].sort()
  return Object.fromEntries(names.map((name) => [name, mean(inOrder.map(({ scores = {} }) => scores[name] ?? null))]))
}

/** Over answered cases, all stages together. */
function latencyOf(records: readonly CaseRecord[]): CaseFigures['latency'] {
  const totals = records
    .filter(({ verdict }) => verdict === 'pass' || verdict === 'fail')
    .map(({ timings }) => Object.values(timings).reduce((total, ms) => total + ms, 0))
  const [p50Ms, p95Ms] = [percentile(totals, 50), percentile(totals, 95)]
  return p50Ms === null || p95Ms === null ? null : { p50Ms, p95Ms }
}

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

/** One side of a comparison: a run, or the accepted figures of one. What nobody recorded is null, never zero. */
export type Figures = {
  readonly benchmarkId: string
  readonly runId: string
  readonly passRate: number
  readonly totalCases: number | null
  readonly errorCases: number | null
  readonly metrics: Readonly<Record<string, number>>
  readonly packHash: string | null
  readonly system: { readonly name: string; readonly version: string } | null
  readonly seed: number | null
  /** Whether results vary between runs of the same build, so that statistics must decide. */
  readonly isNoisy: boolean
  readonly declarations: readonly MetricDeclaration[]
  readonly cases: ReadonlyMap<string, CaseResult> | null
}

/** The figures of a run; `results` are its cases, where it kept them. */
export function figuresOfRun(run: RunSummary, results: readonly CaseResult[] | null): Figures {
  return {
    ...shared(run),
    passRate: run.passedCases / run.totalCases,
    totalCases: run.totalCases,
    errorCases: run.errorCases ?? null,
    cases: results === null || results.length === 0 ? null : byId(results),
  }
}

export function figuresOfBaseline(benchmark: BaselineBenchmark): Figures {
  const { passRate, totalCases = null, errorCases = null, caseResults } = benchmark
  return {
    ...shared(benchmark),
    passRate,
    totalCases,
    errorCases,
    cases: caseResults === undefined ? null : byId(caseResults),
  }
}

const byId = (results: readonly CaseResult[]): ReadonlyMap<string, CaseResult> =>
  new Map(results.map((result) => [result.id, result]))

function shared(source: RunSummary | BaselineBenchmark) {
  const { benchmarkId, runId, metrics = {}, packHash = null, system = null, seed = null } = source
  const { deterministic, repeats = 1, metricDeclarations = [] } = source
  // Repeats are asked for where results vary; a pack that declares itself deterministic knows better.
  const isNoisy = deterministic === false || (deterministic === undefined && repeats > 1)
  return { benchmarkId, runId, metrics, packHash, system, seed, isNoisy, declarations: metricDeclarations }
}

/** A system without a part must score at least this much less than the whole, or the pack measures something else. */
export const leastLoss = 0.2

/** Passes of something. */
export type Share = { readonly passed: number; readonly total: number }

export type AblationResult = {
  readonly ablation: string
  /** Over the cases that expect something. */
  readonly whole: Share
  readonly without: Share
  /** Over the cases in which silence is right, which a system that is switched off passes too. */
  readonly silent: Share
  /** Why the pack does not measure the part; null when it does. */
  readonly problem: string | null
}

/** Whether switching a part off is seen in the cases that expect something to come back. */
export function judgeAblation(
  ablation: string,
  cases: readonly PackCase[],
  runs: { readonly whole: readonly CaseRecord[]; readonly without: readonly CaseRecord[] },
): AblationResult {
  const expecting = new Set(cases.filter(({ expectsSomething }) => expectsSomething).map(({ id }) => id))
  const whole = shareOf(runs.whole, (id) => expecting.has(id))
  const without = shareOf(runs.without, (id) => expecting.has(id))
  const silent = shareOf(runs.without, (id) => !expecting.has(id))
  return { ablation, whole, without, silent, problem: problemOf(ablation, whole, without) }
}

function problemOf(ablation: string, whole: Share, without: Share): string | null {
  if (whole.total === 0) return `No case expects anything to come back, so ${ablation} cannot be told from the whole.`
  const [all, part] = [whole.passed / whole.total, without.passed / without.total]
  // Written as "not more than" so that a share that is no number is a problem.
  if (all - part > leastLoss + 1e-9) return null
  return `With ${ablation}, ${without.passed}/${without.total} of the cases that expect something pass, against ${whole.passed}/${whole.total} with everything on. The pack measures something else.`
}

function shareOf(records: readonly CaseRecord[], isCounted: (id: string) => boolean): Share {
  const own = summariseCases(records.filter(({ caseId }) => isCounted(caseId)))
  return { passed: own.counts.passedCases, total: own.results.length }
}
