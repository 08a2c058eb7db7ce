/** Counts wrong keys, so that guessing is slow. Nobody can lock out a program that has the right one. */
export class FailedAttempts {
  readonly #now: () => number
  readonly #most: number
  readonly #windowMs: number
  #failures: number[] = []

  constructor({ now, most, windowMs }: { now: () => number; most: number; windowMs: number }) {
    this.#now = now
    this.#most = most
    this.#windowMs = windowMs
  }

  add(): void {
    this.#failures.push(this.#now())
    if (this.#failures.length > this.#most) this.#failures.shift()
  }

  /** Seconds until another attempt is looked at; 0 when one is now. */
  waitSeconds(): number {
    const since = this.#now() - this.#windowMs
    this.#failures = this.#failures.filter((at) => at > since)
    const [oldest] = this.#failures
    if (oldest === undefined || this.#failures.length < this.#most) return 0
    return Math.max(1, Math.ceil((oldest - since) / 1_000))
  }
}
