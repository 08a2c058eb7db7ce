import { hash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { MemoryError } from '../../errors.ts'
import { analysisVersion } from '../belief-row.ts'
import { isErasing, type JournalRecord } from '../journal-record.ts'
import type { SqliteRecords } from '../sqlite/journal-records.ts'
import { migrations } from '../sqlite/migrations/migrate.ts'
import { openSqliteStore, type SqliteStore } from '../sqlite/sqlite-store.ts'
import type { PostgresConnection, Run } from './connection.ts'
import { type OwnerHead, readHead, readPlaces, readRecords } from './journal.ts'

/** A SQLite store with the journal of one owner and everything derived from it, up to date with an event. */
export type Projection = {
  readonly owner: string
  readonly store: SqliteStore
  readonly records: SqliteRecords
  /** When the owner's head was last read and found here. */
  confirmedAt: Date
  /** Calls that use it now. It is not closed meanwhile. */
  users: number
  /** Ends with the last catch-up that was asked for. */
  queue: Promise<unknown>
}

export type ProjectionOptions = {
  readonly connection: PostgresConnection
  /** Files that can be made again from the database. Several programs may share it. */
  readonly directory: string
  readonly random: (bytes: number) => Uint8Array
  readonly maxOpen?: number
  readonly maxBytes?: number
  /** For tests: the text analysis that this program claims to have. */
  readonly analysis?: string
}

const pageSize = 500
/** A projection that is so many events behind is made again. */
const maxEventsBehind = 5_000
const touchEveryMs = 60_000
const fileName = 'projection.db'

/** The local file contradicts the journal, or cannot be used. It is made again. */
class UnusableProjection extends Error {}

/** The projections of this program: few are open, and the least recently used files are removed. */
export class Projections {
  readonly #options: Required<Omit<ProjectionOptions, 'analysis'>>
  /** The version of the files. Programs of another version have their own. */
  readonly #format: string
  readonly directory: string
  /** In the order of their last use. */
  readonly #open = new Map<string, Promise<Projection>>()
  #empty: Promise<Projection> | null = null
  #emptyBytes: Buffer | null = null
  #isClosed = false
  #work: Promise<unknown> = Promise.resolve()

  constructor({ maxOpen = 64, maxBytes = 4 * 2 ** 30, analysis = analysisVersion, ...options }: ProjectionOptions) {
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

  /** Lends the projection of an owner; null if the owner has no events, as far as is known. The caller gives it back. */
  async take(owner: string): Promise<Projection | null> {
    for (;;) {
      const opening = this.#open.get(owner) ?? this.#begin(owner)
      try {
        const projection = await opening
        // Closed or replaced while this call waited.
        if (this.#open.get(owner) !== opening) continue
        this.#open.delete(owner)
        this.#open.set(owner, opening)
        projection.users += 1
        return projection
      } catch (error) {
        if (this.#open.get(owner) === opening) this.#open.delete(owner)
        if (error instanceof NoEvents) return null
        throw error
      }
    }
  }

  /** A store without events, for owners who have none. */
  async empty(): Promise<Projection> {
    const folder = join(this.directory, emptyName)
    this.#empty ??= this.#openFile('', join(folder, fileName))
    return this.#empty
  }

  /** The bytes of a store without events, with which every projection begins: running the migrations takes longer. */
  async #emptyFile(): Promise<Buffer> {
    const { records } = await this.empty()
    this.#emptyBytes ??= this.#copyOf(records)
    return this.#emptyBytes
  }

  #copyOf(records: SqliteRecords): Buffer {
    const draft = mkdtempSync(join(this.directory, 'new-'))
    try {
      records.copyTo(join(draft, fileName))
      return readFileSync(join(draft, fileName))
    } finally {
      rmSync(draft, { recursive: true, force: true })
    }
  }

  giveBack(projection: Projection): void {
    projection.users -= 1
    if (this.#open.size > this.#options.maxOpen) void this.#closeUnused()
  }

  #begin(owner: string): Promise<Projection> {
    const opening = this.#openOrMake(owner)
    opening.catch(() => {})
    this.#open.set(owner, opening)
    return opening
  }

  async #openOrMake(owner: string): Promise<Projection> {
    const file = join(this.#folderOf(owner), fileName)
    if (existsSync(file))
      try {
        return await this.#openFile(owner, file)
      } catch (error) {
        if (!(error instanceof MemoryError)) throw error
        this.#remove(this.#folderOf(owner))
      }
    await this.#make(owner)
    const projection = await this.#openFile(owner, file)
    this.keepSnapshot(projection)
    return projection
  }

  async #openFile(owner: string, file: string): Promise<Projection> {
    if (this.#isClosed) throw new MemoryError('unavailable', 'The store has been closed.')
    const confirmedAt = existsSync(file) ? statSync(file).mtime : new Date(0)
    const store = openSqliteStore({ file, random: this.#options.random, readonly: false })
    try {
      return { owner, store, records: await store.records(), confirmedAt, users: 0, queue: Promise.resolve() }
    } catch (error) {
      await store.close()
      throw error
    }
  }

  /** Makes the file of an owner in a folder of its own, which then takes its place. */
  async #make(owner: string): Promise<void> {
    await this.#options.connection.readSnapshot(async (run) => {
      const head = await readHead(run, owner)
      if (head.number === 0) throw new NoEvents()
      const snapshot = await this.#readSnapshot(run, owner)
      const draft = mkdtempSync(join(this.directory, 'new-'))
      try {
        if (snapshot === null || !(await this.#isFilled(run, owner, join(draft, 'from-snapshot'), head, snapshot)))
          if (!(await this.#isFilled(run, owner, join(draft, 'from-journal'), head, null))) throw damagedJournal(owner)
        const [made = ''] = readdirSync(draft).sort()
        renameSync(join(draft, made), this.#folderOf(owner))
      } catch (error) {
        // Another program may have been faster.
        if (!existsSync(join(this.#folderOf(owner), fileName))) throw error
      } finally {
        rmSync(draft, { recursive: true, force: true })
      }
    })
    this.trim()
  }

  /** Fills a new file from a snapshot, if there is one, and the events after it. False if the result is not that of the journal. */
  async #isFilled(run: Run, owner: string, folder: string, head: OwnerHead, snapshot: Buffer | null): Promise<boolean> {
    mkdirSync(folder, { mode: 0o700 })
    const file = join(folder, fileName)
    writeFileSync(file, snapshot ?? (await this.#emptyFile()), { mode: 0o600 })
    try {
      const projection = await this.#openFile(owner, file)
      try {
        await replay(run, projection, head)
        return isAt(projection, head)
      } finally {
        await projection.store.close()
      }
    } catch (error) {
      if (snapshot === null || !(error instanceof MemoryError)) throw error
      return false
    }
  }

  /** Applies the events that came since. The head is read in the same transaction. */
  catchUp(projection: Projection): Promise<void> {
    return this.#queued(projection, async () => {
      const local = projection.records.head()
      await this.#options.connection.readSnapshot(async (run) => {
        await this.#advance(run, projection, await readHead(run, projection.owner), local.number)
      })
    })
  }

  /**
   * Applies the events up to a head that is locked. Does not wait for others who catch up: they may wait for a connection, and all
   * connections for the lock. Events that they apply meanwhile are skipped.
   */
  bring(run: Run, projection: Projection, head: OwnerHead): Promise<void> {
    return this.#advance(run, projection, head, projection.records.head().number)
  }

  #queued<Result>(projection: Projection, work: () => Promise<Result>): Promise<Result> {
    const done = projection.queue.then(work)
    projection.queue = done.catch(() => {})
    return done
  }

  async #advance(run: Run, projection: Projection, head: OwnerHead, after: number): Promise<void> {
    const { owner, records } = projection
    if (after > head.number || head.number - after > maxEventsBehind) throw new UnusableProjection()
    const pages = after === head.number ? [] : await readRecords(run, owner, after, head.number - after)
    const places = pages.some(hasErasedTurn) ? await readPlaces(run, owner) : undefined
    requireSequence(owner, pages, after, head.number)
    apply(() => records.append(owner, pages, places))
    if (!isAt(projection, head)) throw new UnusableProjection()
    this.confirm(projection)
  }

  /** Applies an event that was just committed. A local copy that cannot be written is no reason to fail: it is made again. */
  async add(projection: Projection, record: JournalRecord): Promise<void> {
    try {
      projection.records.append(projection.owner, [record])
      this.confirm(projection)
    } catch {
      await this.discard(projection)
      return
    }
    if (record.number % snapshotCheckEvents === 0 || isErasing(record)) this.keepSnapshot(projection)
  }

  /** Notes that a projection has the newest event. */
  confirm(projection: Projection): void {
    const now = new Date()
    if (now.getTime() - projection.confirmedAt.getTime() < touchEveryMs) return
    projection.confirmedAt = now
    try {
      utimesSync(join(this.#folderOf(projection.owner), fileName), now, now)
    } catch {
      // Another program has removed it; the next change notices.
    }
  }

  /** Whether a projection is the one that calls get now. */
  async isUsed(projection: Projection): Promise<boolean> {
    return (await this.#open.get(projection.owner)?.catch(() => null)) === projection
  }

  /** Runs work on a projection, and again on a new one if the local file turns out to be unusable. */
  async renewing<Result>(owner: string, work: (projection: Projection | null) => Promise<Result>): Promise<Result> {
    for (let attempt = 0; ; attempt += 1) {
      const projection = await this.take(owner)
      try {
        return await work(projection)
      } catch (error) {
        if (!(error instanceof UnusableProjection) || projection === null || attempt > 1)
          throw error instanceof UnusableProjection ? (error.cause ?? damagedJournal(owner)) : error
        await this.discard(projection)
      } finally {
        if (projection !== null) this.giveBack(projection)
      }
    }
  }

  /** Removes the file of a projection; the next call makes it again. */
  async discard({ owner, store }: Projection): Promise<void> {
    this.#open.delete(owner)
    await store.close()
    this.#remove(this.#folderOf(owner))
  }

  #remove(folder: string): void {
    const trash = join(this.directory, `old-${hash('sha256', folder + process.pid + performance.now()).slice(0, 16)}`)
    try {
      // All files at once: SQLite must never find the log of another file.
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

  /** Removes the least recently used files beyond the limit, and leftovers of programs that died. */
  trim(): void {
    const open = new Set([...this.#open.keys()].map((owner) => this.#folderOf(owner)))
    const found = readdirSync(this.directory).flatMap((name) => {
      const folder = join(this.directory, name)
      const stat = statSync(join(folder, fileName), { throwIfNoEntry: false })
      if (/^(?:new|old)-/u.test(name)) {
        const age = Date.now() - (statSync(folder, { throwIfNoEntry: false })?.mtimeMs ?? Date.now())
        if (age > leftoverMs) rmSync(folder, { recursive: true, force: true })
        return []
      }
      return stat === undefined || name === emptyName ? [] : [{ folder, size: stat.size, usedAt: stat.mtimeMs }]
    })
    let bytes = found.reduce((sum, { size }) => sum + size, 0)
    for (const { folder, size } of found.sort((a, b) => a.usedAt - b.usedAt)) {
      if (bytes <= this.#options.maxBytes) return
      if (open.has(folder)) continue
      this.#remove(folder)
      bytes -= size
    }
  }

  async #readSnapshot(run: Run, owner: string): Promise<Buffer | null> {
    const select = 'SELECT file FROM credence.snapshots WHERE owner = $1 AND format = $2'
    const [row] = await run<{ file: Buffer }>(select, [owner, this.#format])
    return row === undefined ? null : promisify(gunzip)(row.file).catch(() => null)
  }

  /** Stores a snapshot in the background if the newest one is many events old. */
  keepSnapshot(projection: Projection): void {
    projection.users += 1
    this.#work = this.#work
      .then(() => this.#writeSnapshot(projection))
      // Only the first recall elsewhere takes longer without it.
      .catch(() => {})
      .finally(() => this.giveBack(projection))
  }

  async #writeSnapshot({ owner, records }: Projection): Promise<void> {
    const { connection } = this.#options
    const select = 'SELECT head FROM credence.snapshots WHERE owner = $1 AND format = $2'
    const [known] = await connection.read((run) => run<{ head: number }>(select, [owner, this.#format]))
    if (!isSnapshotDue(known?.head ?? 0, records.head().number)) return
    const { number } = records.head()
    const file = await promisify(gzip)(this.#copyOf(records), { level: 1 })
    if (file.length > maxSnapshotBytes) return
    // A text that was forgotten meanwhile must not come back with the file.
    await connection.read((run) =>
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

/** The owner has no events, so there is nothing to derive. */
class NoEvents extends Error {}

const emptyName = 'empty'
const leftoverMs = 60 * 60_000
const maxSnapshotBytes = 256 * 2 ** 20
const minSnapshotEvents = 250
/** How often a program that writes looks whether a snapshot is due, in events. */
const snapshotCheckEvents = 50

/** Rarer as the journal grows, so that the work for snapshots stays in proportion to the work for events. */
const isSnapshotDue = (known: number, head: number): boolean => head - known >= Math.max(minSnapshotEvents, head / 16)

const hasErasedTurn = ({ turns }: { readonly turns: readonly { readonly text: string | null }[] }): boolean =>
  turns.some(({ text }) => text === null)

function apply(work: () => void): void {
  try {
    work()
  } catch (cause) {
    throw new UnusableProjection('The local copy cannot be used.', { cause })
  }
}

/** Another program that shares the file may be further. */
function isAt({ records }: Projection, { number, hash: newest }: OwnerHead): boolean {
  const local = records.head()
  return local.number > number || (local.number === number && newest.equals(local.hash))
}

/** Appends all events up to a head, page by page. */
export async function replay(run: Run, { owner, records }: Pick<Projection, 'owner' | 'records'>, head: OwnerHead) {
  let hasGaps = false
  for (let { number } = records.head(); number < head.number; number = records.head().number) {
    const page = await readRecords(run, owner, number, pageSize)
    requireSequence(owner, page, number)
    hasGaps ||= page.some(hasErasedTurn)
    records.append(owner, page)
  }
  if (hasGaps) records.append(owner, [], await readPlaces(run, owner))
}

/** Throws if an event is missing after a number; without `last`, at least one event has to follow. */
function requireSequence(owner: string, records: readonly JournalRecord[], after: number, last = after + 1): void {
  const gap = records.findIndex(({ number }, at) => number !== after + 1 + at)
  const missing = after + 1 + (gap === -1 ? records.length : gap)
  if (gap !== -1 || missing <= last) throw damagedJournal(owner, `event ${missing} is missing`)
}

const damagedJournal = (owner: string, problem = 'its hashes do not form a chain'): MemoryError =>
  new MemoryError('unavailable', `The journal of "${owner}" is damaged: ${problem}.`, {
    hint: 'Nothing was changed. Run `credence doctor`, and restore a backup of the database.',
  })
