import { compareText } from '../../beliefs/identity.ts'
import type { RecallCount, RecallDay, RecallTally } from '../../beliefs/recall-counts.ts'
import { localDay } from '../../local-time.ts'
import type { PostgresConnection } from './connection.ts'

/** Counts recalls and reads the counts. A connection that is lost while counts are written may count them twice. */
export const recallCountsIn = (connection: PostgresConnection) => ({
  countRecalls: (user: string, tallies: readonly RecallTally[]): Promise<void> => addTallies(connection, user, tallies),

  /** Of all beliefs, or of those with these ids. */
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
  const days = new Map<string, { recalls: number; silent: number; totalMs: number }>()
  const beliefs = new Map<string, { count: number; lastAt: string }>()
  for (const { at, beliefIds, isSilent, durationMs } of tallies) {
    const date = localDay(at)
    const day = days.get(date) ?? { recalls: 0, silent: 0, totalMs: 0 }
    days.set(date, day)
    day.recalls += 1
    day.silent += Number(isSilent)
    day.totalMs += durationMs
    for (const id of new Set(beliefIds)) {
      const belief = beliefs.get(id) ?? { count: 0, lastAt: at }
      beliefs.set(id, { count: belief.count + 1, lastAt: [belief.lastAt, at].sort().at(-1) ?? at })
    }
  }
  // In one order, so that two processes never wait for each other.
  const rows = [...beliefs].sort(([one], [other]) => compareText(one, other))
  await connection.write(async (run) => {
    await Promise.all([
      run(
        `INSERT INTO credence.recall_days AS known (owner, day, recalls, silent, total_ms)
         SELECT $1, rows.* FROM unnest($2::text[], $3::bigint[], $4::bigint[], $5::double precision[]) AS rows
         ON CONFLICT (owner, day) DO UPDATE SET recalls = known.recalls + excluded.recalls,
           silent = known.silent + excluded.silent, total_ms = known.total_ms + excluded.total_ms`,
        [
          user,
          [...days.keys()],
          ...(['recalls', 'silent', 'totalMs'] as const).map((name) => [...days.values()].map((day) => day[name])),
        ],
      ),
      run(
        `INSERT INTO credence.recall_counts AS known (owner, belief, count, last_at)
         SELECT $1, rows.* FROM unnest($2::text[], $3::bigint[], $4::text[]) AS rows
         ON CONFLICT (owner, belief) DO UPDATE SET count = known.count + excluded.count,
           last_at = greatest(known.last_at, excluded.last_at)`,
        [user, rows.map(([id]) => id), rows.map(([, { count }]) => count), rows.map(([, { lastAt }]) => lastAt)],
      ),
      run('COMMIT'),
    ])
  })
}
