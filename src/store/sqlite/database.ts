import { existsSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import Database from 'better-sqlite3'
import { DamagedStore, MemoryError } from '../../errors.ts'
import { damagedStore, damageHint, migrate, schemaProblem, schemaState } from './migrations/migrate.ts'
import { isDiskFull, mayBeWritten, prepareFile, requireFile, sizeOf } from './store-file.ts'

/** The file name of a store in the memory of the process: empty when it is opened, and gone when it is closed. */
export const inMemory = ':memory:'

export type DatabaseOptions = {
  /** A path, or `inMemory`. */
  readonly file: string
  /** Nothing is created, updated or written. */
  readonly readonly?: boolean
  /** How long a write waits for other processes, in milliseconds; by default `defaultBusyTimeoutMs`. 0 does not wait. */
  readonly busyTimeoutMs?: number
}

export const defaultBusyTimeoutMs = 30_000

/** Older versions may lose commits when several processes share a write-ahead log. */
const oldestSqlite = [3, 51, 3] as const

const cacheKib = 64 * 1024

/** Opens the database of a store, and creates or migrates it where needed. */
export function openDatabase(options: DatabaseOptions): Database.Database {
  const { file, readonly = false, busyTimeoutMs = defaultBusyTimeoutMs } = options
  requireNode(process.versions.node)
  if (file === inMemory) return openInMemory()
  // A store that was emptied or removed by another program, or by a disk that failed, must not begin anew as if nothing had
  // been lost.
  if (sizeOf(file) === 0 && sizeOf(`${file}-head`) > 0) {
    const problem = existsSync(file) ? 'it is empty' : 'its file is missing'
    throw damagedStore(file, `${problem}, although changes were made to it`)
  }
  if (readonly) requireFile(file)
  else prepareFile(file)
  let db: Database.Database | null = null
  try {
    const opened = needsCopy(file, readonly)
      ? copyInMemory(file)
      : new Database(file, { readonly: readonly && !leavesLog(file), fileMustExist: true, timeout: busyTimeoutMs })
    db = opened
    if (readonly) db.pragma('query_only = 1')
    requireVersion(db)
    // Checked before any setting is changed: settings may write, and the file may belong to another program.
    const state = schemaState(db, file)
    // They are about the file, which a copy in memory does not have.
    if (!db.memory) applySettings(db, readonly, busyTimeoutMs)
    if (!readonly) migrate(db, file, (work) => whenUnlocked(opened, busyTimeoutMs, work))
    else if (state !== 'known') {
      const problem = 'is empty or was made by an older version, and is open for reading only'
      throw new MemoryError('conflict', `The store ${file} ${problem}.`, {
        hint: 'Open it once for writing to bring it up to date.',
      })
    }
    const problem = schemaProblem(db)
    if (problem !== null) throw damagedStore(file, problem)
    return db
  } catch (error) {
    db?.close()
    throw translateSqliteError(error, file)
  }
}

/** An empty store, from which others are copied: creating the tables takes 15 ms, and an evaluation opens a store for each case. */
let emptyStore: Buffer | null = null

function openInMemory(): Database.Database {
  if (emptyStore !== null) return new Database(emptyStore)
  const db = new Database(inMemory)
  requireVersion(db)
  migrate(db, inMemory, (work) => work())
  emptyStore = db.serialize()
  return db
}

/**
 * SQLite cannot read a store with a write-ahead log in a directory where it may not create the log, or where there is no room
 * for it. Without a log the file alone is the whole store, and nobody who is writing has it open.
 */
const needsCopy = (file: string, readonly: boolean): boolean =>
  readonly && sizeOf(`${file}-wal`) === 0 && (!mayBeWritten(dirname(file)) || isDiskFull(file))

/** No connection of this process can hold a lock on the file, which reading it would drop. */
function copyInMemory(file: string): Database.Database {
  const size = sizeOf(file)
  if (size > maxCopiedBytes) {
    const limit = `${maxCopiedBytes / 2 ** 20} MiB can be read from there`
    const problem = `has ${size} bytes in a directory that cannot be written to; at most ${limit}`
    throw new MemoryError('unavailable', `The store ${file} ${problem}.`, {
      hint: 'Copy the memory directory to a place that may be written to, and name it with --dir.',
    })
  }
  const bytes = readFileSync(file)
  if (bytes.length < 100) throw damagedStore(file, 'it is too short')
  return openBytes(bytes, { readonly: true })
}

/**
 * Opens a copy of a database in memory, where it can have no write-ahead log: the header of the copy must not declare one.
 * https://sqlite.org/c3ref/deserialize.html
 */
export function openBytes(bytes: Buffer, options: Database.Options = {}): Database.Database {
  bytes.fill(1, 18, 20)
  return new Database(bytes, options)
}

const maxCopiedBytes = 2 ** 30

/**
 * Whether SQLite would leave the empty log behind that it creates to read a store: only a connection that may write removes
 * it. Where a log is there already, a connection that may write could move it into the file.
 */
const leavesLog = (file: string): boolean =>
  mayBeWritten(dirname(file), file) && !['-wal', '-journal'].some((suffix) => existsSync(file + suffix))

/** The driver of SQLite does not fail on an older Node: it ends the process. */
export function requireNode(version: string): void {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major > 22 || (major === 22 && minor >= 14)) return
  throw new MemoryError('unavailable', `Node ${version} is too old; Credence needs Node 22.14 or newer.`, {
    hint: 'Run it with a newer Node, such as the one of the npm package `node`, which is in node_modules/node/bin of a clone.',
  })
}

function requireVersion(db: Database.Database): void {
  const version = String(db.prepare('SELECT sqlite_version()').pluck().get())
  const parts = version.split('.').map(Number)
  const difference = oldestSqlite.map((part, index) => (parts[index] ?? 0) - part).find((step) => step !== 0) ?? 0
  if (difference >= 0) return
  throw new MemoryError('unavailable', `SQLite ${version} is too old; ${oldestSqlite.join('.')} or newer is needed.`, {
    hint: 'Install the packages again, so that the SQLite that belongs to this version is used.',
  })
}

/** In bytes. The log is cut to this length when it is emptied, and reported when it has grown beyond. */
export const longestLog = 64 * 1024 * 1024

type Setting = readonly [name: string, value: number | string]

/** The settings that durability and secrecy depend on. `synchronous` comes last: the switch to WAL weakens it. */
export const safeSettings: readonly Setting[] = [
  ['trusted_schema', 0],
  ['mmap_size', 0],
  ['temp_store', 2],
  ['foreign_keys', 1],
  ['secure_delete', 1],
  ['journal_mode', 'wal'],
  ['synchronous', 2],
  ['journal_size_limit', longestLog],
]

/** Applies every setting and reads it back, since SQLite ignores a setting that it cannot apply. */
function applySettings(db: Database.Database, readonly: boolean, busyTimeoutMs: number): void {
  const settings: readonly Setting[] = [
    ['busy_timeout', busyTimeoutMs],
    // A database that is only read, such as a backup, may have another journal mode.
    ...safeSettings.filter(([name]) => !readonly || name !== 'journal_mode'),
    ['cache_size', -cacheKib],
    ['wal_autocheckpoint', 1000],
  ]
  for (const [name, value] of settings) {
    // SQLite does not wait when two processes switch a new file to WAL at once, whatever the busy timeout.
    if (name === 'journal_mode') whenUnlocked(db, busyTimeoutMs, () => db.pragma('journal_mode = wal'))
    else db.pragma(`${name} = ${value}`)
  }
  for (const [name, value] of settings) {
    const found = db.pragma(name, { simple: true })
    if (found === value) continue
    throw new MemoryError('unavailable', `The store ${db.name} has ${name} = ${found}; it must be ${value}.`, {
      hint: 'Keep the memory on a local disk that may be written to.',
    })
  }
}

const pollMs = 5
const sleep = (milliseconds: number): void => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
}

/**
 * Runs `work`, which takes a lock of the database, and tries again while another process holds the lock. SQLite's own
 * busy handler backs off to one attempt in 100 ms, so that a process that has waited long is overtaken by those that
 * have just come. Attempts at an even pace give every process the same chance. A process that had to wait also pauses
 * before its next lock, so that one that writes in a loop leaves a gap for the others.
 */
export function whenUnlocked<Result>(db: Database.Database, busyTimeoutMs: number, work: () => Result): Result {
  const deadline = performance.now() + busyTimeoutMs
  setPragma(db, 'busy_timeout', 0)
  try {
    if (contended.delete(db)) sleep(pollMs)
    for (;;) {
      try {
        return work()
      } catch (error) {
        if (!sqliteCode(error)?.startsWith('SQLITE_BUSY') || performance.now() >= deadline) throw error
      }
      contended.add(db)
      sleep(pollMs)
    }
  } finally {
    setPragma(db, 'busy_timeout', busyTimeoutMs)
  }
}

/** The driver makes an object of a statement for `pragma`, which takes ten times as long. */
export const setPragma = (db: Database.Database, name: string, value: number | string): void => {
  db.exec(`PRAGMA ${name} = ${value}`)
}

/** Databases whose last lock had to be waited for. */
const contended = new WeakSet<Database.Database>()

/** The result code of an error SQLite reported, such as `SQLITE_BUSY`, else null. */
export const sqliteCode = (error: unknown): string | null => (error instanceof Database.SqliteError ? error.code : null)

/** SQLite's messages about a schema that is not the one of a store; it has no code of their own. */
const schemaDamage = /^(?:no such (?:table|index|column|module)|unsupported file format|vtable constructor failed)/

/** Errors of the disk, of permissions and of other processes as MemoryErrors. Every other error is a bug and stays as it is. */
export function translateSqliteError(error: unknown, file: string): unknown {
  const code = sqliteCode(error)
  if (!(error instanceof Error) || code === null) return error
  if (code === 'SQLITE_ERROR' && schemaDamage.test(error.message)) return damagedStore(file, error.message, error)
  if (code === 'SQLITE_READONLY' && mayBeWritten(dirname(file), file))
    return damagedStore(file, 'its header forbids writing', error)
  const known = explanations.find(([pattern]) => pattern.test(code))
  if (known === undefined) return error
  const [, message, hint] = known
  const details = { hint, cause: error }
  if (hint === damageHint) return new DamagedStore(`${message} (${file}, ${code}).`, details)
  return new MemoryError('unavailable', `${message} (${file}, ${code}).`, details)
}

const explanations: readonly (readonly [RegExp, string, string])[] = [
  [
    /^SQLITE_(FULL|IOERR_SHMSIZE)/,
    'The disk is full; nothing was written',
    'Free some space and try again. Reading still works.',
  ],
  [/^SQLITE_BUSY|^SQLITE_LOCKED/, 'The store is in use by another process', 'Try again when it has finished.'],
  [/^SQLITE_NOTADB/, 'The file is not a Credence store', damageHint],
  [/^SQLITE_CORRUPT/, 'The store is damaged', damageHint],
  // Commits are checked before they are written, so only a derived table can violate a constraint.
  [
    /^SQLITE_CONSTRAINT/,
    'The index of the store contradicts its beliefs',
    'Nothing was written. Run `credence doctor`.',
  ],
  [/^SQLITE_READONLY/, 'The store cannot be written to', 'Check the permissions of the file and its directory.'],
  [
    /^SQLITE_IOERR/,
    'The disk failed to read or write the store',
    'Check the disk. What was acknowledged before is kept.',
  ],
  [/^SQLITE_CANTOPEN/, 'The store cannot be opened', 'Check that the directory exists and may be read and written.'],
  [/^SQLITE_(PERM|AUTH|NOLFS)/, 'The store cannot be used', 'Check the permissions of the file and its directory.'],
]
