import type { Turn } from '../../beliefs/turn.ts'
import { type Explanation, leaf, product, sum } from '../explanation.ts'
import { type Candidates, findCandidates, newerFirst, type Ranking, type SearchedIndex } from './candidates.ts'
import { findUpdates, type LikelyUpdate, maxCompared } from './change.ts'
import type { RankFeature } from './features.ts'
import { explainWeighted, rankFeatures, rankValues, type Scored, type Values, withWords } from './features.ts'
import { type Model, type Models, models, type Replaced } from './model.ts'
import { maxUnitLength } from './passages.ts'
import type { Question } from './question.ts'
import { findSentencesHolding, type HoldingSentence } from './sentences-holding.ts'
import { wantedTerms } from './terms.ts'
import { scoreSteps, stepOf } from './trajectory.ts'
import type { TurnIndex, TurnUnit, TurnView } from './turn-index.ts'

export type RankedTurn = {
  readonly unit: TurnUnit
  readonly turn: Turn
  /** The ranked text: the turn, or one passage of a long one. */
  readonly passage: string
  /** The sentences of the passage, each with the terms of the question that it contains. */
  readonly sentences: () => readonly HoldingSentence[]
  readonly score: number
  /** The sum behind the score. */
  readonly explain: () => Explanation
  /** A newer turn about the same thing comes before it. */
  readonly isEarlier: boolean
}

/** The turns that answer a question best, best first. Of turns with equal scores, the newer comes first. */
export async function rankTurns(
  index: SearchedIndex,
  ranking: Ranking,
  using: Models = models,
): Promise<readonly RankedTurn[]> {
  const found = await findCandidates(index, ranking)
  const model = found.hasMeaning ? using.vectors : using.words
  const scored = scoreMessages(found, ranking.question, model)
  const messages = (await rankNewestFirst(index, ranking, found, scored, model)).map(
    ({ candidate, score, explanation, isEarlier }): RankedTurn => ({
      unit: candidate.unit,
      turn: candidate.turn,
      passage: candidate.passage,
      score,
      isEarlier,
      sentences: () => candidate.sentences,
      explain: () => withWords(explanation, candidate, found.terms),
    }),
  )
  const steps = await rankedSteps(index, ranking, found, using.words)
  if (steps.length === 0) return messages
  const placed = found.hasMeaning ? placedByWords(steps, messages, found, ranking.question, using) : steps
  return [...messages, ...placed].sort((a, b) => b.score - a.score || newerFirst(a.unit, b.unit))
}

/** Steps have no vectors, so their ranks among the messages are found by comparing words alone. Each step gets the score of the message at its rank. */
function placedByWords(
  steps: readonly RankedTurn[],
  messages: readonly RankedTurn[],
  found: Candidates,
  question: Question,
  { words }: Models,
): readonly RankedTurn[] {
  const withSharedWords = found.messages.filter(({ own, before, after }) => own.size + before.size + after.size > 0)
  const byWords = scoreMessages({ ...found, messages: withSharedWords }, question, words)
  const last = messages.at(-1)?.score ?? 0
  return steps.map((step) => {
    const place = byWords.filter(({ score }) => score > step.score).length
    const score = messages[place]?.score ?? Math.min(step.score, last)
    const explain = () => sum('step', [...step.explain().parts, leaf('its place among messages', score - step.score)])
    return { ...step, score, explain }
  })
}

/** A candidate with its score and the explanation of the score. */
export type ScoredMessage = Scored & { readonly explanation: Explanation }

/** Added to the scores of turns from the time that a message asks about, if it asks about nothing else, so that they come first. */
const onlyTime = 20

/** The best unit of each turn, scored with the weights of `rank`, best first. */
export function scoreMessages(
  found: Candidates,
  question: Question,
  { rank }: Pick<Model, 'rank'>,
  values: readonly Values<RankFeature>[] = rankValues(found, question),
): readonly ScoredMessage[] {
  const scored = found.messages.map((candidate, at) => {
    const explanation = sum('turn', [
      ...explainWeighted(rankFeatures, values[at] as Values<RankFeature>, rank),
      ...(candidate.time === 'only' ? [leaf('the message asks for nothing but its time', onlyTime)] : []),
    ])
    return { candidate, score: explanation.value, explanation }
  })
  const seen = new Set<number>()
  return scored
    .sort((a, b) => b.score - a.score || newerFirst(a.candidate.unit, b.candidate.unit))
    .filter(({ candidate: { unit } }) => !seen.has(unit.first) && seen.add(unit.first))
}

/** A turn in its final place. `isEarlier`: a newer turn that may update it comes before it. */
export type PlacedMessage = ScoredMessage & { readonly isEarlier: boolean }

/** The number of best turns that newer turns may be placed before. */
export const maxUpdated = 5

/** Before each of the best turns, puts the newer turn that most likely updates it, unless the message asks about a certain time. */
export async function rankNewestFirst(
  index: SearchedIndex,
  ranking: Ranking,
  { terms }: Pick<Candidates, 'terms'>,
  scored: readonly ScoredMessage[],
  model: Pick<Model, 'update' | 'announcing' | 'replaced'>,
): Promise<readonly PlacedMessage[]> {
  return placeNewest(scored, await updatesOfFirst(index, ranking, { terms }, scored, model), model.replaced)
}

/** For each of the best turns, by its place, the newer turns that may update it. */
export async function updatesOfFirst(
  index: SearchedIndex,
  ranking: Ranking,
  { terms }: Pick<Candidates, 'terms'>,
  scored: readonly ScoredMessage[],
  model: Pick<Model, 'update' | 'announcing'>,
): Promise<ReadonlyMap<number, readonly LikelyUpdate[]>> {
  if (ranking.dates !== null) return new Map()
  const compared = scored.slice(0, maxCompared)
  const heads = [...compared.keys()].slice(0, maxUpdated)
  return findUpdates(index, compared, heads, { ...ranking, terms }, model)
}

/** Moves each turn that is likely enough to be an update in front of the older turn that it updates, and returns all turns in the new order. */
export function placeNewest(
  scored: readonly ScoredMessage[],
  updates: ReadonlyMap<number, readonly LikelyUpdate[]>,
  { probability: minProbability, lead }: Replaced,
): readonly PlacedMessage[] {
  const placed = scored.map((message): PlacedMessage => ({ ...message, isEarlier: false }))
  // The best turn first, so that an update of a turn that has moved is placed before its new position.
  for (const at of [...updates.keys()].sort((a, b) => a - b)) {
    const [newer] = updates.get(at) ?? []
    if (newer === undefined || newer.probability < minProbability) continue
    const older = placed[at] as PlacedMessage
    const moved = placed[newer.place] as PlacedMessage
    const gain = older.score - moved.score
    if (gain > lead) continue
    placed[at] = { ...older, isEarlier: true }
    if (gain <= 0) continue
    const reason = leaf('may update the turn after it', gain)
    placed[newer.place] = {
      ...moved,
      score: older.score,
      explanation: sum('turn', [...moved.explanation.parts, reason]),
    }
  }
  return placed.sort((a, b) => b.score - a.score || newerFirst(a.candidate.unit, b.candidate.unit))
}

/** Max trajectories whose steps are ranked. `trajectoryReach`: how many turns before and after the best step are read. */
const maxTrajectories = 3
const trajectoryReach = 200

/**
 * Ranks the steps of the trajectories that were found. The best step of a trajectory scores like a message with the
 * same words; every other step scores in proportion to it.
 */
async function rankedSteps(
  index: TurnIndex,
  { view, question }: Ranking,
  { steps, messages }: Candidates,
  { rank }: Model,
): Promise<readonly RankedTurn[]> {
  // "What did step 5 show?" may share no word with any step. Then the steps of the latest trajectory are ranked.
  const asksForLast = question.steps.named.length > 0 || (question.asksSteps && messages.length === 0)
  const bySession = Map.groupBy(
    steps.length === 0 && asksForLast ? await lastSteps(index, view) : steps,
    ({ unit }) => unit.session,
  )
  const wanted = wantedTerms(question.terms)
  const ranked: RankedTurn[] = []
  for (const [best] of [...bySession.values()].slice(0, maxTrajectories)) {
    if (best === undefined) continue
    const named = question.steps.named.map((step) => Math.abs(step - best.unit.place) + 1)
    const around = await index.unitsAround(view, [best.unit.row], Math.max(trajectoryReach, ...named))
    const units = around.filter(({ role, row, first }) => role === 'tool' && row === first)
    const turns = await index.turnsAt(
      view.user,
      units.map(({ row }) => row),
    )
    const own = units.flatMap((unit) => {
      const turn = turns.get(unit.row)
      return turn === undefined ? [] : [{ unit, turn, step: stepOf(turn.text, unit.place) }]
    })
    // A step that the question names by its number loses no points for not being said by a person.
    const asked = question.steps.named.length > 0 ? 0 : rank.assistant
    const wordsWeight = rank.words + rank.sentence
    const scores = scoreSteps(
      own.map(({ step }) => step),
      question,
    )
    for (const [at, { unit, turn }] of own.entries()) {
      const explanation = sum('step', [
        product('words of the best step', [leaf('value', best.words), leaf('weight', wordsWeight)]),
        product('its place in the trajectory', [
          sum('value', [scores[at] as Explanation, leaf('the best by its words', -1)]),
          leaf('weight', wordsWeight),
        ]),
        leaf('not said by a person', asked),
      ])
      const passage = turn.text.slice(0, maxUnitLength)
      const sentences = () => findSentencesHolding(passage, wanted)
      // If the question is about steps, the whole trajectory counts; otherwise, steps without a word of the question
      // are left out.
      if (question.asksSteps || scores[at]?.value !== 0)
        ranked.push({
          unit,
          turn,
          passage,
          sentences,
          score: explanation.value,
          explain: () => explanation,
          isEarlier: false,
        })
    }
  }
  return ranked
}

/** The steps of the trajectory that was stored last. */
async function lastSteps(index: TurnIndex, view: TurnView) {
  const row = await index.lastStep(view)
  const units = row === null ? [] : await index.unitsAround(view, [row], 0)
  return units.map((unit) => ({ unit, words: 1 }))
}
