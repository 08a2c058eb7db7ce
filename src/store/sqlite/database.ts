import { existsSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
import { conflict, DamagedStore, MemoryError, unavailable } from '../../errors.ts'
import { damagedStore, damageHint, migrate, schemaProblem, schemaState } from './migrations/migrate.ts'
import { isDiskFull, mayBeWritten, prepareFile, requireFile, sizeOf } from './store-file.ts'

/** The file name of a store in process memory: empty when opened, and discarded when closed. */
export const inMemory = ':memory:'

export type DatabaseOptions = {
  /** A path, or `inMemory`. */
  readonly file: string
  /** Opens the store without creating, migrating or writing anything. */
  readonly readonly?: boolean
  /** How long a write waits for other processes, in milliseconds; by default `defaultBusyTimeoutMs`. 0 does not wait. */
  readonly busyTimeoutMs?: number
}

export const defaultBusyTimeoutMs = 30_000

/** Older versions may lose commits when several processes share a write-ahead log. */
const minSqlite = [3, 51, 3] as const

const cacheKib = 64 * 1024

/** Opens the database of a store, and creates or migrates it if needed. */
export function openDatabase(options: DatabaseOptions): DatabaseSync {
  const { file, readonly = false, busyTimeoutMs = defaultBusyTimeoutMs } = options
  if (file === inMemory) return openInMemory()
  // A store that another program or a failing disk has emptied or removed must not be recreated as if nothing had been lost.
  if (sizeOf(file) === 0 && sizeOf(`${file}-head`) > 0) {
    const problem = existsSync(file) ? 'it is empty' : 'its file is missing'
    throw damagedStore(file, `${problem}, although changes were made to it`)
  }
  if (readonly) requireFile(file)
  else prepareFile(file)
  let db: DatabaseSync | null = null
  try {
    const isImmutable = needsNoLog(file, readonly)
    const isWritten = !readonly || (leavesLog(file) && !isImmutable)
    const opened = new DatabaseSync(isImmutable ? immutableUrl(file) : file, {
      readOnly: !isWritten,
      timeout: busyTimeoutMs,
    })
    if (isWritten) writable.add(opened)
    db = opened
    if (readonly) setPragma(db, 'query_only', 1)
    requireVersion(db)
    // Checked before any setting is changed: settings may write, and the file may belong to another program.
    const state = schemaState(db, file)
    applySettings(db, file, readonly, busyTimeoutMs)
    if (!readonly) migrate(db, file)
    else if (state !== 'known') {
      const problem = 'is empty or was made by an older version, and is open for reading only'
      throw conflict(`The store ${file} ${problem}.`, 'Open it once for writing to bring it up to date.')
    }
    const problem = schemaProblem(db)
    if (problem !== null) throw damagedStore(file, problem)
    return db
  } catch (error) {
    db?.close()
    throw translateSqliteError(error, file)
  }
}

/** An empty store to copy: creating the tables takes 15 ms, and an evaluation opens a store for each case. */
let emptyStore: Uint8Array | null = null

function openInMemory(): DatabaseSync {
  if (emptyStore !== null) return openBytes(emptyStore)
  const db = new DatabaseSync(inMemory)
  requireVersion(db)
  migrate(db, inMemory)
  emptyStore = db.serialize()
  return db
}

/**
 * Whether to open the file as immutable. Otherwise SQLite would create a write-ahead log to read it, which fails in a protected directory
 * or on a full disk. If there is no log now, the file alone is the whole store, and no writer has it open.
 */
const needsNoLog = (file: string, readonly: boolean): boolean =>
  readonly && sizeOf(`${file}-wal`) === 0 && (!mayBeWritten(dirname(file)) || isDiskFull(file))

function immutableUrl(file: string): URL {
  const url = pathToFileURL(file)
  url.searchParams.set('immutable', '1')
  return url
}

/** The databases that SQLite opened for writing, some of which are only read. */
const writable = new WeakSet<DatabaseSync>()
export const isWritable = (db: DatabaseSync): boolean => writable.has(db)

/**
 * Opens a copy of a database in memory. It cannot have a write-ahead log there, so the header of the copy must not declare one.
 * https://sqlite.org/c3ref/deserialize.html
 */
export function openBytes(bytes: Uint8Array): DatabaseSync {
  bytes.fill(1, 18, 20)
  const db = new DatabaseSync(inMemory)
  db.deserialize(bytes)
  return db
}

/**
 * Whether reading this store would leave an empty write-ahead log behind: SQLite creates the log to read, and only a writable connection
 * removes it. False if a log exists already, because a writable connection could move it into the file.
 */
const leavesLog = (file: string): boolean =>
  mayBeWritten(dirname(file), file) && !['-wal', '-journal'].some((suffix) => existsSync(file + suffix))

function requireVersion(db: DatabaseSync): void {
  const version = String(firstValue(db, 'SELECT sqlite_version()'))
  const parts = version.split('.').map(Number)
  const difference = minSqlite.map((part, index) => (parts[index] ?? 0) - part).find((step) => step !== 0) ?? 0
  // Some releases of Node have this version of SQLite, but no `deserialize`.
  if (difference >= 0 && 'deserialize' in db) return
  throw unavailable(
    `Node ${process.versions.node} has SQLite ${version}; ${minSqlite.join('.')} or newer is needed.`,
    'Run it with a newer Node 24, such as the one of the npm package `node`, which is in node_modules/node/bin of a clone.',
  )
}

/** Max bytes of the log. A longer log is reported, and truncated to this length when it is emptied. */
export const maxLogBytes = 64 * 1024 * 1024

type Setting = readonly [name: string, value: number | string]

/** The settings that durability and secrecy depend on. `synchronous` follows `journal_mode`, because the switch to WAL weakens it. */
export const safeSettings: readonly Setting[] = [
  ['trusted_schema', 0],
  ['mmap_size', 0],
  ['temp_store', 2],
  ['foreign_keys', 1],
  ['secure_delete', 1],
  ['journal_mode', 'wal'],
  ['synchronous', 2],
  ['journal_size_limit', maxLogBytes],
]

/** Applies every setting and reads it back, because SQLite ignores a setting that it cannot apply. */
function applySettings(db: DatabaseSync, file: string, readonly: boolean, busyTimeoutMs: number): void {
  const settings: readonly Setting[] = [
    ['busy_timeout', busyTimeoutMs],
    // A read-only database, such as a backup, may have another journal mode.
    ...safeSettings.filter(([name]) => !readonly || name !== 'journal_mode'),
    ['cache_size', -cacheKib],
    ['wal_autocheckpoint', 1000],
  ]
  for (const [name, value] of settings) {
    // SQLite ignores the busy timeout when two processes switch a new file to WAL at once.
    if (name === 'journal_mode') retryWhileLocked(busyTimeoutMs, () => setPragma(db, name, value))
    else setPragma(db, name, value)
  }
  for (const [name, value] of settings) {
    const found = firstValue(db, `PRAGMA ${name}`)
    if (found === value) continue
    throw unavailable(
      `The store ${file} has ${name} = ${found}; it must be ${value}.`,
      'Keep the memory on a local disk that may be written to.',
    )
  }
}

const pollMs = 5
const sleep = (milliseconds: number): void => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds)
}

/** Runs `work`, which takes a lock on the database, and retries while another process holds the lock. */
function retryWhileLocked<Result>(busyTimeoutMs: number, work: () => Result): Result {
  const deadline = performance.now() + busyTimeoutMs
  for (;;)
    try {
      return work()
    } catch (error) {
      if (!sqliteCode(error)?.startsWith('SQLITE_BUSY') || performance.now() >= deadline) throw error
      sleep(pollMs)
    }
}

export const setPragma = (db: DatabaseSync, name: string, value: number | string): void => {
  db.exec(`PRAGMA ${name} = ${value}`)
}

/** The first column of the first row. */
export const firstValue = (db: DatabaseSync, sql: string): SQLOutputValue | undefined =>
  Object.values(db.prepare(sql).get() ?? {})[0]

/** The names of SQLite's primary result codes, from 0 on. */
const primaryCodes = (
  'OK ERROR INTERNAL PERM ABORT BUSY LOCKED NOMEM READONLY INTERRUPT IOERR CORRUPT NOTFOUND FULL CANTOPEN PROTOCOL EMPTY SCHEMA ' +
  'TOOBIG CONSTRAINT MISMATCH MISUSE NOLFS AUTH FORMAT RANGE NOTADB'
).split(' ')

/** Extended codes that are handled separately; others get the name of their primary code. */
const extendedCodes: ReadonlyMap<number, string> = new Map([[4874, 'IOERR_SHMSIZE']])

/** The name of the result code of an error from SQLite, such as `SQLITE_BUSY`; null for other errors. */
export function sqliteCode(error: unknown): string | null {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return null
  return `SQLITE_${extendedCodes.get(error.errcode) ?? primaryCodes[error.errcode & 0xff] ?? error.errcode}`
}

/** SQLite's messages about a foreign schema, which have no separate error code. */
const schemaDamage = /^(?:no such (?:table|index|column|module)|unsupported file format|vtable constructor failed)/

/**
 * Converts errors of the disk, of permissions and of other processes to MemoryErrors. Any other error is a bug and is returned unchanged.
 */
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
    'Check the disk. Changes that were acknowledged before are kept.',
  ],
  [/^SQLITE_CANTOPEN/, 'The store cannot be opened', 'Check that the directory exists and may be read and written.'],
  [/^SQLITE_(PERM|AUTH|NOLFS)/, 'The store cannot be used', 'Check the permissions of the file and its directory.'],
]
