import { inverseDocFreq } from '../bm25.ts'
import { type Explanation, leaf, product, sum } from '../explanation.ts'
import { countsIn, reachOf, type WeightedTerm } from './postings.ts'
import type { Question } from './question.ts'
import type { TurnPostings, TurnUnit } from './turn-index.ts'

/** Chosen on development data, as the constants of `rank.ts` are. */
const constants = {
  k1: 0.9,
  b: 0.4,
  /** The power of the idf: the more turns there are, the less do common words tell them apart. */
  rarity: 1.4,
  /** What a neighbour's words count, by its distance. */
  window: [
    [-3, 0.12],
    [-2, 0.25],
    [-1, 0.5],
    [1, 0.25],
    [2, 0.12],
  ] as readonly (readonly [distance: number, share: number])[],
  /** What a neighbour's words count by its role: of a person among persons, of a person beside an assistant, of the rest. */
  personNeighbour: 1,
  userNeighbour: 0.4,
  otherNeighbour: 0.1,
  /** What a word counts each time the same session holds it, and how often it is counted. */
  session: 0.03,
  mostInSession: 3,
}

/** What an assistant's or a tool's words count, and a person's where the assistant's are asked for. */
export const unaskedShare = 0.4
/** The farthest neighbour whose words count. */
export const windowReach = 3

/** A term of a question, with its idf raised to the power of `rarity` and how much the question asks for it. */
export type AskedTerm = WeightedTerm & { readonly idf: number; readonly asked: number }

/** The terms of a question that occur. */
export const askedTerms = (postings: TurnPostings, { terms }: Question): readonly AskedTerm[] =>
  [...terms].flatMap(([term, asked]) => {
    const found = postings.terms.get(term)
    if (found === undefined) return []
    const idf = inverseDocFreq({ docFreq: found.rows.length, docCount: postings.units }) ** constants.rarity
    return [{ term, asked, idf, weight: asked * idf, postings: found }]
  })

/** The units whose words count for another, by their place in the list, each with the share that they count. */
type Neighbours = {
  readonly places: readonly number[]
  readonly shares: readonly number[]
  /** What the length of the unit with its neighbours counts against a term. */
  readonly norm: number
}

/** BM25 over some units, where the words of a unit's neighbours and of its session count in part as its own. */
export function scorerOf(units: readonly TurnUnit[], terms: readonly AskedTerm[], averageLength: number) {
  const counts = countsIn(terms, units)
  const neighbours: (Neighbours | undefined)[] = []
  const inSessions = countsInSessions(units, counts)
  const holds = (at: number) => (_term: AskedTerm, index: number) => (counts[index]?.[at] ?? 0) > 0
  const neighboursOf = (at: number): Neighbours => {
    neighbours[at] ??= weighNeighbours(units, at, averageLength)
    return neighbours[at]
  }
  const frequencyOf = (at: number, index: number, { places, shares }: Neighbours): number => {
    const own = counts[index] as Uint8Array
    const inSession = inSessions(at, index)
    let frequency = (own[at] as number) + constants.session * Math.min(inSession, constants.mostInSession)
    for (let one = 0; one < places.length; one += 1)
      frequency += (shares[one] as number) * (own[places[one] as number] as number)
    return frequency
  }
  const saturationOf = (frequency: number, { norm }: Neighbours): number =>
    (frequency * (constants.k1 + 1)) / (frequency + norm)
  return {
    /** Whether a unit holds a term itself. */
    holds,
    bm25: (at: number): number => {
      let total = 0
      const near = neighboursOf(at)
      for (let index = 0; index < terms.length; index += 1) {
        const { asked, idf } = terms[index] as AskedTerm
        const frequency = frequencyOf(at, index, near)
        // Multiplied in the order of the explanation, so that both round alike.
        if (frequency > 0) total += 1 * idf * asked * saturationOf(frequency, near)
      }
      return total
    },
    explain: (at: number): Explanation => {
      const near = neighboursOf(at)
      const parts = terms.flatMap((one, index) => {
        const { term, asked, idf, postings } = one
        const frequency = frequencyOf(at, index, near)
        if (frequency === 0) return []
        return [
          product(`${term}${holds(at)(one, index) ? '' : ' (beside it)'}`, [
            leaf(`idf^${constants.rarity} of ${postings.rows.length} turns`, idf),
            leaf('weight in the question', asked),
            leaf('tf', saturationOf(frequency, near)),
          ]),
        ]
      })
      return sum('words', parts)
    },
  }
}

/** How often the session of a unit holds a term in the units at hand, where what no person said counts less. */
function countsInSessions(
  units: readonly TurnUnit[],
  counts: readonly Uint8Array[],
): (at: number, index: number) => number {
  const sessionAt = new Int32Array(units.length)
  for (let at = 1; at < units.length; at += 1)
    sessionAt[at] = (sessionAt[at - 1] as number) + Number(units[at]?.session !== units[at - 1]?.session)
  const inSessions = counts.map((own) => {
    const found = new Float64Array((sessionAt.at(-1) ?? -1) + 1)
    for (let at = 0; at < units.length; at += 1) {
      const count = own[at] as number
      if (count === 0) continue
      const session = sessionAt[at] as number
      found[session] = (found[session] as number) + count * (units[at]?.role === 'user' ? 1 : unaskedShare)
    }
    return found
  })
  return (at, index) => inSessions[index]?.[sessionAt[at] as number] as number
}

/** The units near enough for their words to count. */
function weighNeighbours(units: readonly TurnUnit[], at: number, averageLength: number): Neighbours {
  const { k1, b, window, personNeighbour, userNeighbour, otherNeighbour } = constants
  const own = units[at] as TurnUnit
  const [from, to] = reachOf(units, at, windowReach)
  const order = []
  for (let other = at - 1; other >= from; other -= 1) order.push(other)
  for (let other = at + 1; other <= to; other += 1) order.push(other)
  const isPerson = (other: number): boolean => units[other]?.role === 'user' || units[other]?.place === own.place
  const isAmongPersons = own.role === 'user' && order.every(isPerson)
  const places: number[] = []
  const shares: number[] = []
  // With its neighbours a unit is longer, and so is the average unit with its neighbours.
  let length = own.length
  let average = 1
  for (const other of order) {
    const unit = units[other] as TurnUnit
    const distance = unit.place - own.place
    const role = unit.role !== 'user' ? otherNeighbour : isAmongPersons ? personNeighbour : userNeighbour
    const share = distance === 0 ? 0 : (window.find(([one]) => one === distance)?.[1] ?? 0) * role
    if (share === 0) continue
    places.push(other)
    shares.push(share)
    length += share * unit.length
    average += share
  }
  return { places, shares, norm: k1 * (1 - b + (b * length) / (average * averageLength)) }
}
