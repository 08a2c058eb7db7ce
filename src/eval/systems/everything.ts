import { Corpus } from '../corpus.ts'
import type { System } from '../system.ts'

/** Control: what the boundaries alone achieve when nothing is ever left out. */
export function everythingSystem(): System {
  let corpus = new Corpus()
  return {
    name: 'everything',
    version: '1',
    description: 'control: returns every current belief in scope, whatever the message',
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
      relevant: corpus.candidates(query).map(({ id }) => ({ id, score: null })),
      questions: [],
    }),
    close: async () => {},
  }
}
