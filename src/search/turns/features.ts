import type { Explanation } from '../explanation.ts'
import { leaf, product } from '../explanation.ts'
import { afterShare, type Candidates, shareOf, type TurnCandidate } from './candidates.ts'
import type { Nearness } from './nearness.ts'
import { hasNumber, hasTime, type Question } from './question.ts'
import { pointsOf } from './word-points.ts'

/**
 * The features of the three linear models, by name; docs/ranking.md defines them. Values are computed here and nowhere
 * else: training (scripts/train-ranking.ts) calls the same functions as search and recall.
 */
export const rankFeatures = [
  'words',
  'sentence',
  'around',
  'meaning',
  'meaningAround',
  'session',
  'assistant',
  'asks',
  'recent',
  'date',
  'kind',
  'speaker',
] as const
export const updateFeatures = ['cosine', 'words', 'announces', 'meaning'] as const
export const pushFeatures = [
  'sentence',
  'around',
  'near',
  'cosine',
  'margin',
  'place',
  'assistant',
  'unknown',
  'question',
  'terms',
  'uncommon',
] as const

export type RankFeature = (typeof rankFeatures)[number]
export type UpdateFeature = (typeof updateFeatures)[number]
export type PushFeature = (typeof pushFeatures)[number]

/** A value or a weight per feature. */
export type Values<Feature extends string> = Readonly<Record<Feature, number>>

/** The products of features and their weights. Features without a value are left out. */
export const explainWeighted = <Feature extends string>(
  features: readonly Feature[],
  values: Values<Feature>,
  weights: Values<Feature>,
): readonly Explanation[] =>
  features.flatMap((feature) =>
    values[feature] === 0 || weights[feature] === 0
      ? []
      : [product(feature, [leaf('value', values[feature]), leaf('weight', weights[feature])])],
  )

/** Max other turns of the same session that count; the best ones are chosen. */
const maxOfSession = 3

/** The features of every message among the candidates, in the order of `messages`. */
export function rankValues(
  { messages, terms }: Pick<Candidates, 'messages' | 'terms'>,
  question: Question,
): readonly Values<RankFeature>[] {
  const times = [...new Set(messages.map(({ unit }) => unit.at))].sort((a, b) => a - b)
  const placeInTime = new Map(times.map((time, place) => [time, times.length === 1 ? 1 : place / (times.length - 1)]))
  const topic = ({ words, cosineZ }: TurnCandidate): number => Math.max(0, 3 * words + cosineZ / 3)
  const sessions = Map.groupBy(messages, ({ unit }) => unit.session)
  return messages.map((candidate) => {
    const { unit, passage } = candidate
    const others = (sessions.get(unit.session) ?? [])
      .filter((other) => other.unit.first !== unit.first)
      .map(topic)
      .sort((a, b) => b - a)
      .slice(0, maxOfSession)
    const asksForKind =
      (question.asksHowMany && hasNumber(passage)) || (question.asksWhen && (hasTime(passage) || hasNumber(passage)))
    return {
      words: candidate.words,
      sentence: sentenceShare(candidate, terms),
      around: shareOf(terms, candidate.before) + afterShare * shareOf(terms, candidate.after),
      meaning: candidate.cosineZ,
      meaningAround: candidate.cosineZAround,
      session: others.reduce((total, value) => total + value, 0) / maxOfSession,
      assistant: assistantValue(candidate, question),
      asks: Number(candidate.sentences.every(({ text }) => /[?？]$/u.test(text))),
      recent: unit.speaker === null ? (placeInTime.get(unit.at) ?? 0) * (question.asksPast ? -1 : 1) : 0,
      date: Number(candidate.time !== 'other'),
      kind: Number(asksForKind),
      speaker: question.speaker === null ? 0 : unit.speaker === question.speaker ? 1 : -1,
    }
  })
}

/** The largest share of the message's words that a single sentence contains. */
export const sentenceShare = ({ sentences }: TurnCandidate, terms: Candidates['terms']): number =>
  Math.max(0, ...sentences.map(({ held }) => (held.size === 0 ? 0 : shareOf(terms, held))))

function assistantValue({ unit }: TurnCandidate, { asksAssistant, asksEither, asksSummary }: Question): number {
  if (unit.role === 'user' || asksEither || asksSummary) return 0
  return asksAssistant ? -1 : 1
}

/** Adds to an explanation the words or the sentence behind each feature of a candidate. */
export const withWords = (
  explanation: Explanation,
  candidate: TurnCandidate,
  terms: Candidates['terms'],
  nearness?: Nearness,
): Explanation => ({
  ...explanation,
  parts: explanation.parts.map((part) => {
    const words = part.label === 'near' ? pairsOf(nearness) : wordsBehind(candidate, terms, part.label)
    return words === '' ? part : { ...part, label: `${part.label}: ${words}` }
  }),
})

const pairsOf = (nearness: Nearness | undefined): string =>
  (nearness?.pairs ?? []).map(([asked, nearest]) => (asked === nearest ? asked : `${asked} – ${nearest}`)).join(', ')

function wordsBehind(candidate: TurnCandidate, terms: Candidates['terms'], feature: string): string {
  switch (feature) {
    case 'words':
      return [...candidate.own].join(', ')
    case 'sentence':
      return quoteSentence(
        candidate.sentences.find(({ held }) => shareOf(terms, held) === sentenceShare(candidate, terms)),
      )
    case 'around':
      return [...candidate.before, ...candidate.after].join(', ')
    case 'unknown':
      return [...terms.weights.keys()].filter((term) => !terms.known.some((known) => known.term === term)).join(', ')
    default:
      return ''
  }
}

const maxQuoted = 60
const quoteSentence = (sentence: { readonly text: string } | undefined): string =>
  sentence === undefined ? '' : `"${sentence.text.slice(0, maxQuoted)}${sentence.text.length > maxQuoted ? '…' : ''}"`

/** A candidate with its score. */
export type Scored = { readonly candidate: TurnCandidate; readonly score: number }

/**
 * The mean score at these ranks is the background score of a message, which is subtracted from the score of each turn. If there
 * are fewer turns, the remaining ranks count as 0, the score of an empty turn.
 */
const background = { from: 5, to: 15 }
/** How many of the best turns may be shown. */
export const maxConsidered = 10

/** From 0 for an everyday English word to 1 for a rare word or a name. Needed because idf cannot distinguish them in a small store. */
const rarityInEnglish = (term: string): number => Math.max(0, pointsOf(term) / 5 - 1)

/** The features of recall for ranked turns, best first. */
export function pushValues(
  ranked: readonly Scored[],
  terms: Candidates['terms'],
  question: Question,
  nearness: readonly Pick<Nearness, 'value'>[] = [],
): readonly Values<PushFeature>[] {
  const rest = ranked.slice(background.from, background.to).reduce((total, { score }) => total + score, 0)
  const backgroundScore = rest / (background.to - background.from)
  const unknown =
    1 -
    shareOf(
      terms,
      terms.known.map(({ term }) => term),
    )
  return ranked.map(({ candidate, score }, place) => ({
    sentence: sentenceShare(candidate, terms),
    around: shareOf(terms, candidate.before) + afterShare * shareOf(terms, candidate.after),
    near: nearness[place]?.value ?? 0,
    cosine: candidate.cosine,
    margin: score - backgroundScore,
    place: 1 / (place + 1),
    assistant: Number(candidate.unit.role !== 'user'),
    unknown: terms.total === 0 ? 1 : unknown,
    question: Number(question.isQuestion),
    terms: Math.log(1 + terms.weights.size),
    uncommon: Math.log(1 + [...candidate.own].reduce((total, term) => total + rarityInEnglish(term), 0)),
  }))
}
