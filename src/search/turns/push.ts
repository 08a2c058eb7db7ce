import type { Turn } from '../../beliefs/turn.ts'
import { type Explanation, leaf, sum } from '../explanation.ts'
import { correctionCue, joinedSentences, type Sentence } from '../sentences.ts'
import {
  type Candidates,
  findCandidates,
  type MessageMeaning,
  type Ranking,
  type SearchedIndex,
  shareOf,
} from './candidates.ts'
import { embeddedFrom, sentenceCosines } from './change.ts'
import {
  maxConsidered,
  type PushFeature,
  pushFeatures,
  pushValues,
  type Values,
  weighted,
  withWords,
} from './features.ts'
import { type Boldness, type Levels, type Model, type Models, models } from './model.ts'
import { passagesOf } from './passages.ts'
import { announcesPaste, endsInColon, type OwnPart, ownParts } from './pasted.ts'
import { dateWindow, parseQuestion, type Question } from './question.ts'
import { newestFirst, type PlacedMessage, type ScoredMessage, scoreMessages } from './rank.ts'
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
  /** The log odds of the probability, and the sum behind them. */
  readonly score: number
  readonly explanation: Explanation
  /** Words of the message, as written there: in the quote, and elsewhere in its turn or next to it. */
  readonly shared: readonly string[]
  readonly nearby: readonly string[]
  /** Its place in the message is one where people paste. */
  readonly perhapsPasted: boolean
  /** A newer quote about the same thing comes before it. */
  readonly isEarlier: boolean
}

/** The quotes for a message, or why there is none. */
export type Push = {
  readonly quotes: readonly PushedQuote[]
  /** The probability that one of the best turns helps, and what it has to reach. */
  readonly probability: number
  readonly levels: Levels
  /** The best turns that may be quoted, shown or not, best first. */
  readonly considered: readonly PushedQuote[]
  /** The words of the message that count, and those of them that no turn has. */
  readonly asked: readonly string[]
  readonly unknown: readonly string[]
}

export type PushOptions = {
  readonly now?: Date
  readonly meaning?: (question: Question) => Promise<MessageMeaning | undefined>
  readonly boldness?: Boldness
}

/** The most likely lines count for the probability of a message. */
const maxCounted = 5
/** Max lines, and the share of the best probability that a line needs. A request may need several facts. */
const limits = { question: { lines: 3, share: 0.35 }, request: { lines: 5, share: 0.2 } }
const maxSure = 3

/** Finds what was said that helps with a message, unasked. */
export async function pushQuotes(
  index: SearchedIndex,
  view: TurnView,
  message: string,
  { now, meaning: meaningOf, boldness = 'normal' }: PushOptions = {},
  using: Models = models,
): Promise<Push> {
  const question = parseQuestion(message, await index.turnSpeakers(view))
  const [meaning, dates] = await Promise.all([
    meaningOf?.(question),
    now === undefined ? null : dateWindow(message, now),
  ])
  const ranking = { view, question, dates, mayRank: mayQuote(question), ...(meaning === undefined ? {} : { meaning }) }
  const found = await findCandidates(index, ranking)
  const model = found.hasMeaning ? using.vectors : using.words
  const ranked = await rankQuotable(index, ranking, found, model)
  const considered = await considerQuotes(index, ranking, found, ranked, { message, model })
  const probability = probabilityOfAny(considered.map((quote) => quote.probability))
  const levels = model.levels[boldness]
  const lines = linesOf(considered, ranked, { probability, levels, question })
  const corrected = question.asksPast ? lines : await withCorrections(index, view, lines)
  const words = messageWords(message, found.terms)
  const isKnown = new Set(found.terms.known.map(({ term }) => term))
  return {
    ...{ quotes: corrected, probability, levels, asked: [...words.values()] },
    considered: considered.toSorted((a, b) => b.probability - a.probability),
    unknown: [...words].flatMap(([term, word]) => (isKnown.has(term) ? [] : [word])),
  }
}

/** The best sentence of each of the first turns, with the probability that it helps. */
export async function considerQuotes(
  index: SearchedIndex,
  ranking: Ranking,
  found: Candidates,
  ranked: readonly PlacedMessage[],
  { message, model }: { readonly message: string; readonly model: Pick<Model, 'push'> },
): Promise<readonly PushedQuote[]> {
  const quoted = await quotesOf(index, ranking, found, ranked, message)
  return probabilitiesOf(ranked, found, ranking.question, model).map((explanation, place) => {
    const { candidate, isEarlier } = ranked[place] as PlacedMessage
    const probability = sigmoid(explanation.value)
    const quote = quoted[place] as Pick<PushedQuote, 'text' | 'shared' | 'nearby' | 'perhapsPasted'>
    const level = isOwn(candidate.turn) && !quote.perhapsPasted ? 'sure' : 'perhaps'
    return { turn: candidate.turn, ...quote, level, probability, score: explanation.value, explanation, isEarlier }
  })
}

/** People are quoted, and the assistant if the message asks for its words. */
export const mayQuote =
  ({ asksAssistant, asksEither }: Question) =>
  ({ role }: TurnUnit): boolean =>
    role === 'user' || (role === 'assistant' && (asksAssistant || asksEither))

/** Whether the person said it to an assistant. In a dialogue of several people every speaker has a name. */
const isOwn = ({ role, speaker, origin }: Turn): boolean => role === 'user' && speaker === null && origin === 'person'

export const sigmoid = (value: number): number => 1 / (1 + Math.exp(-value))

/** The probability that at least one of the most likely lines helps. */
export const probabilityOfAny = (probabilities: readonly number[]): number =>
  1 -
  probabilities
    .toSorted((a, b) => b - a)
    .slice(0, maxCounted)
    .reduce((none, probability) => none * (1 - probability), 1)

/** Ranked turns whose text is checked for pasted parts: the background of the scores is among them. */
const maxChecked = 20

/** The turns that may be quoted, in their final order: none that are pasted as a whole. */
export async function rankQuotable(
  index: SearchedIndex,
  ranking: Ranking,
  found: Candidates,
  model: Pick<Model, 'rank' | 'change'>,
): Promise<readonly PlacedMessage[]> {
  const { view, question } = ranking
  const first = scoreMessages(found, question, model).slice(0, maxChecked)
  const announced = await announcedPastes(index, view, first)
  const seen = new Set<string>()
  const quotable = first.filter(({ candidate: { turn, unit } }) => {
    // People often say the same again; the best of equal turns is considered.
    const said = JSON.stringify([turn.text, turn.role, turn.speaker])
    const isPasted = turn.role === 'user' && (turn.origin !== 'person' || announced.has(unit.first))
    return !isPasted && ownSentences(turn, unit).length > 0 && !seen.has(said) && seen.add(said)
  })
  return newestFirst(index, ranking, found, quotable, model)
}

/** The turns of a person right after one that announces a pasted text, by their first row. */
async function announcedPastes(
  index: SearchedIndex,
  view: TurnView,
  first: readonly ScoredMessage[],
): Promise<ReadonlySet<number>> {
  const own = first.filter(({ candidate }) => candidate.unit.role === 'user')
  const units = await index.unitsAround(
    view,
    own.map(({ candidate }) => candidate.unit.row),
    reach,
  )
  const before = new Map<number, number>()
  for (const { candidate } of own) {
    const { unit } = candidate
    const previous = units.findLast(
      ({ session, place, role }) =>
        session === unit.session && place < unit.place && role === 'user' && place >= unit.place - reach,
    )
    if (previous !== undefined) before.set(unit.first, previous.row)
  }
  const turns = await index.turnsAt(view.user, [...new Set(before.values())])
  return new Set(
    [...before].flatMap(([row, previous]) => (announcesPaste(turns.get(previous)?.text ?? '') ? [row] : [])),
  )
}

/** How many turns away a correction or the announcement of a pasted text may be. */
export const reach = 2

/** The log odds that each of the first turns helps. */
function probabilitiesOf(
  ranked: readonly PlacedMessage[],
  { terms }: Candidates,
  question: Question,
  { push }: Pick<Model, 'push'>,
): readonly Explanation[] {
  return pushValues(ranked, terms, question).map((values, place) => {
    const parts = [...weighted(pushFeatures, values as Values<PushFeature>, push), leaf('bias', push.bias)]
    return withWords(sum('log odds that it helps', parts), (ranked[place] as PlacedMessage).candidate, terms)
  })
}

/**
 * The lines to show, the surest first. Before a turn that a newer one may replace, the newer one is shown; without room for
 * both, neither. Text that may be pasted is shown only where the person's own words would be sure, and as a perhaps.
 */
export function linesOf(
  considered: readonly PushedQuote[],
  ranked: readonly PlacedMessage[],
  { probability, levels, question }: Pick<Push, 'probability' | 'levels'> & { readonly question: Question },
): readonly PushedQuote[] {
  if (probability < levels.perhaps) return []
  const isSure = probability >= levels.sure
  const limit = question.isQuestion ? limits.question : limits.request
  const best = Math.max(...considered.map((quote) => quote.probability))
  const likely = considered
    .map((quote, place) => ({ quote, newer: ranked[place]?.newer ?? null }))
    .filter(({ quote }) => quote.probability >= limit.share * best && (isSure || !quote.perhapsPasted))
    .sort((a, b) => b.quote.probability - a.quote.probability)
    .slice(0, limit.lines)
  const shown: PushedQuote[] = []
  const add = (quote: PushedQuote): void => {
    if (!shown.some(({ turn, text }) => turn.id === quote.turn.id || text === quote.text)) shown.push(quote)
  }
  for (const { quote, newer } of likely) {
    const update = newer === null ? undefined : considered.find(({ turn }) => turn.id === newer.turn.id)
    const isShown = update === undefined || shown.includes(update)
    if (shown.length + (isShown ? 1 : 2) > limit.lines) continue
    if (update !== undefined) add(update)
    add(quote)
  }
  const sure = isSure ? shown.filter(({ level }) => level === 'sure').slice(0, maxSure) : []
  const rest = shown.filter((quote) => !sure.includes(quote)).map((quote) => ({ ...quote, level: 'perhaps' as const }))
  return [...sure, ...rest]
}

/** The words of the message by their term, as written. */
function messageWords(message: string, { weights }: Candidates['terms']): ReadonlyMap<string, string> {
  const words = new Map<string, string>()
  for (const { term, start, end } of termsOf(message))
    if (weights.has(term) && !words.has(term)) words.set(term, message.slice(start, end))
  return words
}

/** The sentence of each of the first turns that fits the message best, by words and meaning. */
async function quotesOf(
  index: SearchedIndex,
  { view, meaning }: Ranking,
  { terms }: Candidates,
  ranked: readonly PlacedMessage[],
  message: string,
): Promise<readonly Pick<PushedQuote, 'text' | 'shared' | 'nearby' | 'perhapsPasted'>[]> {
  const first = ranked.slice(0, maxConsidered).map(({ candidate }) => candidate)
  const cosines = await sentenceCosines(index, view.user, meaning, first)
  const words = messageWords(message, terms)
  return first.map((candidate, at) => {
    const { turn, unit, own, before, after } = candidate
    const sentences = ownSentences(turn, unit)
    const embedded = embeddedFrom(turn.text)
    const held = sentences.map(({ text }) => new Set(termsOf(text).map(({ term }) => term)))
    const fit = sentences.map(({ start, end }, place) => {
      const near = embedded.flatMap((one, index_) =>
        one.start < end && one.end > start ? [cosines[at]?.[index_] ?? 0] : [],
      )
      return shareOf(terms, held[place] ?? []) + Math.max(0, ...near)
    })
    const place = Math.max(0, fit.indexOf(Math.max(...fit)))
    const text = quoteAt(sentences, place)
    const written = (some: Iterable<string>): readonly string[] => [...some].flatMap((term) => words.get(term) ?? [])
    const shared = [...words.keys()].filter((term) => held[place]?.has(term))
    const nearby = [...new Set([...own, ...before, ...after])].filter((term) => !shared.includes(term))
    const perhapsPasted = sentences[place]?.part.perhapsPasted === true || isDoubtful(turn, text)
    return { text, shared: written(shared), nearby: written(nearby), perhapsPasted }
  })
}

/** Puts a correction that the same person made right after a quote before it ("Wait no, 2.5 bar"), which has few words. */
async function withCorrections(
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
    add(found ?? { ...quote, turn: next.turn, text, perhapsPasted, level, shared: [], nearby, isEarlier: false })
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

/** Units of a session from the quoted turn on, among which its next turns are. */
const maxFollowing = 20
/** Only the beginning of a turn is read for a correction. */
const correctionLength = 500

/** Begins like a correction, and has two words of the corrected text, or a number where that has one. */
function isCorrectionOf(corrected: string, text: string): boolean {
  const cue = correctionCue.exec(text.slice(0, 100))?.[0]
  if (cue === undefined) return false
  const rest = text.slice(cue.length, correctionLength)
  const terms = new Set(termsOf(corrected).map(({ term }) => term))
  const shared = new Set(termsOf(rest).flatMap(({ term }) => (terms.has(term) ? [term] : [])))
  return shared.size >= 2 || [corrected, rest].every((one) => /\d/u.test(one))
}

/** Characters of a statement that a quote is compared with: it may end earlier than the statement. */
const comparedBeginning = 40

/** Whether a quote of a person's turn has a statement that may be pasted. Unknown counts as such. */
const isDoubtful = ({ role, text, doubtful }: Turn, quote: string): boolean =>
  role === 'user' &&
  (doubtful?.some(([start, end]) => quote.includes(text.slice(start, Math.min(end, start + comparedBeginning)))) ??
    true)

/** Sentences of a turn that may be quoted. */
const maxSentences = 40
/** A quote is clipped to this many characters. The sentences that follow are shown as long as there is room. */
const longestQuote = 240

/** A sentence, and the part of the turn that it is quoted from. */
type OwnSentence = Sentence & { readonly part: OwnPart }

/** The sentences of a unit that may be quoted: of a person's turn, what is not pasted. Positions are those in the turn. */
function ownSentences({ role, text }: Turn, { row, first }: Pick<TurnUnit, 'row' | 'first'>): readonly OwnSentence[] {
  const passages = passagesOf(text)
  const start = passages.slice(0, row - first).reduce((length, passage) => length + passage.length, 0)
  const end = start + (passages[row - first] ?? '').length
  const parts = role === 'user' ? ownParts(text) : [{ start: 0, end: text.length, perhapsPasted: false }]
  return parts.flatMap((part) => {
    const from = Math.max(start, part.start)
    return (
      joinedSentences(text.slice(from, Math.min(end, part.end)), maxSentences)
        // One that announces a pasted text is no statement without it.
        .filter((one) => part.end === text.length || !endsInColon(one.text))
        .map((one) => ({ ...one, start: one.start + from, end: one.end + from, part }))
    )
  })
}

/** The sentence, with those that follow it: "Mr. Okafor cannot come on Thursday. He comes on Monday instead." */
function quoteAt(sentences: readonly OwnSentence[], place: number): string {
  let text = ''
  for (const { text: next, part } of sentences.slice(place)) {
    const longer = `${text} ${next}`.replace(/\s+/gu, ' ').trim()
    const isLast = part !== sentences[place]?.part || longer.length > longestQuote || next.endsWith('?')
    if (text !== '' && isLast) break
    text = longer
  }
  return text.length > longestQuote ? `${text.slice(0, longestQuote - 1).trimEnd()}…` : text
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

/** Two texts are about the same thing if they share these parts, by points: of the asked words of one, and of all words. */
const minSharedAsked = 0.8
const minAlike = 0.2

function isAboutSame(one: string, other: string, asked: ReadonlyMap<string, number>): boolean {
  const termsIn = (text: string): ReadonlySet<string> => new Set(termsOf(text).map(({ term }) => term))
  const terms = termsIn(one)
  const others = termsIn(other)
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
