import { dayOf, invalidFiles, scan } from '../store/documents.ts'

/** Neighbouring buckets differ by this factor, so a percentile is off by 2.5 % at most. */
const growth = 1.05

/** Counts numbers from zero up in buckets: percentiles of any amount of them in little memory. */
export class Histogram {
  readonly #buckets = new Map<number, number>()
  #count = 0
  #total = 0

  add(value: number): void {
    const bucket = value < 1e-6 ? Number.NEGATIVE_INFINITY : Math.round(Math.log(value) / Math.log(growth))
    this.#buckets.set(bucket, (this.#buckets.get(bucket) ?? 0) + 1)
    this.#count += 1
    this.#total += value
  }

  /** Null when nothing was counted. */
  mean(): number | null {
    return this.#count === 0 ? null : this.#total / this.#count
  }

  percentile(percent: number): number | null {
    const rank = Math.max(1, Math.ceil((percent / 100) * this.#count))
    let seen = 0
    for (const bucket of [...this.#buckets.keys()].sort((one, other) => one - other)) {
      seen += this.#buckets.get(bucket) ?? 0
      if (seen >= rank) return bucket === Number.NEGATIVE_INFINITY ? 0 : growth ** bucket
    }
    return null
  }
}

export type ShadowSummary = Awaited<ReturnType<typeof summariseShadows>>

const figuresOf = (histogram: Histogram) => ({
  mean: histogram.mean(),
  p50: histogram.percentile(50),
  p95: histogram.percentile(95),
})

/** The figures of live recalls. Percentiles are within 2.5 %, so that any number of records needs the same memory. */
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
