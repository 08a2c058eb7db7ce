import type { ActorKind, Belief } from '../../beliefs/belief.ts'
import { parseScopes, visibleScopes } from '../../beliefs/scope.ts'
import type { Turn, TurnRole } from '../../beliefs/turn.ts'
import { invalid } from '../../errors.ts'
import { parseTime } from '../../local-time.ts'
import { omitUndefined } from '../../omit-undefined.ts'
import type { Explanation } from '../../search/explanation.ts'
import { findPaste } from '../../search/turns/pasted.ts'
import { dateWindow, parseQuestion, type Question } from '../../search/turns/question.ts'
import { type RankedTurn, rankTurns } from '../../search/turns/rank.ts'
import type { HoldingSentence } from '../../search/turns/sentences-holding.ts'
import { type Strength, strengthOf } from '../../search/turns/strength.ts'
import type { TurnView } from '../../search/turns/turn-index.ts'
import { pointsOf } from '../../search/turns/word-points.ts'
import type { Ports, Store } from '../ports.ts'
import { findRetirement } from '../recall/retired-quotes.ts'
import { meaningFor } from './meaning-for.ts'

/** A query, and the turns to search. */
export type TurnSearch = {
  readonly user: string
  readonly query: string
  /** Only these scopes and their ancestors. Default: every scope of the user. */
  readonly scopes?: readonly string[]
  /** Only turns said at or after `since`, and not after `until`. */
  readonly since?: string
  readonly until?: string
  readonly speaker?: string
  readonly session?: string
  readonly roles?: readonly TurnRole[]
  /** The agent that asks. Corrections that belong to another agent are not shown. */
  readonly agent?: string | null
  /** `limit` is the max number of hits (default: all), `offset` the number of hits to skip. */
  readonly limit?: number
  readonly offset?: number
  /** How many turns to return before each hit and after it, tool steps not counted. Default 0, at most 10. */
  readonly around?: number
}

/** A turn before or after a hit. A long text is cut. */
export type NearbyTurn = Pick<Turn, 'id' | 'role' | 'speaker' | 'at' | 'utcOffset' | 'text'>

/** A passage of a turn that answers a question. */
export type QuoteHit = {
  /** The sentences that answer best, word for word. */
  readonly text: string
  /** Id of the turn. */
  readonly turn: string
  readonly session: string
  readonly index: number
  readonly speaker: string | null
  readonly role: TurnRole
  /** The author of the words; `document` for text that the person pasted. */
  readonly origin: ActorKind
  readonly at: string
  /** The UTC offset of the turn. */
  readonly utcOffset: number | null
  readonly scope: string
  readonly strength: Strength
  /** Whether a newer turn about the same thing is ranked before this one. */
  readonly earlier: boolean
  /** When the person corrected the statement or settled the question; `correction` is the current statement, if there is one. */
  readonly correctedAt: string | null
  readonly correction: Belief | null
  readonly score: number
  readonly explanation: Explanation
  /** Terms of the question that the passage contains. */
  readonly found: readonly string[]
  /** The turns before and after this one in the conversation, oldest first, if the request asked for them. */
  readonly around?: readonly NearbyTurn[] | undefined
}

/** The turns that answer a question, best first. Among turns about the same thing, newest first. */
export async function searchTurns(
  { store, now, embedder }: Pick<Ports, 'store' | 'now' | 'embedder'>,
  request: TurnSearch,
): Promise<readonly QuoteHit[]> {
  const { query } = request
  const view = viewOf(request)
  const question = parseQuestion(query, await store.turnSpeakers(view))
  const dates = await dateWindow(query, view.until === undefined ? now() : new Date(view.until))
  const meaning = await meaningFor({ store, embedder }, { user: view.user, question, message: query })
  const { offset = 0, limit = Number.POSITIVE_INFINITY } = request
  const ranked = await rankTurns(store, { view, question, dates, ...omitUndefined({ meaning }) })
  const hits = ranked.slice(offset, offset + limit).map((item) => hitOf(item, question, query))
  const current = await Promise.all(hits.map((hit) => withCorrection(store, view, request.agent ?? null, hit)))
  const { around = 0 } = request
  if (!Number.isSafeInteger(around) || around < 0 || around > maxAround)
    throw invalid(`around is ${around}.`, `Give a whole number from 0 to ${maxAround}.`)
  if (around === 0) return current
  return Promise.all(current.map(async (hit) => ({ ...hit, around: await turnsAround(store, view, hit, around) })))
}

export const maxAround = 10
/** Max characters of one turn around a hit. */
const maxNearbyLength = 1_000
/** Max tool steps to skip on each side to find turns of people and agents. */
const maxStepsSkipped = 40

/** The nearest turns before and after a hit. Leaves out tool steps, and turns that the search may not see. */
async function turnsAround(
  store: Store,
  { user, scopes, since, until }: TurnView,
  { turn, session, index }: QuoteHit,
  around: number,
): Promise<readonly NearbyTurn[]> {
  const reach = around + maxStepsSkipped
  const offset = Math.max(0, index - reach)
  const { items } = await store.listTurns({ user, session }, { limit: index - offset + reach + 1, offset })
  const isInView = ({ role, scope, at }: Turn): boolean =>
    role !== 'tool' &&
    (scopes === null || scopes.includes(scope)) &&
    (since === undefined || Date.parse(at) >= since) &&
    (until === undefined || Date.parse(at) <= until)
  const seen = items.filter((one) => one.id === turn || isInView(one))
  const place = seen.findIndex(({ id }) => id === turn)
  if (place < 0) return []
  return [...seen.slice(Math.max(0, place - around), place), ...seen.slice(place + 1, place + 1 + around)].map(
    ({ id, role, speaker, at, utcOffset, text }) => ({ id, role, speaker, at, utcOffset, text: cutEnd(text) }),
  )
}

const cutEnd = (text: string): string =>
  text.length <= maxNearbyLength ? text : `${text.slice(0, maxNearbyLength).toWellFormed()}…`

/** Marks a hit that was corrected later. It is never a strong hit, because it no longer answers the question. */
async function withCorrection(
  store: Store,
  { user, scopes }: TurnView,
  agent: string | null,
  hit: QuoteHit,
): Promise<QuoteHit> {
  const retirement = await findRetirement(store, { user, agent, scopes }, hit)
  if (retirement === null) return hit
  return { ...hit, strength: 'possible', correctedAt: retirement.at, correction: retirement.current }
}

function viewOf({ user, scopes, since, until, speaker, session, roles }: TurnSearch): TurnView {
  const times = {
    since: since === undefined ? since : parseTime('since', since),
    until: until === undefined ? until : parseTime('until', until),
  }
  const inView = scopes === undefined ? null : visibleScopes(parseScopes(scopes))
  return { user, scopes: inView, ...omitUndefined({ ...times, speaker, session, roles }) }
}

function hitOf(ranked: RankedTurn, { terms }: Question, query: string): QuoteHit {
  const { turn, passage, score, isEarlier: earlier } = ranked
  const { id, session, index, speaker, role, at, utcOffset, scope } = turn
  const sentences = ranked.sentences()
  const held = new Set(sentences.flatMap((sentence) => [...sentence.held]))
  const isVerbatim = /\S\s+\S/u.test(query.trim()) && passage.toLowerCase().includes(query.trim().toLowerCase())
  const strength = isVerbatim ? 'exact' : strengthOf(terms.keys(), held)
  const found = [...terms.keys()].filter((term) => held.has(term))
  const text = excerptOf(passage, sentences)
  const said = { text, turn: id, session, index, speaker, role, origin: originOf(turn, text), at, utcOffset, scope }
  return {
    ...said,
    strength,
    earlier,
    correctedAt: null,
    correction: null,
    score,
    explanation: ranked.explain(),
    found,
  }
}

/** The author of a quote; `document` for text that a person pasted. */
function originOf({ role, origin, text }: Turn, quote: string): ActorKind {
  if (role !== 'user' || origin !== 'person') return origin
  const start = text.indexOf(quote.replace(/…$/u, ''))
  return start >= 0 && start >= findPaste(text) ? 'document' : origin
}

/** Turns of at most this many characters are quoted whole. */
const maxQuoteLength = 500

/** The sentence with the most informative words, extended on both sides up to the length of a quote. */
function excerptOf(passage: string, sentences: readonly HoldingSentence[]): string {
  if (passage.length <= maxQuoteLength) return passage.trim()
  const points = sentences.map(({ held }) => [...held].reduce((total, term) => total + pointsOf(term), 0))
  let first = points.indexOf(Math.max(...points))
  let last = first
  const lengthOf = (from: number, to: number): number => (sentences[to]?.end ?? 0) - (sentences[from]?.start ?? 0)
  for (;;) {
    const hasAfter = last + 1 < sentences.length && lengthOf(first, last + 1) <= maxQuoteLength
    const hasBefore = first > 0 && lengthOf(first - 1, last) <= maxQuoteLength
    if (!hasAfter && !hasBefore) break
    // The side with more points is added first; on a tie, the sentence after.
    if (hasAfter && (!hasBefore || (points[last + 1] ?? 0) >= (points[first - 1] ?? 0))) last += 1
    else first -= 1
  }
  const text = passage.slice(sentences[first]?.start ?? 0, sentences[last]?.end ?? passage.length)
  return text.length > maxQuoteLength ? `${text.slice(0, maxQuoteLength - 1).trimEnd()}…` : text
}
