import type { Turn } from '../../beliefs/turn.ts'
import { type Explanation, leaf, sum } from '../explanation.ts'
import { type Candidates, findCandidates, type MessageMeaning, type Ranking, type SearchedIndex } from './candidates.ts'
import { findUpdates, type LikelyUpdate, maxCompared } from './change.ts'
import {
  explainWeighted,
  maxConsidered,
  type PushFeature,
  pushFeatures,
  pushValues,
  type Values,
  withWords,
} from './features.ts'
import { type Boldness, type Levels, type Model, type Models, models, type UpdateLimits } from './model.ts'
import { type Nearness, nearnessOf } from './nearness.ts'
import { announcesPaste } from './pasted.ts'
import { dateWindow, isOnlyQuestion, parseQuestion, type Question } from './question.ts'
import {
  messageWords,
  ownSentences,
  type PushedQuote,
  type QuoteLevel,
  quoteTurns,
  reach,
  withCorrections,
} from './quotes.ts'
import { type ScoredMessage, scoreMessages } from './rank.ts'
import type { TurnUnit, TurnView } from './turn-index.ts'

/** The quotes for a message, or the reason why there are none. */
export type Push = {
  readonly quotes: readonly PushedQuote[]
  /** The probability that at least one of the five likeliest turns helps, and the thresholds. */
  readonly probability: number
  readonly levels: Levels
  /** `words`: the sentences or the words that are compared have no vectors, or computing the vectors took too long. */
  readonly meaning: 'vectors' | 'words'
  /** The best turns that may be quoted, shown or not, best first. */
  readonly considered: readonly PushedQuote[]
  /** Ids of turns that are left out because newer turns that are not shown may have changed them. */
  readonly unclear: readonly string[]
  /** The words of the message that count, and those among them that no turn contains. */
  readonly asked: readonly string[]
  readonly unknown: readonly string[]
}

export type PushOptions = {
  readonly now?: Date
  readonly meaning?: (question: Question) => Promise<MessageMeaning | undefined>
  readonly boldness?: Boldness
}

/** How many of the most likely lines count for the probability of a message. */
const maxCounted = 5
/**
 * `lines`: max lines, not counting newer ones shown before them. `withNewer`: max lines including those. `share`: the
 * min probability of a line, divided by that of the likeliest line. A request may need several facts, so it gets more lines.
 */
const limits = {
  question: { lines: 3, withNewer: 6, share: 0.5 },
  request: { lines: 5, withNewer: 8, share: 0.2 },
}
const maxSure = 3

/** Max lines that recall shows for a message, not counting newer ones before a line. */
export const maxLinesFor = (message: string): number =>
  limits[parseQuestion(message).isQuestion ? 'question' : 'request'].lines
/** Max newer turns that are shown with a line that they may update. */
const maxNewer = 2

/** Finds turns that help with a message that does not ask for them. */
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
  const kind = question.isQuestion ? 'question' : 'request'
  const decision = await decide(index, ranking, found, using, (model) => model.levels[boldness][kind].perhaps)
  const { ranked, probability, probabilities, model } = decision
  const levels = model.levels[boldness][kind]
  const limitsOfKind = { ...model.limits[kind], replaced: model.replaced.probability }
  const { lines, unclear } = chooseLines(decision, levels, limitsOfKind)
  const places = [...new Set([...ranked.keys()].slice(0, maxConsidered).concat(lines.map(({ place }) => place)))]
  const quoted = await quoteTurns(index, ranking, found, decision, places, message)
  const sure = new Set<number>()
  const shown = lines.map(({ place, level, newer }): PushedQuote => {
    const quote = quoted.get(place) as PushedQuote
    const ids = newer.map((one) => (ranked[one] as ScoredMessage).candidate.turn.id)
    const isSure =
      level === 'sure' &&
      sure.size < maxSure &&
      isOwn(quote.turn) &&
      !quote.perhapsPasted &&
      newer.every((one) => sure.has(one))
    if (isSure) sure.add(place)
    return { ...quote, level: isSure ? 'sure' : 'perhaps', isEarlier: ids.length > 0, newer: ids }
  })
  const inOrder = withoutRepeats(shown.toSorted((a, b) => levelOrder[a.level] - levelOrder[b.level]))
  const words = messageWords(message, found.terms)
  const isKnown = new Set(found.terms.known.map(({ term }) => term))
  return {
    quotes: question.asksPast ? inOrder : await withCorrections(index, view, inOrder),
    probability,
    levels,
    asked: [...words.values()],
    meaning: model === using.vectors ? 'vectors' : 'words',
    considered: places
      .toSorted((a, b) => (probabilities[b] as number) - (probabilities[a] as number))
      .map((place) => quoted.get(place) as PushedQuote),
    unclear: unclear.map((place) => (ranked[place] as ScoredMessage).candidate.turn.id),
    unknown: [...words].flatMap(([term, word]) => (isKnown.has(term) ? [] : [word])),
  }
}

const levelOrder = { sure: 0, perhaps: 1 }

/** Keeps the first of several quotes with the same text. */
const withoutRepeats = (quotes: readonly PushedQuote[]): readonly PushedQuote[] =>
  quotes.filter(({ text }, at) => quotes.findIndex((other) => other.text === text) === at)

/** The ranked turns, each with the probability that it helps, and the probability that at least one of the best turns helps. */
export type PushDecision = {
  readonly ranked: readonly ScoredMessage[]
  readonly explanations: readonly Explanation[]
  readonly probabilities: readonly number[]
  readonly probability: number
  readonly isQuestion: boolean
  /** The model that decides. It is the model for words alone if there are no vectors to compare. */
  readonly model: Model
  /** The positions of the likely lines, likeliest first, and of the newer turns that may update them. */
  readonly likely: readonly number[]
  readonly updates: ReadonlyMap<number, readonly LikelyUpdate[]>
}

/**
 * Ranks the turns that may be quoted, and computes the probabilities that decide whether they are shown. Below the
 * lowest threshold nothing is shown, so updates are not searched for.
 */
export async function decide(
  index: SearchedIndex,
  ranking: Ranking,
  found: Candidates,
  using: Models,
  minProbability: (model: Model) => number,
): Promise<PushDecision> {
  const { isQuestion } = ranking.question
  const ranked = await rankQuotable(index, ranking, found, found.hasMeaning ? using.vectors : using.words)
  const best = ranked.slice(0, maxConsidered).map(({ candidate }) => candidate)
  const nearness = found.hasMeaning ? await nearnessOf(index, ranking, best, found.terms) : null
  const model = nearness === null ? using.words : using.vectors
  const explanations = logOddsOf(ranked, found, ranking.question, model, nearness ?? [])
  const probabilities = explanations.map(({ value }) => sigmoid(value))
  const first = probabilities.slice(0, maxConsidered)
  const minOwnProbability = limits[isQuestion ? 'question' : 'request'].share * Math.max(...first)
  const likely = [...first.keys()]
    .filter(
      (place) =>
        (first[place] as number) >= minOwnProbability &&
        isOnTopic(ranked[place] as ScoredMessage, model === using.vectors),
    )
    .sort((a, b) => (first[b] as number) - (first[a] as number))
  const probability = probabilityOfAny(first)
  const updates =
    probability < minProbability(model)
      ? new Map<number, readonly LikelyUpdate[]>()
      : await findUpdates(index, ranked, likely, { ...ranking, terms: found.terms }, model)
  return { ranked, explanations, probabilities, probability, isQuestion, model, likely, updates }
}

/** If turns are compared by words alone, matching neighbours are not enough: a turn that shares no word with the message, such as "Thanks.", is not shown because of them. */
const isOnTopic = ({ candidate: { own, time } }: ScoredMessage, hasMeaning: boolean): boolean =>
  hasMeaning || own.size > 0 || time === 'only'

/** A line of recall, given by its position, and the positions of the newer turns that come before it because they probably update it. */
export type PushLine = { readonly place: number; readonly level: QuoteLevel; readonly newer: readonly number[] }

/** The limits for a kind of message. `replaced`: a newer turn that updates a line with at least this probability comes before it. */
export type LineLimits = UpdateLimits & { readonly replaced: number }

/**
 * Chooses the lines to show, the likeliest first. A line and the newer turns that may update it count as one line. Those that probably update
 * it come before it; the others come last, as perhaps relevant. A line is left out if newer turns that are not shown may update it, because
 * then nobody can tell which is true.
 */
export function chooseLines(
  { probability, isQuestion, likely, updates, ranked }: Omit<PushDecision, 'explanations' | 'probabilities' | 'model'>,
  levels: Levels,
  { likely: minLikely, unclear: minUnclear, replaced }: LineLimits,
): { readonly lines: readonly PushLine[]; readonly unclear: readonly number[] } {
  if (probability < levels.perhaps) return { lines: [], unclear: [] }
  const newerThan = (place: number, minProbability: number): readonly number[] =>
    (updates.get(place) ?? [])
      .slice(0, maxNewer)
      .filter((update) => update.probability >= minProbability)
      .map((update) => update.place)
  const { lines: maxLines, withNewer } = limits[isQuestion ? 'question' : 'request']
  const shown = new Set<number>()
  const unclear: number[] = []
  let chosen = 0
  for (const place of likely) {
    const group = new Set([...shown, place, ...newerThan(place, minLikely)])
    const missing = (updates.get(place) ?? []).filter((update) => !group.has(update.place))
    if (missing.reduce((sum, update) => sum + update.probability, 0) >= minUnclear) unclear.push(place)
    else if (chosen < maxLines && group.size <= withNewer) {
      chosen += 1
      for (const one of group) shown.add(one)
    }
  }
  const timeOf = (place: number): number => (ranked[place] as ScoredMessage).candidate.unit.at
  const lines = new Map<number, PushLine>()
  const add = (place: number, level: QuoteLevel): void => {
    if (lines.has(place)) return
    const newer = newerThan(place, replaced).filter((one) => shown.has(one))
    for (const one of newer.toSorted((a, b) => timeOf(b) - timeOf(a))) add(one, level)
    lines.set(place, { place, level, newer })
  }
  for (const place of likely) if (shown.has(place)) add(place, probability >= levels.sure ? 'sure' : 'perhaps')
  for (const place of shown) add(place, 'perhaps')
  return { lines: [...lines.values()], unclear: unclear.filter((place) => !shown.has(place)) }
}

/** Quotes come from people, and from the assistant if the message asks for its words. */
export const mayQuote =
  ({ asksAssistant, asksEither }: Question) =>
  ({ role }: TurnUnit): boolean =>
    role === 'user' || (role === 'assistant' && (asksAssistant || asksEither))

/** Whether the person said a turn to an assistant. In a dialogue of several people, every speaker has a name. */
const isOwn = ({ role, speaker, origin }: Turn): boolean => role === 'user' && speaker === null && origin === 'person'

export const sigmoid = (value: number): number => 1 / (1 + Math.exp(-value))

/** The probability that at least one of the most likely lines helps. */
export const probabilityOfAny = (probabilities: readonly number[]): number =>
  1 -
  probabilities
    .toSorted((a, b) => b - a)
    .slice(0, maxCounted)
    .reduce((none, probability) => none * (1 - probability), 1)

/** The turns that may be quoted, best first. Turns that are pasted as a whole, or that only ask something, are left out. */
export async function rankQuotable(
  index: SearchedIndex,
  { view, question }: Ranking,
  found: Candidates,
  model: Pick<Model, 'rank'>,
): Promise<readonly ScoredMessage[]> {
  const first = scoreMessages(found, question, model).slice(0, maxCompared)
  const announced = await announcedPastes(index, view, first)
  const seen = new Set<string>()
  return first.filter(({ candidate: { turn, unit } }) => {
    // People often repeat themselves, so only the best of several equal turns is considered.
    const said = JSON.stringify([turn.text, turn.role, turn.speaker])
    const isPasted = turn.role === 'user' && (turn.origin !== 'person' || announced.has(unit.first))
    const tells = ownSentences(turn, unit).some(({ text }) => !isOnlyQuestion(text))
    return !isPasted && tells && !seen.has(said) && seen.add(said)
  })
}

/** The first rows of people's turns whose speaker announced a pasted text in the turn before. */
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

/** The log odds that each of the ranked turns helps. */
function logOddsOf(
  ranked: readonly ScoredMessage[],
  { terms }: Candidates,
  question: Question,
  { push }: Pick<Model, 'push'>,
  nearness: readonly Nearness[],
): readonly Explanation[] {
  return pushValues(ranked, terms, question, nearness).map((values, place) => {
    const parts = [...explainWeighted(pushFeatures, values as Values<PushFeature>, push), leaf('bias', push.bias)]
    return withWords(
      sum('log odds that it helps', parts),
      (ranked[place] as ScoredMessage).candidate,
      terms,
      nearness[place],
    )
  })
}
