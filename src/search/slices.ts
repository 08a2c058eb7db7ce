import { nextTurn } from '../next-turn.ts'

/** Long work lets the event loop turn after this many milliseconds, so that a server stays responsive. */
const sliceMs = 4

/** Work in slices: its loops call `if (slices.areOver) await slices.pause()` between steps of well under a millisecond. */
export class TimeSlices {
  readonly #ms: number
  #until = 0

  constructor(ms = sliceMs) {
    this.#ms = ms
  }

  /** Whether it is time to let other work have its turn. The first slice begins when this is first asked. */
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

/** Parts of a list, for calls that take long with many values. */
export function* partsOf<Value>(values: readonly Value[], size = 500): Generator<readonly Value[]> {
  for (let from = 0; from < values.length; from += size)
    yield values.length <= size ? values : values.slice(from, from + size)
}
