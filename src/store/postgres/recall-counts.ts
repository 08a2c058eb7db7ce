import { compareText } from '../../beliefs/identity.ts'
import type { RecallCount, RecallCounts, RecallDay, RecallTally } from '../../beliefs/recall-counts.ts'
import { localDay } from '../../local-time.ts'
import { type GrowthRow, growthByDay } from '../growth-by-day.ts'
import type { Connection } from './connection.ts'

/** Counts recalls and reads the counts. A connection that is lost while counts are written may count them twice. */
export const recallCountsIn = (connection: Connection): RecallCounts => ({
  countRecalls: (user, tallies) => addTallies(connection, user, tallies),

  async recallCounts(user, ids) {
    const rows = await connection.read((run) =>
      run<RecallCount & { readonly belief: string }>(
        `SELECT belief, count, last_at AS "lastAt" FROM unnest($2::text[]) AS asked (id)
         JOIN credence.recall_counts ON owner = $1 AND belief = asked.id`,
        [user, ids],
      ),
    )
    return new Map(rows.map(({ belief, ...count }) => [belief, count]))
  },

  recallDays: (user) =>
    connection.read((run) =>
      run<RecallDay>(
        `SELECT day, recalls, silent, total_ms / recalls AS "meanMs" FROM credence.recall_days WHERE owner = $1 ORDER BY day`,
        [user],
      ),
    ),

  async growth(user) {
    const rows = await connection.read((run) => run<GrowthRow>(grown, [user]))
    const scopeOf = (written: string | null) => (written === null ? null : (JSON.parse(written) as string))
    return growthByDay(rows.map((row) => ({ ...row, scope: scopeOf(row.scope) })))
  },
})

// Not by PostgreSQL's JSON functions, which refuse texts that hold half of a surrogate pair.
const grown = String.raw`SELECT events.at, actor, origin,
    substring(body FROM '"scopes":\[("(?:[^"\\]|\\.)*")') AS scope, count(*) AS beliefs
  FROM credence.changes JOIN credence.events ON events.owner = changes.owner AND events.number = changes.event
  WHERE changes.owner = $1 AND changes.version = 1 GROUP BY 1, 2, 3, 4 ORDER BY 1`

async function addTallies(connection: Connection, user: string, tallies: readonly RecallTally[]): Promise<void> {
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
