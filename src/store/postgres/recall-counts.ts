import type { FeedbackCount, RecallCount, RecallCounts, RecallDay, RecallTally } from '../../beliefs/recall-counts.ts'
import { localDay } from '../../local-time.ts'
import type { PostgresConnection } from './connection.ts'

/** Counts recalls and reads the counts. If the connection is lost while counts are written, they may be counted twice. */
export const openRecallCounts = (connection: PostgresConnection) => ({
  countRecalls: (user: string, tallies: readonly RecallTally[]): Promise<void> => addTallies(connection, user, tallies),

  /** The counts of the beliefs with these ids, or of all beliefs if `ids` is null. */
  async recallCounts(user: string, ids: readonly string[] | null): Promise<ReadonlyMap<string, RecallCount>> {
    const rows = await connection.read((run) =>
      run<RecallCount & { readonly belief: string }>(
        `SELECT belief, count, last_at AS "lastAt" FROM credence.recall_counts
         WHERE owner = $1 AND ($2::text[] IS NULL OR belief = ANY($2::text[]))`,
        [user, ids],
      ),
    )
    return new Map(rows.map(({ belief, ...count }) => [belief, count]))
  },

  async countFeedback(user: string, { id, verdict, at }: Parameters<RecallCounts['countFeedback']>[1]): Promise<void> {
    const isUseful = Number(verdict === 'useful')
    await connection.write((run) =>
      Promise.all([
        run(
          `INSERT INTO credence.feedback AS known (owner, item, useful, not_useful, last_at) VALUES ($1, $2, $3, $4, $5)
           ON CONFLICT (owner, item) DO UPDATE SET useful = known.useful + excluded.useful,
             not_useful = known.not_useful + excluded.not_useful, last_at = greatest(known.last_at, excluded.last_at)`,
          [user, id, isUseful, 1 - isUseful, at],
        ),
        run('COMMIT'),
      ]),
    )
  },

  feedback: (user: string, ids: readonly string[] | null): Promise<readonly FeedbackCount[]> =>
    connection.read((run) =>
      run<FeedbackCount>(
        `SELECT item AS id, useful, not_useful AS "notUseful", last_at AS "lastAt" FROM credence.feedback
         WHERE owner = $1 AND ($2::text[] IS NULL OR item = ANY($2::text[])) ORDER BY last_at DESC, item`,
        [user, ids],
      ),
    ),

  recallDays: (user: string): Promise<readonly RecallDay[]> =>
    connection.read((run) =>
      run<RecallDay>(
        `SELECT day, recalls, silent, total_ms / recalls AS "meanMs" FROM credence.recall_days WHERE owner = $1 ORDER BY day`,
        [user],
      ),
    ),
})

async function addTallies(
  connection: PostgresConnection,
  user: string,
  tallies: readonly RecallTally[],
): Promise<void> {
  const days = tallies.map(({ at }) => localDay(at))
  const shown = tallies.flatMap(({ at, beliefIds }) => [...new Set(beliefIds)].map((id) => ({ id, at })))
  await connection.write((run) =>
    Promise.all([
      run(
        `INSERT INTO credence.recall_days AS known (owner, day, recalls, silent, total_ms)
         SELECT $1, day, count(*), count(*) FILTER (WHERE silent), sum(ms)
         FROM unnest($2::text[], $3::boolean[], $4::double precision[]) AS rows (day, silent, ms) GROUP BY day ORDER BY day
         ON CONFLICT (owner, day) DO UPDATE SET recalls = known.recalls + excluded.recalls,
           silent = known.silent + excluded.silent, total_ms = known.total_ms + excluded.total_ms`,
        [user, days, tallies.map(({ isSilent }) => isSilent), tallies.map(({ durationMs }) => durationMs)],
      ),
      // Sorted, so that two processes lock rows in the same order and never deadlock.
      run(
        `INSERT INTO credence.recall_counts AS known (owner, belief, count, last_at)
         SELECT $1, belief, count(*), max(at COLLATE "C")
         FROM unnest($2::text[], $3::text[]) AS rows (belief, at) GROUP BY belief ORDER BY belief COLLATE "C"
         ON CONFLICT (owner, belief) DO UPDATE SET count = known.count + excluded.count,
           last_at = greatest(known.last_at, excluded.last_at)`,
        [user, shown.map(({ id }) => id), shown.map(({ at }) => at)],
      ),
      run('COMMIT'),
    ]),
  )
}
