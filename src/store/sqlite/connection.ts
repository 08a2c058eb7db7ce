import type Database from 'better-sqlite3'
import { MemoryError } from '../../errors.ts'
import { sqliteCode, translateSqliteError } from './sqlite-errors.ts'
import { identityOf } from './store-file.ts'

export type ConnectionOptions = {
  readonly file: string
  readonly isReadonly: boolean
  /** Opens the database, once at the start and again after the disk has failed. */
  readonly open: () => Database.Database
}

/**
 * One open database. Statements are prepared once; reads see one state of the store from start to end; writes take the
 * lock first, so that nothing they have read can change before they are done.
 */
export class Connection {
  readonly file: string
  readonly #options: ConnectionOptions
  readonly #statements = new Map<string, Database.Statement>()
  readonly #caches: (() => void)[] = []
  readonly #guards: (() => void)[] = []
  #db: Database.Database | null
  #files: string
  #dataVersion = -1
  #isClosed = false
  /** How many are reading together. */
  #together = 0
  /** Whether the transaction that those share is open. */
  #isHeld = false

  constructor(options: ConnectionOptions) {
    this.file = options.file
    this.#options = options
    this.#db = options.open()
    this.#files = identityOf(this.file)
  }

  /** Calls back whenever anything read before may no longer be so. */
  onChange(forget: () => void): void {
    this.#caches.push(forget)
  }

  /** Calls back, within the transaction, when another process has written since the last one; may refuse to go on. */
  onForeignChange(guard: () => void): void {
    this.#guards.push(guard)
  }

  /** The prepared form of one SQL text, which must be a constant or one of few. */
  statement<Parameters extends unknown[], Row = never>(sql: string): Database.Statement<Parameters, Row> {
    const known = this.#statements.get(sql)
    const statement = known ?? this.#database().prepare(sql)
    if (known === undefined) this.#statements.set(sql, statement)
    // The types of a row are those of the columns named in the text, which the compiler cannot see.
    return statement as unknown as Database.Statement<Parameters, Row>
  }

  /** Runs several statements on one state of the store. Nothing is to be kept, and a damaged store cannot be committed. */
  read<Result>(work: () => Result): Result {
    if (this.#together === 0) return this.#transaction('BEGIN', 'ROLLBACK', work)
    try {
      this.#hold()
      return work()
    } catch (error) {
      this.#isHeld = false
      this.#rollback(error)
      throw translateSqliteError(error, this.file)
    }
  }

  /**
   * Reads within `work` share one transaction, and with it one state of the store, until somebody writes on this
   * connection: beginning, looking for changes and ending take as long as a read itself.
   */
  async together<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#together += 1
    try {
      return await work()
    } finally {
      this.#together -= 1
      if (this.#together === 0) this.letGo()
    }
  }

  #hold(): void {
    if (this.#isHeld) return
    this.statement<[]>('BEGIN').run()
    this.#refresh()
    this.#isHeld = true
  }

  /** Ends the transaction that reads share; the next one sees the newest state. */
  letGo(): void {
    if (!this.#isHeld) return
    this.#isHeld = false
    this.statement<[]>('ROLLBACK').run()
  }

  /** Runs statements that take effect together, durably, when this returns; or not at all. */
  write<Result>(work: () => Result): Result {
    if (this.#options.isReadonly) throw readonlyStore(this.file)
    this.letGo()
    this.#requireSameFiles()
    try {
      return this.#transaction('BEGIN IMMEDIATE', 'COMMIT', work)
    } finally {
      this.#changed()
    }
  }

  /** Runs what cannot be part of a transaction. */
  alone<Result>(work: () => Result): Result {
    this.letGo()
    try {
      return work()
    } catch (error) {
      throw translateSqliteError(error, this.file)
    }
  }

  /**
   * Moves the log into the database and empties it, so that no old text stays behind in it. False when it could not be
   * done now, mostly because another process is reading; what was committed is safe in the log all the same.
   */
  emptyLog(): boolean {
    this.letGo()
    try {
      const [result] = this.#database().pragma('wal_checkpoint(TRUNCATE)') as readonly { readonly busy: number }[]
      return result?.busy === 0
    } catch (error) {
      if (sqliteCode(error) === null) throw error
      return false
    }
  }

  close(): void {
    this.#disconnect()
    this.#isClosed = true
  }

  #transaction<Result>(begin: 'BEGIN' | 'BEGIN IMMEDIATE', end: 'ROLLBACK' | 'COMMIT', work: () => Result): Result {
    try {
      this.statement<[]>(begin).run()
      this.#refresh()
      const result = work()
      this.statement<[]>(end).run()
      return result
    } catch (error) {
      this.#rollback(error)
      throw translateSqliteError(error, this.file)
    }
  }

  /**
   * After a failed read or write of the disk nobody knows what the system's cache holds, so the connection is given up
   * and the next use starts from what the file says.
   */
  #rollback(error: unknown): void {
    try {
      if (this.#db?.inTransaction) this.statement<[]>('ROLLBACK').run()
    } finally {
      if (sqliteCode(error)?.startsWith('SQLITE_IOERR')) this.#disconnect()
    }
  }

  #disconnect(): void {
    this.#statements.clear()
    this.#isHeld = false
    this.#db?.close()
    this.#db = null
  }

  #database(): Database.Database {
    if (this.#isClosed) throw new MemoryError('unavailable', `The store ${this.file} was closed.`)
    if (this.#db === null) {
      this.#db = this.#options.open()
      this.#files = identityOf(this.file)
      this.#dataVersion = -1
    }
    return this.#db
  }

  #refresh(): void {
    const version = this.statement<[], { data_version: number }>('PRAGMA data_version').get()?.data_version ?? -1
    if (version === this.#dataVersion) return
    this.#changed()
    for (const guard of this.#guards) guard()
    this.#dataVersion = version
  }

  #changed(): void {
    for (const forget of this.#caches) forget()
  }

  /** A write to a file that no longer has a name would be acknowledged and lost. */
  #requireSameFiles(): void {
    this.#database()
    if (identityOf(this.file) === this.#files) return
    throw new MemoryError('unavailable', `The store ${this.file} was moved or replaced while it was open.`, {
      hint: 'Put it back, or start again to use the file that is there now.',
    })
  }
}

const readonlyStore = (file: string): MemoryError =>
  new MemoryError('unavailable', `The store ${file} was opened for reading only.`, {
    hint: 'Open it for writing to change it.',
  })
