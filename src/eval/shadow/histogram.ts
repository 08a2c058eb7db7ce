/** Neighbouring buckets differ by this factor, so a percentile is off by 2.5 % at most. */
const growth = 1.05

/** Numbers from zero up, counted in buckets: percentiles of any amount of them in little memory. */
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
