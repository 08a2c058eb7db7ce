import { type Belief, type BeliefType, isCurrent, isVisibleTo, type Status } from '../../beliefs/belief.ts'
import { parseScopes, visibleScopes } from '../../beliefs/scope.ts'
import { MemoryError } from '../../errors.ts'
import { analyse } from '../../search/analyse.ts'
import { type Linked, linkMessage } from '../../search/link.ts'
import { scoreLink } from '../../search/score.ts'
import { askedWords, beginningIn } from '../../search/searchable-text.ts'
import { singular } from '../../search/singular.ts'
import { type Strength, strengthOf, termsIn } from '../../search/turns/strength.ts'
import type { Ports } from '../change/transaction.ts'
import { type QuoteHit, searchTurns, type TurnSearch } from '../conversation/search-turns.ts'
import { isMentioned } from '../explain/near-misses.ts'
import { parseTime } from './parse-time.ts'

/** What `search` looks through. */
export const searchPlaces = ['both', 'beliefs', 'turns'] as const

export type SearchRequest = BeliefSearch &
  TurnSearch & {
    /** Default both. */
    readonly in?: (typeof searchPlaces)[number]
    /** What was known at this time. */
    readonly asOf?: string
  }

export type BeliefSearch = {
  readonly user: string
  readonly query: string
  /** Only these scopes and their ancestors; every scope of the user when left out. */
  readonly scopes?: readonly string[]
  readonly agent?: string | null
  readonly types?: readonly BeliefType[]
  readonly statuses?: readonly Status[]
  /** The last word may still be being typed: beliefs with a word that begins like it are found too. Default false. */
  readonly isUnfinished?: boolean
  /** Also superseded, resolved and proposed beliefs. Asking for the status `superseded` includes them. */
  readonly includeRetired?: boolean
  /** Default 10, at most 100. */
  readonly limit?: number
  readonly offset?: number
}

/** A stretch of a field that one of the words asked for was found in. */
export type Highlight = {
  readonly field: 'name' | 'alias' | 'content' | 'why'
  readonly start: number
  readonly end: number
  readonly text: string
}

/** `exact`: a whole surface form occurs in the question. Otherwise words of the question occur somewhere in the belief. */
export type SearchHit = {
  readonly strength: Strength
  readonly belief: Belief
  readonly score: number
  readonly highlights: readonly Highlight[]
}

export type SearchResult = {
  readonly beliefs: readonly SearchHit[]
  /** How many beliefs there are in all. */
  readonly total: number
  readonly quotes: readonly QuoteHit[]
}

const deepest = 500

/**
 * Answers somebody who asks: beliefs by the words of their names and texts, exact hits first, and what was said, best
 * first. There is always an answer where any word of the question occurs; its strength says how far to trust it.
 */
export async function search(ports: Ports, asked: SearchRequest): Promise<SearchResult> {
  const { limit = 10, offset = 0 } = asked
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > 100)
    throw new MemoryError('invalid', `The limit ${limit} is out of range.`, {
      hint: 'Give a whole number from 1 to 100.',
    })
  if (!Number.isSafeInteger(offset) || offset < 0)
    throw new MemoryError('invalid', `The offset ${offset} is out of range.`, {
      hint: 'Give a whole number, 0 or more.',
    })
  const { in: place = 'both', asOf: time, ...request } = asked
  const then = time === undefined ? ports : await (await import('./as-of.ts')).asOf(ports, asked.user, time)
  const hits = place === 'turns' ? [] : await everyHit(then, request)
  const until = earlierOf(request.until, time)
  const quotes =
    place === 'beliefs' ? [] : await searchTurns(then, { ...request, ...(until === undefined ? {} : { until }) })
  return {
    beliefs: hits.slice(offset, offset + limit),
    total: hits.length,
    quotes: quotes.slice(offset, offset + limit),
  }
}

const earlierOf = (one: string | undefined, other: string | undefined): string | undefined =>
  one === undefined || other === undefined
    ? (one ?? other)
    : parseTime('until', one) < parseTime('until', other)
      ? one
      : other

/** All that is found, best first, however many that are. */
export async function everyHit(
  ports: Ports,
  asked: Omit<BeliefSearch, 'limit' | 'offset'>,
): Promise<readonly SearchHit[]> {
  const includeRetired = asked.includeRetired ?? asked.statuses?.includes('superseded') ?? false
  const request = { ...asked, includeRetired }
  const { user, query, agent = null } = request
  const words = askedWords(query)
  if (words.length === 0) return []
  const beginning = request.isUnfinished === true ? unfinishedWord(query, words) : null
  const scopes = request.scopes === undefined ? null : visibleScopes(parseScopes(request.scopes))

  const everyScope = scopes ?? (await ports.store.scopes(user)).map(({ scope }) => scope)
  const linked = await linkMessage(query, { user, agent, scopes: everyScope }, ports.store)
  const isAskedFor = asksFor(words, beginning)
  const exact = await exactHits(ports, request, linked, isAskedFor)
  const known = new Set(exact.map(({ belief }) => belief.id))
  const found = await ports.store.matchText({
    user,
    agent,
    scopes,
    words,
    ...(beginning === null ? {} : { beginning }),
    // At least half of the words asked for, so that one common word does not make a hit of everything.
    atLeast: Math.ceil(words.length / 2),
    includeRetired,
    limit: deepest,
  })
  const scores = new Map(found.map(({ beliefId, score }) => [beliefId, score]))
  const beliefs = await ports.store.getMany(
    user,
    found.map(({ beliefId }) => beliefId),
  )
  const asking = termsIn(query)
  // What is retired has no mention that counts, but may still be called by its whole name.
  const others = beliefs
    .filter((belief) => !known.has(belief.id) && passes(belief, request))
    .map(
      (belief): SearchHit => ({
        strength:
          !isCurrent(belief) && isMentioned(belief, linked)
            ? 'exact'
            : strengthOf(
                asking,
                termsIn(
                  fieldsOf(belief)
                    .map(({ text }) => text)
                    .join('\n'),
                ),
              ),
        belief,
        score: scores.get(belief.id) ?? 0,
        highlights: highlights(belief, isAskedFor),
      }),
    )
  return [...exact, ...others.filter(isExact), ...others.filter((hit) => !isExact(hit))]
}

/** What the last of the words begins like, unless that word says nothing by itself. */
function unfinishedWord(query: string, words: readonly string[]): string | null {
  const beginning = beginningIn(query)
  return beginning !== null && words.at(-1) === singular(beginning) ? beginning : null
}

type IsAskedFor = (word: string) => boolean

function asksFor(words: readonly string[], beginning: string | null): IsAskedFor {
  const wanted = new Set(words)
  return (word) => wanted.has(singular(word)) || (beginning !== null && word.startsWith(beginning))
}

const isExact = ({ strength }: SearchHit): boolean => strength === 'exact'

async function exactHits(
  { store }: Ports,
  request: BeliefSearch,
  { links, population }: Linked,
  isAskedFor: IsAskedFor,
): Promise<readonly SearchHit[]> {
  const scores = new Map(links.map((link) => [link.posting.beliefId, scoreLink(link, population).value]))
  const beliefs = await store.getMany(request.user, [...scores.keys()])
  return beliefs
    .filter((belief) => passes(belief, request))
    .map(
      (belief): SearchHit => ({
        strength: 'exact',
        belief,
        score: scores.get(belief.id) ?? 0,
        highlights: highlights(belief, isAskedFor),
      }),
    )
    .sort(
      (one, other) =>
        other.score - one.score ||
        compare(one.belief.name, other.belief.name) ||
        compare(one.belief.id, other.belief.id),
    )
}

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)

const passes = (belief: Belief, { types, statuses, includeRetired, agent = null }: BeliefSearch): boolean =>
  (types === undefined || types.includes(belief.type)) &&
  (statuses === undefined || statuses.includes(belief.status)) &&
  (includeRetired === true || isCurrent(belief)) &&
  isVisibleTo(belief.agent, agent)

function highlights(belief: Belief, isAskedFor: IsAskedFor): readonly Highlight[] {
  return fieldsOf(belief).flatMap(({ field, text }) =>
    analyse(text)
      .filter(({ word }) => isAskedFor(word))
      .map(({ start, end }) => ({ field, start, end, text: text.slice(start, end) })),
  )
}

const fieldsOf = (belief: Belief): readonly { field: Highlight['field']; text: string }[] => [
  { field: 'name', text: belief.name },
  ...belief.aliases.map((text) => ({ field: 'alias' as const, text })),
  { field: 'content', text: belief.content },
  { field: 'why', text: belief.why },
]
