import type { Ingested } from '../run/run.ts'
import type { PackCase } from '../runners/runner.ts'
import type {
  BaselineBenchmark,
  CaseRecord,
  CaseResult,
  CaseVerdict,
  RunStatus,
  RunSummary,
} from '../store/schemas/run.ts'
import { clusterBootstrap, type Interval, mean, percentile, wilsonInterval, z95 } from './statistics.ts'

/** The label of a pack that the default system passes completely: it can only show regressions. */
export const saturated = 'regression suite (saturated)'

type Measured = Pick<CaseRecord, 'caseId' | 'verdict' | 'scores' | 'timings'> & {
  readonly repeat?: number
  readonly cluster?: string | undefined
}

export type CaseFigures = ReturnType<typeof summariseCases>

/**
 * Derives the figures of a run from its case records, in any order. A case passes if all its repeats passed, and its score is the mean
 * over its repeats. A metric is the mean of these scores; a score that does not apply to a case is left out, never counted as zero.
 */
export function summariseCases(records: readonly Measured[]) {
  const byCase = [...Map.groupBy(records, ({ caseId }) => caseId)].sort(([a], [b]) => (a < b ? -1 : 1))
  const results: readonly CaseResult[] = byCase.map(([id, repeats]) => ({
    id,
    verdict: worstVerdict(repeats) ?? 'skipped',
    scores: meanScores(repeats),
  }))
  const count = (verdict: CaseVerdict): number => results.filter((result) => result.verdict === verdict).length
  const metrics = Object.entries(meanScores(results)).filter((entry): entry is [string, number] => entry[1] !== null)
  const has = (repeats: readonly Measured[], wanted: CaseVerdict) => repeats.some(({ verdict }) => verdict === wanted)
  return {
    results,
    counts: {
      passedCases: count('pass'),
      failedCases: count('fail'),
      errorCases: count('error'),
      skippedCases: count('skipped'),
      unjudgedCases: count('unjudged'),
    },
    flaky: byCase.filter(([, repeats]) => has(repeats, 'pass') && has(repeats, 'fail')).map(([id]) => id),
    metrics: Object.fromEntries(metrics),
    intervals: intervalsOf(results, new Map(records.map(({ caseId, cluster }) => [caseId, cluster]))),
    latency: latencyOf(records),
  }
}

/** Min clusters for using the resampled interval alone. With fewer clusters, resamples hardly differ from each other. */
const minClusters = 10

/**
 * The 95 % interval of every metric that at least two cases have. Cases of one conversation are not independent, so whole clusters are
 * resampled if there are any (cluster bootstrap, Efron and Tibshirani 1993). With few clusters, the interval is at least as wide as for
 * independent cases; if all resamples are equal, each cluster counts as one case.
 */
function intervalsOf(
  results: readonly CaseResult[],
  clusterOf: ReadonlyMap<string, string | undefined>,
): Record<string, Interval> {
  const names = [...new Set(results.flatMap(({ scores = {} }) => Object.keys(scores)))].sort()
  return Object.fromEntries(
    names.flatMap((name) => {
      const scored = results.flatMap(({ id, scores = {} }) => {
        const value = scores[name]
        return value === null || value === undefined ? [] : [{ value, cluster: clusterOf.get(id) }]
      })
      if (scored.length < 2) return []
      const clusters = [...Map.groupBy(scored, ({ cluster }) => cluster).values()]
      const isClustered = clusters.length > 1 && scored.every(({ cluster }) => cluster !== undefined)
      const values = clusters.map((cluster) => cluster.map(({ value }) => value))
      return [[name, isClustered ? clusteredInterval(values) : intervalOf(values.flat())]]
    }),
  )
}

function clusteredInterval(clusters: readonly (readonly number[])[]): Interval {
  const drawn = clusterBootstrap(clusters, 1)
  if (clusters.length < minClusters) {
    const { low, high } = intervalOf(clusters.flat())
    return { low: Math.min(low, drawn.low), high: Math.max(high, drawn.high) }
  }
  return drawn.low < drawn.high ? drawn : intervalOf(clusters.flatMap(([first = 0]) => first))
}

/** For shares, the Wilson interval: it stays within 0 and 1, and its width is positive even if all values are 0 or all are 1. */
function intervalOf(values: readonly number[]): Interval {
  const wilson = values.every((value) => value === 0 || value === 1)
    ? wilsonInterval(values.filter((value) => value === 1).length, values.length)
    : null
  if (wilson !== null) return wilson
  const centre = values.reduce((sum, value) => sum + value, 0) / values.length
  const variance = values.reduce((sum, value) => sum + (value - centre) ** 2, 0) / (values.length - 1)
  const half = z95 * Math.sqrt(variance / values.length)
  return { low: centre - half, high: centre + half }
}

/** One failed repeat fails the case. Null for a case without records. */
export const worstVerdict = (repeats: readonly Pick<Measured, 'verdict'>[]): CaseVerdict | null =>
  (['fail', 'error', 'unjudged', 'skipped', 'pass'] as const).find((verdict) =>
    repeats.some((record) => record.verdict === verdict),
  ) ?? null

type Scored = { readonly scores?: CaseRecord['scores'] | undefined; readonly repeat?: number }

function meanScores(scored: readonly Scored[]): Record<string, number | null> {
  const inOrder = [...scored].sort((a, b) => (a.repeat ?? 0) - (b.repeat ?? 0))
  const names = [...new Set(inOrder.flatMap(({ scores = {} }) => Object.keys(scores)))].sort()
  return Object.fromEntries(names.map((name) => [name, mean(inOrder.map(({ scores = {} }) => scores[name] ?? null))]))
}

/** The total time of each answered case, over all stages. */
export const answerTimes = (records: readonly Measured[]): readonly number[] =>
  records
    .filter(({ verdict }) => verdict === 'pass' || verdict === 'fail')
    .map(({ timings }) => Object.values(timings).reduce((total, ms) => total + ms, 0))

function latencyOf(records: readonly Measured[]): { readonly p50Ms: number; readonly p95Ms: number } | null {
  const times = answerTimes(records)
  const p50Ms = percentile(times, 50)
  const p95Ms = percentile(times, 95)
  return p50Ms === null || p95Ms === null ? null : { p50Ms, p95Ms }
}

type RunEnd = {
  readonly at: Date
  readonly isInterrupted: boolean
  /** The error that ended the run; null if there was none. */
  readonly failure: unknown
  readonly ingested: Ingested
}

/** The summary of a run, derived only from its records. */
export function summaryOf(run: RunSummary, records: readonly CaseRecord[], end: RunEnd): RunSummary {
  // A case counts once all its repeats have a record; other cases are pending.
  const byCase = Map.groupBy(records, ({ caseId }) => caseId).values()
  const complete = [...byCase].filter((own) => own.length === (run.repeats ?? 1)).flat()
  const { counts, metrics, intervals, flaky, latency } = summariseCases(complete)
  const pendingCases = run.totalCases - Object.values(counts).reduce((total, count) => total + count, 0)
  const status = runStatusOf(counts, pendingCases, end)
  const { metrics: _, intervals: _intervals, latency: _latency, completedAt: _completedAt, ...begun } = run
  const { ms, notices } = end.ingested
  const ingestMs = ms === null ? {} : { ingestMs: ms }
  const { failure } = end
  // Even if the clock was set back during the run, it must not end before it began.
  const endedAt = new Date(Math.max(end.at.getTime(), Date.parse(run.startedAt))).toISOString()
  return {
    ...begun,
    status,
    ...(status === 'completed' ? { completedAt: endedAt } : {}),
    ...counts,
    pendingCases,
    flakyCases: flaky.length,
    ...(Object.keys(metrics).length === 0 ? {} : { metrics }),
    ...(Object.keys(intervals).length === 0 ? {} : { intervals }),
    ...(latency && { latency: { ...latency, ...ingestMs } }),
    ...(notices.length === 0 ? {} : { notices: [...notices] }),
    ...(failure === null ? {} : { failure: failure instanceof Error ? failure.message : String(failure) }),
  }
}

function runStatusOf(counts: CaseFigures['counts'], pendingCases: number, end: RunEnd): RunStatus {
  if (end.failure !== null && !end.isInterrupted) return 'failed'
  if (pendingCases > 0) return end.isInterrupted ? 'partial' : 'failed'
  // A system that never answered was not measured, so its run failed.
  const hasAnswered = counts.passedCases + counts.failedCases + counts.unjudgedCases > 0
  return hasAnswered || counts.errorCases === 0 ? 'completed' : 'failed'
}

/** One side of a comparison. Unrecorded values are null, never zero. */
export type Figures = Readonly<ReturnType<typeof figuresOf>>

/** The figures of a run; `results` are its cases, if they are stored. */
export function figuresOfRun(run: RunSummary, results: readonly CaseResult[] | null): Figures {
  const kept = results?.length === 0 ? null : results
  return figuresOf({ ...run, judgedCases: judgedCasesOf(run) }, run.passedCases / run.totalCases, kept)
}

export function figuresOfBaseline(benchmark: BaselineBenchmark): Figures {
  const { passRate, caseResults: results = null } = benchmark
  const judgedCases = results?.filter(isJudged).length ?? benchmark.judgedCases
  return figuresOf({ ...benchmark, judgedCases }, passRate, results)
}

export const judgedCasesOf = ({ totalCases, skippedCases = 0, unjudgedCases = 0 }: RunSummary): number =>
  totalCases - skippedCases - unjudgedCases

export const isJudged = ({ verdict }: CaseResult): boolean => verdict !== 'skipped' && verdict !== 'unjudged'

function figuresOf(
  source: (RunSummary | BaselineBenchmark) & { readonly judgedCases?: number | undefined },
  passRate: number,
  results: readonly CaseResult[] | null,
) {
  const { benchmarkId, runId, metrics = {}, packHash = null, system = null, seed = null } = source
  const { totalCases = null, errorCases = null, judgedCases = null } = source
  const { deterministic, repeats = null, metricDeclarations = [] } = source
  return {
    benchmarkId,
    runId,
    passRate,
    totalCases,
    errorCases,
    metrics,
    packHash,
    system,
    seed,
    repeats,
    /** The number of cases that were neither skipped nor left unjudged. */
    judgedCases,
    /** Whether results vary between runs of the same build. Assumed for repeated runs, unless the pack declares otherwise. */
    isNoisy: deterministic === false || (deterministic === undefined && repeats !== null && repeats > 1),
    declarations: metricDeclarations,
    cases: results === null ? null : new Map(results.map((result) => [result.id, result])),
  }
}

/** Min fall of the passed share, exclusive, when a part is switched off. If it falls less, the pack measures something else. */
const minLoss = 0.2

export type PassedShare = { readonly passed: number; readonly total: number }

export type AblationResult = ReturnType<typeof judgeAblation>

/** Whether switching a part off affects the cases that expect a result. */
export function judgeAblation(
  ablation: string,
  cases: readonly PackCase[],
  runs: { readonly whole: readonly CaseRecord[]; readonly without: readonly CaseRecord[] },
) {
  const expecting = new Set(cases.filter(({ expectsSomething }) => expectsSomething).map(({ id }) => id))
  const whole = shareOf(runs.whole, (id) => expecting.has(id))
  const without = shareOf(runs.without, (id) => expecting.has(id))
  return {
    ablation,
    whole,
    without,
    /** The cases for which an empty result is right. A system with the part switched off passes them too. */
    silent: shareOf(runs.without, (id) => !expecting.has(id)),
    problem: ablationProblem(ablation, whole, without),
  }
}

function ablationProblem(ablation: string, whole: PassedShare, without: PassedShare): string | null {
  if (whole.total === 0) return `No case expects anything to come back, so ${ablation} cannot be told from the whole.`
  const all = whole.passed / whole.total
  const part = without.passed / without.total
  // Written as "not more than" so that NaN counts as a problem.
  if (all - part > minLoss + 1e-9) return null
  return `With ${ablation}, ${without.passed}/${without.total} of the cases that expect something pass, against ${whole.passed}/${whole.total} with everything on. The pack measures something else.`
}

function shareOf(records: readonly CaseRecord[], isCounted: (id: string) => boolean): PassedShare {
  const { counts, results } = summariseCases(records.filter(({ caseId }) => isCounted(caseId)))
  return { passed: counts.passedCases, total: results.length }
}
