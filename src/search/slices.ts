import { nextTurn } from '../next-turn.ts'

/** Long work yields to the event loop after this many milliseconds, so that a server stays responsive. */
const sliceMs = 4

/** Work in time slices: loops call `if (slices.isOver) await slices.pause()` between steps of well under a millisecond. */
export class TimeSlices {
  readonly #ms: number
  #until = 0

  constructor(ms = sliceMs) {
    this.#ms = ms
  }

  /** Whether the slice is over. The first slice starts with the first read of this property. */
  get isOver(): boolean {
    const now = performance.now()
    if (this.#until === 0) this.#until = now + this.#ms
    return now >= this.#until
  }

  async pause(): Promise<void> {
    await nextTurn()
    this.#until = performance.now() + this.#ms
  }
}

/** Splits a list, for calls that are slow with many values. */
export function* partsOf<Value>(values: readonly Value[], size = 500): Generator<readonly Value[]> {
  for (let from = 0; from < values.length; from += size)
    yield values.length <= size ? values : values.slice(from, from + size)
}
