import { parseScopes, visibleScopes } from '../../beliefs/scope.ts'
import type { TurnRole } from '../../beliefs/turn.ts'
import type { Explanation } from '../../search/explanation.ts'
import { sentencesOf } from '../../search/sentences.ts'
import { dateWindow } from '../../search/turns/date-window.ts'
import { newestFirst } from '../../search/turns/newest-first.ts'
import { parseQuestion, type Question } from '../../search/turns/question.ts'
import { type RankedTurn, rankTurns } from '../../search/turns/rank.ts'
import { type Strength, strengthOf, termsIn } from '../../search/turns/strength.ts'
import type { TurnView } from '../../search/turns/turn-index.ts'
import { pointsOf } from '../../search/turns/word-points.ts'
import type { Ports } from '../change/transaction.ts'
import { parseTime } from '../recall/parse-time.ts'

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
}

/** What somebody said that answers a question. */
export type QuoteHit = {
  /** The telling sentences, word for word. */
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
  /** Something newer about the same thing stands before it. */
  readonly earlier: boolean
  readonly score: number
  readonly explanation: Explanation
  /** The words of the question that it holds, as they stand in the text. */
  readonly found: readonly string[]
}

/** What may be newer about the same thing: among so many of the first, with at least this share of the first one's score. */
const groupDepth = 10
const groupShare = 0.65

/** What was said that answers a question best, best first; of what speaks of the same thing, the newest first. */
export async function searchTurns(
  { store, now, embedder }: Pick<Ports, 'store' | 'now' | 'embedder'>,
  request: TurnSearch,
): Promise<readonly QuoteHit[]> {
  const view = viewOf(request)
  const question = parseQuestion(request.query, await store.turnSpeakers(view))
  const dates = await dateWindow(request.query, request.until === undefined ? now() : new Date(request.until))
  const model = question.asksAssistant ? undefined : await embedder?.()
  const nearness =
    model === undefined
      ? {}
      : { nearness: (await import('./meaning.ts')).nearnessTo(store, request.user, model, request.query) }
  const ranked = onePerTurn(await rankTurns(store, { view, question, dates, ...nearness }))
  const best = ranked[0]?.score ?? 0
  const ordered =
    question.asksPast || ranked[0]?.unit.role === 'tool'
      ? ranked.map((item) => ({ item, isEarlier: false }))
      : newestFirst(
          ranked,
          ({ turn, passage }) => ({ text: passage, at: Date.parse(turn.at), session: turn.session }),
          ({ score }, place) => place < groupDepth && score >= groupShare * best,
        )
  return ordered.map(({ item, isEarlier }) => hitOf(item, question, request.query, isEarlier))
}

/** The best passage of each turn. */
function onePerTurn(ranked: readonly RankedTurn[]): readonly RankedTurn[] {
  const seen = new Set<number>()
  return ranked.filter(({ unit }) => !seen.has(unit.first) && seen.add(unit.first))
}

export function viewOf({ user, scopes, since, until, speaker, session, roles }: TurnSearch): TurnView {
  return {
    user,
    scopes: scopes === undefined ? null : visibleScopes(parseScopes(scopes)),
    ...(since === undefined ? {} : { since: parseTime('since', since) }),
    ...(until === undefined ? {} : { until: parseTime('until', until) }),
    ...(speaker === undefined ? {} : { speaker }),
    ...(session === undefined ? {} : { session }),
    ...(roles === undefined ? {} : { roles }),
  }
}

function hitOf(
  { turn, passage, score, explanation }: RankedTurn,
  question: Question,
  query: string,
  earlier: boolean,
): QuoteHit {
  const { id, session, index, speaker, role, at, scope } = turn
  const text = tellingPart(passage, question)
  const held = termsIn(passage)
  const isVerbatim = /\S\s+\S/u.test(query.trim()) && passage.toLowerCase().includes(query.trim().toLowerCase())
  return {
    text,
    turn: id,
    session,
    index,
    speaker,
    role,
    at,
    scope,
    strength: isVerbatim ? 'exact' : strengthOf(question.terms.keys(), held),
    earlier,
    score,
    explanation,
    found: [...question.terms.keys()].filter((term) => held.has(term)),
  }
}

/** A turn up to this many characters is quoted whole. */
const longestQuote = 500

/** The sentence with the most telling words, and what stands around it, up to the length of a quote. */
function tellingPart(passage: string, { terms }: Question): string {
  if (passage.length <= longestQuote) return passage.trim()
  const sentences = sentencesOf(passage)
  const worth = sentences.map(({ text }) => {
    const held = termsIn(text)
    return [...terms.keys()].reduce((total, term) => total + (held.has(term) ? pointsOf(term) : 0), 0)
  })
  let first = worth.indexOf(Math.max(...worth))
  let last = first
  const lengthOf = (from: number, to: number): number => (sentences[to]?.end ?? 0) - (sentences[from]?.start ?? 0)
  for (;;) {
    const after = last + 1 < sentences.length && lengthOf(first, last + 1) <= longestQuote
    const before = first > 0 && lengthOf(first - 1, last) <= longestQuote
    if (!after && !before) break
    // The side that tells more goes first; what follows rather than what stands before.
    if (after && (!before || (worth[last + 1] ?? 0) >= (worth[first - 1] ?? 0))) last += 1
    else first -= 1
  }
  const text = passage.slice(sentences[first]?.start ?? 0, sentences[last]?.end ?? passage.length)
  return text.length > longestQuote ? `${text.slice(0, longestQuote - 1).trimEnd()}…` : text
}
