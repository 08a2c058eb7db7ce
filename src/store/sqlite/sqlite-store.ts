import type { Membership } from '../../beliefs/access-store.ts'
import type { StoreCare } from '../../beliefs/store-care.ts'
import type { SyncStore } from '../../beliefs/sync-store.ts'
import { MemoryError } from '../../errors.ts'
import type { CaredStore } from '../../search/store-port.ts'
import { analysisVersion } from '../belief-row.ts'
import { beliefReads } from './belief-lookups.ts'
import { Connection, type ReadForUser } from './connection.ts'
import { type DatabaseOptions, defaultBusyTimeoutMs, openDatabase } from './database.ts'
import { formReads } from './form-lookups.ts'
import type { openJournal } from './journal.ts'
import type { SqliteRecords } from './journal-records.ts'
import { isReadOnlyStore } from './store-file.ts'
import { readTurn, turnReads } from './turns/turn-lookups.ts'
import { vectorIndex } from './vectors.ts'

export type SqliteStoreOptions = DatabaseOptions & {
  /** Unguessable bytes, for the salts of the journal. */
  readonly random: (bytes: number) => Uint8Array
  /** For `verify`: opens for reading only, and leaves an index that is incomplete as it is. */
  readonly inspect?: boolean
  /** The clock for events that opening an older store writes to the journal. */
  readonly now?: () => Date
}

export type SqliteStore = CaredStore & {
  /** The journal as records, to copy it from and to other stores. */
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
 * Opens the store in a file, and creates it where needed. One that may not be written to is opened for reading only. Any number of processes may have it open at once. Modules that
 * only writing, the journal and maintenance need are loaded when they are first used: most processes only recall.
 */
export const openSqliteStore = (options: SqliteStoreOptions): SqliteStore =>
  openStore(options, (readonly) => openDatabase({ ...options, readonly })).store

function openStore(options: SqliteStoreOptions, openWith: (readonly: boolean) => ReturnType<typeof openDatabase>) {
  const { file, busyTimeoutMs = defaultBusyTimeoutMs, random, now = () => new Date() } = options
  const { inspect = false } = options
  const isReadonly = inspect || (options.readonly ?? isReadOnlyStore(file))
  const open = () => openWith(isReadonly)
  const connection = new Connection({ file, isReadonly, busyTimeoutMs, open })
  const users = new Users(connection)
  let fullText: typeof import('./full-text.ts') | null = null
  let writing: Promise<typeof import('./writing.ts')> | null = null
  const loadWriting = () => {
    writing ??= import('./writing.ts')
    return writing
  }
  const loadCounts = () => import('./recall-counts.ts')
  const loadMaintenance = () => import('./care/maintenance.ts')
  const committing = { connection, users, random }
  let accessing: Connection | null = null
  let second: ReturnType<typeof openStore> | null = null
  /** The dry runs and large changes that have not ended. They have the write lock, so changes of this store wait for them. */
  let locking: Promise<unknown> = Promise.resolve()
  let upToDate: Promise<void> | null = null
  try {
    const due = inspect ? requireOwnAnalysis(connection) : dueAtOpening(connection, isReadonly)
    if (due?.derivation || due?.review) upToDate = bringUpToDate(due)
  } catch (error) {
    connection.close()
    throw error
  }
  // A failure is reported by the calls that wait for it.
  upToDate?.catch(() => {})

  async function bringUpToDate(due: ReturnType<typeof dueAtOpening>): Promise<void> {
    if (due.derivation) {
      const { deriveAgain } = await loadMaintenance()
      await requireWhole()
      // Checked again under the lock: another process may have derived them in the meantime.
      await connection.writeInTurn(() => isDerivedHere(connection) || deriveAgain(connection, analysisVersion))
      refuseOtherDerivations(connection)
    }
    if (due.review) (await loadWriting()).reviewOldBeliefs(committing, now)
    upToDate = null
  }

  const requireWhole = async (): Promise<void> => (await loadWriting()).requireWholeJournal(connection)

  async function head(): ReturnType<StoreCare['head']> {
    const { openJournal } = await loaded(loadWriting())
    const { number, hash } = connection.read(() => openJournal(connection).head())
    return { number, hash: Buffer.from(hash).toString('hex') }
  }

  const reading: ReadForUser = async (user, nothing, read) => {
    if (upToDate !== null) await upToDate
    return connection.read(() => {
      const userId = users.find(user)
      return userId === null ? nothing : read(userId)
    })
  }

  async function readingJournal<Result>(
    user: string,
    nothing: NoInfer<Result>,
    read: (journal: ReturnType<typeof openJournal>, userId: number) => Result,
  ): Promise<Result> {
    const { openJournal } = await loadWriting()
    return reading(user, nothing, (userId) => read(openJournal(connection), userId))
  }

  const canShare = connection.isOnDisk && !isReadonly

  /** Runs work that may lock for long on a separate connection, one at a time. A store that cannot be shared is copied. */
  function apart<Result>(work: (other: ReturnType<typeof openStore>) => Promise<Result>): Promise<Result> {
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

  /** A module that is needed once the store is up to date, and no other work of this process has the lock. */
  async function loaded<Module>(module: Promise<Module>): Promise<Module> {
    await upToDate
    await locking
    return module
  }

  const store: SqliteStore = {
    ...beliefReads(connection, reading),
    ...formReads(connection, reading),
    ...turnReads(connection, reading),
    ...vectorIndex(connection, users, reading),
    commit: async (commit) => {
      const { commitChanges, isLargeCommit } = await loaded(loadWriting())
      if (!canShare || !isLargeCommit(commit)) return commitChanges(committing, commit)
      return apart((other) => commitChanges(committing, commit, other.committing))
    },
    countRecalls: async (user, tallies) => {
      const { addTallies } = await loaded(loadCounts())
      if (isReadonly) return
      await connection.writeInTurn(() => addTallies(connection, users.findOrAdd(user), tallies))
    },
    recallCounts: async (user, ids) => {
      const { readCounts } = await loadCounts()
      return reading(user, new Map(), (userId) => readCounts(connection, userId, ids))
    },
    countFeedback: async (user, feedback) => {
      const { addFeedback } = await loaded(loadCounts())
      await connection.writeInTurn(() => addFeedback(connection, users.findOrAdd(user), feedback))
    },
    feedback: async (user, ids) => {
      const { readFeedback } = await loadCounts()
      return reading(user, [], (userId) => readFeedback(connection, userId, ids))
    },
    recallDays: async (user) => {
      const { readDays } = await loadCounts()
      return reading(user, [], (userId) => readDays(connection, userId))
    },
    growth: async (user) => {
      const { readGrowth } = await loadCounts()
      const { growthByDay } = await import('../growth-by-day.ts')
      return growthByDay(await reading(user, [], (userId) => readGrowth(connection, userId)))
    },
    events: (user, page) => readingJournal(user, [], (journal, userId) => journal.events(userId, page)),
    event: (user, number) => readingJournal(user, null, (journal, userId) => journal.event(userId, number)),
    eventByKey: (user, key) => readingJournal(user, null, (journal, userId) => journal.eventByKey(userId, key)),
    lastUndoable: (user) => readingJournal(user, null, (journal, userId) => journal.lastUndoable(userId)),
    history: (user, beliefId) => readingJournal(user, [], (journal, userId) => journal.history(userId, beliefId)),
    revisions: (user, event) => readingJournal(user, [], (journal, userId) => journal.revisions(userId, event)),
    matchText: async (query) => {
      fullText ??= await import('./full-text.ts')
      const { matchText } = fullText
      return reading(query.user, [], (userId) => matchText(connection, userId, query))
    },
    knownTurns: async (user, heard) => {
      const { findKnown } = await loadWriting()
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
      const { judgeTurns } = await loaded(loadWriting())
      const userId = connection.read(() => users.find(user))
      return userId !== null && judgeTurns(connection, userId, limit, judge)
    },
    verify: async (onProgress) => (await loaded(loadMaintenance())).verifyStore(connection, onProgress),
    rebuild: async () => {
      const { deriveAgain } = await loaded(loadMaintenance())
      await requireWhole()
      await connection.writeInTurn(() => deriveAgain(connection, analysisVersion))
    },
    fingerprint: async () => {
      const { fingerprintOf } = await loaded(loadMaintenance())
      return connection.read(() => fingerprintOf(connection))
    },
    head,
    anchorJournal: async () => {
      if (connection.isOnDisk) (await loadWriting()).setHead(file, await head())
    },
    backup: async (target) => (await loaded(loadMaintenance())).backUp(connection, target),
    scrub: async (given) => !connection.isOnDisk || (await loaded(loadWriting())).scrub(connection, given),
    memberships: async (person) =>
      connection.read(() =>
        connection.all<Membership>('SELECT team, role FROM team_members WHERE person = ? ORDER BY team', [person]),
      ),
    access: async () => {
      // A separate connection: a token must be read in its current state, while a running recall keeps its snapshot.
      accessing ??= connection.isOnDisk ? new Connection({ file, isReadonly, busyTimeoutMs, open }) : connection
      const tokens = accessing
      const { sqlAccess } = await loaded(import('../access-sql.ts'))
      return sqlAccess(async (use, sql, values) => {
        const named = Object.fromEntries(values.map((value, index) => [index + 1, value]))
        const run = () => tokens.all<never>(sql.replaceAll('credence.', ''), [named])
        return use === 'read' ? tokens.read(run) : tokens.writeInTurn(run)
      })
    },
    tryOut: async (commit, work) => {
      await upToDate
      return apart(async ({ committing: tried, store: triedStore }) => {
        const { applyInDryRun } = await loadWriting()
        return tried.connection.exclusively('ROLLBACK', () => {
          applyInDryRun(tried, commit)
          return work(triedStore)
        })
      })
    },
    records: async () => (await loaded(loadMaintenance())).recordsIn(committing),
    sync: async () => (await loaded(import('./sync.ts'))).syncIn(committing),
    withSnapshot: (work) => connection.withSnapshot(work),
    endSnapshot: () => connection.endSnapshot(),
    waitAtMost: (ms) => connection.waitAtMost(ms),
    isCurrent: () => connection.isCurrent,
    close: async () => {
      await locking
      await second?.store.close()
      accessing?.close()
      connection.close()
    },
  }
  return { store, committing }
}

/** Whether this version has filled the derived tables, and none of them has been emptied since. */
const isDerivedHere = (connection: Connection): boolean =>
  connection.value(isOwnAnalysis, [analysisVersion]) !== undefined && connection.value(isIndexEmptied) === 0

const isOwnAnalysis = 'SELECT 1 FROM derivation WHERE analysis = ?'

/** To check the tables is possible only for the version that has filled them. */
function requireOwnAnalysis(connection: Connection): null {
  if (connection.read(() => connection.value(isOwnAnalysis, [analysisVersion]) !== undefined)) return null
  throw otherVersion(connection.file)
}

/**
 * Whether a table of the index is empty although its counts are not zero. Finds a table that was deleted
 * in a time that does not depend on the size of the store; single rows that are missing are found by `verify`.
 */
const isIndexEmptied = `SELECT
  (EXISTS (SELECT 1 FROM beliefs) AND NOT (EXISTS (SELECT 1 FROM members) AND EXISTS (SELECT 1 FROM scopes)
    AND EXISTS (SELECT 1 FROM audiences) AND EXISTS (SELECT 1 FROM audience_scopes) AND EXISTS (SELECT 1 FROM forms)
    AND EXISTS (SELECT 1 FROM phrase_prefixes) AND EXISTS (SELECT 1 FROM texts_docsize)))
  OR (NOT EXISTS (SELECT 1 FROM beliefs) AND (EXISTS (SELECT 1 FROM members)
    OR (SELECT outcome FROM changes ORDER BY event DESC, ordinal DESC LIMIT 1) IS 'present'))
  OR (EXISTS (SELECT 1 FROM words) <> EXISTS (SELECT 1 FROM typos))
  OR (EXISTS (SELECT 1 FROM turn_texts) AND NOT EXISTS (SELECT 1 FROM turn_scopes WHERE units > 0))
  OR (EXISTS (SELECT 1 FROM turn_scopes WHERE length > 0) AND NOT EXISTS (SELECT 1 FROM turn_postings))`

/**
 * The work that a store made by an older version needs before it is used: deriving its tables again, and a review of the
 * beliefs that version 0.1 learned. An empty store is marked as derived at once.
 */
function dueAtOpening(connection: Connection, isReadonly: boolean) {
  const { derivation, review, isEmpty } = connection.read(() => ({
    derivation: !isDerivedHere(connection),
    review: connection.value('SELECT 1 FROM to_review LIMIT 1') !== undefined,
    isEmpty: connection.value('SELECT 1 FROM events LIMIT 1') === undefined,
  }))
  if (derivation && isReadonly) throw otherVersion(connection.file)
  const mark = 'INSERT OR REPLACE INTO derivation (id, analysis) SELECT 1, ? WHERE NOT EXISTS (SELECT 1 FROM events)'
  if (derivation && isEmpty) connection.write(() => connection.run(mark, [analysisVersion]))
  const mustDerive = derivation && !connection.read(() => isDerivedHere(connection))
  if (!mustDerive) refuseOtherDerivations(connection)
  return { derivation: mustDerive, review: review && !isReadonly }
}

/** Stops this program as soon as another version of it has filled the tables differently. */
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

  /** Null for a user that the store has no row of. */
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
