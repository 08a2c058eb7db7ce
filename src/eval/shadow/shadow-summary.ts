import { mean, percentile } from '../score/statistics.ts'
import { collectInvalidFiles, dayOf, scan } from '../store/documents.ts'
import type { ShadowRecord } from '../store/schemas/shadow-record.ts'

export type ShadowSummary = Awaited<ReturnType<typeof summariseShadows>>

/** The figures of live recalls, in total and per day. Retention limits the number of records, so all of them fit in memory. */
export async function summariseShadows(root: string) {
  const invalid = collectInvalidFiles()
  const records: ShadowRecord[] = []
  await scan(root, 'shadow', ({ checked }) => {
    invalid.see(checked)
    if (checked.ok) records.push(checked.value)
  })
  const days = sortedGroups(records, ({ recordedAt }) => dayOf(recordedAt)).map(([day, own]) => {
    const empty = own.filter(isEmptyRecall).length
    const durationMs = spread(own.map((record) => record.durationMs))
    return { day, records: own.length, empty, emptyRate: empty / own.length, durationMs }
  })
  const sources = sortedGroups(records, ({ source }) => source)
  return {
    records: records.length,
    invalid: invalid.found().count,
    injectedShare: records.length === 0 ? null : records.filter(({ injected }) => injected).length / records.length,
    byDay: Object.fromEntries(days.map(({ day, records: count }) => [day, count])),
    bySource: Object.fromEntries(sources.map(([source, own]) => [source, own.length])),
    durationMs: spread(records.map(({ durationMs }) => durationMs)),
    contextChars: spread(records.map(({ contextChars }) => contextChars)),
    recalledMemoryCount: spread(records.map(({ recalledMemoryCount }) => recalledMemoryCount)),
    days,
  }
}

const sortedGroups = (records: readonly ShadowRecord[], keyOf: (record: ShadowRecord) => string) =>
  [...Map.groupBy(records, keyOf)].sort(([a], [b]) => (a < b ? -1 : 1))

const spread = (values: readonly number[]) => ({
  mean: mean(values),
  p50: percentile(values, 50),
  p95: percentile(values, 95),
})

/** Whether a recall returned nothing for the message. Pinned beliefs do not count, if the record counts them separately. */
const isEmptyRecall = ({ relevantCount, quoteCount = 0, injected }: ShadowRecord): boolean =>
  typeof relevantCount === 'number' ? relevantCount + Number(quoteCount) === 0 : !injected
