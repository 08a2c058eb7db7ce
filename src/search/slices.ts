import { yieldToEventLoop } from '../next-turn.ts'

/** Long work yields to the event loop after this many milliseconds, so that a server stays responsive. */
const sliceMs = 4

/** Calls `work` for each value in order, and yields to the event loop between two calls when the time slice is over. */
export async function forEachInSlices<Value>(
  values: Iterable<Value>,
  work: (value: Value) => void | Promise<void>,
  ms = sliceMs,
): Promise<void> {
  let until = performance.now() + ms
  for (const value of values) {
    const working = work(value)
    if (working !== undefined) await working
    if (performance.now() < until) continue
    await yieldToEventLoop()
    until = performance.now() + ms
  }
}

/** Runs a generator to its end, and yields to the event loop after a step when the time slice is over. */
export async function runInSlices<Result>(work: Generator<void, Result>): Promise<Result> {
  let result: Result | undefined
  const steps = function* (): Generator<void> {
    result = yield* work
  }
  await forEachInSlices(steps(), () => {})
  return result as Result
}

/** Splits a list, for calls that are slow with many values. */
export function* splitIntoParts<Value>(values: readonly Value[], size = 500): Generator<readonly Value[]> {
  for (let from = 0; from < values.length; from += size)
    yield values.length <= size ? values : values.slice(from, from + size)
}
