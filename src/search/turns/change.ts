import { inverseDocFreq } from '../bm25.ts'
import { joinedSentences, type Sentence } from '../sentences.ts'
import { type Candidates, type MessageMeaning, type SearchedIndex, shareOf, type TurnCandidate } from './candidates.ts'
import { cosineAt } from './cosines.ts'
import type { ChangeFeature, Scored, Values } from './features.ts'
import type { DateWindow, Question } from './question.ts'
import { termsOf } from './terms.ts'
import type { TurnView } from './turn-index.ts'

/** Only the first sentences of a turn have vectors. The rest of a long turn is mostly pasted. */
const maxTextLength = 4_000
const maxSentences = 20
const maxSentenceLength = 400

/** The sentences of a turn that have vectors, in the same order. */
export const embeddedFrom = (text: string): readonly Sentence[] =>
  joinedSentences(text.slice(0, maxTextLength), maxSentences)

/** Their texts as the model reads them. */
export const embeddedSentences = (text: string): readonly string[] =>
  embeddedFrom(text).map(({ text: sentence }) =>
    sentence.replace(/\s+/gu, ' ').slice(0, maxSentenceLength).toWellFormed(),
  )

/** The cosines of a message with the sentences of some turns; none without vectors. */
export async function sentenceCosines(
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

/** The best turns, each of which a newer one among the first ten may replace. */
const maxReplaced = 5

type Statement = {
  readonly place: number
  readonly terms: ReadonlySet<string>
  readonly values: ReadonlySet<string>
}

/**
 * Compares the first turns with each other: which of them may be replaced by a newer one, and which newer ones speak of the
 * same thing as an older one. Only a newer turn of a person, of another conversation, can replace one.
 */
export async function compareChanges(
  index: SearchedIndex,
  view: TurnView,
  first: readonly Scored[],
  asked: {
    readonly terms: Candidates['terms']
    readonly question: Question
    readonly dates: DateWindow | null
    readonly meaning?: MessageMeaning | undefined
  },
): Promise<readonly Change[]> {
  const none = first.map(() => ({ follows: 0, followsValue: 0 }))
  const newer: (Change['newer'] | undefined)[] = []
  const best = first[0]?.score ?? 0
  if (first.length < 2 || asked.dates !== null || asksForEvent(asked.question))
    return none.map((values) => ({ values, newer: null }))
  const { meaning } = asked
  const vectors =
    meaning === undefined
      ? new Map<number, Int8Array>()
      : await index.vectorsAt(
          view.user,
          meaning.model,
          first.map(({ candidate }) => candidate.unit.row),
        )
  const statements = first.map(({ candidate }) => embeddedSentences(candidate.turn.text).map(statementOf))
  const vectorsOf = (at: number): Int8Array => vectors.get(first[at]?.candidate.unit.row ?? -1) ?? new Int8Array()
  const heads = first.slice(0, maxReplaced).map((_, at) => {
    const cosineWith = (place: number): number =>
      meaning === undefined ? 0 : bestCosine(meaning, vectorsOf(at), place)
    const fitness = ({ terms, place }: Statement): number => shareOf(asked.terms, terms) + cosineWith(place)
    return (statements[at] ?? []).reduce<Statement | null>(
      (fittest, one) => (fittest === null || fitness(one) > fitness(fittest) ? one : fittest),
      null,
    )
  })
  const rarity = await rarityOf(index, view, new Set(heads.flatMap((head) => [...(head?.terms ?? [])])))

  for (const [at, head] of heads.entries()) {
    const older = first[at] as Scored
    if (head === null) continue
    const share = shareOf(asked.terms, older.candidate.own)
    const weight = Math.exp((older.score - best) / 2) * Math.sqrt(share)
    for (const [other, { candidate, score }] of first.entries()) {
      const { unit } = candidate
      const isNewer = unit.at > older.candidate.unit.at && unit.session !== older.candidate.unit.session
      if (!isNewer || unit.role !== 'user' || unit.speaker !== null) continue
      const [like, statement] = likeness(head, vectorsOf(at), statements[other] ?? [], vectorsOf(other), {
        rarity,
        dimensions: meaning?.dimensions ?? 0,
      })
      const hasOtherValue = head.values.size > 0 && [...(statement?.values ?? [])].some((one) => !head.values.has(one))
      const values = none[other] as Record<ChangeFeature, number>
      values.follows = Math.max(values.follows, like * weight)
      if (hasOtherValue) values.followsValue = Math.max(values.followsValue, like * weight)
      const strong = like * Math.exp((score - best) / 4)
      const likelihood = strong * (hasOtherValue ? 2 : 1)
      if (likelihood > (newer[at]?.likelihood ?? 0)) newer[at] = { place: other, likelihood }
    }
  }
  return none.map((values, at) => ({ values, newer: newer[at] ?? null }))
}

const statementOf = (text: string, place: number): Statement => ({
  place,
  terms: new Set(termsOf(text).map(({ term }) => term)),
  values: new Set([...text.matchAll(valuePattern)].map(([value]) => value.toLowerCase())),
})

/** Numbers, and words with a capital letter inside a sentence. */
const valuePattern = /\d[\d.,:/]*|(?<=[^.!?]\s)\p{Lu}\p{Ll}{2,}/gu

/** Asks for something that happened, and not for how things are. English. */
const asksForEvent = ({ asksPast, asksEvent }: Question): boolean => asksPast || asksEvent

/** How much a statement speaks of the same thing as the likest sentence of another turn: words and meaning, half each. */
function likeness(
  head: Statement,
  headVectors: Int8Array,
  others: readonly Statement[],
  otherVectors: Int8Array,
  { rarity, dimensions }: { readonly rarity: (term: string) => number; readonly dimensions: number },
): readonly [number, Statement | null] {
  let best: readonly [number, Statement | null] = [0, null]
  const total = [...head.terms].reduce((sum, term) => sum + rarity(term), 0)
  for (const other of others) {
    const shared = [...head.terms].reduce((sum, term) => sum + (other.terms.has(term) ? rarity(term) : 0), 0)
    const words = total === 0 ? 0 : shared / total
    const hasVectors =
      dimensions > 0 &&
      (head.place + 1) * dimensions <= headVectors.length &&
      (other.place + 1) * dimensions <= otherVectors.length
    const cosine = hasVectors ? cosineAt(headVectors, head.place, otherVectors, other.place, dimensions) : 0
    const like = (words + Math.max(0, cosine)) / 2
    if (like > best[0]) best = [like, other]
  }
  return best
}

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
