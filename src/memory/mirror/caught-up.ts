import type { Memory } from '../memory.ts'

/** The same memory, which takes in what somebody wrote into the mirror before it answers. */
export const caughtUp = (memory: Memory, catchUp: () => Promise<void>): Memory => ({
  ...memory,
  recall: async (message, options) => {
    await catchUp()
    return memory.recall(message, options)
  },
  search: async (query, options) => {
    await catchUp()
    return memory.search(query, options)
  },
  why: async (message, reference, options) => {
    await catchUp()
    return memory.why(message, reference, options)
  },
  get: async (reference) => {
    await catchUp()
    return memory.get(reference)
  },
  list: async (options) => {
    await catchUp()
    return memory.list(options)
  },
  scopes: async () => {
    await catchUp()
    return memory.scopes()
  },
  export: async function* (filter) {
    await catchUp()
    yield* memory.export(filter)
  },
})
