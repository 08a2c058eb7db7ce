import type { CaseOutcome } from '../../run/run.ts'
import type { Answer, AnswerClause } from '../../system/system.ts'
import { namesNoise, noiseOf, type RecallExplanation } from './carry-out.ts'
import type { Metrics, PassType } from './metrics.ts'
import type { ReadyCase, ReadyTurn } from './pack.ts'

/** `error`: the system did not answer. Never a pass, never a zero: it is counted apart. */
export type EntryStatus = 'passed' | 'failed' | 'error'

export type SearchScore = {
  readonly id: string
  readonly score: number | null
  readonly clauses?: readonly AnswerClause[]
}

type EntryBase = Metrics & {
  readonly caseId: string
  readonly status: EntryStatus
  readonly passed: boolean
  /** What kind of pass it was; null unless passed. */
  readonly passType: PassType | null
  readonly failures: readonly string[]
  /** What went wrong when the system did not answer. */
  readonly error: string | null
  readonly expandedQuery: string
  readonly personaPrelude: string | null
  readonly searchScores: readonly SearchScore[]
  readonly retrievalLatencyMs: number | null
}

/** The result of one case, as reports show it. */
export type RetrievalEntry = EntryBase & {
  readonly category: string | null
  readonly description: string
  readonly pinnedBeliefs: readonly string[]
  readonly relevantBeliefs: readonly string[]
  readonly retrievedQuestions: readonly string[]
}

/** The result of one turn of a session. */
export type SessionEntry = EntryBase & {
  readonly turnIndex: number
  readonly label: string
  readonly retrievedBeliefIds: readonly string[]
  readonly pinnedBeliefIds: readonly string[]
  readonly retrievedQuestions: readonly string[]
  readonly noiseBeliefIds: readonly string[]
  /** Null when the system did not answer. */
  readonly driftScore: number | null
  /** Whether the turn names noise at all; without, its drift is 0 by definition. */
  readonly checksNoise: boolean
}

/** The record of a case in the form of the published reports. */
export function retrievalEntry({ caseId, category, description }: ReadyCase, outcome: CaseOutcome): RetrievalEntry {
  const { expandedQuery, ...rest } = shared(outcome)
  return {
    caseId,
    category,
    description,
    expandedQuery,
    pinnedBeliefs: idsIn(outcome, 'pinned'),
    relevantBeliefs: idsIn(outcome, 'relevant'),
    retrievedQuestions: idsIn(outcome, 'question'),
    ...rest,
  }
}

export function sessionEntry(caseId: string, turn: ReadyTurn, outcome: CaseOutcome): SessionEntry {
  const { expandedQuery, ...rest } = shared(outcome)
  const checksNoise = namesNoise(turn.expect)
  return {
    caseId,
    turnIndex: turn.turnIndex,
    label: turn.label,
    expandedQuery,
    retrievedBeliefIds: idsIn(outcome, 'relevant'),
    pinnedBeliefIds: idsIn(outcome, 'pinned'),
    retrievedQuestions: idsIn(outcome, 'question'),
    noiseBeliefIds: noiseOf(turn.expect, outcome.returned),
    driftScore: outcome.verdict === 'error' ? null : (outcome.scores.driftScore ?? 0),
    checksNoise,
    ...rest,
  }
}

/** The answer behind an outcome; null when there was none. */
export function answerOf(outcome: CaseOutcome): Answer | null {
  if (outcome.verdict === 'error') return null
  const { prelude, matches, nearMisses } = explanationOf(outcome)
  return {
    prelude,
    pinned: idsIn(outcome, 'pinned'),
    relevant: matches,
    questions: idsIn(outcome, 'question'),
    ...(nearMisses === undefined ? {} : { nearMisses }),
  }
}

const idsIn = ({ returned }: CaseOutcome, tier: string): readonly string[] =>
  returned.filter((item) => item.tier === tier).map(({ id }) => id)

/** Outcomes of these kinds are made by `carryOutRecall` alone, which explains every one. */
export const explanationOf = ({ explanation }: CaseOutcome): RecallExplanation => explanation as RecallExplanation

const statuses: Readonly<Record<CaseOutcome['verdict'], EntryStatus>> = {
  pass: 'passed',
  fail: 'failed',
  error: 'error',
  skipped: 'error',
  unjudged: 'error',
}

function shared(outcome: CaseOutcome): Omit<EntryBase, 'caseId'> {
  const { verdict, scores, failures, timings, error } = outcome
  const { query, prelude, matches, passType } = explanationOf(outcome)
  return {
    expandedQuery: query,
    personaPrelude: prelude,
    searchScores: matches.map(({ id, score, clauses }) => ({
      id,
      score,
      ...(clauses === undefined ? {} : { clauses }),
    })),
    retrievalPrecision: scores.retrievalPrecision ?? null,
    retrievalRecall: scores.retrievalRecall ?? null,
    pinnedCoverage: scores.pinnedCoverage ?? null,
    questionPrecision: scores.questionPrecision ?? null,
    questionRecall: scores.questionRecall ?? null,
    passed: verdict === 'pass',
    failures,
    status: statuses[verdict],
    passType,
    error: error?.message ?? null,
    retrievalLatencyMs: timings.recall ?? null,
  }
}
