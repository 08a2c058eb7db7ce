import { AsyncLocalStorage } from 'node:async_hooks'
import type { RecallCount } from '../../beliefs/recall-counts.ts'
import { MemoryError } from '../../errors.ts'
import type { SqliteStore } from '../sqlite/sqlite-store.ts'
import type { PostgresConnection } from './connection.ts'
import { type OwnerHead, readHeadNow } from './journal.ts'
import type { Projection, Projections } from './projections.ts'

type LocalReadsOptions = {
  readonly connection: PostgresConnection
  readonly projections: Projections
  readonly ready: () => Promise<void>
  readonly isReady: () => boolean
  readonly onOffline: ((since: Date) => void) | undefined
}

/** The projection of one owner in a batch, and the head that shows whether it was up to date. */
type Used = {
  readonly projection: Projection
  readonly local: { readonly number: number; readonly hash: Uint8Array }
  /** Null if the projection was made or brought up to date within the batch. */
  readonly head: Promise<OwnerHead> | null
}

/** Reads that share one state of each owner's memory. */
type Batch = {
  readonly used: Map<string, Promise<Used>>
  readonly taken: Projection[]
  /** Whether the head is read before the local copy, and not at the same time. */
  readonly isCautious: boolean
  readonly ended: Promise<void>
}

/**
 * Answers reads by projections. A batch reads the local copy and the owner's head at the same time, and runs again if the head shows
 * that the copy was not up to date: a recall takes as long as the longer of the two.
 */
export class LocalReads {
  readonly #options: LocalReadsOptions
  readonly #batches = new AsyncLocalStorage<Batch>()

  constructor(options: LocalReadsOptions) {
    this.#options = options
  }

  /** Reads an owner's memory in the caller's batch, or else in a new one. `read` may run again. */
  async read<Result>(owner: string, read: (store: SqliteStore) => Promise<Result>): Promise<Result> {
    const batch = this.#batches.getStore()
    if (batch === undefined) return this.withSnapshot(() => this.read(owner, read))
    const used = batch.used.get(owner) ?? this.#use(batch, owner)
    batch.used.set(owner, used)
    return read((await used).projection.store)
  }

  async withSnapshot<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#batches.getStore() !== undefined) return work()
    for (let attempt = 0; ; attempt += 1) {
      const { promise: ended, resolve: end } = Promise.withResolvers<void>()
      const batch: Batch = { used: new Map(), taken: [], isCautious: attempt > 0, ended }
      try {
        const result = await this.#batches.run(batch, work)
        if (await this.#isCurrent(batch)) return result
      } catch (error) {
        // Work on an outdated copy, or on one that was closed, may fail in any way.
        if (attempt > 2 || (await this.#isCurrent(batch).catch(() => true))) throw error
      } finally {
        end()
        for (const projection of batch.taken) this.#options.projections.giveBack(projection)
      }
    }
  }

  /** Reads that follow in the caller's batch see a change that was just made. */
  noteCommit(owner: string): void {
    this.#batches.getStore()?.used.delete(owner)
  }

  async #use(batch: Batch, owner: string): Promise<Used> {
    const { projections } = this.#options
    const isKnown = projections.has(owner)
    // Sent first, so that PostgreSQL works while the local copy is opened.
    const head = !isKnown || batch.isCautious ? null : this.#readHead(owner)
    head?.catch(() => {})
    if (!isKnown) await this.#options.ready()
    if (isKnown && batch.isCautious)
      await this.orOffline(null, () => projections.renewing(owner, (found) => this.#catchUp(found)))
    const taken = await projections.take(owner)
    if (taken !== null) batch.taken.push(taken)
    const projection = taken ?? (await projections.empty())
    // Reads of the batch share a transaction of SQLite until its end.
    void projection.store.withSnapshot(() => batch.ended)
    return { projection, local: projection.records.head(), head }
  }

  async #catchUp(projection: Projection | null): Promise<void> {
    await this.#options.ready()
    if (projection !== null) await this.#options.projections.catchUp(projection)
  }

  #readHead(owner: string): Promise<OwnerHead> {
    const { connection, ready, isReady } = this.#options
    return isReady() ? readHeadNow(connection, owner) : ready().then(() => readHeadNow(connection, owner))
  }

  /** Whether every projection of a batch had the newest event of its owner. */
  async #isCurrent(batch: Batch): Promise<boolean> {
    const { projections } = this.#options
    for (const using of batch.used.values()) {
      const { projection, local, head } = await using
      if (head === null) continue
      const newest = await this.orOffline(null, () => head, projection)
      if (newest === null) continue
      if (newest.number !== local.number || !newest.hash.equals(local.hash)) return false
      projections.confirm(projection)
      if (!(await projections.isUsed(projection)) && projection.owner !== '') return false
    }
    return true
  }

  /** Runs `work`, or returns `otherwise` if the database cannot be reached and offline reads are allowed. */
  async orOffline<Value>(otherwise: Value, work: () => Promise<Value>, projection?: Projection): Promise<Value> {
    try {
      return await work()
    } catch (error) {
      const { onOffline } = this.#options
      if (onOffline === undefined || !(error instanceof MemoryError) || error.code !== 'unavailable') throw error
      if (projection !== undefined) onOffline(projection.confirmedAt)
      return otherwise
    }
  }

  /** Brings the counts of recalls, by which beliefs are listed, into the local copy. */
  async setCounts(owner: string, read: () => Promise<ReadonlyMap<string, RecallCount>>): Promise<void> {
    await this.orOffline(undefined, async () => {
      await this.#options.ready()
      const counts = await read()
      await this.#options.projections.renewing(owner, async (found) =>
        (await found?.store.records())?.setRecallCounts(owner, counts),
      )
    })
  }
}
