import { defaultBusyTimeoutMs } from './database.ts'
import { openSqliteStore, type SqliteStore, type SqliteStoreOptions } from './sqlite-store.ts'

/** Stores that were closed and wait for the next command, by file; null: stores are really closed. */
let idle: Map<string, SqliteStore> | null = null

/** A process that uses more memories than this closes the others. */
const maxIdle = 4

/**
 * Until the returned function is called, a store that is closed stays open for the next one who opens it: opening takes longer
 * than a recall. A store has one user at a time.
 */
export function keepStoresOpen(): () => Promise<void> {
  const kept = new Map<string, SqliteStore>()
  idle = kept
  return async () => {
    if (idle === kept) idle = null
    for (const store of kept.values()) await store.close()
    kept.clear()
  }
}

/** Opens a store for reading and writing, or takes one that is still open. */
export function openKeptStore(options: SqliteStoreOptions): SqliteStore {
  const known = takeIdle(options)
  const store = known ?? openSqliteStore(options)
  const close = async (): Promise<void> => {
    if (idle === null || idle.has(options.file) || idle.size >= maxIdle || !store.isCurrent()) return store.close()
    store.endSnapshot()
    idle.set(options.file, store)
  }
  return { ...store, close }
}

function takeIdle({ file, busyTimeoutMs = defaultBusyTimeoutMs }: SqliteStoreOptions): SqliteStore | null {
  const store = idle?.get(file)
  if (store === undefined) return null
  idle?.delete(file)
  if (store.isCurrent()) {
    store.waitAtMost(busyTimeoutMs)
    return store
  }
  void store.close().catch(() => {})
  return null
}
