import type { Turn } from '../../beliefs/turn.ts'
import { inverseDocFreq } from '../bm25.ts'
import type { TextWords } from '../embedder.ts'
import { miniLm } from '../minilm/model-name.ts'
import { compareWith } from './cosines.ts'
import { passagesOf } from './passages.ts'
import { countsIn, findHeaviestRows, reachOf, type WeightedTerm } from './postings.ts'
import type { DateWindow, Question } from './question.ts'
import { findSentencesHolding, type HoldingSentence } from './sentences-holding.ts'
import { isAskingTerm, termOf, wantedTerms } from './terms.ts'
import type { MeaningIndex, MessageVectors, TurnCosines, TurnIndex, TurnUnit, TurnView } from './turn-index.ts'
import { shareOfTurns } from './word-points.ts'

/** The vectors of a message, and the model that made them. */
export type MessageMeaning = MessageVectors & {
  readonly model: string
  /** The text that was embedded: the message without the parts that are not compared. */
  readonly text: string
  /** Computes the vectors of the words in texts; undefined if that takes too long. */
  readonly wordsOf?: (texts: readonly string[]) => Promise<readonly TextWords[] | undefined>
}

export type SearchedIndex = TurnIndex & Pick<MeaningIndex, 'turnCosines' | 'vectorsAt'>

export type Ranking = {
  readonly view: TurnView
  readonly question: Question
  readonly dates: DateWindow | null
  /** If set, turns are also found by meaning. */
  readonly meaning?: MessageMeaning
  /** Filters the candidates by role. Default: all roles. */
  readonly mayRank?: (unit: TurnUnit) => boolean
}

/** The terms of a message. The weight of a term is its weight in the question times its idf over turns. */
export type AskedTerms = {
  readonly known: readonly WeightedTerm[]
  readonly weights: ReadonlyMap<string, number>
  /** The sum of all weights, including those of terms that no turn has. */
  readonly total: number
}

/** A unit that may answer a message. */
export type TurnCandidate = {
  readonly unit: TurnUnit
  readonly turn: Turn
  /** The text of the unit. */
  readonly passage: string
  /** The sentences of the passage, each with the terms of the question that it contains. */
  readonly sentences: readonly HoldingSentence[]
  /** BM25 of the unit's own words, from 0 to 1. */
  readonly words: number
  /** The terms of the message that the unit contains. `before`: the other terms that the previous turn contains. `after`: the rest that the next turn contains. */
  readonly own: ReadonlySet<string>
  readonly before: ReadonlySet<string>
  readonly after: ReadonlySet<string>
  /** The cosine with the message. `cosineZ`: how many standard deviations it is above the mean of all turns. */
  readonly cosine: number
  readonly cosineZ: number
  /** The larger `cosineZ` of two turns that have vectors: the nearest one before the unit, and the nearest one after it. */
  readonly cosineZAround: number
  /** `asked`: said at the time that the message asks about. `only`: said at that time, and the message asks about nothing else. */
  readonly time: 'only' | 'asked' | 'other'
}

export type Candidates = {
  /** Units that are not steps of an agent. */
  readonly messages: readonly TurnCandidate[]
  /** Steps of an agent that have words of the question, in descending order of `words`. */
  readonly steps: readonly { readonly unit: TurnUnit; readonly words: number }[]
  readonly terms: AskedTerms
  readonly hasMeaning: boolean
}

const k1 = 0.9
const b = 0.4
/**
 * Max candidates of each kind: people's turns by words, assistants' turns by words (separate, because their long turns
 * share more words), and turns by meaning.
 */
const maxByWords = 50
const maxByMeaning = 50
/** Max rows that are chosen by the words they contain. Their neighbours may be candidates too. */
const maxRows = 80
/** How many turns before and after a unit that was found by its own words are examined. */
const spread = 2
/** The weight of words in the next turn, as a share of the weight of words in the previous turn. */
export const afterShare = 0.5
/** If a time window contains more than this share of the sessions, it does not raise the scores of their turns. */
const maxSessionShare = 0.6
/** If a question asks only about a time, and more units than this are from that time, none becomes a candidate because of the time. */
const maxOfTime = 120

/** Finds the turns that may answer a message: the best by words, the best by meaning, and those from the time that it asks about. */
export async function findCandidates(index: SearchedIndex, ranking: Ranking): Promise<Candidates> {
  const { view, question, dates, meaning, mayRank = () => true } = ranking
  const postings = await index.turnPostings(view, [...question.terms.keys()])
  const { inView } = postings
  const cosines = meaning === undefined ? null : await index.turnCosines(view, meaning.model, meaning, inView)
  const terms = weighTerms(question, postings)
  const averageLength = Math.max(1, postings.length / Math.max(1, postings.units))
  const near = readCosines(cosines, inView, meaning?.model === miniLm.model)
  const ofTime = await rowsOfTime(index, ranking)
  const rows = [...new Set([...findHeaviestRows(terms.known, inView, maxRows), ...near.best, ...ofTime])]
  const units = await index.unitsAround(view, rows, spread + 1)
  const counts = countsIn(terms.known, units)

  const wanted = new Set(rows)
  const isNear = new Uint8Array(units.length)
  for (const [at, { row }] of units.entries()) {
    if (!wanted.has(row)) continue
    const [from, to] = reachOf(units, at, spread)
    isNear.fill(1, from, to + 1)
  }
  const rough = units.flatMap((unit, at) => {
    if (isNear[at] === 0 || (inView !== null && !inView.has(unit.row)) || !mayRank(unit)) return []
    const found = termsAround(units, at, terms.known, counts)
    let words = 0
    for (const [place, { weight }] of terms.known.entries()) {
      const count = counts[place]?.[at] as number
      if (count > 0) words += (weight * count * (k1 + 1)) / (count + k1 * (1 - b + (b * unit.length) / averageLength))
    }
    words /= (terms.total || 1) * (k1 + 1)
    const around = shareOf(terms, found.before) + afterShare * shareOf(terms, found.after)
    return [{ unit, at, words, ...found, rough: words + around / 2 }]
  })
  const byWords = rough
    .filter(({ rough: weight }) => weight > 0)
    .sort((a, b) => b.rough - a.rough || newerFirst(a.unit, b.unit))
  const steps = byWords.filter(({ unit }) => unit.role === 'tool')
  const chosen = new Set(
    (['user', 'assistant'] as const).flatMap((role) =>
      byWords.filter(({ unit }) => unit.role === role).slice(0, maxByWords),
    ),
  )
  // Vectors belong to a whole turn. Of a long turn, only the passage with the highest word score becomes a candidate.
  const byTurn = Map.groupBy(rough, ({ unit }) => unit.first)
  const isMeant = new Set(near.best)
  for (const [first, passages] of byTurn) {
    const [best] = passages.toSorted((a, b) => b.words - a.words)
    if (best !== undefined && best.unit.role !== 'tool' && isMeant.has(first)) chosen.add(best)
  }
  for (const one of rough) if (ofTime.has(one.unit.row)) chosen.add(one)

  // In a large store, only the nearest turns have been compared so far, so the neighbours of the candidates are compared here.
  // Only people's turns have vectors.
  if (meaning !== undefined && cosines?.isEvery === false) {
    const around = [...chosen].flatMap(({ at }) => {
      const [from, to] = reachOf(units, at, spread)
      return units.slice(from, to + 1).filter(({ role }) => role === 'user')
    })
    const missing = new Set(around.map(({ first }) => first).filter((row) => !near.of.has(row)))
    const cosineOf = compareWith(meaning)
    for (const [row, vectors] of await index.vectorsAt(view.user, meaning.model, [...missing]))
      near.of.set(row, cosineOf(vectors))
  }

  const turns = await index.turnsAt(
    view.user,
    [...chosen].map(({ unit }) => unit.row),
  )
  const isInTime = inTime(dates, units)
  const wantedWords = wantedTerms(new Set(terms.known.map(({ term }) => term)))
  const messages = [...chosen].flatMap(({ unit, at, words, own, before, after }): readonly TurnCandidate[] => {
    const turn = turns.get(unit.row)
    if (turn === undefined) return []
    const passage = passagesOf(turn.text)[unit.row - unit.first] ?? ''
    const cosine = near.of.get(unit.first)
    return [
      {
        unit,
        turn,
        passage,
        sentences: findSentencesHolding(passage, wantedWords),
        words,
        own,
        before,
        after,
        cosine: cosine ?? 0,
        cosineZ: near.z(cosine),
        cosineZAround: Math.max(...[-1, 1].map((step) => near.z(nearestCosine(units, at, step, near.of)))),
        time: ofTime.has(unit.row) ? 'only' : isInTime(unit) ? 'asked' : 'other',
      },
    ]
  })
  return { messages, steps, terms, hasMeaning: near.of.size > 0 }
}

export const newerFirst = (a: TurnUnit, b: TurnUnit): number => b.at - a.at || b.row - a.row

/** The share of `some` terms in the total weight of the message. */
export function shareOf({ weights, total }: AskedTerms, some: Iterable<string>): number {
  let found = 0
  for (const term of some) found += weights.get(term) ?? 0
  return total === 0 ? 0 : found / total
}

/**
 * A smaller store is padded to this many units with statistics of general English. Otherwise a word in one of two turns
 * would count as common, and a common word that nobody has used yet as rare.
 */
const minUnits = 400

function weighTerms(question: Question, postings: Awaited<ReturnType<TurnIndex['turnPostings']>>): AskedTerms {
  const units = Math.max(postings.units, minUnits)
  const weights = new Map(
    [...question.terms].map(([term, asked]) => {
      const said = postings.terms.get(term)?.rows.length ?? 0
      const docFreq = said + (units - postings.units) * shareOfTurns(term)
      return [term, asked * inverseDocFreq({ docFreq, docCount: units })]
    }),
  )
  const known = [...weights].flatMap(([term, weight]) => {
    const found = postings.terms.get(term)
    return found === undefined ? [] : [{ term, weight, postings: found }]
  })
  return { known, weights, total: [...weights.values()].reduce((sum, weight) => sum + weight, 0) }
}

/**
 * A smaller store is padded to this many turns with vectors, at the usual distances from a message. Otherwise the
 * nearest of five turns would always count as near.
 */
const minVectors = 200
/**
 * The usual mean and deviation of the cosines with a message, for the model of this package (docs/ranking.md,
 * Features).
 */
const defaultCosines = { mean: 0.1, deviation: 0.081 }

/** The mean and deviation of all cosines, padded with the usual ones in a small store. */
function spreadOf({ rows, isEvery, mean, deviation }: TurnCosines): {
  readonly mean: number
  readonly deviation: number
} {
  const known = isEvery ? rows.length : minVectors
  const missing = Math.max(0, minVectors - known)
  const usual = defaultCosines
  const joined = (known * mean + missing * usual.mean) / (known + missing)
  const squares =
    known * (deviation ** 2 + (mean - joined) ** 2) + missing * (usual.deviation ** 2 + (usual.mean - joined) ** 2)
  return { mean: joined, deviation: Math.sqrt(squares / (known + missing)) }
}

/** `of`: the cosines of turns, by first row. `best`: the first rows of the nearest turns in view. `z`: returns how many deviations a cosine is above the mean. */
function readCosines(found: TurnCosines | null, inView: ReadonlySet<number> | null, isOwnModel: boolean) {
  const of = new Map<number, number>()
  for (const [at, row] of (found?.rows ?? []).entries()) of.set(row, found?.cosines[at] as number)
  const { mean, deviation } = found === null ? { mean: 0, deviation: 0 } : isOwnModel ? spreadOf(found) : found
  const best = [...of]
    .filter(([row]) => inView === null || inView.has(row))
    .sort(([, a], [, b]) => b - a)
    .slice(0, maxByMeaning)
    .map(([row]) => row)
  const z = (cosine: number | undefined) => (cosine === undefined ? 0 : (cosine - mean) / (deviation + 1e-6))
  return { of, best, z }
}

/** The cosine of the nearest turn with vectors in the direction of `step`, at most `spread` turns away. */
function nearestCosine(
  units: readonly TurnUnit[],
  at: number,
  step: number,
  cosines: ReadonlyMap<number, number>,
): number | undefined {
  const [from, to] = reachOf(units, at, spread)
  const own = units[at] as TurnUnit
  for (let other = at + step; other >= from && other <= to; other += step) {
    const { first } = units[other] as TurnUnit
    if (first !== own.first && cosines.has(first)) return cosines.get(first)
  }
  return undefined
}

/**
 * Assigns each term of a message to one place: to the unit if it contains the term, otherwise to the previous turn, otherwise
 * to the next turn. Terms that are in none of them are left out.
 */
function termsAround(
  units: readonly TurnUnit[],
  at: number,
  terms: readonly WeightedTerm[],
  counts: readonly Uint8Array[],
) {
  const [from, to] = reachOf(units, at, 1)
  const unit = units[at] as TurnUnit
  const own = new Set<string>()
  const before = new Set<string>()
  const after = new Set<string>()
  for (const [place, { term }] of terms.entries()) {
    const count = counts[place] as Uint8Array
    if ((count[at] as number) > 0) own.add(term)
    else
      for (let other = from; other <= to; other += 1) {
        if ((count[other] as number) === 0) continue
        const distance = (units[other] as TurnUnit).place - unit.place
        if (distance < 0) before.add(term)
        else if (distance > 0 && !before.has(term)) after.add(term)
      }
  }
  return { own, before, after }
}

const happen = termOf('happen')

/** If a question asks only about a time, the rows from that time; empty if there are too many. */
async function rowsOfTime(index: TurnIndex, { view, question, dates }: Ranking): Promise<ReadonlySet<number>> {
  if (dates === null) return new Set()
  const isTopic = (term: string): boolean => !dates.terms.has(term) && !isAskingTerm(term) && term !== happen
  if ([...question.terms.keys()].some(isTopic)) return new Set()
  const since = Math.max(dates.from, view.since ?? dates.from)
  const until = Math.min(dates.to, view.until ?? dates.to)
  const { inView } = await index.turnPostings({ ...view, since, until }, [])
  return inView === null || inView.size > maxOfTime ? new Set() : inView
}

/** Returns a function that tells whether a unit was said at the time that the question asks about. The function always returns false if most sessions are from that time. */
function inTime(dates: DateWindow | null, units: readonly TurnUnit[]): (unit: TurnUnit) => boolean {
  if (dates === null) return () => false
  const isWithin = ({ at }: TurnUnit): boolean => at >= dates.from && at <= dates.to
  const sessions = new Map(units.map((unit) => [unit.session, unit]))
  const within = [...sessions.values()].filter(isWithin).length
  return within === 0 || within > maxSessionShare * sessions.size ? () => false : isWithin
}
