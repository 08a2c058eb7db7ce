import { AsyncLocalStorage } from 'node:async_hooks'
import type { RecallCount } from '../../beliefs/recall-counts.ts'
import { MemoryError } from '../../errors.ts'
import type { SqliteStore } from '../sqlite/sqlite-store.ts'
import type { Projection, Projections } from './projections.ts'

type LocalReadsOptions = {
  readonly projections: Projections
  readonly ready: () => Promise<void>
  readonly onOffline: ((since: Date) => void) | undefined
}

/** Reads that share one snapshot of each owner's memory. */
type Batch = {
  readonly used: Map<string, Promise<SqliteStore>>
  readonly taken: Projection[]
  readonly ended: Promise<void>
}

/** Answers reads from projections. The first read of an owner in a batch reads the owner's head and applies the new events. */
export class LocalReads {
  readonly #options: LocalReadsOptions
  readonly #batches = new AsyncLocalStorage<Batch>()

  constructor(options: LocalReadsOptions) {
    this.#options = options
  }

  /** Reads an owner's memory in the caller's batch, or else in a new one. */
  async read<Result>(owner: string, read: (store: SqliteStore) => Promise<Result>): Promise<Result> {
    const batch = this.#batches.getStore()
    if (batch === undefined) return this.withSnapshot(() => this.read(owner, read))
    const used = batch.used.get(owner) ?? this.#use(batch, owner)
    batch.used.set(owner, used)
    return read(await used)
  }

  async withSnapshot<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#batches.getStore() !== undefined) return work()
    const { promise: ended, resolve: end } = Promise.withResolvers<void>()
    const batch: Batch = { used: new Map(), taken: [], ended }
    try {
      return await this.#batches.run(batch, work)
    } finally {
      end()
      for (const projection of batch.taken) this.#options.projections.giveBack(projection)
    }
  }

  /** Makes later reads in the caller's batch see a change that was just made. */
  noteCommit(owner: string): void {
    this.#batches.getStore()?.used.delete(owner)
  }

  async #use(batch: Batch, owner: string): Promise<SqliteStore> {
    const { projections, ready, onOffline } = this.#options
    const taken = await this.withOfflineFallback(
      async () => {
        await ready()
        return projections.takeCurrent(owner)
      },
      async (error) => {
        if (!projections.has(owner)) throw error
        const known = await projections.take(owner)
        if (known !== null) onOffline?.(known.confirmedAt)
        return known
      },
    )
    if (taken !== null) batch.taken.push(taken)
    const { store } = taken ?? (await projections.empty())
    // All reads of the batch share one SQLite transaction, until the batch ends.
    void store.withSnapshot(() => batch.ended)
    return store
  }

  /** Runs `work`, or else `otherwise` if the database cannot be reached and offline reads are allowed. */
  async withOfflineFallback<Value>(
    work: () => Promise<Value>,
    otherwise: (error: MemoryError) => Value | Promise<Value>,
  ): Promise<Value> {
    try {
      return await work()
    } catch (error) {
      const isAllowed = this.#options.onOffline !== undefined
      if (!isAllowed || !(error instanceof MemoryError) || error.code !== 'unavailable') throw error
      return otherwise(error)
    }
  }

  /** Copies the recall counts to the local copy, so that it can sort lists by them. */
  async setCounts(owner: string, read: () => Promise<ReadonlyMap<string, RecallCount>>): Promise<void> {
    const { projections, ready } = this.#options
    await this.withOfflineFallback(
      async () => {
        await ready()
        const counts = await read()
        await projections.withRenewal(owner, async (found) =>
          (await found?.store.records())?.setRecallCounts(owner, counts),
        )
      },
      () => {},
    )
  }
}
