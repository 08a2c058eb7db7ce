import type { DatabaseOptions } from './database.ts'
import type { SqliteStore } from './sqlite-store.ts'
import type { StoreThread } from './store-thread.ts'

/** What may wait long for the disk, or for another process that writes: every change, and all looking after the store. */
export type ThreadedCall = 'commit' | 'keepVectors' | 'verify' | 'rebuild' | 'fingerprint' | 'backup' | 'scrub'

/**
 * The same store, with everything that may wait for the disk done in a thread of its own: whoever serves others goes on
 * answering meanwhile. Reads stay where they are. The thread starts with the first change.
 */
export function withThread(store: SqliteStore, options: DatabaseOptions): SqliteStore {
  let thread: Promise<StoreThread> | null = null
  const started = async (): Promise<StoreThread> => {
    const { StoreThread } = await import('./store-thread.ts')
    return new StoreThread(options, () => {
      thread = null
    })
  }
  const asking = async (call: ThreadedCall, values: readonly unknown[]): Promise<unknown> => {
    thread ??= started()
    try {
      return await (await thread).ask(call, values)
    } finally {
      store.letGo()
    }
  }
  // What comes back is what the same call of the same kind of store answered, copied.
  const inThread = <Call extends ThreadedCall>(call: Call): SqliteStore[Call] =>
    ((...values: readonly unknown[]) => asking(call, values)) as SqliteStore[Call]
  return {
    ...store,
    commit: inThread('commit'),
    keepVectors: inThread('keepVectors'),
    verify: inThread('verify'),
    rebuild: inThread('rebuild'),
    fingerprint: inThread('fingerprint'),
    backup: inThread('backup'),
    scrub: inThread('scrub'),
    close: async () => {
      await (await thread)?.ask('close', [])
      await store.close()
    },
  }
}
