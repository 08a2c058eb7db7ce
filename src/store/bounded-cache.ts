/**
 * A cache of roughly the values used last, between one and two times `most` of them, in two generations: a full young
 * generation becomes the old one, and the old one is dropped. (A Map in order of use leaves holes when entries are
 * deleted and inserted again, and every look at its oldest entry has to step over them.)
 */
export class BoundedCache<Value> {
  readonly #most: number
  #young = new Map<string, Value>()
  #old = new Map<string, Value>()

  constructor(most: number) {
    this.#most = most
  }

  get(key: string): Value | undefined {
    const value = this.#young.get(key)
    if (value !== undefined) return value
    const kept = this.#old.get(key)
    if (kept !== undefined) this.set(key, kept)
    return kept
  }

  set(key: string, value: Value): void {
    if (this.#young.size >= this.#most) {
      this.#old = this.#young
      this.#young = new Map()
    }
    this.#young.set(key, value)
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
