import type { BeliefRecord } from '../../memory/belief-record.ts'
import type { Expectations } from '../kinds/retrieval/expectations.ts'
import { Corpus } from './corpus.ts'
import { type Subject, tierSupplier } from './subject.ts'
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

/**
 * Control: the ceiling. Returns what a case expects, as far as the boundaries allow it and the budget holds it, so a
 * case it fails contradicts itself or asks for something no memory may show.
 */
export function oracleSubject(ours: () => System): Subject {
  const supplier = tierSupplier(ours())
  let corpus = new Corpus()
  return {
    name: 'oracle',
    version: '1',
    description: 'control: returns what the case expects; a case it fails cannot be passed',
    notes: [],
    hasSuppliedTiers: true,
    begin: async ({ beliefs }) => {
      corpus = new Corpus(beliefs)
      await supplier.begin(beliefs)
      return { value: [], ms: 0 }
    },
    change: async (update) => {
      corpus.apply(update)
      await supplier.change(update)
    },
    answer: async (query, expect) => {
      const relevant = wantedBy(expect, corpus, query).map((id) => ({ id, score: null }))
      const value = await supplier.complete(query, { prelude: null, pinned: [], relevant, questions: [] })
      return { value, ms: 0 }
    },
    close: () => supplier.close(),
  }
}

function wantedBy(
  { relevantBeliefs = {}, noiseCheck }: Expectations,
  corpus: Corpus,
  query: SystemQuery,
): readonly string[] {
  const {
    shouldOnlyInclude,
    mustInclude = [],
    shouldInclude = [],
    mustExclude = [],
    orderedBefore = [],
    minCount = 0,
  } = relevantBeliefs
  const found = corpus.candidates(query)
  const allowed = new Set([...found, ...corpus.participantsOf(found, query)].map(({ id }) => id))
  const wanted = (shouldOnlyInclude ?? [...mustInclude, ...shouldInclude, ...orderedBefore.flat()]).filter((id) =>
    allowed.has(id),
  )
  const unwanted = new Set([...mustExclude, ...(noiseCheck?.mustNotSurface ?? [])])
  const fill =
    shouldOnlyInclude === undefined ? [...allowed].filter((id) => !wanted.includes(id) && !unwanted.has(id)) : []
  const ids = [...new Set(wanted)]
  return inOrder([...ids, ...fill.slice(0, Math.max(0, minCount - ids.length))], orderedBefore)
}

/** Moves a belief in front of the one it must precede until every pair stands right, or a circle keeps that from happening. */
function inOrder(ids: readonly string[], pairs: readonly (readonly [string, string])[]): readonly string[] {
  const ordered = [...ids]
  for (let round = 0; round <= pairs.length; round += 1) {
    const wrong = pairs.filter(
      ([first, second]) => ordered.includes(second) && ordered.indexOf(first) > ordered.indexOf(second),
    )
    if (wrong.length === 0) break
    for (const [first, second] of wrong) {
      ordered.splice(ordered.indexOf(first), 1)
      ordered.splice(ordered.indexOf(second), 0, first)
    }
  }
  return ordered
}
