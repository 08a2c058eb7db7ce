import type { Membership } from '../../beliefs/access-store.ts'
import type { SyncStore } from '../../beliefs/sync-store.ts'
import { MemoryError } from '../../errors.ts'
import type { CaredStore } from '../../search/store-port.ts'
import { analysisVersion } from '../belief-row.ts'
import { toHex } from '../journal-chain.ts'
import { beliefReads } from './belief-lookups.ts'
import { requireWholeJournal, setHead } from './care/journal-head.ts'
import { scrub } from './care/scrub.ts'
import { applyInDryRun, commitChanges, isLargeCommit } from './commit.ts'
import { Connection, type ReadForUser } from './connection.ts'
import { type DatabaseOptions, defaultBusyTimeoutMs, openDatabase } from './database.ts'
import { formReads } from './form-lookups.ts'
import { matchText } from './full-text.ts'
import { openJournal } from './journal.ts'
import type { SqliteRecords } from './journal-records.ts'
import { addFeedback, addTallies, readCounts, readDays, readFeedback, readGrowth } from './recall-counts.ts'
import { isReadOnlyStore } from './store-file.ts'
import { readTurn, turnReads } from './turns/turn-lookups.ts'
import { findKnown, judgeTurns } from './turns/turn-writing.ts'
import { vectorIndex } from './vectors.ts'

export type SqliteStoreOptions = DatabaseOptions & {
  /** Cryptographically random bytes, for the salts of the journal. */
  readonly random: (bytes: number) => Uint8Array
  /** For `verify`: opens read-only, and does not repair an incomplete index. */
  readonly inspect?: boolean
}

export type SqliteStore = CaredStore & {
  /** The journal as records, to copy between stores. */
  records(): Promise<SqliteRecords>
  /** The exchange of events with other devices. */
  sync(): Promise<SyncStore>
  /** Makes the next read see the writes of other connections, also within `withSnapshot`. */
  endSnapshot(): void
  waitAtMost(busyTimeoutMs: number): void
  /** Whether the file on the disk is still the one that was opened. */
  isCurrent(): boolean
}

/**
 * Opens the store in a file, and creates it if needed. A write-protected store is opened read-only. Any number of processes may open it
 * concurrently.
 */
export const openSqliteStore = (options: SqliteStoreOptions): SqliteStore =>
  openStore(options, (readonly) => openDatabase({ ...options, readonly })).store

function openStore(options: SqliteStoreOptions, openWith: (readonly: boolean) => ReturnType<typeof openDatabase>) {
  const { file, busyTimeoutMs = defaultBusyTimeoutMs, random, inspect = false } = options
  const isReadonly = inspect || (options.readonly ?? isReadOnlyStore(file))
  const open = () => openWith(isReadonly)
  const connection = new Connection({ file, isReadonly, busyTimeoutMs, open })
  const users = new Users(connection)
  const journal = openJournal(connection)
  const loadMaintenance = () => import('./care/maintenance.ts')
  const committing = { connection, users, random }
  let second: ReturnType<typeof openStore> | null = null
  /** The unfinished dry runs and large changes. They hold the write lock, so other changes to this store wait for them. */
  let locking: Promise<unknown> = Promise.resolve()
  let upToDate: Promise<void> | null = null
  try {
    if (inspect) requireOwnAnalysis(connection)
    else if (mustDerive(connection, isReadonly)) upToDate = derive(requireWhole)
  } catch (error) {
    connection.close()
    throw error
  }
  // Callers that await `upToDate` get the error. This only prevents an unhandled rejection.
  upToDate?.catch(() => {})

  function requireWhole(): void {
    requireWholeJournal(connection)
  }

  /** Fills the derived tables, unless another process has done it. */
  async function derive(check: () => void): Promise<void> {
    const { deriveAgain } = await loadMaintenance()
    check()
    await connection.writeInTurn(() => isDerivedHere(connection) || deriveAgain(connection, analysisVersion))
    refuseOtherDerivations(connection)
    upToDate = null
  }

  async function head() {
    await waitUntilReady()
    const { number, hash } = connection.read(() => journal.head())
    return { number, hash: toHex(hash) }
  }

  const reading: ReadForUser = async (user, nothing, read) => {
    if (upToDate !== null) await upToDate
    return connection.read(() => {
      const userId = users.find(user)
      return userId === null ? nothing : read(userId)
    })
  }

  const canShare = connection.isOnDisk && !isReadonly

  /** Runs work that may hold the lock for long on a separate connection, one task at a time. A store that cannot be shared is copied. */
  function runApart<Result>(work: (other: ReturnType<typeof openStore>) => Promise<Result>): Promise<Result> {
    const result = locking.then(async () => {
      const other =
        second ?? openStore({ ...options, readonly: false }, canShare ? open : () => connection.copyInMemory())
      try {
        return await work(other)
      } finally {
        if (canShare) second = other
        else await other.store.close()
      }
    })
    locking = result.catch(() => {})
    return result
  }

  /** Waits until the store is up to date and no other work of this process holds the lock. */
  async function waitUntilReady(): Promise<void> {
    await upToDate
    await locking
  }

  async function maintenance() {
    await waitUntilReady()
    return loadMaintenance()
  }

  const store: SqliteStore = {
    ...beliefReads(connection, reading),
    ...formReads(connection, reading),
    ...turnReads(connection, reading),
    ...vectorIndex(connection, users, reading),
    commit: async (commit) => {
      await waitUntilReady()
      if (!canShare || !isLargeCommit(commit)) return commitChanges(committing, commit)
      return runApart((other) => commitChanges(committing, commit, other.committing))
    },
    countRecalls: async (user, tallies) => {
      await waitUntilReady()
      if (isReadonly) return
      await connection.writeInTurn(() => addTallies(connection, users.findOrAdd(user), tallies))
    },
    recallCounts: (user, ids) => reading(user, new Map(), (userId) => readCounts(connection, userId, ids)),
    countFeedback: async (user, feedback) => {
      await waitUntilReady()
      await connection.writeInTurn(() => addFeedback(connection, users.findOrAdd(user), feedback))
    },
    feedback: (user, ids) => reading(user, [], (userId) => readFeedback(connection, userId, ids)),
    recallDays: (user) => reading(user, [], (userId) => readDays(connection, userId)),
    growth: (user) => reading(user, [], (userId) => readGrowth(connection, userId)),
    events: (user, page) => reading(user, [], (userId) => journal.events(userId, page)),
    event: (user, number) => reading(user, null, (userId) => journal.event(userId, number)),
    eventByKey: (user, key) => reading(user, null, (userId) => journal.eventByKey(userId, key)),
    lastUndoable: (user) => reading(user, null, (userId) => journal.lastUndoable(userId)),
    history: (user, beliefId) => reading(user, [], (userId) => journal.history(userId, beliefId)),
    revisions: (user, event) => reading(user, [], (userId) => journal.revisions(userId, event)),
    matchText: (query) => reading(query.user, [], (userId) => matchText(connection, userId, query)),
    knownTurns: async (user, heard) => {
      const noneKnown = heard.map(() => null)
      return reading(user, noneKnown, (userId) =>
        findKnown(connection, userId, heard).map((row) => {
          if (row === null) return null
          const turn = readTurn(connection, row)
          if (turn === null) return 'forgotten'
          const { messageId: _messageId, ...rest } = turn
          return rest
        }),
      )
    },
    judgeOldTurns: async (user, limit, judge) => {
      await waitUntilReady()
      const userId = connection.read(() => users.find(user))
      return userId !== null && judgeTurns(connection, userId, limit, judge)
    },
    verify: async (onProgress) => (await maintenance()).verifyStore(connection, onProgress),
    rebuild: async () => {
      const { deriveAgain } = await maintenance()
      requireWhole()
      await connection.writeInTurn(() => deriveAgain(connection, analysisVersion))
    },
    fingerprint: async () => {
      const { fingerprintOf } = await maintenance()
      return connection.read(() => fingerprintOf(connection))
    },
    head,
    anchorJournal: async () => {
      if (connection.isOnDisk) setHead(file, await head())
    },
    backup: async (target) => (await maintenance()).backUp(connection, target),
    scrub: async (given) => {
      await waitUntilReady()
      return !connection.isOnDisk || scrub(connection, given)
    },
    memberships: async (person) =>
      connection.read(() =>
        connection.all<Membership>('SELECT team, role FROM team_members WHERE person = ? ORDER BY team', [person]),
      ),
    access: async () => {
      await waitUntilReady()
      const { sqlAccess } = await import('../access-sql.ts')
      return sqlAccess(async (use, sql, values) => {
        const named = Object.fromEntries(values.map((value, index) => [index + 1, value]))
        const run = () => connection.all<never>(sql.replaceAll('credence.', ''), [named])
        if (use === 'write') return connection.writeInTurn(run)
        // A token must be read in its current state, even while a recall shares a snapshot.
        connection.endSnapshot()
        return connection.read(run)
      })
    },
    tryOut: async (commit, work) => {
      await upToDate
      return runApart(({ committing: tried, store: triedStore }) =>
        tried.connection.runExclusively('ROLLBACK', () => {
          applyInDryRun(tried, commit)
          return work(triedStore)
        }),
      )
    },
    records: async () => (await maintenance()).openJournalRecords(committing),
    sync: async () => {
      await waitUntilReady()
      return (await import('./sync.ts')).openSyncStore(committing)
    },
    withSnapshot: (work) => connection.withSnapshot(work),
    endSnapshot: () => connection.endSnapshot(),
    waitAtMost: (ms) => connection.waitAtMost(ms),
    isCurrent: () => connection.isCurrent,
    close: async () => {
      await locking
      await second?.store.close()
      connection.close()
    },
  }
  return { store, committing }
}

/** Whether this version filled the derived tables. */
const isDerivedHere = (connection: Connection): boolean => connection.value(isOwnAnalysis, [analysisVersion]) === 1

const isOwnAnalysis = 'SELECT 1 FROM derivation WHERE analysis = ?'

/** Throws if another version filled the derived tables, because only that version can check them. */
function requireOwnAnalysis(connection: Connection): void {
  if (!connection.read(() => isDerivedHere(connection))) throw otherVersion(connection.file)
}

/** Whether another version has filled the derived tables. An empty store is marked as filled by this version at once. */
function mustDerive(connection: Connection, isReadonly: boolean): boolean {
  const mark = 'INSERT OR REPLACE INTO derivation (id, analysis) SELECT 1, ? WHERE NOT EXISTS (SELECT 1 FROM events)'
  if (!connection.read(() => isDerivedHere(connection))) {
    if (isReadonly) throw otherVersion(connection.file)
    connection.write(() => connection.run(mark, [analysisVersion]))
    if (!connection.read(() => isDerivedHere(connection))) return true
  }
  refuseOtherDerivations(connection)
  return false
}

/** Throws as soon as another version of the program has filled the tables differently. */
function refuseOtherDerivations(connection: Connection): void {
  connection.onForeignChange(() => {
    if (!isDerivedHere(connection)) throw otherVersion(connection.file)
  })
}

const otherVersion = (file: string): MemoryError =>
  new MemoryError('conflict', `The index of ${file} is incomplete, or was made by another version of Credence.`, {
    hint: 'Nothing is lost. Start this program again with write access to the store, which makes the index again.',
  })

/** The ids of users in this store. */
export class Users {
  readonly #connection: Connection
  readonly #known = new Map<string, number>()

  constructor(connection: Connection) {
    this.#connection = connection
    connection.onChange(() => this.#known.clear())
  }

  /** Null for an unknown user. */
  find(name: string): number | null {
    const id = this.#known.get(name) ?? this.#connection.value<number>('SELECT id FROM users WHERE name = ?', [name])
    if (id !== undefined) this.#known.set(name, id)
    return id ?? null
  }

  findOrAdd(name: string): number {
    const add = 'INSERT INTO users (name) VALUES (?) RETURNING id'
    return this.find(name) ?? (this.#connection.value(add, [name]) as number)
  }
}
