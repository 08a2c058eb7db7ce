/**
 * A cache of approximately the most recently used values. It has two generations of at most `maxEntries` each: when the young one is full,
 * it replaces the old one. (A single Map in the order of use would be slow: to find the oldest entry, it has to skip the holes that moved
 * entries leave.)
 */
export class BoundedCache<Value> {
  readonly #maxEntries: number
  #young = new Map<string, Value>()
  #old = new Map<string, Value>()

  constructor(maxEntries: number) {
    this.#maxEntries = maxEntries
  }

  get(key: string): Value | undefined {
    const value = this.#young.get(key)
    if (value !== undefined) return value
    const kept = this.#old.get(key)
    return kept === undefined ? undefined : this.set(key, kept)
  }

  set(key: string, value: Value): Value {
    if (this.#young.size >= this.#maxEntries) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(key, value)
    return value
  }

  delete(key: string): void {
    this.#young.delete(key)
    this.#old.delete(key)
  }

  clear(): void {
    if (this.#young.size > 0) this.#young = new Map()
    if (this.#old.size > 0) this.#old = new Map()
  }
}
