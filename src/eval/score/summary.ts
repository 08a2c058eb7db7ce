import type { RetrievalEntry, SessionEntry } from '../kinds/retrieval/entries.ts'
import { type PassType, passTypes } from '../kinds/retrieval/metrics.ts'
import { mean, percentile, round4, wilsonInterval } from './statistics.ts'

type Entry = RetrievalEntry | SessionEntry

/** What a set of results comes to. */
export type Summary = ReturnType<typeof summarise>

/** Every case weighs the same, and what was not measured weighs nothing. */
export function summarise(entries: readonly Entry[]) {
  const passed = entries.filter(({ status }) => status === 'passed')
  const failed = entries.filter(({ status }) => status === 'failed')
  const judged = passed.length + failed.length
  const latencies = entries.flatMap(({ retrievalLatencyMs }) =>
    retrievalLatencyMs === null ? [] : [retrievalLatencyMs],
  )
  const drift = entries.map((entry) => ('driftScore' in entry && entry.checksNoise ? entry.driftScore : null))
  const countOf = (type: PassType): number => passed.filter(({ passType }) => passType === type).length
  return {
    totalCases: entries.length,
    totalPassed: passed.length,
    totalFailed: failed.length,
    /** Cases the system did not answer. They are in no mean and no rate. */
    errors: entries.length - judged,
    passRate: judged === 0 ? null : round4(passed.length / judged),
    passRateInterval95: wilsonInterval(passed.length, judged),
    meanPrecision: round4(mean(entries.map(({ retrievalPrecision }) => retrievalPrecision))),
    meanRecall: round4(mean(entries.map(({ retrievalRecall }) => retrievalRecall))),
    /** Over the turns that name noise; null when none does. */
    meanDriftScore: round4(mean(drift)),
    activeRetrievalPasses: countOf('activeRetrieval'),
    passTypes: Object.fromEntries(passTypes.map((type) => [type, countOf(type)])) as Record<PassType, number>,
    meanLatencyMs: round4(mean(latencies)),
    p50LatencyMs: round4(percentile(latencies, 50)),
    p95LatencyMs: round4(percentile(latencies, 95)),
  }
}

export type CategorySummary = ReturnType<typeof summariseCategories>[number]

/** The same by category, in the order in which categories first occur. Turns are grouped by their label. */
export function summariseCategories(entries: readonly Entry[]) {
  const nameOf = (entry: Entry): string => ('label' in entry ? entry.label : (entry.category ?? 'uncategorised'))
  const groups = Map.groupBy(entries, nameOf)
  return [...groups].map(([category, own]) => {
    const { totalCases, totalPassed, totalFailed, errors, meanPrecision, meanRecall } = summarise(own)
    return {
      category,
      caseCount: totalCases,
      passed: totalPassed,
      failed: totalFailed,
      errors,
      meanPrecision,
      meanRecall,
    }
  })
}
