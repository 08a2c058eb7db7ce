import { sliceMs, yieldToEventLoop } from '../next-turn.ts'

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

/** Splits a list, for calls that are slow with many values. */
export function* splitIntoParts<Value>(values: readonly Value[], size = 500): Generator<readonly Value[]> {
  for (let from = 0; from < values.length; from += size)
    yield values.length <= size ? values : values.slice(from, from + size)
}
