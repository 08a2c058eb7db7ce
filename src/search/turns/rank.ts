import type { Turn } from '../../beliefs/turn.ts'
import { inverseDocFreq } from '../bm25.ts'
import { type Explanation, leaf, product, sum } from '../explanation.ts'
import { longestUnit, passagesOf } from './passages.ts'
import { countsIn, heaviestRows, neighboursOf, type WeightedTerm } from './postings.ts'
import { type DateWindow, type Question, tellsNumber, tellsTime } from './question.ts'
import { scoreSteps, stepOf } from './trajectory.ts'
import type { TurnIndex, TurnPostings, TurnUnit, TurnView } from './turn-index.ts'

/**
 * One formula for every kind of conversation, chosen on development data (docs/conversations.md). A turn also counts what
 * is said right before and after it: an answer often holds none of the words of the question it answers.
 */
const constants = {
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
}

/** A time that more of the sessions belong to tells nothing. */
const widestShare = 0.6
/** So many units are looked at by their own words, and so many of them with their text. */
const mostCandidates = 120
const mostTexts = 50
/** The farthest neighbour whose words count, and how far from a unit found by its own words others are looked at. */
const windowReach = 3
const spread = 2

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
}

/** The turns that answer a question best, best first. Of equal ones the newer comes first. */
export async function rankTurns(index: TurnIndex, ranking: Ranking): Promise<readonly RankedTurn[]> {
  const { view, question, dates } = ranking
  const postings = await index.turnPostings(view, [...question.terms.keys()])
  const terms = weightedTerms(postings, question)
  const rows = heaviestRows(terms, postings.inView, mostCandidates)
  const units = await index.unitsAround(view, rows, windowReach + spread)
  const scorer = scorerOf(units, terms, postings.length / Math.max(1, postings.units))

  const isNear = nearTo(units, rows)
  const rough = units
    .map((unit, at) => ({ unit, at }))
    .filter(({ unit, at }) => isNear(at) && (postings.inView === null || postings.inView.has(unit.row)))
    .map(({ unit, at }) => ({ unit, at, weight: scorer.bm25(at) * roleWeight(unit, question) }))
    .filter(({ weight }) => weight > 0)
    .sort((one, other) => other.weight - one.weight || newerFirst(one.unit, other.unit))
  const best = rough[0]?.weight ?? 0
  const isInTime = inTime(dates, units)
  const isClose = rough.map(({ unit }, place) => place < mostTexts || isInTime(unit))
  const close = rough.filter((_, place) => isClose[place]).slice(0, 2 * mostTexts)

  const rowsToRead = close.map(({ unit }) => unit.row)
  const turns = await index.turnsAt(view.user, rowsToRead)
  const nearness = ranking.nearness === undefined ? new Map() : await ranking.nearness(rowsToRead)
  const messages = close
    .filter(({ unit }) => unit.role !== 'tool')
    .flatMap(({ unit, at }): RankedTurn[] => {
      const turn = turns.get(unit.row)
      if (turn === undefined) return []
      const passage = passagesOf(turn.text)[unit.row - unit.first] ?? ''
      const words = product('words', [
        scorer.explain(at),
        ...(roleWeight(unit, question) === 1 ? [] : [leaf('not said by a person', constants.assistant)]),
        factorOf(unit, passage, question),
      ])
      const near = nearness.get(unit.row)
      const more = [
        ...(isInTime(unit) ? [leaf('said at the time asked for', constants.date * best)] : []),
        ...(near === undefined ? [] : [leaf('how near it comes in meaning', constants.meaning * best * near)]),
      ]
      const explanation = more.length === 0 ? words : sum('turn', [words, ...more])
      return [{ unit, turn, passage, score: explanation.value, explanation }]
    })
  const steps = await rankedSteps(index, ranking, close)
  return [...messages, ...steps].sort((one, other) => other.score - one.score || newerFirst(one.unit, other.unit))
}

/** Trajectories whose steps are ranked, those with the best steps first, and the steps on each side of the best one. */
const mostTrajectories = 3
const trajectoryReach = 200

/**
 * The steps of the trajectories that were found. Each step is scored within its own trajectory, as a share of what the
 * words of the best step are worth. `found` are units by the worth of their words, best first.
 */
async function rankedSteps(
  index: TurnIndex,
  { view, question }: Ranking,
  found: readonly { readonly unit: TurnUnit; readonly weight: number }[],
): Promise<readonly RankedTurn[]> {
  const steps = found.filter(({ unit }) => unit.role === 'tool')
  const bySession = Map.groupBy(
    steps.length > 0 ? steps : await lastSteps(index, view, question),
    ({ unit }) => unit.session,
  )
  const ranked: RankedTurn[] = []
  for (const [first] of [...bySession.values()].slice(0, mostTrajectories)) {
    if (first === undefined) continue
    const { unit: best, weight } = first
    const named = question.steps.named.map((step) => Math.abs(step - best.place) + windowReach)
    const around = await index.unitsAround(view, [best.row], Math.max(trajectoryReach, ...named))
    const units = around.filter(({ role, row, first }) => role === 'tool' && row === first)
    const turns = await index.turnsAt(
      view.user,
      units.map(({ row }) => row),
    )
    const own = units.flatMap((unit) => {
      const turn = turns.get(unit.row)
      return turn === undefined ? [] : [{ unit, turn, step: stepOf(turn.text, unit.place) }]
    })
    // A step that is named is asked for, although no person said it.
    const worth = question.steps.named.length > 0 ? weight / roleWeight(best, question) : weight
    const scores = scoreSteps(
      own.map(({ step }) => step),
      question,
    )
    for (const [at, { unit, turn }] of own.entries()) {
      const explanation = product('step', [scores[at] as Explanation, leaf('words of the best step', worth)])
      const passage = turn.text.slice(0, longestUnit)
      ranked.push({ unit, turn, passage, score: explanation.value, explanation })
    }
  }
  return ranked.filter(({ score }) => score !== 0)
}

/** "What did step 5 show?" holds no word of any step: it asks for the trajectory that was kept last. */
async function lastSteps(index: TurnIndex, view: TurnView, { steps }: Question) {
  const row = steps.named.length === 0 ? null : await index.lastStep(view)
  const units = row === null ? [] : await index.unitsAround(view, [row], 0)
  return units.map((unit) => ({ unit, weight: 1 }))
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

const roleWeight = ({ role }: TurnUnit, { asksAssistant, asksSummary }: Question): number =>
  role === 'user' || asksAssistant || asksSummary ? 1 : constants.assistant

/** What the text of a turn adds to or takes from the worth of its words. */
function factorOf(unit: TurnUnit, text: string, question: Question): Explanation {
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

/** Whether a unit is one of the rows, or at most `spread` turns away from one. */
function nearTo(units: readonly TurnUnit[], rows: readonly number[]): (at: number) => boolean {
  const wanted = new Set(rows)
  const near = new Set<number>()
  for (const [at, { row }] of units.entries()) {
    if (!wanted.has(row)) continue
    near.add(at)
    for (const neighbour of neighboursOf(units, at, spread)) near.add(neighbour.at)
  }
  return (at) => near.has(at)
}

type WeightedNeighbour = readonly [at: number, share: number]

/** BM25 over some units, where the words of a unit's neighbours count in part as its own. */
function scorerOf(units: readonly TurnUnit[], terms: readonly Term[], averageLength: number) {
  const counts = countsIn(terms, units)
  const neighbours = new Map<number, readonly WeightedNeighbour[]>()
  const weightedNeighbours = (at: number): readonly WeightedNeighbour[] => {
    const known = neighbours.get(at) ?? weighNeighbours(units, at)
    neighbours.set(at, known)
    return known
  }
  const holds = (at: number, index: number): boolean => (counts[index]?.[at] ?? 0) > 0
  const frequencyOf = (at: number, index: number): number => {
    const own = counts[index] as Uint8Array
    let frequency = own[at] as number
    for (const [other, share] of weightedNeighbours(at)) frequency += share * (own[other] as number)
    return frequency
  }
  const saturationOf = (at: number, frequency: number): number => {
    const { k1, b } = constants
    // With its neighbours a unit is longer, and so is the average unit with its neighbours.
    let length = (units[at] as TurnUnit).length
    let average = 1
    for (const [other, share] of weightedNeighbours(at)) {
      length += share * (units[other] as TurnUnit).length
      average += share
    }
    return (frequency * (k1 + 1)) / (frequency + k1 * (1 - b + (b * length) / (average * averageLength)))
  }
  return {
    bm25: (at: number): number => {
      let total = 0
      for (const [index, { asked, idf }] of terms.entries()) {
        const frequency = frequencyOf(at, index)
        // Multiplied in the order of the explanation, so that both round alike.
        if (frequency > 0) total += 1 * idf * asked * saturationOf(at, frequency)
      }
      return total
    },
    explain: (at: number): Explanation => {
      const parts = terms.flatMap(({ term, asked, idf, postings }, index) => {
        const frequency = frequencyOf(at, index)
        if (frequency === 0) return []
        return [
          product(`${term}${holds(at, index) ? '' : ' (beside it)'}`, [
            leaf(`idf of ${postings.rows.length} turns`, idf),
            leaf(asked === 1 ? 'asked once' : 'how much it asks', asked),
            leaf('how much it occurs', saturationOf(at, frequency)),
          ]),
        ]
      })
      return sum('words', parts)
    },
    /** The terms that the unit itself holds. */
  }
}

/** The units near enough for their words to count, each with the share that they count. */
function weighNeighbours(units: readonly TurnUnit[], at: number): readonly WeightedNeighbour[] {
  const { window, personNeighbour, userNeighbour, otherNeighbour } = constants
  const near = neighboursOf(units, at, windowReach).filter(({ distance }) => distance !== 0)
  const isAmongPersons = units[at]?.role === 'user' && near.every(({ unit }) => unit.role === 'user')
  return near.flatMap(({ at: other, unit, distance }) => {
    const share = window.find(([one]) => one === distance)?.[1] ?? 0
    const role = unit.role !== 'user' ? otherNeighbour : isAmongPersons ? personNeighbour : userNeighbour
    return share * role > 0 ? [[other, share * role] as const] : []
  })
}
