import type { ActorKind } from '../beliefs/belief.ts'
import type { CommitResult } from '../beliefs/belief-store.ts'
import type { Commit } from '../beliefs/journal.ts'
import type { RecallCounts } from '../beliefs/recall-counts.ts'
import type { SyncStore } from '../beliefs/sync-store.ts'
import type { Embedder } from '../search/embedder.ts'
import type { Store } from '../search/store-port.ts'
import type { Boldness } from '../search/turns/model.ts'
import type { RecallCounter } from './recall/tally.ts'
import type { DeviceFile } from './sync/device.ts'

export type { Store }

/** The dependencies of every use case. No use case reads the clock, the disk or a random number by itself. */
export type Ports = {
  readonly store: Store
  readonly now: () => Date
  readonly newId: () => string
  /** Opens an empty in-memory store, for rebuilding the state at an earlier time. */
  readonly emptyStore?: () => Store
  /** The max share of a context that beliefs of agents, tools and models may have, 0 to 1. Default a quarter. */
  readonly agentShare?: number
  /** Loads the embedding model, if vectors are used. */
  readonly embedder?: () => Promise<Embedder>
  /** The name of the embedding model, and why indexing failed, if it did. Absent if vectors are off. */
  readonly semantic?: { readonly model: string; readonly problem?: () => string | null }
  /** Whether recall uses the embedding model too. A hook that runs as a separate process does not wait for it. */
  readonly recallByMeaning?: boolean
  /** How long recall waits until the model is loaded and has computed vectors, before it uses words alone. Default 300 ms. */
  readonly recallWaitMs?: number
  /** How readily recall shows quotes. Default normal. */
  readonly recallBoldness?: Boldness
  /** `counter` counts recalls, if counting is on; `counts` reads the counts. */
  readonly counter?: RecallCounter
  readonly counts?: Omit<RecallCounts, 'countRecalls'>
  /** Imports edits to MEMORY.md. Runs before every call to a memory that reads or changes beliefs. */
  readonly beforeCall?: () => Promise<void>
  /** `sync` exchanges events with other devices; `syncDevice` returns the file that stores the state of this device. Only if the memory is in SQLite. */
  readonly sync?: () => Promise<SyncStore>
  readonly syncDevice?: (user: string) => Promise<DeviceFile>
  /** Throws if a commit is not allowed in this memory. */
  readonly checkCommit?: (commit: Commit) => void
  /** Commits a change that forgets, and erases the copies of the forgotten texts outside the store. Default: `store.commit`. */
  readonly commitForgetting?: (commit: Commit) => Promise<CommitResult>
  /** Syncs MEMORY.md. Runs after every commit. */
  readonly afterCommit?: (commit: Commit) => Promise<void>
}

/** Who is changing the memory. Set by the channel the request came through, never by the text of the request. */
export type Author = { readonly actor: ActorKind; readonly origin: string }
