import Database from 'better-sqlite3'
import { MemoryError } from '../../errors.ts'
import { migrate, schemaState } from './migrations/migrate.ts'
import { sqliteCode, translateSqliteError } from './sqlite-errors.ts'
import { prepareFile, requireFile } from './store-file.ts'

export type DatabaseOptions = {
  readonly file: string
  /** Nothing is created, updated or written. */
  readonly readonly?: boolean
  /** How long a write waits for other processes, default 10,000. 0 gives up at once. */
  readonly busyTimeoutMs?: number
}

/** Older ones may lose a write-ahead log that several processes share. */
const oldestSqlite = [3, 51, 3] as const

const cacheKib = 64 * 1024

/** Opens the database of a store, creating or updating it if need be. */
export function openDatabase({ file, readonly = false, busyTimeoutMs = 10_000 }: DatabaseOptions): Database.Database {
  if (readonly) requireFile(file)
  else prepareFile(file)
  let db: Database.Database | null = null
  try {
    db = new Database(file, { readonly, fileMustExist: true, timeout: busyTimeoutMs })
    requireVersion(db)
    // Before anything is set, since setting may write, and the file may be somebody else's.
    const state = schemaState(db, file)
    applySettings(db, { readonly, busyTimeoutMs })
    if (!readonly) migrate(db, file)
    else if (state !== 'known') throw unfinishedStore(file)
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

/** What durability and secrecy rest on. In this order: switching to the log brings its own, weaker `synchronous`. */
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

/** Sets them and believes none of it before reading it back. */
function applySettings(db: Database.Database, { readonly, busyTimeoutMs }: Patience): void {
  const settings: readonly Setting[] = [
    ['busy_timeout', busyTimeoutMs],
    ...safeSettings,
    ['cache_size', -cacheKib],
    ['wal_autocheckpoint', 1000],
  ]
  for (const [name, value] of settings) {
    if (name !== 'journal_mode') db.pragma(`${name} = ${value}`)
    else if (!readonly) switchToLog(db, busyTimeoutMs)
  }
  for (const [name, value] of settings) {
    // A backup that is only looked at has no log.
    if (readonly && name === 'journal_mode') continue
    const found = db.pragma(name, { simple: true })
    if (found !== value) throw refusedSetting(db.name, name, { wanted: value, found })
  }
}

type Patience = { readonly readonly: boolean; readonly busyTimeoutMs: number }

/** SQLite does not wait for other processes here, even with a timeout, when two of them switch a new file at once. */
function switchToLog(db: Database.Database, busyTimeoutMs: number): void {
  const patience = 10
  for (let waited = 0; ; waited += patience) {
    try {
      db.pragma('journal_mode = wal')
      return
    } catch (error) {
      if (!sqliteCode(error)?.startsWith('SQLITE_BUSY') || waited >= busyTimeoutMs) throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, patience)
    }
  }
}

const refusedSetting = (
  file: string,
  name: string,
  { wanted, found }: { wanted: unknown; found: unknown },
): MemoryError =>
  new MemoryError('unavailable', `The store ${file} has ${name} = ${found}; ${wanted} is needed and was refused.`, {
    hint: 'Keep the memory on a local disk that may be written to.',
  })

const unfinishedStore = (file: string): MemoryError =>
  new MemoryError(
    'unavailable',
    `The store ${file} is empty or was made by an older version, and is open for reading only.`,
    {
      hint: 'Open it once for writing to bring it up to date.',
    },
  )
