import type { Turn } from '../../beliefs/turn.ts'
import { inverseDocFreq } from '../bm25.ts'
import { type Explanation, leaf, product, sum } from '../explanation.ts'
import { longestUnit, passagesOf } from './passages.ts'
import { countsIn, heaviestRows, type WeightedTerm } from './postings.ts'
import { type Question, tellsNumber, tellsTime } from './question.ts'
import { scoreSteps, stepOf } from './trajectory.ts'
import type { TurnIndex, TurnPostings, TurnUnit, TurnView } from './turn-index.ts'

/**
 * One formula for every kind of conversation, chosen on development data (docs/conversations.md). A turn also counts what
 * is said right before and after it: an answer often holds none of the words of the question it answers.
 */
export const rankingConstants = {
  k1: 0.9,
  b: 0.4,
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
  /** An assistant's or a tool's words, unless they are asked for. */
  assistant: 0.4,
  speaker: 0.25,
  /** A person who asks tells little. */
  question: 0.25,
  tellsTime: 0.2,
  tellsNumber: 0.2,
  /** What the right time is worth, as a share of what the best turn's words are worth. */
  date: 0.4,
  /** What it is worth, as such a share, that a sentence means what the question means. */
  meaning: 0.5,
} as const
export type RankingConstants = { readonly [Name in keyof typeof rankingConstants]: (typeof rankingConstants)[Name] }

/** A time that more of the sessions belong to tells nothing. */
const widestShare = 0.6
/** So many units are looked at by their own words, and so many of them with their text. */
const mostCandidates = 120
const mostTexts = 50
/** The farthest neighbour whose words count, and how far from a unit found by its own words others are looked at. */
const windowReach = 3
const spread = 2

/** The moments that a question asks about. */
export type DateWindow = { readonly from: number; readonly to: number }

export type RankedTurn = {
  readonly unit: TurnUnit
  readonly turn: Turn
  /** What was ranked: the text, or one passage of a long one. */
  readonly passage: string
  readonly score: number
  readonly explanation: Explanation
}

/** How near the best sentence of each unit comes to the question in meaning, 0 to 1; absent where nobody knows. */
export type Nearness = (rows: readonly number[]) => Promise<ReadonlyMap<number, number>>

export type Ranking = {
  readonly view: TurnView
  readonly question: Question
  readonly dates: DateWindow | null
  /** Only orders what was found by its words. */
  readonly nearness?: Nearness
  readonly constants?: RankingConstants
}

/** The turns that answer a question best, best first. Of equal ones the newer comes first. */
export async function rankTurns(index: TurnIndex, ranking: Ranking): Promise<readonly RankedTurn[]> {
  const {
    view,
    question,
    dates,
    constants = { ...rankingConstants, ...JSON.parse(process.env.CONST ?? '{}') },
  } = ranking
  const postings = await index.turnPostings(view, [...question.terms.keys()])
  const terms = weightedTerms(postings, question)
  const rows = heaviestRows(terms, postings.inView, mostCandidates)
  const units = await index.unitsAround(view, rows, windowReach + spread)
  const scorer = new Scorer(units, terms, { constants, averageLength: postings.length / Math.max(1, postings.units) })

  const isNear = nearTo(units, rows)
  const rough = units
    .map((unit, at) => ({ unit, at }))
    .filter(({ unit, at }) => isNear(at) && (postings.inView === null || postings.inView.has(unit.row)))
    .map(({ unit, at }) => ({ unit, at, weight: scorer.bm25(at) * roleWeight(unit, question, constants) }))
    .filter(({ weight }) => weight > 0)
    .sort((one, other) => other.weight - one.weight || newerFirst(one.unit, other.unit))
  const best = rough[0]?.weight ?? 0
  const isInTime = inTime(dates, units)
  const isClose = rough.map(({ unit }, place) => place < mostTexts || isInTime(unit))
  const close = rough.filter((_, place) => isClose[place]).slice(0, 2 * mostTexts)

  const rowsToRead = close.map(({ unit }) => unit.row)
  const turns = await index.turnsAt(view.user, rowsToRead)
  const nearness = ranking.nearness === undefined ? new Map() : await ranking.nearness(rowsToRead)
  const steps = await rankedSteps(index, ranking, close)
  const messages = close
    .filter(({ unit }) => unit.role !== 'tool')
    .flatMap(({ unit, at }): RankedTurn[] => {
      const turn = turns.get(unit.row)
      if (turn === undefined) return []
      const passage = passagesOf(turn.text)[unit.row - unit.first] ?? ''
      const words = product('words', [
        scorer.explain(at),
        ...(roleWeight(unit, question, constants) === 1 ? [] : [leaf('not said by a person', constants.assistant)]),
        factorOf(unit, passage, question, constants),
      ])
      const near = nearness.get(unit.row)
      const more = [
        ...(isInTime(unit) ? [leaf('said at the time asked for', constants.date * best)] : []),
        ...(near === undefined ? [] : [leaf('how near it comes in meaning', constants.meaning * best * near)]),
      ]
      const explanation = more.length === 0 ? words : sum('turn', [words, ...more])
      return [{ unit, turn, passage, score: explanation.value, explanation }]
    })
  return [...messages, ...steps].sort((one, other) => other.score - one.score || newerFirst(one.unit, other.unit))
}

/** Trajectories with the best steps that are looked at as a whole, and how many steps of each on both sides of the best one. */
const mostTrajectories = 3
const trajectoryReach = 200

/**
 * The steps of the trajectories that were found, each scored within its own: how much of the best step's worth it has.
 * `found` are units by what their words are worth, best first.
 */
async function rankedSteps(
  index: TurnIndex,
  { view, question, constants = rankingConstants }: Ranking,
  found: readonly { readonly unit: TurnUnit; readonly weight: number }[],
): Promise<readonly RankedTurn[]> {
  const bestOfEach = [
    ...new Map(
      found
        .filter(({ unit }) => unit.role === 'tool')
        .reverse()
        .map((one) => [one.unit.session, one]),
    ).values(),
  ]
    .reverse()
    .slice(0, mostTrajectories)
  const ranked: RankedTurn[] = []
  for (const { unit: best, weight } of bestOfEach) {
    const named = question.steps.named.map((step) => Math.abs(step - best.place) + windowReach)
    const around = await index.unitsAround(view, [best.row], Math.max(trajectoryReach, ...named))
    const firsts = around.filter(({ role, row, first }) => role === 'tool' && row === first)
    const turns = await index.turnsAt(
      view.user,
      firsts.map(({ row }) => row),
    )
    const steps = firsts.flatMap((unit) => {
      const turn = turns.get(unit.row)
      return turn === undefined ? [] : [{ unit, turn, step: stepOf(turn.text, unit.place) }]
    })
    // A step that is named is asked for, whoever took it.
    const worth = question.steps.named.length > 0 ? weight / roleWeight(best, question, constants) : weight
    const scores = scoreSteps(
      steps.map(({ step }) => step),
      question,
    )
    ranked.push(
      ...steps.map(({ unit, turn }, at) => {
        const explanation = product('step', [scores[at] as Explanation, leaf('words of the best step', worth)])
        const passage = turn.text.slice(0, longestUnit)
        return { unit, turn, passage, score: explanation.value, explanation }
      }),
    )
  }
  return ranked.filter(({ score }) => score !== 0)
}

const newerFirst = (one: TurnUnit, other: TurnUnit): number => other.at - one.at || other.row - one.row

type Term = WeightedTerm & { readonly idf: number; readonly asked: number }

const weightedTerms = (postings: TurnPostings, { terms }: Question): readonly Term[] =>
  [...terms].flatMap(([term, asked]) => {
    const found = postings.terms.get(term)
    if (found === undefined) return []
    const idf = inverseDocFreq({ docFreq: found.rows.length, docCount: postings.units })
    return [{ term, asked, idf, weight: asked * idf, postings: found }]
  })

const roleWeight = (
  { role }: TurnUnit,
  { asksAssistant, asksSummary }: Question,
  constants: RankingConstants,
): number => (role === 'user' || asksAssistant || asksSummary ? 1 : constants.assistant)

/** What the text of a turn adds to or takes from the worth of its words. */
function factorOf(unit: TurnUnit, text: string, question: Question, constants: RankingConstants): Explanation {
  const isPerson = unit.role === 'user'
  const parts = [
    ...(question.speaker !== null && unit.speaker === question.speaker
      ? [leaf('said by the person named', constants.speaker)]
      : []),
    ...(isPerson && unit.speaker !== null && /\?\s*$/u.test(text) ? [leaf('only asks', -constants.question)] : []),
    ...(isPerson && question.asksWhen && tellsTime(text) ? [leaf('tells a time', constants.tellsTime)] : []),
    ...(isPerson && question.asksHowMany && tellsNumber(text) ? [leaf('tells a number', constants.tellsNumber)] : []),
  ]
  return sum('what it tells', [leaf('as it is', 1), ...parts])
}

/** Whether a unit was said in the time asked for, if that tells anything. */
function inTime(dates: DateWindow | null, units: readonly TurnUnit[]): (unit: TurnUnit) => boolean {
  if (dates === null) return () => false
  const isWithin = ({ at }: TurnUnit): boolean => at >= dates.from && at <= dates.to
  const sessions = new Map(units.map((unit) => [unit.session, unit]))
  const within = [...sessions.values()].filter(isWithin).length
  return within === 0 || within > widestShare * sessions.size ? () => false : isWithin
}

/** Whether a unit is at most `spread` turns away from one of the rows. */
function nearTo(units: readonly TurnUnit[], rows: readonly number[]): (at: number) => boolean {
  const wanted = new Set(rows)
  const isNear = new Uint8Array(units.length)
  for (const [at, unit] of units.entries()) {
    if (!wanted.has(unit.row)) continue
    const mark = (step: 1 | -1): void => {
      for (let other = at; ; other += step) {
        const neighbour = units[other]
        if (neighbour === undefined || neighbour.session !== unit.session) return
        if (Math.abs(neighbour.place - unit.place) > spread) return
        isNear[other] = 1
      }
    }
    mark(1)
    mark(-1)
  }
  return (at) => isNear[at] === 1
}

/** BM25 over some units and their neighbours. */
class Scorer {
  readonly #units: readonly TurnUnit[]
  readonly #terms: readonly Term[]
  readonly #counts: readonly Uint8Array[]
  readonly #constants: RankingConstants
  readonly #averageLength: number
  readonly #neighbours = new Map<number, readonly (readonly [at: number, share: number])[]>()

  constructor(
    units: readonly TurnUnit[],
    terms: readonly Term[],
    { constants, averageLength }: { readonly constants: RankingConstants; readonly averageLength: number },
  ) {
    this.#units = units
    this.#terms = terms
    this.#constants = constants
    this.#averageLength = averageLength
    this.#counts = countsIn(
      terms,
      units.map(({ row }) => row),
    )
  }

  bm25(at: number): number {
    let total = 0
    for (let term = 0; term < this.#terms.length; term += 1) total += this.#termScore(at, term)
    return total
  }

  explain(at: number): Explanation {
    const parts = this.#terms.flatMap(({ term, asked, idf, postings }, index) => {
      const frequency = this.#frequency(at, index)
      if (frequency === 0) return []
      const where = (this.#counts[index]?.[at] ?? 0) > 0 ? '' : ' (beside it)'
      return [
        product(`${term}${where}`, [
          leaf(`idf of ${postings.rows.length} turns`, idf),
          leaf(asked === 1 ? 'asked once' : 'how much it asks', asked),
          leaf('how much it occurs', this.#saturation(at, frequency)),
        ]),
      ]
    })
    return sum('words', parts)
  }

  #termScore(at: number, index: number): number {
    const { asked, idf } = this.#terms[index] as Term
    const frequency = this.#frequency(at, index)
    return frequency === 0 ? 0 : 1 * idf * asked * this.#saturation(at, frequency)
  }

  #saturation(at: number, frequency: number): number {
    const { k1, b } = this.#constants
    // Beside neighbours a unit is as long as they are together, and so would an average one be.
    let length = (this.#units[at] as TurnUnit).length
    let average = 1
    for (const [other, share] of this.#neighboursOf(at)) {
      length += share * (this.#units[other] as TurnUnit).length
      average += share
    }
    return (frequency * (k1 + 1)) / (frequency + k1 * (1 - b + (b * length) / (average * this.#averageLength)))
  }

  #frequency(at: number, index: number): number {
    const counts = this.#counts[index] as Uint8Array
    let frequency = counts[at] as number
    for (const [other, share] of this.#neighboursOf(at)) frequency += share * (counts[other] as number)
    return frequency
  }

  #neighboursOf(at: number): readonly (readonly [at: number, share: number])[] {
    const known = this.#neighbours.get(at)
    if (known !== undefined) return known
    const found = this.#findNeighbours(at)
    this.#neighbours.set(at, found)
    return found
  }

  #findNeighbours(at: number): readonly (readonly [at: number, share: number])[] {
    const { window, personNeighbour, userNeighbour, otherNeighbour } = this.#constants
    const own = this.#units[at] as TurnUnit
    const near: { at: number; unit: TurnUnit; distance: number }[] = []
    for (const step of [-1, 1]) {
      for (let other = at + step; ; other += step) {
        const unit = this.#units[other]
        if (unit === undefined || unit.session !== own.session) break
        const distance = unit.place - own.place
        if (Math.abs(distance) > windowReach) break
        if (distance !== 0) near.push({ at: other, unit, distance })
      }
    }
    const isAmongPersons = own.role === 'user' && near.every(({ unit }) => unit.role === 'user')
    return near.flatMap(({ at: other, unit, distance }) => {
      const share = window.find(([one]) => one === distance)?.[1] ?? 0
      const role = unit.role !== 'user' ? otherNeighbour : isAmongPersons ? personNeighbour : userNeighbour
      return share * role > 0 ? [[other, share * role] as const] : []
    })
  }
}
