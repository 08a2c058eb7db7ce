import type { BeliefRecord } from '../../memory/transfer/belief-record.ts'
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

/** Control: the floor. Whatever passes with it needs no retrieval at all. */
export const noneSystem = (): System => ({
  name: 'none',
  version: '1',
  description: 'control: never finds a relevant belief',
  tiers: 'relevant',
  reset: async () => {},
  ingest: async () => [],
  update: async () => {},
  recall: async () => ({ prelude: null, pinned: [], relevant: [], questions: [] }),
  close: async () => {},
})

/** Control: what the boundaries alone achieve when nothing is ever left out. */
export const everythingSystem = (): System =>
  controlSystem(
    { name: 'everything', description: 'control: returns every current belief in scope, whatever the message' },
    (corpus, query) => corpus.candidates(query),
  )

/**
 * Control: what a few lines of string matching achieve. It knows nothing of plurals, typos, markup inside a form,
 * ordinary words or ranking, and shares no code with the engine.
 */
export const exactSystem = (): System =>
  controlSystem(
    {
      name: 'exact',
      description: 'control: returns beliefs in scope whose name or alias occurs in the message letter by letter',
    },
    (corpus, query) => {
      const found = corpus.candidates(query).filter((belief) => occursIn(belief, query.message))
      return [...found, ...corpus.participantsOf(found, query)]
    },
  )

function occursIn({ name, aliases }: BeliefRecord, message: string): boolean {
  const text = message.toLowerCase()
  return [name, ...aliases].some((form) => {
    const wanted = form.toLowerCase().replaceAll('_', ' ')
    for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1)) {
      if (!isWordCharacter(text[at - 1]) && !isWordCharacter(text[at + wanted.length])) return true
    }
    return false
  })
}

const isWordCharacter = (character: string | undefined): boolean =>
  character !== undefined && /[\p{L}\p{N}_]/u.test(character)
