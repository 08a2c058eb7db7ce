/** A map of the `maxEntries` most recently used entries. `onDrop` is called with each evicted value. */
export class RecentMap<Value> {
  readonly #maxEntries: number
  readonly #onDrop: (value: Value) => unknown
  readonly #values = new Map<string, Value>()

  constructor(maxEntries: number, onDrop: (value: Value) => unknown = () => {}) {
    this.#maxEntries = maxEntries
    this.#onDrop = onDrop
  }

  get(key: string): Value | undefined {
    const value = this.#values.get(key)
    return value === undefined ? undefined : this.set(key, value)
  }

  set(key: string, value: Value): Value {
    this.#values.delete(key)
    this.#values.set(key, value)
    const [oldest] = this.#values
    if (this.#values.size > this.#maxEntries && oldest !== undefined) {
      this.#values.delete(oldest[0])
      this.#onDrop(oldest[1])
    }
    return value
  }

  values(): Iterable<Value> {
    return this.#values.values()
  }
}
