import type { DatabaseSync, SQLInputValue, StatementResultingChanges, StatementSync } from 'node:sqlite'
import { setTimeout as sleep } from 'node:timers/promises'
import { MemoryError } from '../../errors.ts'
import { yieldToEventLoop } from '../../next-turn.ts'
import { inMemory, isWritable, openBytes, setPragma, sqliteCode, translateSqliteError } from './database.ts'
import { identityOf, isDiskFull, programsWith, sizeOf } from './store-file.ts'

type ConnectionOptions = {
  readonly file: string
  readonly isReadonly: boolean
  busyTimeoutMs: number
  /** Opens the database, once at the start and again after the disk has failed. */
  readonly open: () => DatabaseSync
}

/**
 * One open database. Statements are prepared once. A read sees one snapshot of the store from start to end. A write takes the lock first,
 * so that the data that it reads cannot change before it commits.
 */
export class Connection {
  readonly file: string
  readonly #options: ConnectionOptions
  readonly #statements = new Map<string, StatementSync>()
  /** Statements that return rows as lists of values. */
  readonly #listing = new Map<string, StatementSync>()
  readonly #caches: (() => void)[] = []
  readonly #guards: (() => void)[] = []
  #db: DatabaseSync | null
  #files: string
  #dataVersion = -1
  #isClosed = false
  /** The number of callers of `withSnapshot` that have not finished. */
  #snapshotUsers = 0
  /** Whether the shared transaction of `withSnapshot` is open. */
  #hasSnapshot = false
  #endsSoon = false
  /** Whether `runExclusively` holds the write lock. */
  #isExclusive = false
  /** Whether the last write had to wait for another process. */
  #hasWaited = false

  constructor(options: ConnectionOptions) {
    this.file = options.file
    this.#options = { ...options }
    this.#db = options.open()
    this.#files = identityOf(this.file)
  }

  /** Registers a callback that clears a cache. It is called whenever the store may have changed. */
  onChange(forget: () => void): void {
    this.#caches.push(forget)
  }

  /** Registers a callback that runs in the first transaction after another process has written. It may throw. */
  onForeignChange(guard: () => void): void {
    this.#guards.push(guard)
  }

  /** The prepared statement of an SQL text. Every statement stays cached, so `sql` must be a constant or one of a few variants. */
  statement(sql: string): StatementSync {
    return this.#prepared(this.#statements, sql)
  }

  run(sql: string, values: readonly unknown[] = []): StatementResultingChanges {
    return this.statement(sql).run(...sqlValues(values))
  }

  get<Row>(sql: string, values: readonly unknown[] = []): Row | undefined {
    return this.statement(sql).get(...sqlValues(values)) as Row | undefined
  }

  all<Row>(sql: string, values: readonly unknown[] = []): readonly Row[] {
    return this.statement(sql).all(...sqlValues(values)) as unknown as readonly Row[]
  }

  /** The rows one by one, for results that may be long. */
  iterate<Row>(sql: string, values: readonly unknown[] = []): Iterable<Row> {
    return this.statement(sql).iterate(...sqlValues(values)) as Iterable<unknown> as Iterable<Row>
  }

  /** The rows one by one, each a list of the values of its columns. */
  iterateLists(sql: string): Iterable<readonly unknown[]> {
    return this.#prepared(this.#listing, sql).iterate() as Iterable<unknown> as Iterable<readonly unknown[]>
  }

  /** The first column of every row. */
  column<Value>(sql: string, values: readonly unknown[] = []): readonly Value[] {
    const rows = this.#prepared(this.#listing, sql).all(...sqlValues(values)) as unknown as readonly [Value][]
    return rows.map(([value]) => value)
  }

  /** The first column of the first row. */
  value<Value>(sql: string, values: readonly unknown[] = []): Value | undefined {
    const row = this.#prepared(this.#listing, sql).get(...sqlValues(values)) as unknown as [Value] | undefined
    return row?.[0]
  }

  /** Inserts many rows with few statements, because each statement has a fixed cost. `into` is a table and its columns. */
  insertMany(into: string, rows: readonly (readonly unknown[])[]): void {
    const columns = rows[0]?.length ?? 1
    const row = `(${Array(columns).fill('?').join(', ')})`
    const atOnce = Math.floor(maxParameters / columns)
    const whole = rows.length - (rows.length % atOnce)
    if (whole > 0) {
      const insert = this.statement(`INSERT INTO ${into} VALUES ${Array(atOnce).fill(row).join(', ')}`)
      for (let from = 0; from < whole; from += atOnce) insert.run(...sqlValues(rows.slice(from, from + atOnce).flat()))
    }
    for (const values of rows.slice(whole)) this.run(`INSERT INTO ${into} VALUES ${row}`, values)
  }

  #prepared(known: Map<string, StatementSync>, sql: string): StatementSync {
    const found = known.get(sql)
    if (found !== undefined) return found
    const statement = this.#database().prepare(sql)
    if (known === this.#listing) statement.setReturnArrays(true)
    known.set(sql, statement)
    return statement
  }

  /** Whether the store has a file, with a log and a journal head next to it. */
  get isOnDisk(): boolean {
    return this.file !== inMemory
  }

  /** Whether the store can only be read. */
  get isReadonly(): boolean {
    return this.#options.isReadonly
  }

  /** Whether SQLite opened the file for writing. Some stores that are only read need this too. */
  get isOpenForWriting(): boolean {
    return isWritable(this.#database())
  }

  /** Runs several statements on one snapshot of the store, and rolls back at the end, which is cheaper than a commit. */
  read<Result>(work: () => Result): Result {
    if (this.#isExclusive) return work()
    if (this.#snapshotUsers === 0) return this.#transaction(() => this.run('BEGIN'), 'ROLLBACK', work)
    try {
      if (!this.#hasSnapshot) {
        this.run('BEGIN')
        this.#refresh()
        this.#hasSnapshot = true
        this.#endSnapshotSoon()
      }
      return work()
    } catch (error) {
      this.#hasSnapshot = false
      this.#rollback(error)
      throw translateSqliteError(error, this.file)
    }
  }

  /**
   * Lets reads within `work` share one transaction, and so one snapshot of the store, until a write on this connection, or until `work`
   * awaits something other than the store. A separate transaction for each read would double its time.
   */
  async withSnapshot<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#snapshotUsers += 1
    try {
      return await work()
    } finally {
      this.#snapshotUsers -= 1
      if (this.#snapshotUsers === 0) this.endSnapshot()
    }
  }

  /**
   * Ends the shared read transaction soon, even between two steps of a long operation. Otherwise, with
   * constant callers, the log could never be emptied and readers would never see new writes.
   */
  #endSnapshotSoon(): void {
    if (this.#endsSoon) return
    this.#endsSoon = true
    setTimeout(() => {
      this.#endsSoon = false
      this.endSnapshot()
    }, maxSnapshotMs).unref()
  }

  /** Ends the transaction that reads share. The next read sees the newest state. */
  endSnapshot(): void {
    if (!this.#hasSnapshot) return
    this.#hasSnapshot = false
    this.run('ROLLBACK')
  }

  /** Runs statements in one transaction that is durable when this returns, and rolled back on an error. Blocks while another process writes. */
  write<Result>(work: () => Result): Result {
    this.#prepareToWrite()
    return this.#writeWith(() => this.run('BEGIN IMMEDIATE'), work)
  }

  /**
   * Like `write`, without blocking the event loop while another process writes. Yields once after the commit, so that a loop of changes
   * does not delay timers and other requests.
   */
  async writeInTurn<Result>(work: () => Result): Promise<Result> {
    const deadline = performance.now() + this.#options.busyTimeoutMs
    // SQLite's own handler backs off to one attempt in 100 ms, so that newcomers overtake a process that has waited long. Attempts at a
    // constant interval, and a gap after each wait, give every process the same chance.
    if (this.#hasWaited) await sleep(lockPollMs)
    this.#hasWaited = false
    this.#prepareToWrite()
    while (!this.#tryToRun('BEGIN IMMEDIATE', deadline)) {
      this.#hasWaited = true
      await sleep(lockPollMs)
      this.#prepareToWrite()
    }
    const result = this.#writeWith(() => {}, work)
    await yieldToEventLoop()
    return result
  }

  #prepareToWrite(): void {
    if (this.#isExclusive) throw new Error('The connection is in use for another change.')
    if (this.#options.isReadonly) throw openForReading(this.file)
    this.endSnapshot()
    this.#requireSameFiles()
  }

  #writeWith<Result>(begin: () => void, work: () => Result): Result {
    try {
      return this.#transaction(begin, 'COMMIT', work)
    } finally {
      this.#changed()
    }
  }

  /**
   * Takes the write lock and runs asynchronous work in one transaction that is committed or rolled back at its end. Other connections still
   * read the previous state. The connection must have no other users, and run one such work at a time.
   */
  async runExclusively<Result>(end: 'COMMIT' | 'ROLLBACK', work: () => Promise<Result>): Promise<Result> {
    const deadline = performance.now() + this.#options.busyTimeoutMs
    this.#prepareToWrite()
    while (!this.#tryToRun('BEGIN IMMEDIATE', deadline)) await sleep(lockPollMs)
    this.#isExclusive = true
    try {
      this.#changed()
      this.#refresh()
      const result = await work()
      this.run(end)
      return result
    } catch (error) {
      this.#rollback(error)
      throw translateSqliteError(error, this.file)
    } finally {
      this.#isExclusive = false
      this.#changed()
    }
  }

  /** Runs a statement that takes the write lock. False if another connection holds the lock; throws if it still does after the deadline. */
  #tryToRun(sql: string, deadline: number): boolean {
    const db = this.#database()
    setPragma(db, 'busy_timeout', 0)
    try {
      this.run(sql)
      return true
    } catch (error) {
      if (sqliteCode(error)?.startsWith('SQLITE_BUSY') && performance.now() < deadline) return false
      this.#rollback(error)
      throw translateSqliteError(error, this.file)
    } finally {
      // After a disk error, `#rollback` has closed the database.
      if (db.isOpen) setPragma(db, 'busy_timeout', this.#options.busyTimeoutMs)
    }
  }

  /** A database in memory with the same contents; changes to it do not reach the file. */
  copyInMemory(): DatabaseSync {
    return openBytes(this.#database().serialize())
  }

  /** The size of the write-ahead log in bytes. */
  get logSize(): number {
    return sizeOf(`${this.file}-wal`)
  }

  /** Runs a statement that is not allowed in a transaction. */
  outsideTransaction<Result>(work: () => Result): Result {
    this.endSnapshot()
    try {
      return work()
    } catch (error) {
      throw translateSqliteError(error, this.file)
    }
  }

  /**
   * Rewrites the file without deleted data, and empties the log, in another thread. Before that, runs the statements in `first`. False if
   * the log could not be emptied, usually because another process is reading.
   */
  async rewrite(first: readonly string[]): Promise<boolean> {
    this.#prepareToWrite()
    const { rewriteInThread } = await import('./care/rewrite-thread.ts')
    const { busyTimeoutMs } = this.#options
    try {
      return await rewriteInThread({
        file: this.file,
        statements: [...first, 'VACUUM'],
        busyTimeoutMs,
        checkpointTimeoutMs,
      })
    } catch (error) {
      throw translateSqliteError(error, this.file)
    } finally {
      this.#changed()
    }
  }

  /**
   * Moves the write-ahead log into the database file and truncates it, so that no old text remains in the log. False if that was not
   * possible, usually because another process is reading. Waits only briefly, because writers are blocked during that time.
   */
  emptyLog(timeoutMs = checkpointTimeoutMs): boolean {
    this.endSnapshot()
    const db = this.#database()
    try {
      setPragma(db, 'busy_timeout', Math.min(timeoutMs, this.#options.busyTimeoutMs))
      return db.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get()?.busy === 0
    } catch (error) {
      if (sqliteCode(error) === null) throw error
      return false
    } finally {
      setPragma(db, 'busy_timeout', this.#options.busyTimeoutMs)
    }
  }

  /** Sets how long the next reads and writes wait for another process that is writing. */
  waitAtMost(busyTimeoutMs: number): void {
    this.#options.busyTimeoutMs = busyTimeoutMs
    setPragma(this.#database(), 'busy_timeout', busyTimeoutMs)
  }

  /** Whether the file on the disk is still the one that was opened. */
  get isCurrent(): boolean {
    return this.#db !== null && identityOf(this.file) === this.#files
  }

  close(): void {
    this.#disconnect()
    this.#isClosed = true
  }

  #transaction<Result>(begin: () => void, end: 'ROLLBACK' | 'COMMIT', work: () => Result): Result {
    try {
      begin()
      this.#refresh()
      const result = work()
      this.run(end)
      return result
    } catch (error) {
      this.#rollback(error)
      throw translateSqliteError(error, this.file)
    }
  }

  /**
   * Rolls back. After a disk error the contents of the operating system's cache are unknown, so the connection is closed too, and the next
   * use opens the file again.
   */
  #rollback(error: unknown): void {
    try {
      if (this.#db?.isTransaction) this.run('ROLLBACK')
    } finally {
      if (sqliteCode(error)?.startsWith('SQLITE_IOERR')) this.#disconnect()
    }
  }

  #disconnect(): void {
    this.#statements.clear()
    this.#listing.clear()
    this.#hasSnapshot = false
    this.#db?.close()
    this.#db = null
  }

  #database(): DatabaseSync {
    if (this.#isClosed) throw new MemoryError('unavailable', `The store ${this.file} was closed.`)
    if (this.#db === null) {
      this.#db = this.#options.open()
      this.#files = identityOf(this.file)
      this.#dataVersion = -1
    }
    return this.#db
  }

  #refresh(): void {
    const version = this.value<number>('PRAGMA data_version') ?? -1
    if (version === this.#dataVersion) return
    this.#changed()
    for (const guard of this.#guards) guard()
    this.#dataVersion = version
  }

  #changed(): void {
    for (const forget of this.#caches) forget()
  }

  /** Throws if the file was moved or replaced, because a write to an unlinked file would be acknowledged and lost. */
  #requireSameFiles(): void {
    this.#database()
    if (this.isCurrent) return
    throw new MemoryError('unavailable', `The store ${this.file} was moved or replaced while it was open.`, {
      hint: 'Put it back, or start again to use the file that is there now.',
    })
  }
}

const openForReading = (file: string): MemoryError =>
  isDiskFull(file)
    ? new MemoryError('unavailable', `The disk of ${file} is full; nothing was written.`, {
        hint: 'Free some space and try again. Reading still works.',
      })
    : new MemoryError('unavailable', `The store ${file} was opened for reading only.`, {
        hint: 'Check whether the file and its directory may be written to.',
      })

const checkpointTimeoutMs = 1_000
const lockPollMs = 5
/** Time after which a shared snapshot ends. Work that awaits only the store is not interrupted, however long it takes. */
const maxSnapshotMs = 10

/** Warns about a log that has grown too long, and names the programs that may be the reason. */
export function logTooLong(file: string, size: number): string {
  const programs = programsWith(file)
  const named = programs.length === 0 ? '' : ` Other programs that have the store open: ${programs.join(', ')}.`
  return `The write-ahead log of ${file} has ${Math.round(size / 2 ** 20)} MiB, because a process goes on reading an old state of the store. End that process; the next change then empties the log.${named}`
}

/** Casts parameters. Rows and requests were validated when read, so SQLite can store every value. */
const sqlValues = (values: readonly unknown[]): SQLInputValue[] => values as SQLInputValue[]

/** Max parameters in one statement of `insertMany`; longer statements cost more than they save. */
const maxParameters = 160

/** Max rows that are read at once from a table that may be long. */
export const pageSize = 500

/** Reads rows page by page. `read` returns the rows after `last`, or the first rows if `last` is undefined. */
export function* readPages<Row>(read: (last: Row | undefined, size: number) => readonly Row[]): Generator<Row> {
  for (let last: Row | undefined; ; ) {
    const page = read(last, pageSize)
    yield* page
    if (page.length < pageSize) return
    last = page.at(-1)
  }
}

/** Runs `read` for a user, on one snapshot of the store. `nothing` is the result for a user without rows. */
export type ReadForUser = <Result>(
  user: string,
  nothing: NoInfer<Result>,
  read: (userId: number) => Result,
) => Promise<Result>

export const noItems = { items: [], total: 0 }

export type Conditions = { readonly where: string; readonly values: readonly unknown[] }

/** Joins conditions, each with its values, and leaves out those that do not apply. */
export function joinConditions(
  conditions: readonly (readonly [condition: string, ...values: unknown[]] | false | undefined)[],
): Conditions {
  const asked = conditions.filter((condition) => condition !== false && condition !== undefined)
  return { where: asked.map(([condition]) => condition).join(' AND '), values: asked.flatMap(([, ...rest]) => rest) }
}
