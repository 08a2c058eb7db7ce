import type { Answer, AnswerClause } from '../../system/system.ts'
import { checkExpectations, type Expectations, noiseIn, type Outcome } from './expectations.ts'
import { driftScore, type Metrics, measure, type PassType, passTypeOf } from './metrics.ts'
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

/** What came of asking: an answer and how long it took, or a reason why there is none. */
export type Reply = { readonly answer: Answer; readonly ms: number } | { readonly error: string }

export function retrievalEntry(asked: ReadyCase, reply: Reply, pinnedInCorpus: ReadonlySet<string>): RetrievalEntry {
  const { caseId, category, description } = asked
  const { expandedQuery, ...judged } = judge(asked, category, reply, pinnedInCorpus)
  const { pinned, relevant, questions } = outcomeOf(reply)
  return {
    caseId,
    category,
    description,
    expandedQuery,
    pinnedBeliefs: pinned,
    relevantBeliefs: relevant,
    retrievedQuestions: questions,
    ...judged,
  }
}

export function sessionEntry(
  caseId: string,
  turn: ReadyTurn,
  reply: Reply,
  pinnedInCorpus: ReadonlySet<string>,
): SessionEntry {
  const outcome = outcomeOf(reply)
  const { expandedQuery, ...judged } = judge(turn, null, reply, pinnedInCorpus)
  return {
    caseId,
    turnIndex: turn.turnIndex,
    label: turn.label,
    expandedQuery,
    retrievedBeliefIds: outcome.relevant,
    pinnedBeliefIds: outcome.pinned,
    retrievedQuestions: outcome.questions,
    noiseBeliefIds: noiseIn(turn.expect, outcome),
    driftScore: 'error' in reply ? null : driftScore(turn.expect, outcome),
    checksNoise: (turn.expect.noiseCheck?.mustNotSurface ?? []).length > 0,
    ...judged,
  }
}

const noOutcome: Outcome = { prelude: null, pinned: [], relevant: [], questions: [] }
const unmeasured: Metrics = {
  retrievalPrecision: null,
  retrievalRecall: null,
  pinnedCoverage: null,
  questionPrecision: null,
  questionRecall: null,
}

function outcomeOf(reply: Reply): Outcome {
  if ('error' in reply) return noOutcome
  const { prelude, pinned, relevant, questions } = reply.answer
  return { prelude, pinned, relevant: relevant.map(({ id }) => id), questions }
}

function judge(
  { message, expect }: { readonly message: string; readonly expect: Expectations },
  category: string | null,
  reply: Reply,
  pinnedInCorpus: ReadonlySet<string>,
): Omit<EntryBase, 'caseId'> {
  if ('error' in reply) {
    return {
      expandedQuery: message,
      personaPrelude: null,
      searchScores: [],
      ...unmeasured,
      passed: false,
      failures: [],
      status: 'error',
      passType: null,
      error: reply.error,
      retrievalLatencyMs: null,
    }
  }
  const outcome = outcomeOf(reply)
  const failures = checkExpectations(expect, outcome)
  const metrics = measure(expect, outcome, pinnedInCorpus)
  const passed = failures.length === 0
  return {
    expandedQuery: reply.answer.expandedQuery ?? message,
    personaPrelude: reply.answer.prelude,
    searchScores: reply.answer.relevant.map(({ id, score, clauses }) => ({
      id,
      score,
      ...(clauses === undefined ? {} : { clauses }),
    })),
    ...metrics,
    passed,
    failures,
    status: passed ? 'passed' : 'failed',
    passType: passed ? passTypeOf(category, metrics) : null,
    error: null,
    retrievalLatencyMs: reply.ms,
  }
}
