import { type Belief, type BeliefType, isCurrent, isVisibleTo, type Status } from '../../beliefs/belief.ts'
import { compareStrings } from '../../beliefs/identity.ts'
import { parseScopes, visibleScopes } from '../../beliefs/scope.ts'
import { invalid } from '../../errors.ts'
import { parseTime } from '../../local-time.ts'
import { omitUndefined } from '../../omit-undefined.ts'
import { analyse } from '../../search/analyse.ts'
import { linkMessage } from '../../search/link.ts'
import { cutMessage, isTooLong, keepEnds } from '../../search/message.ts'
import { type Score, scoreLinks } from '../../search/score.ts'
import { beginningIn, questionWordsIn } from '../../search/searchable-text.ts'
import { singular } from '../../search/singular.ts'
import { forEachInSlices, splitIntoParts } from '../../search/slices.ts'
import { type Strength, strengthOf, termsIn } from '../../search/turns/strength.ts'
import { sortNewestValueFirst } from '../change/other-value.ts'
import { type QuoteHit, searchTurns, type TurnSearch } from '../conversation/search-turns.ts'
import { isMentioned } from '../explain/near-misses.ts'
import type { Ports, Store } from '../ports.ts'
import { asOf } from './as-of.ts'

/** The places that `search` looks through. */
export const searchPlaces = ['both', 'beliefs', 'turns'] as const

export type SearchRequest = BeliefSearch &
  TurnSearch & {
    /** Default both. */
    readonly in?: (typeof searchPlaces)[number]
    /** Searches the state of the memory at this time. */
    readonly asOf?: string
  }

export type BeliefSearch = {
  readonly user: string
  readonly query: string
  /** Only these scopes and their ancestors. Default: every scope of the user. */
  readonly scopes?: readonly string[]
  readonly agent?: string | null
  readonly types?: readonly BeliefType[]
  readonly statuses?: readonly Status[]
  /** The last word may be incomplete: beliefs with a word that begins with it are found too. Default false. */
  readonly isUnfinished?: boolean
  /** Also finds superseded, resolved and proposed beliefs. Asking for the status `superseded` includes them. */
  readonly includeRetired?: boolean
  /** Default 10, at most 100. */
  readonly limit?: number
  readonly offset?: number
}

/** The position of a word of the query in a field. */
export type Highlight = {
  readonly field: 'name' | 'alias' | 'content' | 'why'
  readonly start: number
  readonly end: number
  readonly text: string
}

/** `exact`: the query contains a whole surface form. Otherwise the belief contains words of the query. */
export type SearchHit = {
  readonly strength: Strength
  readonly belief: Belief
  readonly score: number
  /** The cosine of its content with the query if it was found by meaning; null if it was found by words. */
  readonly cosine: number | null
  readonly highlights: readonly Highlight[]
}

export type SearchResult = {
  readonly beliefs: readonly SearchHit[]
  /** The number of beliefs on all pages. */
  readonly total: number
  readonly quotes: readonly QuoteHit[]
  /** `words`: vectors are off, or there are none yet. */
  readonly meaning: 'words' | 'vectors'
  /** Whether the query has more than 32,000 characters, so that only its first and last 16,000 were read. */
  readonly isQueryCut: boolean
}

const maxTextHits = 500
/** Max words of a query to look up. No belief has half of the words of a longer query, and looking them up would block a server. */
const maxTextWords = 100

export function requirePage({ limit, offset }: { limit: number; offset: number }, maxLimit = 1_000): void {
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > maxLimit)
    throw invalid(`The limit ${limit} is out of range.`, `Give a whole number from 1 to ${maxLimit}.`)
  if (!Number.isSafeInteger(offset) || offset < 0)
    throw invalid(`The offset ${offset} is out of range.`, 'Give a whole number, 0 or more.')
}

/**
 * Ranks beliefs by the words of their names and texts, exact hits first, and turns by their words. Weak hits are included;
 * `strength` shows how far to trust a hit.
 */
export async function search(ports: Ports, asked: SearchRequest): Promise<SearchResult> {
  requirePage(pageOf(asked), 100)
  if (asked.asOf === undefined) return searchFrom(ports, asked)
  const past = await asOf(ports, asked.user, asked.asOf)
  return searchFrom(past, asked).finally(past.store.close)
}

const pageOf = ({ limit = 10, offset = 0 }: SearchRequest) => ({ limit, offset })

async function searchFrom(ports: Ports, asked: SearchRequest): Promise<SearchResult> {
  const { in: place = 'both', asOf: time, ...given } = asked
  const request = { ...given, query: cutMessage(asked.query) }
  const { limit, offset } = pageOf(asked)
  const { hits: byWords, shown } = place === 'turns' ? { hits: [], shown: () => [] } : await everyHit(ports, request)
  const hits = place === 'turns' ? [] : [...byWords, ...(await hitsByMeaning(ports, request, byWords))]
  const until = earlierOf(request.until, time)
  const quotes =
    place === 'beliefs' ? [] : await searchTurns(ports, { ...request, ...omitUndefined({ until }), limit, offset })
  const page = sortNewestValueFirst(hits.slice(offset, offset + limit))
  const corrections = place === 'turns' ? [] : correctionsOf(quotes, page, request.query)
  const others = corrections.filter(({ belief }) => !hits.some((hit) => hit.belief.id === belief.id))
  return {
    beliefs: shown([...page, ...corrections]),
    total: hits.length + others.length,
    quotes,
    meaning: ports.embedder !== undefined && (await ports.store.hasVectors(request.user)) ? 'vectors' : 'words',
    isQueryCut: isTooLong(asked.query),
  }
}

/**
 * The current statements that replace outdated quotes, if the quote has words of the query and the statement is not on the page.
 * A quote that is only near in meaning shows its correction itself.
 */
function correctionsOf(quotes: readonly QuoteHit[], page: readonly RankedHit[], query: string): readonly RankedHit[] {
  const current = new Map(
    quotes.flatMap(({ correction, found }) =>
      correction !== null && found.length > 0 ? [[correction.id, correction] as const] : [],
    ),
  )
  for (const { belief } of page) current.delete(belief.id)
  const terms = termsIn(query)
  return [...current.values()].map((belief) => {
    return { strength: strengthOf(terms, termsOf(belief)), belief, score: 0, cosine: null }
  })
}

const earlierOf = (a: string | undefined, b: string | undefined): string | undefined =>
  a !== undefined && (b === undefined || parseTime('until', a) < parseTime('until', b)) ? a : b

/** Beliefs that are found by meaning and not by the words of the query. They come after those found by words. */
async function hitsByMeaning(
  { store, embedder }: Ports,
  request: BeliefSearch,
  known: readonly RankedHit[],
): Promise<readonly RankedHit[]> {
  if (embedder === undefined || request.isUnfinished === true) return []
  const { findBeliefsByMeaning, minCosine, maxNearBeliefs } = await import('../meaning/belief-meaning.ts')
  const near = await findBeliefsByMeaning({ store, embedder }, { user: request.user, message: keepEnds(request.query) })
  const cosines = new Map(
    near.filter(({ cosine }) => cosine >= minCosine).map(({ beliefId, cosine }) => [beliefId, cosine]),
  )
  const scopes = request.scopes === undefined ? null : visibleScopes(parseScopes(request.scopes))
  const isInScope = (belief: Belief): boolean =>
    scopes === null || belief.scopes.some((scope) => scopes.includes(scope))
  const isKnown = new Set(known.map(({ belief }) => belief.id))
  return (await store.getMany(request.user, [...cosines.keys()]))
    .filter((belief) => !isKnown.has(belief.id) && isInScope(belief) && passes(belief, request))
    .slice(0, maxNearBeliefs)
    .map((belief) => ({ strength: 'possible', belief, score: 0, cosine: cosines.get(belief.id) ?? null }))
}

type RankedHit = Omit<SearchHit, 'highlights'>

type Ranked = {
  readonly hits: readonly RankedHit[]
  /** Whether there are more hits, which were not ranked. */
  readonly isCut: boolean
  /** Finds the words of the query in the hits of a page. Doing so for all hits would take longer than ranking them. */
  readonly shown: (page: readonly RankedHit[]) => readonly SearchHit[]
}

/** Finds every hit of a search, in one snapshot of the store. */
export const everyHit = ({ store }: Ports, asked: Omit<BeliefSearch, 'limit' | 'offset'>): Promise<Ranked> =>
  store.withSnapshot(() => rankedHits(store, asked))

async function rankedHits(store: Store, asked: Omit<BeliefSearch, 'limit' | 'offset'>): Promise<Ranked> {
  const includeRetired = asked.includeRetired ?? asked.statuses?.includes('superseded') ?? false
  const request = { ...asked, includeRetired }
  const { user, query, agent = null } = request
  const asWords = keepEnds(query)
  const words = questionWordsIn(asWords).slice(0, maxTextWords)
  if (words.length === 0) return { hits: [], isCut: false, shown: () => [] }
  const beginning = request.isUnfinished === true ? unfinishedWord(asWords, words) : null
  const wanted = new Set(words)
  const isAskedFor = (word: string): boolean =>
    wanted.has(singular(word)) || (beginning !== null && word.startsWith(beginning))
  const highlightsIn = (belief: Belief): readonly Highlight[] =>
    fieldsOf(belief).flatMap(({ field, text }) =>
      analyse(text)
        .filter(({ word }) => isAskedFor(word))
        .map(({ start, end }) => ({ field, start, end, text: text.slice(start, end) })),
    )

  const scopes = request.scopes === undefined ? null : visibleScopes(parseScopes(request.scopes))
  const everyScope = scopes ?? (await store.scopes(user)).map(({ scope }) => scope)
  const linked = await linkMessage(query, { user, agent, scopes: everyScope }, store)
  const scores = await scoreLinks(linked.links, linked.population)
  const exactScores = new Map(linked.links.map(({ posting }, at) => [posting.beliefId, (scores[at] as Score).value]))
  const named: Belief[] = []
  await forEachInSlices(splitIntoParts([...exactScores.keys()]), async (ids) => {
    named.push(...(await store.getMany(user, ids)))
  })
  const exact = named
    .filter((belief) => passes(belief, request))
    .map((belief) => ({ strength: 'exact' as const, belief, score: exactScores.get(belief.id) ?? 0, cosine: null }))
    .sort(
      (a, b) =>
        b.score - a.score || compareStrings(a.belief.name, b.belief.name) || compareStrings(a.belief.id, b.belief.id),
    )

  // At least half of the words must occur, so that one common word does not make every belief a hit.
  const atLeast = Math.ceil(words.length / 2)
  const textQuery = { user, agent, scopes, words, atLeast, includeRetired, limit: maxTextHits }
  const found = await store.matchText({ ...textQuery, ...(beginning === null ? {} : { beginning }) })
  const textScores = new Map(found.map(({ beliefId, score }) => [beliefId, score]))
  const known = new Set(exact.map(({ belief }) => belief.id))
  const terms = termsIn(asWords)
  const others = (await store.getMany(user, [...textScores.keys()]))
    .filter((belief) => !known.has(belief.id) && passes(belief, request))
    .map((belief) => {
      // A retired belief has no link, but the query may still name it.
      const isNamed = !isCurrent(belief) && isMentioned(belief, linked)
      const strength = isNamed ? 'exact' : strengthOf(terms, termsOf(belief))
      return { strength, belief, score: textScores.get(belief.id) ?? 0, cosine: null } as const
    })
  const isExact = ({ strength }: RankedHit): boolean => strength === 'exact'
  const hits = [...exact, ...others.filter(isExact), ...others.filter((hit) => !isExact(hit))]
  const shown = (page: readonly RankedHit[]): readonly SearchHit[] =>
    page.map((hit) => ({ ...hit, highlights: highlightsIn(hit.belief) }))
  return { hits, isCut: found.length >= maxTextHits, shown }
}

/** The beginning of the incomplete last word; null if the last word is not among those searched for. */
function unfinishedWord(query: string, words: readonly string[]): string | null {
  const beginning = beginningIn(query)
  return beginning !== null && words.at(-1) === singular(beginning) ? beginning : null
}

const passes = (belief: Belief, { types, statuses, includeRetired, agent = null }: BeliefSearch): boolean =>
  (types === undefined || types.includes(belief.type)) &&
  (statuses === undefined || statuses.includes(belief.status)) &&
  (includeRetired === true || isCurrent(belief)) &&
  isVisibleTo(belief.agent, agent)

const fieldsOf = (belief: Belief): readonly { field: Highlight['field']; text: string }[] => [
  { field: 'name', text: belief.name },
  ...belief.aliases.map((text) => ({ field: 'alias' as const, text })),
  { field: 'content', text: belief.content },
  { field: 'why', text: belief.why },
]

const termsOf = (belief: Belief) => {
  const texts = fieldsOf(belief).map(({ text }) => text)
  return termsIn(texts.join('\n'))
}
