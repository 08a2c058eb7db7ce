import type {
  FeedbackCount,
  GrowthDay,
  RecallCount,
  RecallCounts,
  RecallDay,
  RecallTally,
} from '../../beliefs/recall-counts.ts'
import { localDay } from '../../local-time.ts'
import type { Connection } from './connection.ts'

/** Adds tallies, inside the caller's transaction. */
export function addTallies(connection: Connection, userId: number, tallies: readonly RecallTally[]): void {
  for (const { at, beliefIds, isSilent, durationMs } of tallies) {
    connection.run(
      `INSERT INTO recall_days (user_id, day, recalls, silent, total_ms) VALUES (?, ?, 1, ?, ?)
       ON CONFLICT DO UPDATE SET recalls = recalls + 1, silent = silent + excluded.silent,
         total_ms = total_ms + excluded.total_ms`,
      [userId, localDay(at), Number(isSilent), durationMs],
    )
    connection.run(
      `INSERT INTO recall_counts (user_id, belief, count, last_at) SELECT ?, value, 1, ? FROM json_each(?) WHERE true
       ON CONFLICT DO UPDATE SET count = count + 1, last_at = max(last_at, excluded.last_at)`,
      [userId, at, JSON.stringify([...new Set(beliefIds)])],
    )
  }
}

export function readCounts(
  connection: Connection,
  userId: number,
  ids: readonly string[],
): ReadonlyMap<string, RecallCount> {
  const rows = connection.all<RecallCount & { readonly belief: string }>(
    `SELECT belief, count, last_at AS lastAt FROM recall_counts
     WHERE user_id = ? AND belief IN (SELECT value FROM json_each(?))`,
    [userId, JSON.stringify(ids)],
  )
  return new Map(rows.map(({ belief, ...count }) => [belief, count]))
}

type Feedback = Parameters<RecallCounts['countFeedback']>[1]

/** Counts a verdict, inside the caller's transaction. */
export function addFeedback(connection: Connection, userId: number, { id, verdict, at }: Feedback): void {
  const isUseful = Number(verdict === 'useful')
  connection.run(
    `INSERT INTO feedback (user_id, item, useful, not_useful, last_at) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET useful = useful + excluded.useful, not_useful = not_useful + excluded.not_useful,
       last_at = max(last_at, excluded.last_at)`,
    [userId, id, isUseful, 1 - isUseful, at],
  )
}

export const readFeedback = (
  connection: Connection,
  userId: number,
  ids: readonly string[] | null,
): readonly FeedbackCount[] =>
  connection.all<FeedbackCount>(
    `SELECT item AS id, useful, not_useful AS notUseful, last_at AS lastAt FROM feedback
     WHERE user_id = ?1 AND (?2 IS NULL OR item IN (SELECT value FROM json_each(?2))) ORDER BY last_at DESC, item`,
    [userId, ids === null ? null : JSON.stringify(ids)],
  )

/** For each day, author and scope, the number of beliefs that were first remembered on that day. */
export function readGrowth(connection: Connection, userId: number): readonly GrowthDay[] {
  const rows = connection.all<Omit<GrowthDay, 'day'> & { readonly at: string }>(
    `SELECT events.at, events.actor, events.origin, json_extract(changes.body, '$.scopes[0]') AS scope,
         count(*) AS beliefs
       FROM events CROSS JOIN changes ON changes.event = events.number
       WHERE events.user_id = ? AND changes.version = 1 GROUP BY 1, 2, 3, 4 ORDER BY 1`,
    [userId],
  )
  const days = new Map<string, GrowthDay>()
  for (const { at, beliefs, ...row } of rows) {
    // Days are those of the time zone of the process, which a database does not know.
    const day = localDay(at)
    const key = JSON.stringify([day, row.actor, row.origin, row.scope])
    days.set(key, { day, ...row, beliefs: (days.get(key)?.beliefs ?? 0) + beliefs })
  }
  return [...days.values()]
}

export const readDays = (connection: Connection, userId: number): readonly RecallDay[] =>
  connection.all<RecallDay>(
    'SELECT day, recalls, silent, total_ms / recalls AS meanMs FROM recall_days WHERE user_id = ? ORDER BY day',
    [userId],
  )
