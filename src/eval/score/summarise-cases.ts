import type { CaseResult } from '../store/schemas/baseline.ts'
import type { CaseRecord, Verdict } from '../store/schemas/case-record.ts'
import { type Interval, mean, percentile } from './statistics.ts'

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

const z95 = 1.959963984540054

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
