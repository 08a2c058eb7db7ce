import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AccessStore, Membership } from '../../beliefs/access-store.ts'
import type { CommitResult } from '../../beliefs/belief-store.ts'
import type { Commit } from '../../beliefs/journal.ts'
import { MemoryError } from '../../errors.ts'
import { writeAtomically } from '../../files/atomic-write.ts'
import type { CaredStore } from '../../search/store-port.ts'
import { sqlAccess } from '../access-sql.ts'
import type { SqliteStore } from '../sqlite/sqlite-store.ts'
import { fingerprint, headOf, rebuild, vacuum, verifyStore } from './care.ts'
import { type ConnectionOptions, PostgresConnection } from './connection.ts'
import { appendRecord, eventOfAttempt, lockOwner } from './journal.ts'
import { LocalReads } from './local-reads.ts'
import { migrate } from './migrations/migrate.ts'
import { type Projection, type ProjectionOptions, Projections } from './projections.ts'
import { openRecallCounts } from './recall-counts.ts'

export type PostgresStoreOptions = ConnectionOptions &
  Omit<ProjectionOptions, 'connection' | 'directory'> & {
    /** The directory of local copies, which can be rebuilt from the database. */
    readonly cacheDir: string
    /**
     * Called when the local copy answers a read because the database cannot be reached, with the time of that copy. Without this callback,
     * such reads fail.
     */
    readonly onOffline?: ((since: Date) => void) | undefined
    /** How often a running program removes forgotten texts from its local copies. Default: one minute. */
    readonly sweepEveryMs?: number
  }

const reads = [
  'get',
  'getMany',
  'idsStartingWith',
  'named',
  'holders',
  'supersededBy',
  'proposalsFor',
  'scopes',
  'pinned',
  'standing',
  'events',
  'event',
  'eventByKey',
  'lastUndoable',
  'history',
  'revisions',
  'formLengths',
  'postings',
  'everyHolder',
  'wordsNear',
  'population',
  'matchText',
  'knownTurns',
  'getTurn',
  'turnIdsStartingWith',
  'listTurns',
  'listSessions',
  'exportTurns',
  'turnPostings',
  'turnSpeakers',
  'lastStep',
  'unitsAround',
  'turnsAt',
  'turnCosines',
  'vectorsAt',
  'beliefCosines',
  'withoutVectors',
  'keepVectors',
  'hasVectors',
  'vectorCounts',
  'judgeOldTurns',
  'growth',
] as const
type Reads = Pick<SqliteStore, (typeof reads)[number]>

/**
 * Opens the store in a PostgreSQL database, and creates its schema if needed. The database stores the journal of every owner. Before a
 * read, the owner's local SQLite store is brought up to date; it then answers the read. Connects on the first call.
 */
export function openPostgresStore(options: PostgresStoreOptions): CaredStore {
  const { cacheDir: directory, onOffline, sweepEveryMs = 60_000, ...rest } = options
  const connection = new PostgresConnection(options)
  const projections = new Projections({ ...rest, connection, directory })
  const counts = openRecallCounts(connection)
  let opening: Promise<void> | null = null
  let sweeping: NodeJS.Timeout | null = null

  /** Waits until the schema is up to date and no local copy contains a text that was forgotten while this program was not running. */
  function ready(): Promise<void> {
    opening ??= open().catch((error: unknown) => {
      // The next call tries again, because the server may be reachable then.
      opening = null
      throw error
    })
    return opening
  }

  async function open(): Promise<void> {
    await migrate(connection)
    await sweepForgotten(connection, projections)
    sweeping ??= setInterval(() => {
      sweepForgotten(connection, projections).catch(() => {})
    }, sweepEveryMs).unref()
  }

  const local = new LocalReads({ projections, ready, onOffline })

  /**
   * Decides a commit on the local copy while the owner is locked, appends its record, and applies it to the copy. Because of the lock,
   * programs that change the same owner wait for each other instead of retrying.
   */
  async function commit(wanted: Commit): Promise<CommitResult> {
    const { user } = wanted
    const attemptId = randomUUID()
    let attempts = 0
    const decide = (found: Projection | null) =>
      connection.write(async (run): Promise<CommitResult | 'has events'> => {
        attempts += 1
        const head = await lockOwner(run, user)
        if (found === null && head.number > 0) {
          await run('ROLLBACK')
          return 'has events'
        }
        if (found !== null) await projections.bringUpTo(run, found, head)
        const projection = found ?? (await projections.empty())
        // The connection may have been lost after an earlier attempt had committed.
        const earlier = attempts === 1 ? null : await eventOfAttempt(run, user, attemptId)
        const known = earlier === null ? null : await projection.store.event(user, earlier)
        const { result, record } =
          known === null
            ? (await projection.store.records()).decide(wanted)
            : { result: { outcome: 'committed', event: { ...known, undoneBy: null } } as const, record: null }
        if (record === null) {
          await run('ROLLBACK')
          return result
        }
        await Promise.all([appendRecord(run, user, head, record, attemptId), run('COMMIT')])
        if (found !== null) await projections.add(found, record)
        return result
      })
    await ready()
    for (;;) {
      const result = await projections.withRenewal(user, decide)
      if (result === 'has events') continue
      local.noteCommit(user)
      return result
    }
  }

  const forwarded = reads.map((name) => {
    const read = (...given: readonly [string | { readonly user: string }, ...unknown[]]): Promise<unknown> => {
      const owner = typeof given[0] === 'string' ? given[0] : given[0].user
      return local.read(owner, (store) =>
        (store[name] as (...values: readonly unknown[]) => Promise<unknown>)(...given),
      )
    }
    return [name, read] as const
  })

  return {
    // The cast is safe, because each entry has the type of the call that it forwards.
    ...(Object.fromEntries(forwarded) as unknown as Reads),
    commit,
    tryOut: (wanted, work) => local.read(wanted.user, (store) => store.tryOut(wanted, work)),
    list: async (filter, page) => {
      const usesCounts = page.order === 'recalled' || filter.recalled !== undefined
      if (usesCounts) await local.setCounts(filter.user, () => counts.recallCounts(filter.user, null))
      return local.read(filter.user, (store) => store.list(filter, page))
    },
    countRecalls: (user, tallies) => ready().then(() => counts.countRecalls(user, tallies)),
    recallCounts: (user, ids) => ready().then(() => counts.recallCounts(user, ids)),
    countFeedback: (user, feedback) => ready().then(() => counts.countFeedback(user, feedback)),
    feedback: (user, ids) => ready().then(() => counts.feedback(user, ids)),
    recallDays: (user) => ready().then(() => counts.recallDays(user)),
    withSnapshot: (work) => local.withSnapshot(work),
    verify: (onProgress) => ready().then(() => verifyStore(connection, projections, onProgress)),
    rebuild: () => ready().then(() => rebuild(connection, projections)),
    fingerprint: () =>
      ready().then(() => fingerprint(connection, (owner) => local.read(owner, (store) => store.fingerprint()))),
    head: () => ready().then(() => headOf(connection)),
    // Nothing to do: every commit updates the owner's head in the same transaction.
    anchorJournal: async () => {},
    // Vacuum removes the dead row versions that a forget leaves.
    scrub: () =>
      ready()
        .then(() => vacuum(connection))
        .then(() => true),
    backup: async () => {
      throw new MemoryError('invalid', 'A PostgreSQL store is backed up with the tools of PostgreSQL.', {
        hint: 'Run pg_dump --schema=credence, or `credence store copy` to a memory directory.',
      })
    },
    memberships: async (person) =>
      local.withOfflineFallback(
        async () => {
          await ready()
          const select = 'SELECT team, role FROM credence.team_members WHERE person = $1 ORDER BY team'
          return connection.read((run) => run<Membership>(select, [person]))
        },
        () => [],
      ),
    access: () => ready().then(() => openAccess(connection)),
    close: async () => {
      if (sweeping !== null) clearInterval(sweeping)
      await projections.close()
      await connection.close()
    },
  }
}

/** People, tokens and teams, stored in the PostgreSQL database of the memory. */
const openAccess = (connection: PostgresConnection): AccessStore =>
  sqlAccess(<Row>(use: 'read' | 'write', sql: string, values: readonly unknown[]) => {
    if (use === 'read') return connection.read((run) => run<Row>(sql, values))
    let earlier: readonly Row[] = []
    return connection.write(async (run) => {
      const rows = await run<Row>(sql, values)
      // If this attempt finds the rows of an earlier one, that attempt was committed before the connection was lost.
      if (rows.length > 0) earlier = rows
      await run('COMMIT')
      return earlier
    })
  })

/** Each sweep also covers this time before the previous one, because a transaction that was open then may commit later, with an earlier time. */
const overlap = "interval '10 minutes'"

/** Updates the local copies of all owners with a forget since the last sweep of this directory, so that no file contains the text. */
async function sweepForgotten(connection: PostgresConnection, projections: Projections): Promise<void> {
  const file = join(projections.directory, 'swept')
  const since = lastSweep(file)
  const [owners, [{ now } = { now: '' }]] = await connection.read((run) =>
    Promise.all([
      run<{ owner: string; forgotten: number }>(
        `SELECT owner, forgotten FROM credence.owners WHERE forgot_at >= $1::timestamptz - ${overlap}`,
        [since],
      ),
      run<{ now: string }>('SELECT now()::text AS now'),
    ]),
  )
  for (const { owner, forgotten } of owners)
    if (projections.has(owner))
      await projections.withRenewal(owner, async (projection) => {
        if (projection === null) return
        if (projection.records.head().number < forgotten) await projections.catchUp(projection)
        // A reading program may have prevented the scrubbing of the file.
        await projection.store.scrub()
      })
  projections.trim()
  // Need not be durable, because with an older time the next sweep only checks more owners.
  await writeAtomically(file, now, { existing: 'replace', durable: false })
}

function lastSweep(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    // No sweep is known, so every owner is checked.
    return '-infinity'
  }
}
