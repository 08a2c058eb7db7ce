import { Histogram, summariseShadows } from '../../../eval/shadow/shadow-summary.ts'
import { dayOf, scan } from '../../../eval/store/documents.ts'
import type { Answer } from '../contract.ts'

/** What live recalls came to, in all and day by day. */
export async function shadowReport(root: string): Promise<Omit<Answer<'shadow'>, 'isRecording'>> {
  const { byDay: _counts, ...summary } = await summariseShadows(root)
  const days = new Map<string, { records: number; empty: number; durations: Histogram }>()
  await scan(root, 'shadow', ({ checked }) => {
    if (!checked.ok) return
    const { recordedAt, injected, durationMs } = checked.value
    const day = days.get(dayOf(recordedAt)) ?? { records: 0, empty: 0, durations: new Histogram() }
    days.set(dayOf(recordedAt), day)
    day.records += 1
    if (!injected) day.empty += 1
    day.durations.add(durationMs)
  })
  return {
    ...summary,
    days: [...days]
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([day, { records, empty, durations }]) => ({
        day,
        records,
        empty,
        emptyRate: empty / records,
        durationMs: { mean: durations.mean(), p50: durations.percentile(50), p95: durations.percentile(95) },
      })),
  }
}
