import type { BeliefRecord } from '../../memory/belief-record.ts'
import { Corpus } from './corpus.ts'
import type { System, SystemQuery } from './system.ts'

/** A system of a few lines that looks through the whole corpus every time, to see what so little achieves. */
export function controlSystem(
  { name, description }: Pick<System, 'name' | 'description'>,
  find: (corpus: Corpus, query: SystemQuery) => readonly BeliefRecord[],
): System {
  let corpus = new Corpus()
  return {
    name,
    version: '1',
    description,
    tiers: 'relevant',
    reset: async () => {
      corpus = new Corpus()
    },
    ingest: async (beliefs) => {
      corpus = new Corpus(beliefs)
      return []
    },
    update: async (update) => {
      corpus.apply(update)
    },
    recall: async (query) => ({
      prelude: null,
      pinned: [],
      relevant: find(corpus, query).map(({ id }) => ({ id, score: null })),
      questions: [],
    }),
    close: async () => {},
  }
}
