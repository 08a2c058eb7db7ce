import { constants } from 'node:fs'
import { mkdir, open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { codeOf } from '../../files/leftovers.ts'
import { linesOf } from '../../files/lines.ts'
import type { BeliefRecord } from '../../memory/transfer/belief-record.ts'
import { mean, percentile } from '../score/statistics.ts'
import { parseJson } from '../store/parse-artifact.ts'
import type { Subject } from '../system/subject.ts'
import type { Answer } from '../system/system.ts'

type Pair<Value> = { readonly base: Value; readonly candidate: Value }
type ReplayedQuery = ReturnType<typeof compared>
export type ReplayReport = ReturnType<typeof reportOf>

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

/** How two systems answered one query of the log. It holds no text: `query` is its place in the log. */
function compared(query: number, base: Reply, candidate: Reply, lengths: ReadonlyMap<string, number>) {
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

/** The relevant beliefs only: pins do not depend on the message. */
const rankedIds = ({ answer }: Reply): readonly string[] => [...new Set(answer?.relevant.map(({ id }) => id) ?? [])]

function reportOf(replayed: readonly ReplayedQuery[]) {
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
    /** Least alike first. */
    mostChanged: answered
      .filter(({ rankOverlap, overlap }) => overlap < 1 || rankOverlap < 1 - 1e-9)
      .sort((one, other) => one.rankOverlap - other.rankOverlap || one.query - other.query)
      .slice(0, mostShown),
  }
}

/** How much two sets have in common: 1 when they are the same, also when both are empty. */
export function jaccard(one: readonly string[], other: readonly string[]): number {
  const [mine, its] = [new Set(one), new Set(other)]
  const union = new Set([...mine, ...its]).size
  return union === 0 ? 1 : [...mine].filter((id) => its.has(id)).length / union
}

/** How much less each further rank counts. */
const persistence = 0.9

/**
 * How alike two rankings are, the top weighing most: 1 for the same, 0 for disjoint ones. The overlap at each depth,
 * weighted as in rank-biased overlap (Webber, Moffat and Zobel, 2010); but what is not returned is known to be missing,
 * so a ranking that ends early is not assumed to go on like the other. Ids occur once in each.
 */
export function rankBiasedOverlap(one: readonly string[], other: readonly string[]): number {
  const depth = Math.max(one.length, other.length)
  if (depth === 0) return 1
  const [mine, its] = [new Set<string>(), new Set<string>()]
  let [overlap, weighted, weights] = [0, 0, 0]
  for (let rank = 0; rank < depth; rank += 1) {
    const [left, right] = [one[rank], other[rank]]
    if (left !== undefined) mine.add(left)
    if (right !== undefined) its.add(right)
    if (left !== undefined && its.has(left)) overlap += 1
    if (right !== undefined && right !== left && mine.has(right)) overlap += 1
    const weight = persistence ** rank
    weighted += weight * (overlap / Math.max(mine.size, its.size))
    weights += weight
  }
  return weighted / weights
}

/** Over ids that both rankings have, by how many places each moved, on average; null when they share none. */
export function rankChurn(one: readonly string[], other: readonly string[]): number | null {
  const places = new Map(other.map((id, index) => [id, index]))
  const moves = one.flatMap((id, index) => {
    const place = places.get(id)
    return place === undefined ? [] : [Math.abs(place - index)]
  })
  return mean(moves)
}

/** One recall with its text. It is kept only on request, in a file that its owner alone can read. */
export const LoggedQuery = z.looseObject({
  at: z.string(),
  user: z.string(),
  scopes: z.array(z.string()),
  message: z.string(),
})
export type LoggedQuery = z.infer<typeof LoggedQuery>

export const queryLogPath = (root: string): string => join(root, 'queries.jsonl')

/** Adds a query. The file is made for its owner alone. */
export async function logQuery(path: string, query: LoggedQuery): Promise<void> {
  const flags = constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0)
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const file = await open(path, flags, 0o600)
  try {
    // One write of one line: lines of several processes do not mix.
    await file.write(`${JSON.stringify(query)}\n`)
  } finally {
    await file.close()
  }
}

/** The queries in the order they were asked; lines that are none are counted and left out. */
export async function readQueries(
  path: string,
): Promise<{ readonly queries: readonly LoggedQuery[]; readonly unreadable: number } | null> {
  const queries: LoggedQuery[] = []
  let unreadable = 0
  try {
    for await (const { number, bytes } of linesOf(path)) {
      const json = bytes === null ? null : parseJson(bytes, `${path}:${number}`)
      const query = json?.ok ? LoggedQuery.safeParse(json.value) : null
      if (query?.success) queries.push(query.data)
      else unreadable += 1
    }
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
  return { queries, unreadable }
}
