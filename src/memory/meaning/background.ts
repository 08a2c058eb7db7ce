import { expectedError, MemoryError } from '../../errors.ts'
import { takeLock } from '../../files/lock.ts'
import type { Embedder } from '../../search/embedder.ts'
import type { CaredStore } from '../../search/store-port.ts'
import { embedTexts } from '../conversation/meaning.ts'

/** How often to check whether this or another process has changed the store. */
const pollMs = 3_000

type Indexing = {
  readonly store: CaredStore
  readonly embedder: () => Promise<Embedder>
  /** The users and teams whose texts are indexed. */
  readonly owners: (store: CaredStore) => Promise<readonly string[]>
  /** A lock file, so that only one of several processes does the work; null for a store that only this process uses. */
  readonly lock: string | null
}

export type Indexer = {
  readonly stop: () => void
  /** The reason why the last attempt failed; null if it succeeded. */
  readonly problem: () => string | null
}

/**
 * Computes missing vectors whenever the store has changed, until it is stopped. Does not keep the process alive, and reports
 * failures only through `problem`: without vectors, search and recall use words alone.
 */
export function indexInBackground({ store, embedder, owners, lock }: Indexing): Indexer {
  const interruption = new AbortController()
  const { signal } = interruption
  const lastTurns = new Map<string, number>()
  let indexedHead = -1
  let isRunning = false
  let problem: string | null = null

  async function indexAll(): Promise<void> {
    const { number } = await store.head()
    if (number === indexedHead || number === 0) return
    const release = lock === null ? () => {} : await takeLock(lock, 'The index of vectors')
    try {
      for (const user of await owners(store)) {
        const { lastTurn } = await embedTexts(
          { store, embedder },
          { user, signal, turnsAfter: lastTurns.get(user) ?? 0 },
        )
        if (!signal.aborted) lastTurns.set(user, lastTurn)
      }
    } finally {
      release()
    }
    if (!signal.aborted) indexedHead = number
    problem = null
  }
  const timer = setInterval(async () => {
    if (isRunning) return
    isRunning = true
    try {
      await indexAll()
    } catch (error) {
      // Another process holds the lock, or the store was closed in the meantime.
      const isExpected = signal.aborted || (error instanceof MemoryError && error.code === 'conflict')
      if (!isExpected) problem = expectedError(error)?.message ?? String(error)
    } finally {
      isRunning = false
    }
  }, pollMs).unref()
  return {
    stop: () => {
      clearInterval(timer)
      interruption.abort()
    },
    problem: () => problem,
  }
}
