import { nextTurn } from '../next-turn.ts'

/** Longer work stops after so many milliseconds, so that a server goes on answering meanwhile. */
const sliceMs = 4

/** Work in slices: its loops call `if (slices.areOver) await slices.pause()` between steps of well under a millisecond. */
export class Slices {
  readonly #ms: number
  #until = 0

  constructor(ms = sliceMs) {
    this.#ms = ms
  }

  /** Whether it is time to let other work have its turn. The first slice begins when this is first asked. */
  get areOver(): boolean {
    const now = performance.now()
    if (this.#until === 0) this.#until = now + this.#ms
    return now >= this.#until
  }

  async pause(): Promise<void> {
    await nextTurn()
    this.#until = performance.now() + this.#ms
  }

  /** Runs the steps of a generator to its end. The result of a single slice is there at once. */
  run<Result>(steps: Steps<Result>): Result | Promise<Result> {
    for (;;) {
      const { done, value } = steps.next()
      if (done === true) return value
      if (this.areOver) return this.pause().then(() => this.run(steps))
    }
  }
}

/** A computation that can stop at each `yield`, for functions that are also needed at once. */
export type Steps<Result> = Generator<undefined, Result, undefined>

export function atOnce<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}

/** Parts of a list, for calls that take long with many values. */
export function* partsOf<Value>(values: readonly Value[], size = 500): Generator<readonly Value[]> {
  for (let from = 0; from < values.length; from += size)
    yield values.length <= size ? values : values.slice(from, from + size)
}
