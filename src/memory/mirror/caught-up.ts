import type { Memory } from '../memory.ts'

/**
 * The same memory, which takes in what somebody wrote into the mirror before it does anything: a question finds it, and
 * a change comes after it instead of colliding with it.
 */
export function caughtUp(memory: Memory, catchUp: () => Promise<void>): Memory {
  const first =
    <Args extends readonly unknown[], Result>(call: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      await catchUp()
      return call(...args)
    }
  const { close, export: exporting, exportTurns, ...calls } = memory
  const caught = Object.entries(calls).map(([name, call]) => [
    name,
    first(call as (...args: readonly unknown[]) => Promise<unknown>),
  ])
  return {
    // Each call is the one of its name, with a look at the file before it.
    ...(Object.fromEntries(caught) as typeof calls),
    export: async function* (filter) {
      await catchUp()
      yield* exporting(filter)
    },
    // What was said does not stand in the mirror.
    exportTurns,
    close,
  }
}
