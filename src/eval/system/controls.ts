import { visibleScopes } from '../../beliefs/scope.ts'
import { defaultBudget } from '../../memory/recall/context.ts'
import type { BeliefRecord } from '../../memory/transfer/belief-record.ts'
import type { Expectations } from '../runners/retrieval/expectations.ts'
import { Corpus, corpusSystem } from './corpus.ts'
import {
  type AnswerQuote,
  capabilities,
  emptyAnswer,
  type System,
  type SystemQuery,
  type SystemTurn,
} from './system.ts'
import { type SystemUnderTest, tierSupplier } from './under-test.ts'

const controlSystem = (
  name: string,
  description: string,
  find: (corpus: Corpus, query: SystemQuery) => readonly BeliefRecord[],
): System =>
  corpusSystem({
    name,
    version: '1',
    description: `control: ${description}`,
    find: async (corpus, query) => find(corpus, query).map(({ id }) => ({ id, score: null })),
  })

/** The lower bound: a case that this control passes needs no retrieval. */
export const noneSystem = (): System => controlSystem('none', 'never finds a relevant belief', () => [])

/** Shows the effect of the boundaries alone, without any ranking or cut. */
export const everythingSystem = (): System =>
  controlSystem('everything', 'returns every current belief in scope, whatever the message', (corpus, query) =>
    corpus.candidates(query),
  )

/** Shows the effect of plain string matching without plurals, typos, markup or ranking. Shares no code with the engine. */
export const exactSystem = (): System =>
  controlSystem(
    'exact',
    'returns beliefs in scope whose name or alias occurs in the message letter by letter',
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

/** The upper bound: returns the expected beliefs within boundaries and budget. No system can pass a case that it fails. */
export function oracleUnderTest(ours: () => System): SystemUnderTest {
  const supplier = tierSupplier(ours())
  let corpus = new Corpus()
  let said: readonly SystemTurn[] = []
  return {
    name: 'oracle',
    version: '1',
    description: 'control: returns what the case expects; a case it fails cannot be passed',
    notes: [],
    offers: capabilities,
    hasSuppliedTiers: true,
    begin: async ({ beliefs, turns = [] }) => {
      corpus = new Corpus(beliefs)
      said = turns
      await supplier.begin(beliefs)
      return { value: [], ms: 0 }
    },
    change: async (update) => {
      corpus.put(update.belief)
      await supplier.change(update)
    },
    answer: async (query, expect) => {
      const relevant = wantedIds(expect, corpus, query).map((id) => ({ id, score: null }))
      const quotes = wantedQuotes(expect, said, query)
      return { value: await supplier.complete(query, { ...emptyAnswer, relevant, quotes }), ms: 0 }
    },
    close: () => supplier.close(),
  }
}

function wantedIds(
  { relevantBeliefs = {}, noiseCheck }: Expectations,
  corpus: Corpus,
  query: SystemQuery,
): readonly string[] {
  const { shouldOnlyInclude, mustInclude = [], shouldInclude = [], mustExclude = [] } = relevantBeliefs
  const { orderedBefore = [], minCount = 0 } = relevantBeliefs
  const found = corpus.candidates(query)
  const allowed = new Set([...found, ...corpus.participantsOf(found, query)].map(({ id }) => id))
  const named = shouldOnlyInclude ?? [...mustInclude, ...shouldInclude, ...orderedBefore.flat()]
  const wanted = [...new Set(named)].filter((id) => allowed.has(id))
  const unwanted = new Set([...mustExclude, ...(noiseCheck?.mustNotSurface ?? [])])
  const others = [...allowed].filter((id) => !wanted.includes(id) && !unwanted.has(id))
  const fill = shouldOnlyInclude === undefined ? others.slice(0, Math.max(0, minCount - wanted.length)) : []
  return putInOrder([...wanted, ...fill], orderedBefore)
}

/** The expected quotes that a context may contain: the user's, visible, and within the limit. */
function wantedQuotes(
  { quotes = {} }: Expectations,
  turns: readonly SystemTurn[],
  { user, scopes, budget }: SystemQuery,
): readonly AnswerQuote[] {
  const visible = visibleScopes(scopes)
  const inView = turns.filter((turn) => turn.user === user && visible.includes(turn.scope))
  const { maxQuotes } = { ...defaultBudget, ...budget }
  return (quotes.mustInclude ?? [])
    .flatMap(({ turn, text }) =>
      inView.filter(({ id }) => id === turn).map((turnInView) => ({ turn, text: text ?? turnInView.text })),
    )
    .slice(0, maxQuotes)
}

/** Reorders beliefs until every pair is in order; gives up after one round per pair, because pairs may form a cycle. */
function putInOrder(ids: readonly string[], pairs: readonly (readonly [string, string])[]): readonly string[] {
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
