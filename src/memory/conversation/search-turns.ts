import { parseScopes, visibleScopes } from '../../beliefs/scope.ts'
import type { TurnRole } from '../../beliefs/turn.ts'
import { omitUndefined } from '../../omit-undefined.ts'
import type { Explanation } from '../../search/explanation.ts'
import { sentencesOf } from '../../search/sentences.ts'
import { newestFirst } from '../../search/turns/newest-first.ts'
import { dateWindow, parseQuestion, type Question } from '../../search/turns/question.ts'
import { type RankedTurn, rankTurns } from '../../search/turns/rank.ts'
import { type Strength, strengthOf, termsIn } from '../../search/turns/strength.ts'
import type { TurnView } from '../../search/turns/turn-index.ts'
import { pointsOf } from '../../search/turns/word-points.ts'
import type { Ports } from '../ports.ts'
import { parseTime } from '../recall/as-of.ts'

/** Which turns a search looks at. */
export type TurnSearch = {
  readonly user: string
  readonly query: string
  /** These scopes and their ancestors; every scope of the user when left out. */
  readonly scopes?: readonly string[]
  /** Said at this time or later, and not after that one. */
  readonly since?: string
  readonly until?: string
  readonly speaker?: string
  readonly session?: string
  readonly roles?: readonly TurnRole[]
  /** How many hits, and after how many. Default all. */
  readonly limit?: number
  readonly offset?: number
}

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
  readonly at: string
  readonly scope: string
  readonly strength: Strength
  /** A newer turn about the same thing comes before it. */
  readonly earlier: boolean
  readonly score: number
  readonly explanation: Explanation
  /** Terms of the question that the passage holds. */
  readonly found: readonly string[]
}

/** Only the first hits with at least this share of the best score are reordered to put the newest first. */
const groupDepth = 10
const groupShare = 0.65

/** The turns that answer a question, best first; of those about the same thing, the newest first. */
export async function searchTurns(
  { store, now, embedder }: Pick<Ports, 'store' | 'now' | 'embedder'>,
  request: TurnSearch,
): Promise<readonly QuoteHit[]> {
  const { user, query } = request
  const view = viewOf(request)
  const question = parseQuestion(query, await store.turnSpeakers(view))
  const dates = await dateWindow(query, request.until === undefined ? now() : new Date(request.until))
  const model = question.asksAssistant ? undefined : await embedder?.()
  const nearness = model && (await import('./meaning.ts')).nearnessTo(store, user, model, query)
  const ranked = onePerTurn(await rankTurns(store, { view, question, dates, ...omitUndefined({ nearness }) }))
  const best = ranked[0]?.score ?? 0
  const ordered =
    question.asksPast || ranked[0]?.unit.role === 'tool'
      ? ranked.map((item) => ({ item, isEarlier: false }))
      : newestFirst(
          ranked,
          ({ turn, passage }) => ({ text: passage, at: Date.parse(turn.at), session: turn.session }),
          ({ score }, place) => place < groupDepth && score >= groupShare * best,
        )
  const { offset = 0, limit = ordered.length } = request
  return ordered.slice(offset, offset + limit).map(({ item, isEarlier }) => hitOf(item, question, query, isEarlier))
}

/** The best passage of each turn. */
function onePerTurn(ranked: readonly RankedTurn[]): readonly RankedTurn[] {
  const seen = new Set<number>()
  return ranked.filter(({ unit }) => !seen.has(unit.first) && seen.add(unit.first))
}

function viewOf({ user, scopes, since, until, speaker, session, roles }: TurnSearch): TurnView {
  const times = {
    since: since === undefined ? since : parseTime('since', since),
    until: until === undefined ? until : parseTime('until', until),
  }
  const inView = scopes === undefined ? null : visibleScopes(parseScopes(scopes))
  return { user, scopes: inView, ...omitUndefined({ ...times, speaker, session, roles }) }
}

function hitOf(ranked: RankedTurn, { terms }: Question, query: string, earlier: boolean): QuoteHit {
  const { turn, passage, score, explanation } = ranked
  const { id, session, index, speaker, role, at, scope } = turn
  const held = termsIn(passage)
  const isVerbatim = /\S\s+\S/u.test(query.trim()) && passage.toLowerCase().includes(query.trim().toLowerCase())
  const strength = isVerbatim ? 'exact' : strengthOf(terms.keys(), held)
  const found = [...terms.keys()].filter((term) => held.has(term))
  const said = { text: excerptOf(passage, terms), turn: id, session, index, speaker, role, at, scope }
  return { ...said, strength, earlier, score, explanation, found }
}

/** A turn up to this many characters is quoted whole. */
const longestQuote = 500

/** The sentence with the most informative words, extended on both sides up to the length of a quote. */
function excerptOf(passage: string, terms: Question['terms']): string {
  if (passage.length <= longestQuote) return passage.trim()
  const sentences = sentencesOf(passage)
  const points = sentences.map(({ text }) => {
    const held = termsIn(text)
    return [...terms.keys()].reduce((total, term) => total + (held.has(term) ? pointsOf(term) : 0), 0)
  })
  let first = points.indexOf(Math.max(...points))
  let last = first
  const lengthOf = (from: number, to: number): number => (sentences[to]?.end ?? 0) - (sentences[from]?.start ?? 0)
  for (;;) {
    const hasAfter = last + 1 < sentences.length && lengthOf(first, last + 1) <= longestQuote
    const hasBefore = first > 0 && lengthOf(first - 1, last) <= longestQuote
    if (!hasAfter && !hasBefore) break
    // The side with more points is added first; on a tie, the sentence after.
    if (hasAfter && (!hasBefore || (points[last + 1] ?? 0) >= (points[first - 1] ?? 0))) last += 1
    else first -= 1
  }
  const text = passage.slice(sentences[first]?.start ?? 0, sentences[last]?.end ?? passage.length)
  return text.length > longestQuote ? `${text.slice(0, longestQuote - 1).trimEnd()}…` : text
}
