import { invalidFiles } from '../store/invalid-files.ts'
import { dayOf } from '../store/layout.ts'
import { scan } from '../store/scan.ts'
import { Histogram } from './histogram.ts'

export type ShadowSummary = Awaited<ReturnType<typeof summariseShadows>>

const figuresOf = (histogram: Histogram) => ({
  mean: histogram.mean(),
  p50: histogram.percentile(50),
  p95: histogram.percentile(95),
})

/** What live recalls came to. Percentiles are within 2.5 %, so that memory stays the same for any number of records. */
export async function summariseShadows(root: string) {
  const invalid = invalidFiles()
  const [byDay, bySource] = [new Map<string, number>(), new Map<string, number>()]
  const [duration, characters, memories] = [new Histogram(), new Histogram(), new Histogram()]
  let records = 0
  let injected = 0
  await scan(root, 'shadow', ({ checked }) => {
    invalid.see(checked)
    if (!checked.ok) return
    const record = checked.value
    records += 1
    if (record.injected) injected += 1
    count(byDay, dayOf(record.recordedAt))
    count(bySource, record.source)
    duration.add(record.durationMs)
    characters.add(record.contextChars)
    memories.add(record.recalledMemoryCount)
  })
  return {
    records,
    invalid: invalid.found().count,
    injectedShare: records === 0 ? null : injected / records,
    byDay: Object.fromEntries([...byDay].sort(([one], [other]) => (one < other ? -1 : 1))),
    bySource: Object.fromEntries([...bySource].sort(([one], [other]) => (one < other ? -1 : 1))),
    durationMs: figuresOf(duration),
    contextChars: figuresOf(characters),
    recalledMemoryCount: figuresOf(memories),
  }
}

const count = (counts: Map<string, number>, key: string): void => {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}
