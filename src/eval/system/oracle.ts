import type { Expectations } from '../kinds/retrieval/expectations.ts'
import { Corpus } from './corpus.ts'
import { type Subject, tierSupplier } from './subject.ts'
import type { System, SystemQuery } from './system.ts'

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
