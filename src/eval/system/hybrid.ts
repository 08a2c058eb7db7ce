import type { System } from './system.ts'

/** What the precise lane finds, then what only the similar one does. */
export function hybridSystem({ precise, similar }: { readonly precise: System; readonly similar: System }): System {
  return {
    name: 'hybrid',
    version: `${precise.version} + ${similar.version}`,
    description: `${precise.name} first, then what only ${similar.name} finds`,
    tiers: 'relevant',
    notes: similar.notes ?? [],
    reset: async () => {
      await precise.reset()
      await similar.reset()
    },
    ingest: async (beliefs) => [...(await precise.ingest(beliefs)), ...(await similar.ingest(beliefs))],
    update: async (update) => {
      await precise.update(update)
      await similar.update(update)
    },
    recall: async (query) => {
      const [first, second] = [await precise.recall(query), await similar.recall(query)]
      const found = new Set(first.relevant.map(({ id }) => id))
      const relevant = [...first.relevant, ...second.relevant.filter(({ id }) => !found.has(id))]
      return { ...first, prelude: null, pinned: [], questions: [], relevant }
    },
    close: async () => {
      await precise.close()
      await similar.close()
    },
  }
}
