import type { Turn } from '../../beliefs/turn.ts'
import type { Explanation } from '../explanation.ts'
import { correctionCue, joinSentences, type Sentence } from '../sentences.ts'
import { type Candidates, type Ranking, type SearchedIndex, shareOf } from './candidates.ts'
import { compareSentences, sentencesToEmbed } from './change.ts'
import { passagesOf } from './passages.ts'
import { endsInColon, type OwnPart, ownParts } from './pasted.ts'
import type { PushDecision } from './push.ts'
import { parseQuestion } from './question.ts'
import type { ScoredMessage } from './rank.ts'
import { termsOf } from './terms.ts'
import type { TurnUnit, TurnView } from './turn-index.ts'
import { pointsOf } from './word-points.ts'

/** `sure`: the person's own words, very likely an answer. `perhaps`: background that may help. */
export type QuoteLevel = 'sure' | 'perhaps'

export type PushedQuote = {
  readonly turn: Turn
  readonly text: string
  readonly level: QuoteLevel
  /** The probability that the turn helps with the message. */
  readonly probability: number
  /** `score` is the log odds of `probability`, and `explanation` the sum that gives it. */
  readonly score: number
  readonly explanation: Explanation
  /** Words of the message, as written there: those in the quote, and those elsewhere in its turn or in a turn next to it. */
  readonly shared: readonly string[]
  readonly nearby: readonly string[]
  /** Whether the quote may be text that the person pasted. */
  readonly perhapsPasted: boolean
  /** Whether newer quotes about the same thing come before it. */
  readonly isEarlier: boolean
  /** Ids of the newer turns that may update it. It is shown only after them. */
  readonly newer: readonly string[]
}

/** Max distance in turns between a quote and its correction, or between a pasted text and its announcement. */
export const reach = 2

/** The words of the message, as written, by term. */
export function messageWords(message: string, { weights }: Candidates['terms']): ReadonlyMap<string, string> {
  const words = new Map<string, string>()
  for (const { term, start, end } of termsOf(message))
    if (weights.has(term) && !words.has(term)) words.set(term, message.slice(start, end))
  return words
}

/** Quotes, from each of the ranked turns at `places`, the sentence that fits the message best by words and meaning. */
export async function quoteTurns(
  index: SearchedIndex,
  { view, meaning }: Ranking,
  { terms }: Candidates,
  { ranked, explanations, probabilities }: Pick<PushDecision, 'ranked' | 'explanations' | 'probabilities'>,
  places: readonly number[],
  message: string,
): Promise<ReadonlyMap<number, PushedQuote>> {
  const candidates = places.map((place) => (ranked[place] as ScoredMessage).candidate)
  const cosines = await compareSentences(index, view.user, meaning, candidates)
  const words = messageWords(message, terms)
  const written = (some: Iterable<string>): readonly string[] => [...some].flatMap((term) => words.get(term) ?? [])
  return new Map(
    places.map((place, at): readonly [number, PushedQuote] => {
      const { turn, unit, own, before, after } = candidates[at] as ScoredMessage['candidate']
      const sentences = ownSentences(turn, unit)
      const embedded = sentencesToEmbed(turn.text)
      const held = sentences.map(({ text }) => new Set(termsOf(text).map(({ term }) => term)))
      const fit = sentences.map(({ start, end }, sentence) => {
        const near = embedded.flatMap((one, index_) =>
          one.start < end && one.end > start ? [cosines[at]?.[index_] ?? 0] : [],
        )
        return shareOf(terms, held[sentence] ?? []) + Math.max(0, ...near)
      })
      const best = Math.max(0, fit.indexOf(Math.max(...fit)))
      const text = quoteAt(sentences, best)
      const shared = [...words.keys()].filter((term) => held[best]?.has(term))
      const nearby = [...new Set([...own, ...before, ...after])].filter((term) => !shared.includes(term))
      const perhapsPasted = sentences[best]?.part.perhapsPasted === true || isDoubtful(turn, text)
      const explanation = explanations[place] as Explanation
      return [
        place,
        {
          turn,
          text,
          perhapsPasted,
          explanation,
          score: explanation.value,
          level: 'perhaps',
          isEarlier: false,
          probability: probabilities[place] as number,
          newer: [],
          shared: written(shared),
          nearby: written(nearby),
        },
      ]
    }),
  )
}

/**
 * If the same person corrected a quote right after it ("Wait no, 2.5 bar", which has few words), puts the correction
 * before the quote.
 */
export async function withCorrections(
  index: SearchedIndex,
  view: TurnView,
  lines: readonly PushedQuote[],
): Promise<readonly PushedQuote[]> {
  const result: PushedQuote[] = []
  const add = (quote: PushedQuote): void => {
    if (!result.some(({ turn }) => turn.id === quote.turn.id)) result.push(quote)
  }
  for (const quote of lines) {
    const next = quote.turn.role === 'user' ? await correctionOf(index, view, quote) : null
    if (next === null) {
      add(quote)
      continue
    }
    const text = quoteAt(next.sentences, 0)
    const perhapsPasted = next.sentences[0]?.part.perhapsPasted === true || isDoubtful(next.turn, text)
    const level = perhapsPasted ? 'perhaps' : quote.level
    const nearby = [...quote.shared, ...quote.nearby]
    const found = lines.find(({ turn }) => turn.id === next.turn.id)
    add(
      found ?? {
        ...quote,
        turn: next.turn,
        text,
        perhapsPasted,
        level,
        shared: [],
        nearby,
        isEarlier: false,
        newer: [],
      },
    )
    add({ ...quote, level, isEarlier: true })
  }
  return result
}

async function correctionOf(
  index: SearchedIndex,
  { user, scopes, until }: TurnView,
  { turn, text }: PushedQuote,
): Promise<{ readonly turn: Turn; readonly sentences: readonly OwnSentence[] } | null> {
  const near = { user, scopes, session: turn.session, since: Date.parse(turn.at) }
  const { inView } = await index.turnPostings({ ...near, ...(until === undefined ? {} : { until }) }, [])
  const turns = await index.turnsAt(user, [...(inView ?? [])].sort((a, b) => a - b).slice(0, maxFollowing))
  const next = [...turns.values()].find(
    (other) =>
      other.index > turn.index &&
      other.index <= turn.index + reach &&
      other.origin === 'person' &&
      other.role === 'user' &&
      other.speaker === turn.speaker &&
      isCorrectionOf(text, other.text),
  )
  if (next === undefined) return null
  const sentences = ownSentences(next, { row: 0, first: 0 })
  return sentences.length === 0 ? null : { turn: next, sentences }
}

/** Max units to read after the quoted turn in order to find the next turns of its session. */
const maxFollowing = 20
/** Only the beginning of a turn is read for a correction. */
const correctionLength = 500

/**
 * Whether a text begins like a correction and shares two words with the corrected text, or has a number if the
 * corrected text has one.
 */
function isCorrectionOf(corrected: string, text: string): boolean {
  const cue = correctionCue.exec(text.slice(0, 100))?.[0]
  if (cue === undefined) return false
  const rest = text.slice(cue.length, correctionLength)
  const terms = new Set(termsOf(corrected).map(({ term }) => term))
  const shared = new Set(termsOf(rest).flatMap(({ term }) => (terms.has(term) ? [term] : [])))
  return shared.size >= 2 || [corrected, rest].every((one) => /\d/u.test(one))
}

/** How many characters of a statement are compared with a quote, which may end before the statement does. */
const comparedBeginning = 40

/** Whether a quote from a person's turn contains a statement that may be pasted. A turn that has not been checked yet counts as doubtful. */
const isDoubtful = ({ role, text, doubtful }: Turn, quote: string): boolean =>
  role === 'user' &&
  (doubtful?.some(([start, end]) => quote.includes(text.slice(start, Math.min(end, start + comparedBeginning)))) ??
    true)

/** Max sentences of a turn that may be quoted. */
const maxSentences = 40
/** Max characters of a quote. The following sentences are included as long as there is room. */
const maxQuoteLength = 240

/** A sentence, and the part of the turn that it belongs to. */
type OwnSentence = Sentence & { readonly part: OwnPart }

/** The sentences of a unit that may be quoted. Sentences that a person pasted are left out. Offsets are relative to the turn. */
export function ownSentences(
  { role, text }: Turn,
  { row, first }: Pick<TurnUnit, 'row' | 'first'>,
): readonly OwnSentence[] {
  const passages = passagesOf(text)
  const start = passages.slice(0, row - first).reduce((length, passage) => length + passage.length, 0)
  const end = start + (passages[row - first] ?? '').length
  const parts = role === 'user' ? ownParts(text) : [{ start: 0, end: text.length, perhapsPasted: false }]
  return parts.flatMap((part) => {
    const from = Math.max(start, part.start)
    return (
      joinSentences(text.slice(from, Math.min(end, part.end)), maxSentences)
        // A sentence that announces a pasted text is not a statement by itself.
        .filter((one) => part.end === text.length || !endsInColon(one.text))
        .map((one) => ({ ...one, start: one.start + from, end: one.end + from, part }))
    )
  })
}

/** The sentence at `place` and the following ones, as long as there is room: "Mr. Okafor cannot come on Thursday. He comes on Monday instead." */
function quoteAt(sentences: readonly OwnSentence[], place: number): string {
  let text = ''
  for (const { text: next, part } of sentences.slice(place)) {
    const longer = `${text} ${next}`.replace(/\s+/gu, ' ').trim()
    const isLast = part !== sentences[place]?.part || longer.length > maxQuoteLength || next.endsWith('?')
    if (text !== '' && isLast) break
    text = longer
  }
  return text.length > maxQuoteLength ? `${text.slice(0, maxQuoteLength - 1).trimEnd()}…` : text
}

/** Marks the quotes that are older than a statement about the same thing. */
export function markOvertaken(
  quotes: readonly PushedQuote[],
  statements: readonly { readonly text: string; readonly at: number }[],
  message: string,
): readonly PushedQuote[] {
  const { terms, asksPast } = parseQuestion(message, [])
  if (asksPast) return quotes
  return quotes.map((quote) => {
    const isOvertaken = statements.some(
      ({ text, at }) => at > Date.parse(quote.turn.at) && isAboutSame(text, quote.text, terms),
    )
    return isOvertaken ? { ...quote, isEarlier: true } : quote
  })
}

/**
 * A text is about the same thing as a quote if it contains at least `minSharedAsked` of the quote's asked words, by points, and
 * if the cosine of their words, weighted by points, is at least `minAlike`.
 */
const minSharedAsked = 0.8
const minAlike = 0.2

function isAboutSame(a: string, b: string, asked: ReadonlyMap<string, number>): boolean {
  const termsIn = (text: string): ReadonlySet<string> => new Set(termsOf(text).map(({ term }) => term))
  const terms = termsIn(a)
  const others = termsIn(b)
  const weigh = (some: Iterable<string>, weight: (term: string) => number): number =>
    [...some].reduce((total, term) => total + weight(term), 0)
  const both = [...terms].filter((term) => others.has(term))
  const askedPoints = (term: string): number => (asked.get(term) ?? 0) * pointsOf(term)
  const squares = (term: string): number => pointsOf(term) ** 2
  const askedOfOne = weigh(others, askedPoints)
  return (
    askedOfOne > 0 &&
    weigh(both, askedPoints) >= minSharedAsked * askedOfOne &&
    weigh(both, squares) >= minAlike * Math.sqrt(weigh(terms, squares) * weigh(others, squares))
  )
}
