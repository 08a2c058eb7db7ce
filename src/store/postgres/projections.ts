import { hash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { MemoryError } from '../../errors.ts'
import { analysisVersion } from '../belief-row.ts'
import { isErasing, type JournalRecord } from '../journal-record.ts'
import { inMemory } from '../sqlite/database.ts'
import type { SqliteRecords } from '../sqlite/journal-records.ts'
import { migrations } from '../sqlite/migrations/migrate.ts'
import { openSqliteStore, type SqliteStore } from '../sqlite/sqlite-store.ts'
import type { PostgresConnection, Run } from './connection.ts'
import { type OwnerHead, readHead, readPlaces, readRecords } from './journal.ts'

/** A SQLite store with the journal of one owner up to some event, and everything derived from it. */
export type Projection = {
  readonly owner: string
  readonly store: SqliteStore
  /** Only for reading. Writes must go through `store.records()`, which waits for dry runs. */
  readonly records: SqliteRecords
  /** When the projection was last found to contain the owner's newest event. */
  confirmedAt: Date
  /** The number of calls that use the projection now. It is closed only when there are none. */
  users: number
  /** Whether its file was removed, so that it must be closed after its last use. */
  isDiscarded: boolean
}

export type ProjectionOptions = {
  readonly connection: PostgresConnection
  /** The directory of the files, which can be rebuilt from the database. Several programs may share it. */
  readonly directory: string
  readonly random: (bytes: number) => Uint8Array
  readonly maxOpen?: number
  readonly maxBytes?: number
  /** The version of the text analysis; set by tests. */
  readonly analysis?: string
}

const pageSize = 500
/** Max events that are added to a projection. If it lacks more, it is rebuilt. */
const maxEventsBehind = 5_000
const confirmEveryMs = 60_000
const cacheKib = 16 * 1_024
const fileName = 'projection.db'
/** A file next to the store; its modification time is when the store was last found to be up to date. */
const markName = 'confirmed'

/** Thrown if the local file contradicts the journal or is unusable, so that it is rebuilt. */
export class UnusableProjection extends Error {}

/** The projections of this program. At most `maxOpen` are open at a time; beyond `maxBytes`, the least recently used files are removed. */
export class Projections {
  readonly #options: Required<Omit<ProjectionOptions, 'analysis'>>
  /** The version of the files. Programs of another version use separate files. */
  readonly #format: string
  readonly directory: string
  /** Least recently used first. */
  readonly #open = new Map<string, Promise<Projection | null>>()
  /** The total size of the files found by the last scan and of those created since. */
  #bytes = 0
  #empty: Promise<Projection> | null = null
  #isClosed = false
  #work: Promise<unknown> = Promise.resolve()

  constructor({ maxOpen = 256, maxBytes = 4 * 2 ** 30, analysis = analysisVersion, ...options }: ProjectionOptions) {
    this.#options = { ...options, maxOpen, maxBytes }
    this.#format = `${migrations.length} ${analysis}`
    const store = hash('sha256', `${options.connection.address.label} ${this.#format}`).slice(0, 16)
    this.directory = join(options.directory, store)
    try {
      mkdirSync(this.directory, { recursive: true, mode: 0o700 })
    } catch (cause) {
      throw new MemoryError('unavailable', `The directory ${this.directory} for local copies cannot be created.`, {
        hint: 'Name a memory directory that may be written to with --dir.',
        cause,
      })
    }
  }

  #folderOf(owner: string): string {
    return join(this.directory, hash('sha256', owner).slice(0, 32))
  }

  has(owner: string): boolean {
    return this.#open.has(owner) || existsSync(join(this.#folderOf(owner), fileName))
  }

  /** Borrows the projection of an owner; null if the owner has no known events. The caller must return it. */
  async take(owner: string): Promise<Projection | null> {
    for (;;) {
      const opening = this.#open.get(owner) ?? this.#begin(owner)
      try {
        const projection = await opening
        // The projection was closed or replaced while this call waited.
        if (this.#open.get(owner) !== opening) continue
        this.#open.delete(owner)
        if (projection === null) return null
        this.#open.set(owner, opening)
        projection.users += 1
        return projection
      } catch (error) {
        if (this.#open.get(owner) === opening) this.#open.delete(owner)
        throw error
      }
    }
  }

  /** An empty store, for owners without events. */
  empty(): Promise<Projection> {
    this.#empty ??= this.#openFile('', null)
    return this.#empty
  }

  giveBack(projection: Projection): void {
    projection.users -= 1
    if (projection.isDiscarded && projection.users === 0) void projection.store.close()
    if (this.#open.size > this.#options.maxOpen) void this.#closeUnused()
  }

  #begin(owner: string): Promise<Projection | null> {
    const opening = this.#openOrMake(owner)
    opening.catch(() => {})
    this.#open.set(owner, opening)
    return opening
  }

  async #openOrMake(owner: string): Promise<Projection | null> {
    const folder = this.#folderOf(owner)
    if (existsSync(join(folder, fileName)))
      try {
        return await this.#openFile(owner, folder)
      } catch (error) {
        if (!(error instanceof MemoryError)) throw error
        this.#remove(folder)
      }
    const { connection } = this.#options
    if ((await connection.read((run) => readHead(run, owner))).number === 0) return null
    const draft = mkdtempSync(join(this.directory, 'new-'))
    try {
      await connection.readSnapshot((run) => this.#make(run, owner, draft))
      this.#place(draft, folder)
    } finally {
      rmSync(draft, { recursive: true, force: true })
    }
    const projection = await this.#openFile(owner, folder)
    this.confirm(projection)
    this.keepSnapshot(projection)
    return projection
  }

  async #openFile(owner: string, folder: string | null): Promise<Projection> {
    if (this.#isClosed) throw new MemoryError('unavailable', 'The store has been closed.')
    const marked = folder === null ? undefined : statSync(join(folder, markName), { throwIfNoEntry: false })
    const file = folder === null ? inMemory : join(folder, fileName)
    const store = openSqliteStore({ file, random: this.#options.random, readonly: false })
    try {
      const records = await store.records()
      // Commits do not wait for the disk, because events lost in a crash of the operating system are read again.
      records.setPragma('synchronous = 1')
      records.setPragma(`cache_size = -${cacheKib}`)
      return { owner, store, records, confirmedAt: marked?.mtime ?? new Date(0), users: 0, isDiscarded: false }
    } catch (error) {
      await store.close()
      throw error
    }
  }

  /** Builds the projection of an owner in a folder, from a usable snapshot, if any, and the events after it. */
  async #make(run: Run, owner: string, folder: string): Promise<void> {
    const head = await readHead(run, owner)
    const snapshot = await this.#readSnapshot(run, owner)
    for (const base of snapshot === null ? [null] : [snapshot, null]) {
      rmSync(folder, { recursive: true, force: true })
      mkdirSync(folder, { mode: 0o700 })
      if (base !== null) writeFileSync(join(folder, fileName), base, { mode: 0o600 })
      try {
        const projection = await this.#openFile(owner, folder)
        try {
          await replay(run, projection, head)
          if (!isAt(projection, head)) throw new UnusableProjection()
        } finally {
          await projection.store.close()
        }
        return
      } catch (error) {
        const isUnusable = error instanceof UnusableProjection
        if (base !== null && (isUnusable || error instanceof MemoryError)) continue
        throw isUnusable ? (error.cause ?? damagedJournal(owner)) : error
      }
    }
  }

  /** Gives a folder its final name, unless another program was first. */
  #place(draft: string, folder: string): void {
    const { size } = statSync(join(draft, fileName))
    try {
      renameSync(draft, folder)
    } catch (error) {
      if (!existsSync(join(folder, fileName))) throw error
      return
    }
    this.#bytes += size
    if (this.#bytes > this.#options.maxBytes) this.trim()
  }

  /** Borrows the projection of an owner, brought up to date; null if the owner has no events. The caller must return it. */
  takeCurrent(owner: string): Promise<Projection | null> {
    return this.withRenewal(owner, async (projection) => {
      if (projection === null) return null
      // Read before the head, because another program may be applying newer events to the same file.
      const { number } = projection.records.head()
      const head = await this.#options.connection.read((run) => readHead(run, owner))
      if (isAt(projection, head)) this.confirm(projection)
      else await this.catchUp(projection, number)
      projection.users += 1
      return projection
    })
  }

  /** Applies the events that the projection lacks. */
  catchUp(projection: Projection, from = projection.records.head().number): Promise<void> {
    return this.#options.connection.readSnapshot(async (run) =>
      this.bringUpTo(run, projection, await readHead(run, projection.owner), from),
    )
  }

  /** Applies the events up to a head that was read in the same transaction. */
  async bringUpTo(run: Run, projection: Projection, head: OwnerHead, from = projection.records.head().number) {
    if (from > head.number || head.number - from > maxEventsBehind) throw new UnusableProjection()
    await replay(run, projection, head)
    if (!isAt(projection, head)) throw new UnusableProjection()
    this.confirm(projection)
  }

  /** Applies an event that was just committed. If the local copy cannot be written, the commit still succeeds, and the copy is rebuilt. */
  async add(projection: Projection, record: JournalRecord): Promise<void> {
    try {
      const { append } = await projection.store.records()
      await append(projection.owner, [record])
      this.confirm(projection)
    } catch {
      this.discard(projection)
      return
    }
    if (record.number % snapshotCheckEvents === 0 || isErasing(record)) this.keepSnapshot(projection)
  }

  /** Records that a projection has the newest event. */
  confirm(projection: Projection): void {
    const now = new Date()
    if (now.getTime() - projection.confirmedAt.getTime() < confirmEveryMs) return
    projection.confirmedAt = now
    try {
      writeFileSync(join(this.#folderOf(projection.owner), markName), '.', { mode: 0o600 })
    } catch {
      // Another program may have removed the folder. The next change notices that.
    }
  }

  /** Runs work on a projection, and repeats it on a new one if the local file turns out to be unusable. */
  async withRenewal<Result>(owner: string, work: (projection: Projection | null) => Promise<Result>): Promise<Result> {
    for (let attempt = 0; ; attempt += 1) {
      const projection = await this.take(owner)
      try {
        return await work(projection)
      } catch (error) {
        if (!(error instanceof UnusableProjection) || projection === null || attempt > 1)
          throw error instanceof UnusableProjection ? (error.cause ?? damagedJournal(owner)) : error
        this.discard(projection)
      } finally {
        if (projection !== null) this.giveBack(projection)
      }
    }
  }

  /** Removes the file of a projection; the next call rebuilds it. Running calls continue with the removed file. */
  discard(projection: Projection): void {
    this.#open.delete(projection.owner)
    projection.isDiscarded = true
    this.#remove(this.#folderOf(projection.owner))
  }

  #remove(folder: string): void {
    const trash = join(this.directory, `old-${hash('sha256', folder + process.pid + performance.now()).slice(0, 16)}`)
    try {
      // Moves all files together, because SQLite must never find a log that belongs to a different database.
      renameSync(folder, trash)
    } catch {
      return
    }
    rmSync(trash, { recursive: true, force: true })
  }

  async #closeUnused(): Promise<void> {
    for (const [owner, opening] of [...this.#open]) {
      if (this.#open.size <= this.#options.maxOpen) return
      const projection = await opening.catch(() => null)
      if (projection === null || projection.users > 0 || this.#open.get(owner) !== opening) continue
      this.#open.delete(owner)
      await projection.store.close()
    }
  }

  /** Removes the least recently used files beyond the limit, and what killed programs left behind. */
  trim(): void {
    const open = new Set([...this.#open.keys()].map((owner) => this.#folderOf(owner)))
    const timeOf = (path: string) => statSync(path, { throwIfNoEntry: false })?.mtimeMs
    const found = readdirSync(this.directory).flatMap((name) => {
      const folder = join(this.directory, name)
      if (/^(?:new|old)-/u.test(name)) {
        if (Date.now() - (timeOf(folder) ?? Date.now()) > leftoverMs) rmSync(folder, { recursive: true, force: true })
        return []
      }
      const stat = statSync(join(folder, fileName), { throwIfNoEntry: false })
      return stat === undefined
        ? []
        : [{ folder, size: stat.size, usedAt: timeOf(join(folder, markName)) ?? stat.mtimeMs }]
    })
    this.#bytes = found.reduce((sum, { size }) => sum + size, 0)
    if (this.#bytes <= this.#options.maxBytes) return
    for (const { folder, size } of found.sort((a, b) => a.usedAt - b.usedAt)) {
      // Frees more than needed, so that not every new file triggers a scan.
      if (this.#bytes <= this.#options.maxBytes * 0.9) return
      if (open.has(folder)) continue
      this.#remove(folder)
      this.#bytes -= size
    }
  }

  async #readSnapshot(run: Run, owner: string): Promise<Buffer | null> {
    const select = 'SELECT file FROM credence.snapshots WHERE owner = $1 AND format = $2'
    const [row] = await run<{ file: Buffer }>(select, [owner, this.#format])
    return row === undefined ? null : promisify(gunzip)(row.file).catch(() => null)
  }

  /** Stores a snapshot in the background if the newest one lacks many events. */
  keepSnapshot(projection: Projection): void {
    projection.users += 1
    this.#work = this.#work
      .then(() => this.#writeSnapshot(projection))
      // A failure is harmless, because a missing snapshot only makes the first recall on another machine slower.
      .catch(() => {})
      .finally(() => this.giveBack(projection))
  }

  async #copyOf(records: SqliteRecords): Promise<Buffer> {
    const draft = mkdtempSync(join(this.directory, 'new-'))
    try {
      records.copyTo(join(draft, fileName))
      return await readFile(join(draft, fileName))
    } finally {
      rmSync(draft, { recursive: true, force: true })
    }
  }

  async #writeSnapshot({ owner, records }: Projection): Promise<void> {
    const { connection } = this.#options
    const select = 'SELECT head FROM credence.snapshots WHERE owner = $1 AND format = $2'
    const [known] = await connection.read((run) => run<{ head: number }>(select, [owner, this.#format]))
    if (!isSnapshotDue(known?.head ?? 0, records.head().number)) return
    const { number } = records.head()
    const file = await promisify(gzip)(await this.#copyOf(records), { level: 1 })
    if (file.length > maxSnapshotBytes) return
    // A text that was forgotten in the meantime must not return with the snapshot.
    await connection.readLong((run) =>
      run(
        `INSERT INTO credence.snapshots (owner, format, head, file)
         SELECT owner, $2, $3, $4 FROM credence.owners WHERE owner = $1 AND forgotten <= $3 FOR UPDATE
         ON CONFLICT (owner, format) DO UPDATE SET head = excluded.head, file = excluded.file
           WHERE snapshots.head < excluded.head`,
        [owner, this.#format, number, file],
      ),
    )
  }

  async close(): Promise<void> {
    await this.#work
    this.#isClosed = true
    const opened = [...this.#open.values(), ...(this.#empty === null ? [] : [this.#empty])]
    for (const opening of opened) await (await opening.catch(() => null))?.store.close()
    this.#open.clear()
  }
}

const leftoverMs = 60 * 60_000
const maxSnapshotBytes = 256 * 2 ** 20
const minSnapshotEvents = 250
/** The number of events between checks whether a snapshot is due. */
const snapshotCheckEvents = 50

/** Snapshots become rarer as the journal grows, so that their cost stays in proportion to the number of events. */
const isSnapshotDue = (known: number, head: number): boolean => head - known >= Math.max(minSnapshotEvents, head / 16)

/** Whether the projection contains all events up to a head. */
function isAt({ records }: Projection, { number, hash: newest }: OwnerHead): boolean {
  const local = records.head()
  return local.number > number || (local.number === number && newest.equals(local.hash))
}

/** Appends all events up to a head, page by page. */
export async function replay(
  run: Run,
  { owner, store, records }: Pick<Projection, 'owner' | 'store' | 'records'>,
  head: OwnerHead,
): Promise<void> {
  let isGapped = false
  for (let { number } = records.head(); number < head.number; ) {
    const page = await readRecords(run, owner, number, Math.min(pageSize, head.number - number))
    requireSequence(owner, page, number)
    // A turn that was forgotten later may have shifted other turns, so the final places are read too.
    isGapped ||= page.some(({ turns }) => turns.some(({ text }) => text === null))
    const places = isGapped && page.at(-1)?.number === head.number ? await readPlaces(run, owner) : undefined
    const { append } = await store.records()
    try {
      await append(owner, page, places)
    } catch (cause) {
      throw new UnusableProjection('The local copy cannot be used.', { cause })
    }
    number += page.length
  }
}

/** Throws if `records` is empty, or if they do not follow the event with the number `after` without a gap. */
function requireSequence(owner: string, records: readonly JournalRecord[], after: number): void {
  const gap = records.findIndex(({ number }, at) => number !== after + 1 + at)
  if (gap !== -1 || records.length === 0)
    throw damagedJournal(owner, `event ${after + 1 + Math.max(gap, 0)} is missing`)
}

const damagedJournal = (owner: string, problem = 'its hashes do not form a chain'): MemoryError =>
  new MemoryError('unavailable', `The journal of "${owner}" is damaged: ${problem}.`, {
    hint: 'Nothing was changed. Run `credence doctor`, and restore a backup of the database.',
  })
