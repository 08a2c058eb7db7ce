/** The values used last, up to a number of them. */
export class BoundedCache<Value> {
  readonly #most: number
  readonly #values = new Map<string, Value>()

  constructor(most: number) {
    this.#most = most
  }

  get(key: string): Value | undefined {
    const value = this.#values.get(key)
    if (value === undefined) return undefined
    // Moved to the end: a map keeps the order of insertion, and the first one is dropped first.
    this.#values.delete(key)
    this.#values.set(key, value)
    return value
  }

  set(key: string, value: Value): void {
    this.#values.set(key, value)
    if (this.#values.size <= this.#most) return
    for (const [oldest] of this.#values) {
      this.#values.delete(oldest)
      return
    }
  }

  clear(): void {
    if (this.#values.size > 0) this.#values.clear()
  }
}
