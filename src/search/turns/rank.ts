import type { Turn } from '../../beliefs/turn.ts'
import { type Explanation, leaf, product, sum } from '../explanation.ts'
import { longestUnit, passagesOf } from './passages.ts'
import { heaviestRows, reachOf } from './postings.ts'
import { type DateWindow, type Question, tellsNumber, tellsTime } from './question.ts'
import { type HoldingSentence, sentencesHolding } from './sentences-holding.ts'
import { isAskingTerm, termOf, wantedTerms } from './terms.ts'
import { scoreSteps, stepOf } from './trajectory.ts'
import type { TurnIndex, TurnUnit, TurnView } from './turn-index.ts'
import { type AskedTerm, askedTerms, scorerOf, unaskedShare, windowReach } from './window-bm25.ts'

/**
 * One formula for every kind of conversation, chosen on development data (docs/conversations.md). A turn also counts what
 * is said right before and after it, and a little of what its session holds: an answer often holds none of the words of
 * the question it answers.
 */
const constants = {
  speaker: 0.25,
  /** A person who asks tells little. */
  question: 0.25,
  /** What it adds that one sentence holds every word of the question. */
  sentence: 0.35,
  tellsTime: 0.2,
  tellsNumber: 0.2,
  /** What the right time is worth, as a share of what the best turn's words are worth. */
  date: 0.4,
  /** The same, where nothing but a time is asked for. */
  onlyDate: 2,
  /** What it is worth, as such a share, that a sentence means what the question means. */
  meaning: 1,
}

/** A time that more of the sessions belong to tells nothing. */
const widestShare = 0.6
/** So many units are looked at by their own words, and so many of them with their text. */
const mostCandidates = 120
const mostTexts = 50
/** How far from a unit found by its own words others are looked at. */
const spread = 2

export type RankedTurn = {
  readonly unit: TurnUnit
  readonly turn: Turn
  /** What was ranked: the text, or one passage of a long one. */
  readonly passage: string
  /** The sentences of the passage, each with the terms of the question that it holds. */
  readonly sentences: () => readonly HoldingSentence[]
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
  /** How many turns are needed. Those after them may be missing, which saves reading them. Default all. */
  readonly limit?: number
}

/** The turns that answer a question best, best first. Of equal ones the newer comes first. */
export async function rankTurns(index: TurnIndex, ranking: Ranking): Promise<readonly RankedTurn[]> {
  const { view, question, dates } = ranking
  const postings = await index.turnPostings(view, [...question.terms.keys()])
  const terms = askedTerms(postings, question)
  const said = await saidAt(index, ranking)
  const rows = [...new Set([...heaviestRows(terms, postings.inView, mostCandidates), ...said])]
  const units = await index.unitsAround(view, rows, windowReach + spread)
  const scorer = scorerOf(units, terms, postings.length / Math.max(1, postings.units))

  const isNear = nearTo(units, rows)
  const rough: { readonly unit: TurnUnit; readonly at: number; readonly weight: number }[] = []
  for (const [at, unit] of units.entries()) {
    if (isNear[at] === 0 || (postings.inView !== null && !postings.inView.has(unit.row))) continue
    const weight = scorer.bm25(at) * roleWeight(unit, question)
    if (weight > 0 || said.has(unit.row)) rough.push({ unit, at, weight })
  }
  rough.sort((one, other) => other.weight - one.weight || newerFirst(one.unit, other.unit))
  const best = rough[0]?.weight || 1
  const isInTime = said.size > 0 ? ({ row }: TurnUnit) => said.has(row) : inTime(dates, units)
  const isClose = rough.map(({ unit }, place) => place < mostTexts || isInTime(unit))
  const close = rough.filter((_, place) => isClose[place]).slice(0, 2 * mostTexts)

  const nearness =
    ranking.nearness === undefined ? new Map() : await ranking.nearness(close.map(({ unit }) => unit.row))
  /** What is added to the worth of the words. */
  const additions = (unit: TurnUnit): readonly Explanation[] => {
    const near = nearness.get(unit.row)
    return [
      ...(isInTime(unit)
        ? [leaf('said at the time asked for', (said.size > 0 ? constants.onlyDate : constants.date) * best)]
        : []),
      ...(near === undefined ? [] : [leaf('how near it comes in meaning', constants.meaning * best * near)]),
    ]
  }
  const wanted = wantedTerms(new Set(terms.map(({ term }) => term)))
  const messages = await bestMessages(
    close
      .filter(({ unit }) => unit.role !== 'tool')
      .map(({ unit, at, weight }): Candidate => {
        const more = additions(unit)
        const mostSentence = 1 + constants.sentence * heldShare(terms, scorer.holds(at))
        const atMost = (factor: number): number => weight * factor * mostSentence + sum('', more).value
        return {
          unit,
          atMost: atMost(mostFactor(unit, question)),
          scored: (turn, needed) => {
            const passage = passagesOf(turn.text)[unit.row - unit.first] ?? ''
            const factor = factorOf(unit, passage, question)
            if (atMost(factor.value) * (1 + roundingError) < needed) return null
            const sentences = sentencesHolding(passage, wanted)
            const words = product('words', [
              scorer.explain(at),
              ...(roleWeight(unit, question) === 1 ? [] : [leaf('not said by who is asked for', unaskedShare)]),
              factor,
              sentenceFactor(sentences, terms),
            ])
            const explanation = more.length === 0 ? words : sum('turn', [words, ...more])
            return { unit, turn, passage, sentences: () => sentences, score: explanation.value, explanation }
          },
        }
      }),
    { limit: ranking.limit ?? close.length, read: (rows) => index.turnsAt(view.user, rows) },
  )
  const steps = await rankedSteps(index, ranking, close)
  return [...messages, ...steps].sort((one, other) => other.score - one.score || newerFirst(one.unit, other.unit))
}

const happen = termOf('happen')

/** The units that were said at a time, where a question asks for nothing else; none where they are too many to tell anything. */
async function saidAt(index: TurnIndex, { view, question, dates }: Ranking): Promise<ReadonlySet<number>> {
  if (dates === null) return new Set()
  const isTopic = (term: string): boolean => !dates.terms.has(term) && !isAskingTerm(term) && term !== happen
  if ([...question.terms.keys()].some(isTopic)) return new Set()
  const since = Math.max(dates.from, view.since ?? dates.from)
  const until = Math.min(dates.to, view.until ?? dates.to)
  const { inView } = await index.turnPostings({ ...view, since, until }, [])
  return inView === null || inView.size > mostCandidates ? new Set() : inView
}

/** A unit whose score depends on its text, and what the score is at most. */
type Candidate = {
  readonly unit: TurnUnit
  readonly atMost: number
  /** Null where the text shows that it scores less than is needed. */
  readonly scored: (turn: Turn, needed: number) => RankedTurn | null
}

/** So many texts are read at once. */
const readAtOnce = 16
/** The bound is multiplied in another order than the score, and rounds differently. */
const roundingError = 1e-9

/** Scores candidates, the most promising first, until no other can be among the first `limit` turns. */
async function bestMessages(
  candidates: readonly Candidate[],
  {
    limit,
    read,
  }: { readonly limit: number; readonly read: (rows: readonly number[]) => ReturnType<TurnIndex['turnsAt']> },
): Promise<readonly RankedTurn[]> {
  const promising = candidates.toSorted((one, other) => other.atMost - one.atMost)
  const scored: RankedTurn[] = []
  const bestOf = new Map<number, number>()
  /** The score of the last of the first `limit` turns so far. */
  let needed = Number.NEGATIVE_INFINITY
  const isHopeless = ({ atMost }: Candidate): boolean => atMost * (1 + roundingError) < needed
  for (let from = 0; from < promising.length; from += readAtOnce) {
    const part = promising.slice(from, from + readAtOnce).filter((candidate) => !isHopeless(candidate))
    if (part.length === 0) break
    const turns = await read(part.map(({ unit }) => unit.row))
    for (const { unit, scored: score } of part) {
      const turn = turns.get(unit.row)
      const one = turn === undefined ? null : score(turn, needed)
      if (one === null) continue
      scored.push(one)
      if (one.score <= (bestOf.get(unit.first) ?? 0)) continue
      bestOf.set(unit.first, one.score)
      if (bestOf.size >= limit) needed = [...bestOf.values()].sort((a, b) => b - a)[limit - 1] as number
    }
  }
  return scored
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
  // "What did step 5 show?" holds no word of any step.
  const asksForLast = question.steps.named.length > 0 || (question.asksSteps && found.length === 0)
  const bySession = Map.groupBy(
    steps.length === 0 && asksForLast ? await lastSteps(index, view) : steps,
    ({ unit }) => unit.session,
  )
  const wanted = wantedTerms(question.terms)
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
      const sentences = () => sentencesHolding(passage, wanted)
      ranked.push({ unit, turn, passage, sentences, score: explanation.value, explanation })
    }
  }
  // Who asks for steps asks about the whole trajectory; else a step that has nothing to do with the question is left out.
  return ranked.filter(({ score }) => question.asksSteps || score !== 0)
}

/** The trajectory that was kept last. */
async function lastSteps(index: TurnIndex, view: TurnView) {
  const row = await index.lastStep(view)
  const units = row === null ? [] : await index.unitsAround(view, [row], 0)
  return units.map((unit) => ({ unit, weight: 1 }))
}

const newerFirst = (one: TurnUnit, other: TurnUnit): number => other.at - one.at || other.row - one.row

/** What the words of a unit count, by who is asked for. */
function roleWeight({ role }: TurnUnit, { asksAssistant, asksEither, asksSummary }: Question): number {
  if (asksSummary || asksEither) return 1
  return (role === 'user') === asksAssistant ? unaskedShare : 1
}

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
  return sum('speaker, time and number', [leaf('base', 1), ...parts])
}

/** What `factorOf` is at most, whatever the text says. */
const mostFactor = ({ role, speaker }: TurnUnit, question: Question): number =>
  1 +
  (question.speaker !== null && speaker === question.speaker ? constants.speaker : 0) +
  (role === 'user' && question.asksWhen ? constants.tellsTime : 0) +
  (role === 'user' && question.asksHowMany ? constants.tellsNumber : 0)

/** The share of some terms in the weight of all. */
function heldShare(terms: readonly AskedTerm[], holds: (term: AskedTerm, index: number) => boolean): number {
  let [all, held] = [0, 0]
  for (const [index, term] of terms.entries()) {
    all += term.weight
    if (holds(term, index)) held += term.weight
  }
  return all === 0 ? 0 : held / all
}

/** What it adds that words of the question stand together in one sentence, by the share of their weight. */
function sentenceFactor(sentences: readonly HoldingSentence[], terms: readonly AskedTerm[]): Explanation {
  const shares = sentences.map(({ held }) => (held.size === 0 ? 0 : heldShare(terms, ({ term }) => held.has(term))))
  return leaf('words in one sentence', 1 + constants.sentence * Math.max(0, ...shares))
}

/** Whether a unit was said in the time asked for, if that tells anything. */
function inTime(dates: DateWindow | null, units: readonly TurnUnit[]): (unit: TurnUnit) => boolean {
  if (dates === null) return () => false
  const isWithin = ({ at }: TurnUnit): boolean => at >= dates.from && at <= dates.to
  const sessions = new Map(units.map((unit) => [unit.session, unit]))
  const within = [...sessions.values()].filter(isWithin).length
  return within === 0 || within > widestShare * sessions.size ? () => false : isWithin
}

/** 1 for each unit that is one of the rows, or at most `spread` turns away from one. */
function nearTo(units: readonly TurnUnit[], rows: readonly number[]): Uint8Array {
  const wanted = new Set(rows)
  const near = new Uint8Array(units.length)
  for (const [at, { row }] of units.entries()) {
    if (!wanted.has(row)) continue
    const [from, to] = reachOf(units, at, spread)
    near.fill(1, from, to + 1)
  }
  return near
}
