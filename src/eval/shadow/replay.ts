import type { BeliefRecord } from '../../memory/belief-record.ts'
import { mean, percentile } from '../score/statistics.ts'
import type { Subject } from '../system/subject.ts'
import type { Answer } from '../system/system.ts'
import type { LoggedQuery } from './query-log.ts'
import { jaccard, rankBiasedOverlap, rankChurn } from './rank-overlap.ts'

/** How two systems answered one query of the log. It holds no text: `query` is its place in the log. */
export type ReplayedQuery = {
  readonly query: number
  readonly overlap: number
  readonly rankOverlap: number
  readonly churn: number | null
  readonly beliefs: Pair<number>
  readonly contextChars: Pair<number>
  readonly durationMs: Pair<number>
  readonly error: string | null
}

type Pair<Value> = { readonly base: Value; readonly candidate: Value }

export type ReplayReport = {
  readonly queries: number
  readonly errors: number
  readonly identical: number
  readonly meanOverlap: number | null
  readonly meanRankOverlap: number | null
  readonly meanChurn: number | null
  readonly beliefs: Pair<number | null>
  readonly contextChars: Pair<number | null>
  readonly p50Ms: Pair<number | null>
  readonly p95Ms: Pair<number | null>
  /** Least alike first. */
  readonly mostChanged: readonly ReplayedQuery[]
}

export type ReplayOptions = {
  readonly beliefs: readonly BeliefRecord[]
  readonly queries: readonly LoggedQuery[]
  readonly base: Subject
  readonly candidate: Subject
  readonly onProgress?: (done: number, total: number) => void
}

const mostShown = 20

/** Asks two systems with the same beliefs the same queries again, and says how far apart their answers are. */
export async function replayQueries(options: ReplayOptions): Promise<ReplayReport> {
  const { beliefs, queries, base, candidate, onProgress } = options
  const lengths = new Map(
    beliefs.map((belief) => [belief.id, belief.name.length + belief.content.length + belief.why.length]),
  )
  for (const subject of [base, candidate]) await subject.begin({ beliefs, idsToCome: [], salt: 'replay' })
  const replayed: ReplayedQuery[] = []
  for (const [index, query] of queries.entries()) {
    const [before, after] = [await asked(base, query), await asked(candidate, query)]
    replayed.push(compared(index + 1, before, after, lengths))
    onProgress?.(replayed.length, queries.length)
  }
  return reportOf(replayed)
}

type Reply = { readonly answer: Answer | null; readonly ms: number; readonly error: string | null }

async function asked(subject: Subject, { user, scopes, message }: LoggedQuery): Promise<Reply> {
  try {
    const { value, ms } = await subject.answer({ user, scopes, message, budget: {}, recall: {} }, {})
    return { answer: value, ms, error: null }
  } catch (error) {
    return { answer: null, ms: 0, error: error instanceof Error ? error.message : String(error) }
  }
}

function compared(query: number, base: Reply, candidate: Reply, lengths: ReadonlyMap<string, number>): ReplayedQuery {
  const [before, after] = [rankedIds(base), rankedIds(candidate)]
  const size = (ids: readonly string[]): number => ids.reduce((total, id) => total + (lengths.get(id) ?? 0), 0)
  return {
    query,
    overlap: jaccard(before, after),
    rankOverlap: rankBiasedOverlap(before, after),
    churn: rankChurn(before, after),
    beliefs: { base: before.length, candidate: after.length },
    contextChars: { base: size(before), candidate: size(after) },
    durationMs: { base: base.ms, candidate: candidate.ms },
    error: base.error ?? candidate.error,
  }
}

/** Only what was found for the message: pins are there whatever it says. */
const rankedIds = ({ answer }: Reply): readonly string[] => [...new Set(answer?.relevant.map(({ id }) => id) ?? [])]

function reportOf(replayed: readonly ReplayedQuery[]): ReplayReport {
  const answered = replayed.filter(({ error }) => error === null)
  const pair = (read: (one: ReplayedQuery) => Pair<number>, reduce: (values: readonly number[]) => number | null) => ({
    base: reduce(answered.map((one) => read(one).base)),
    candidate: reduce(answered.map((one) => read(one).candidate)),
  })
  return {
    queries: replayed.length,
    errors: replayed.length - answered.length,
    identical: answered.filter(({ rankOverlap, overlap }) => overlap === 1 && rankOverlap > 1 - 1e-9).length,
    meanOverlap: mean(answered.map(({ overlap }) => overlap)),
    meanRankOverlap: mean(answered.map(({ rankOverlap }) => rankOverlap)),
    meanChurn: mean(answered.map(({ churn }) => churn)),
    beliefs: pair(({ beliefs }) => beliefs, mean),
    contextChars: pair(({ contextChars }) => contextChars, mean),
    p50Ms: pair(
      ({ durationMs }) => durationMs,
      (values) => percentile(values, 50),
    ),
    p95Ms: pair(
      ({ durationMs }) => durationMs,
      (values) => percentile(values, 95),
    ),
    mostChanged: answered
      .filter(({ rankOverlap, overlap }) => overlap < 1 || rankOverlap < 1 - 1e-9)
      .sort((one, other) => one.rankOverlap - other.rankOverlap || one.query - other.query)
      .slice(0, mostShown),
  }
}
