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
import { type Scored, type UpdateFeature, updateFeatures, type Values } from './features.ts'
import type { Announcing, Model } from './model.ts'
import { termsOf } from './terms.ts'
import type { TurnView } from './turn-index.ts'

/** Only the first sentences of a turn get vectors, because the rest of a long turn is usually pasted text. */
const maxTextLength = 4_000
const maxSentences = 20
const maxSentenceLength = 400

/** The sentences of a turn that have vectors, in the same order. */
export const sentencesToEmbed = (text: string): readonly Sentence[] =>
  joinSentences(text.slice(0, maxTextLength), maxSentences)

/** The texts of the sentences that have vectors, in the form that the model reads. */
export const textsToEmbed = (text: string): readonly string[] =>
  sentencesToEmbed(text).map(({ text: sentence }) =>
    sentence.replace(/\s+/gu, ' ').slice(0, maxSentenceLength).toWellFormed(),
  )

/** Computes the cosine of a message with each sentence of some turns; returns nothing if there are no vectors. */
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

type Asked = Pick<Ranking, 'view' | 'question' | 'meaning'> & Pick<Candidates, 'terms'>

/** The number of best turns that are compared with each other. */
export const maxCompared = 30

/** The place in the ranking of a newer turn that may update an older one, and the probability that it does. */
export type LikelyUpdate = { readonly place: number; readonly probability: number }

/** Measures how much a sentence sounds like the announcement of a change. The sentence is given by the vectors of its turn and its position among them. */
type Announced = (vectors: Int8Array, place: number) => number

/** For each of the ranked turns at `places`, the newer turns that may update it, with their features. Empty for a question about the past. */
export async function updateValues(
  index: SearchedIndex,
  ranked: readonly Scored[],
  places: readonly number[],
  asked: Asked,
  announced: Announced,
): Promise<ReadonlyMap<number, readonly { readonly place: number; readonly values: Values<UpdateFeature> }[]>> {
  if (asked.question.asksPast || ranked.length < 2) return new Map()
  const compare = await statementsOf(index, ranked, places, asked, announced)
  return new Map(
    places.map((at) => [
      at,
      ranked.flatMap((other, place) => {
        if (place >= maxCompared || !isNewer(other, ranked[at] as Scored)) return []
        return [{ place, values: { ...compare(at, place), meaning: other.candidate.cosineZ } }]
      }),
    ]),
  )
}

/**
 * For each of the ranked turns at `places`, the newer turns that may update it, likeliest first. At most one of them is assumed
 * to update it, so the probabilities add up to at most 1; the rest is the probability that none does.
 */
export async function findUpdates(
  index: SearchedIndex,
  ranked: readonly Scored[],
  places: readonly number[],
  asked: Asked,
  { update, announcing }: Pick<Model, 'update' | 'announcing'>,
): Promise<ReadonlyMap<number, readonly LikelyUpdate[]>> {
  const found = await updateValues(index, ranked, places, asked, announcedBy(announcing, asked.meaning))
  const weigh = (values: Values<UpdateFeature>): number =>
    Math.exp(updateFeatures.reduce((total, feature) => total + values[feature] * update[feature], update.bias))
  return new Map(
    [...found].map(([at, newer]) => {
      const odds = newer.map(({ values }) => weigh(values))
      const total = odds.reduce((sum, one) => sum + one, 1)
      const updates = newer.map(({ place }, one) => ({ place, probability: (odds[one] as number) / total }))
      return [at, updates.sort((a, b) => b.probability - a.probability)]
    }),
  )
}

/**
 * Returns a function that measures, in standard deviations, how much a sentence sounds like the announcement of a change. It
 * returns 0 if the sentence has no vector of the model that `announcing` belongs to.
 */
export function announcedBy(announcing: Announcing | null, meaning: MessageMeaning | undefined): Announced {
  if (announcing === null || meaning?.model !== announcing.model) return () => 0
  const direction = new Int8Array(Buffer.from(announcing.direction, 'base64'))
  return (vectors, place) =>
    (place + 1) * meaning.dimensions > vectors.length
      ? 0
      : (cosineAt(direction, 0, vectors, place, meaning.dimensions) - announcing.mean) / announcing.deviation
}

/** Whether a turn may update another: the person said it to an assistant, later, and in a different conversation. */
const isNewer = ({ candidate: { unit } }: Scored, { candidate: { unit: older } }: Scored): boolean =>
  unit.role === 'user' && unit.speaker === null && unit.at > older.at && unit.session !== older.session

type Statement = { readonly place: number; readonly terms: ReadonlySet<string> }

/** How similar another turn is to a statement. Each feature is the highest value among the turn's sentences. */
type Likeness = Pick<Values<UpdateFeature>, 'cosine' | 'words' | 'announces'>

/**
 * Returns a function that compares two turns, given by their positions. The first turn is represented by the sentence
 * that fits the message best.
 */
async function statementsOf(
  index: SearchedIndex,
  turns: readonly Scored[],
  heads: readonly number[],
  { view, meaning, terms }: Asked,
  announced: Announced,
): Promise<(at: number, other: number) => Likeness> {
  const rows = turns.map(({ candidate }) => candidate.unit.row)
  const vectors = meaning === undefined ? new Map() : await index.vectorsAt(view.user, meaning.model, rows)
  const vectorsOf = (at: number): Int8Array => vectors.get(rows[at] as number) ?? new Int8Array()
  // Turns are split only when needed: most long turns are an assistant's, which cannot update anything and are never compared.
  const statementsAt = readOnce((at) => textsToEmbed((turns[at] as Scored).candidate.turn.text).map(statementOf))
  const announcesAt = readOnce((at) => {
    const vectors = vectorsOf(at)
    return vectors.length === 0 ? 0 : Math.max(...statementsAt(at).map(({ place }) => announced(vectors, place)))
  })
  const headAt = new Map(
    heads.map((at) => {
      const fitness = ({ terms: own, place }: Statement): number =>
        shareOf(terms, own) + (meaning === undefined ? 0 : bestCosine(meaning, vectorsOf(at), place))
      const [fittest] = statementsAt(at).toSorted((a, b) => fitness(b) - fitness(a))
      return [at, fittest]
    }),
  )
  const rarity = await rarityOf(index, view, new Set([...headAt.values()].flatMap((head) => [...(head?.terms ?? [])])))
  return (at, other) => {
    const head = headAt.get(at)
    const found = { cosine: 0, words: 0, announces: announcesAt(other) }
    if (head === undefined) return found
    const total = [...head.terms].reduce((sum, term) => sum + rarity(term), 0)
    for (const { place, terms: own } of statementsAt(other)) {
      const shared = [...head.terms].reduce((sum, term) => sum + (own.has(term) ? rarity(term) : 0), 0)
      found.words = Math.max(found.words, total === 0 ? 0 : shared / total)
      const cosine = pairCosine(meaning?.dimensions ?? 0, vectorsOf(at), head.place, vectorsOf(other), place)
      found.cosine = Math.max(found.cosine, cosine)
    }
    return found
  }
}

/** Wraps a function of positions so that it computes each value at most once. */
function readOnce<Value>(read: (at: number) => Value): (at: number) => Value {
  const known = new Map<number, Value>()
  return (at) => {
    if (!known.has(at)) known.set(at, read(at))
    return known.get(at) as Value
  }
}

const statementOf = (text: string, place: number): Statement => ({
  place,
  terms: new Set(termsOf(text).map(({ term }) => term)),
})

/** The cosine of two sentences, 0 if one of them has no vector. */
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
