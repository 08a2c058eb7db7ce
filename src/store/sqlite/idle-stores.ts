import { defaultBusyTimeoutMs } from './database.ts'
import { openSqliteStore, type SqliteStore, type SqliteStoreOptions } from './sqlite-store.ts'

/** Stores that their users closed but that stay open for the next command, by file. Null if `close` really closes a store. */
let idle: Map<string, SqliteStore> | null = null

/** Max idle stores; the others are closed. */
const maxIdle = 4

/**
 * Until the returned function is called, a closed store stays open for reuse, because opening takes longer than a recall. Only one caller
 * uses a store at a time.
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

/** Opens a store for reading and writing, or reuses an idle one. */
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
