import { inverseDocFreq } from '../bm25.ts'
import { joinSentences, type Sentence } from '../sentences.ts'
import {
  type Candidates,
  type MessageMeaning,
  type Ranking,
  type SearchedIndex,
  shareOf,
  type TurnCandidate,
} from './candidates.ts'
import { cosineAt } from './cosines.ts'
import { type ChangeFeature, type Scored, type UpdateFeature, updateFeatures, type Values } from './features.ts'
import type { Question } from './question.ts'
import { termsOf } from './terms.ts'
import type { TurnView } from './turn-index.ts'

/** Only the first sentences of a turn have vectors. The rest of a long turn is usually pasted text. */
const maxTextLength = 4_000
const maxSentences = 20
const maxSentenceLength = 400

/** The sentences of a turn that have vectors, in the same order. */
export const sentencesToEmbed = (text: string): readonly Sentence[] =>
  joinSentences(text.slice(0, maxTextLength), maxSentences)

/** The texts of these sentences in the form that the model reads. */
export const textsToEmbed = (text: string): readonly string[] =>
  sentencesToEmbed(text).map(({ text: sentence }) =>
    sentence.replace(/\s+/gu, ' ').slice(0, maxSentenceLength).toWellFormed(),
  )

/** The cosines of a message with the sentences of some turns; empty without vectors. */
export async function compareSentences(
  index: SearchedIndex,
  user: string,
  meaning: MessageMeaning | undefined,
  candidates: readonly Pick<TurnCandidate, 'unit'>[],
): Promise<readonly (readonly number[])[]> {
  if (meaning === undefined) return candidates.map(() => [])
  const rows = candidates.map(({ unit }) => unit.row)
  const vectors = await index.vectorsAt(user, meaning.model, rows)
  return rows.map((row) => {
    const own = vectors.get(row) ?? new Int8Array()
    return Array.from({ length: own.length / meaning.dimensions }, (_, place) => bestCosine(meaning, own, place))
  })
}

/** One of the first turns, with the features of a change and the newer turn that may replace it. */
export type Change = {
  readonly values: Values<ChangeFeature>
  readonly newer: { readonly place: number; readonly likelihood: number } | null
}

/** How many of the best turns may be replaced, each by a newer turn among the first ten. */
const maxReplaced = 5

type Asked = Pick<Ranking, 'view' | 'question' | 'dates' | 'meaning'> & Pick<Candidates, 'terms'>

/**
 * Compares the first turns with each other: which of them may be replaced by a newer one, and which newer ones are
 * about the same thing as an older one. Only a newer turn of a person, of another conversation, can replace one.
 */
export async function compareChanges(
  index: SearchedIndex,
  first: readonly Scored[],
  asked: Asked,
): Promise<readonly Change[]> {
  const none = first.map(() => ({ follows: 0, followsValue: 0 }))
  const newer: (Change['newer'] | undefined)[] = []
  const best = first[0]?.score ?? 0
  if (first.length < 2 || asked.dates !== null || asksForEvent(asked.question))
    return none.map((values) => ({ values, newer: null }))
  const heads = first.slice(0, maxReplaced).map((_, at) => at)
  const compare = await statementsOf(index, first, heads, asked)
  for (const at of heads) {
    const older = first[at] as Scored
    const share = shareOf(asked.terms, older.candidate.own)
    const weight = Math.exp((older.score - best) / 2) * Math.sqrt(share)
    for (const [other, one] of first.entries()) {
      if (!isNewer(one, older)) continue
      const { like, hasOtherValue } = compare(at, other)
      const values = none[other] as Record<ChangeFeature, number>
      values.follows = Math.max(values.follows, like * weight)
      if (hasOtherValue) values.followsValue = Math.max(values.followsValue, like * weight)
      const likelihood = like * Math.exp((one.score - best) / 4) * (hasOtherValue ? 2 : 1)
      if (likelihood > (newer[at]?.likelihood ?? 0)) newer[at] = { place: other, likelihood }
    }
  }
  return none.map((values, at) => ({ values, newer: newer[at] ?? null }))
}

/** A newer turn that may update an older one, by its position, with the likelihood that the update model computes. */
export type LikelyUpdate = { readonly place: number; readonly value: number }

/** The features of every newer turn that may update one of the ranked turns. Empty for a question about the past. */
export async function updateValues(
  index: SearchedIndex,
  ranked: readonly Scored[],
  places: readonly number[],
  asked: Asked,
): Promise<ReadonlyMap<number, readonly { readonly place: number; readonly values: Values<UpdateFeature> }[]>> {
  if (asked.question.asksPast || ranked.length < 2) return new Map()
  const best = Math.max(...ranked.map(({ score }) => score))
  const compare = await statementsOf(index, ranked, places, asked)
  return new Map(
    places.map((at) => [
      at,
      ranked.flatMap((other, place) => {
        if (!isNewer(other, ranked[at] as Scored)) return []
        const { cosine, words } = compare(at, place)
        const values = { cosine, words, meaning: other.candidate.cosineZ, score: other.score - best }
        return [{ place, values }]
      }),
    ]),
  )
}

/** The newer turns that may update each of some ranked turns, the likeliest first. */
export async function findUpdates(
  index: SearchedIndex,
  ranked: readonly Scored[],
  places: readonly number[],
  asked: Asked,
  weights: Values<UpdateFeature>,
): Promise<ReadonlyMap<number, readonly LikelyUpdate[]>> {
  const found = await updateValues(index, ranked, places, asked)
  const weigh = (values: Values<UpdateFeature>): number =>
    updateFeatures.reduce((total, feature) => total + values[feature] * weights[feature], 0)
  return new Map(
    [...found].map(([at, newer]) => [
      at,
      newer.map(({ place, values }) => ({ place, value: weigh(values) })).sort((a, b) => b.value - a.value),
    ]),
  )
}

/** Whether a turn can replace an older one: said by the person to an assistant, later, and in another conversation. */
const isNewer = ({ candidate: { unit } }: Scored, { candidate: { unit: older } }: Scored): boolean =>
  unit.role === 'user' && unit.speaker === null && unit.at > older.at && unit.session !== older.session

type Statement = {
  readonly place: number
  readonly terms: ReadonlySet<string>
  readonly values: ReadonlySet<string>
}

/** How similar the sentences of another turn are to a statement: the maximum by meaning, by words, and by both. */
type Likeness = {
  readonly cosine: number
  readonly words: number
  readonly like: number
  /** Whether the most similar sentence has another number or name. */
  readonly hasOtherValue: boolean
}

/**
 * Returns a function that compares two turns, given by their positions. The first turn is represented by the sentence
 * that fits the message best.
 */
async function statementsOf(
  index: SearchedIndex,
  turns: readonly Scored[],
  heads: readonly number[],
  { view, meaning, terms }: Asked,
): Promise<(at: number, other: number) => Likeness> {
  const rows = turns.map(({ candidate }) => candidate.unit.row)
  const vectors = meaning === undefined ? new Map() : await index.vectorsAt(view.user, meaning.model, rows)
  const vectorsOf = (at: number): Int8Array => vectors.get(rows[at] as number) ?? new Int8Array()
  const statements = turns.map(({ candidate }) => textsToEmbed(candidate.turn.text).map(statementOf))
  const headAt = new Map(
    heads.map((at) => {
      const fitness = ({ terms: own, place }: Statement): number =>
        shareOf(terms, own) + (meaning === undefined ? 0 : bestCosine(meaning, vectorsOf(at), place))
      const [fittest] = (statements[at] ?? []).toSorted((a, b) => fitness(b) - fitness(a))
      return [at, fittest]
    }),
  )
  const rarity = await rarityOf(index, view, new Set([...headAt.values()].flatMap((head) => [...(head?.terms ?? [])])))
  return (at, other) => {
    const head = headAt.get(at)
    let found = { cosine: 0, words: 0, like: 0, hasOtherValue: false }
    if (head === undefined) return found
    const total = [...head.terms].reduce((sum, term) => sum + rarity(term), 0)
    for (const { place, terms: own, values } of statements[other] ?? []) {
      const shared = [...head.terms].reduce((sum, term) => sum + (own.has(term) ? rarity(term) : 0), 0)
      const words = total === 0 ? 0 : shared / total
      const cosine = pairCosine(meaning?.dimensions ?? 0, vectorsOf(at), head.place, vectorsOf(other), place)
      const like = (words + cosine) / 2
      const hasOtherValue = head.values.size > 0 && [...values].some((one) => !head.values.has(one))
      found = {
        cosine: Math.max(found.cosine, cosine),
        words: Math.max(found.words, words),
        ...(like > found.like ? { like, hasOtherValue } : { like: found.like, hasOtherValue: found.hasOtherValue }),
      }
    }
    return found
  }
}

const statementOf = (text: string, place: number): Statement => ({
  place,
  terms: new Set(termsOf(text).map(({ term }) => term)),
  values: new Set([...text.matchAll(valuePattern)].map(([value]) => value.toLowerCase())),
})

/** Numbers, and capitalised words inside a sentence. */
const valuePattern = /\d[\d.,:/]*|(?<=[^.!?]\s)\p{Lu}\p{Ll}{2,}/gu

/** Whether the question asks about an event rather than a state. English only. */
const asksForEvent = ({ asksPast, asksEvent }: Question): boolean => asksPast || asksEvent

/** The cosine of two sentences; 0 if one of them has no vector. */
const pairCosine = (dimensions: number, a: Int8Array, place: number, b: Int8Array, otherPlace: number): number =>
  dimensions === 0 || (place + 1) * dimensions > a.length || (otherPlace + 1) * dimensions > b.length
    ? 0
    : Math.max(0, cosineAt(a, place, b, otherPlace, dimensions))

function bestCosine({ vectors: message, dimensions }: MessageMeaning, turn: Int8Array, place: number): number {
  if ((place + 1) * dimensions > turn.length) return 0
  let best = 0
  for (let one = 0; one < message.length / dimensions; one += 1)
    best = Math.max(best, cosineAt(message, one, turn, place, dimensions))
  return best
}

async function rarityOf(
  index: SearchedIndex,
  view: TurnView,
  terms: ReadonlySet<string>,
): Promise<(term: string) => number> {
  const postings = await index.turnPostings({ user: view.user, scopes: view.scopes }, [...terms])
  return (term) => inverseDocFreq({ docFreq: postings.terms.get(term)?.rows.length ?? 0, docCount: postings.units })
}
