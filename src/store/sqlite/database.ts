import Database from 'better-sqlite3'
import { MemoryError } from '../../errors.ts'
import { migrate, schemaState } from './migrations/migrate.ts'
import { prepareFile, requireFile } from './store-file.ts'

export type DatabaseOptions = {
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
  if (readonly) requireFile(file)
  else prepareFile(file)
  let db: Database.Database | null = null
  try {
    const opened = new Database(file, { readonly, fileMustExist: true, timeout: busyTimeoutMs })
    db = opened
    requireVersion(db)
    // Checked before any setting is changed: settings may write, and the file may belong to another program.
    const state = schemaState(db, file)
    applySettings(db, readonly, busyTimeoutMs)
    if (!readonly) migrate(db, file, (work) => whenUnlocked(opened, busyTimeoutMs, work))
    else if (state !== 'known') {
      const problem = 'is empty or was made by an older version, and is open for reading only'
      throw new MemoryError('unavailable', `The store ${file} ${problem}.`, {
        hint: 'Open it once for writing to bring it up to date.',
      })
    }
    return db
  } catch (error) {
    db?.close()
    throw translateSqliteError(error, file)
  }
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
  ['journal_size_limit', 64 * 1024 * 1024],
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
  db.pragma('busy_timeout = 0')
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
    db.pragma(`busy_timeout = ${busyTimeoutMs}`)
  }
}

/** Databases whose last lock had to be waited for. */
const contended = new WeakSet<Database.Database>()

/** The result code of an error SQLite reported, such as `SQLITE_BUSY`, else null. */
export const sqliteCode = (error: unknown): string | null => (error instanceof Database.SqliteError ? error.code : null)

/** Whether an error says that the file itself is damaged. */
export const isDamage = (error: unknown): boolean => /^SQLITE_(CORRUPT|NOTADB)/.test(sqliteCode(error) ?? '')

/** Errors of the disk, of permissions and of other processes as MemoryErrors. Every other error is a bug and stays as it is. */
export function translateSqliteError(error: unknown, file: string): unknown {
  const code = sqliteCode(error)
  const known = code === null ? undefined : explanations.find(([pattern]) => pattern.test(code))
  if (known === undefined) return error
  const [, message, hint] = known
  return new MemoryError('unavailable', `${message} (${file}, ${code}).`, { hint, cause: error })
}

const damageHint =
  'Nothing was changed. Check it with `credence doctor`; `credence doctor --set-aside` renames it and starts with a new one.'

const explanations: readonly (readonly [RegExp, string, string])[] = [
  [/^SQLITE_FULL/, 'The disk is full; nothing was written', 'Free some space and try again. Reading still works.'],
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
