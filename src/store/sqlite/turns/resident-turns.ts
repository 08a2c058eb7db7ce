import { ResidentUnits } from '../../../search/resident/resident-units.ts'
import { mostOccurrences, unitsOf } from '../../../search/turns/passages.ts'
import type { TermPostings } from '../../../search/turns/turn-index.ts'
import { roleOf } from '../../turn-rows.ts'
import type { ChangedBeliefs } from '../changed-beliefs.ts'
import type { Connection } from '../connection.ts'
import { readPostings } from './turn-postings.ts'

/** The turns of a user are read when the user searches for the second time. */
const askedBefore = 2
/** Turns that came or went since the last search, up to which an index is brought up to date and not made again. */
const mostChanged = 2_000
const expectedBytesPerTurn = 80
/** An index that was used within this many searches is not given up for that of another user. */
const recentlyUsed = 1_000
/** Making an index stops for other work after this many milliseconds. */
const sliceMs = 4
const rowsAtOnce = 200
/** Users whose searches are counted. */
const mostAsked = 100_000

type Index = {
  readonly units: ResidentUnits
  readonly postings: RecentPostings
  /** The newest event that it includes. */
  event: number
  isComplete: boolean
  lastUsed: number
}

type Options = {
  readonly connection: Connection
  readonly changes: ChangedBeliefs
  /** The limit for all users together. */
  readonly mostBytes: number
}

type TurnRow = {
  readonly row: number
  readonly session: number | null
  readonly place: number
  readonly role: number
  readonly speaker: string | null
  readonly at: number
  readonly scope: number
  readonly asks: number
  readonly lengths: string
}

type SessionName = { readonly id: number; readonly name: string }

const columns = 'row, session, place, role, speaker, at, scope, asks, lengths'

/**
 * What ranking needs of the turns of users, in memory: where each stands, and the postings of words that were asked for.
 * Made in the background, in slices, and brought up to date from the journal, whichever process wrote to it.
 */
export function openResidentTurns({ connection, changes, mostBytes }: Options) {
  const indexes = new Map<number, Index>()
  const timesAsked = new Map<number, number>()
  let searches = 0
  let isBuilding = false
  let isClosed = false

  changes.onChanged((changed) => {
    // The journal is another one, or has gone on far.
    if (changed === null) indexes.clear()
  })

  /** The index of a user; null where there is none, now or ever. Runs inside the caller's transaction. */
  function of(userId: number): Pick<Index, 'units' | 'postings'> | null {
    searches += 1
    changes.catchUp()
    const index = indexes.get(userId)
    if (index === undefined) askFor(userId)
    if (index === undefined || !index.isComplete) return null
    if (index.event !== changes.newestEvent && !bringUpToDate(userId, index)) return null
    index.lastUsed = searches
    return index
  }

  function close(): void {
    isClosed = true
    indexes.clear()
  }

  function askFor(userId: number): void {
    const asked = (timesAsked.get(userId) ?? 0) + 1
    if (timesAsked.size >= mostAsked) timesAsked.clear()
    timesAsked.set(userId, asked)
    if (asked < askedBefore || isBuilding) return
    const units = connection.value<number | null>('SELECT sum(units) FROM turn_scopes WHERE user_id = ?', [userId]) ?? 0
    if (!makeRoom(units * expectedBytesPerTurn, userId)) return
    const index: Index = {
      units: new ResidentUnits(),
      postings: new RecentPostings(connection, mostBytes / 2),
      event: changes.newestEvent,
      isComplete: false,
      lastUsed: searches,
    }
    indexes.set(userId, index)
    isBuilding = true
    // A read that fails here fails again where its error can be reported: the caller then asks the index on disk.
    const ended = (): void => {
      isBuilding = false
      if (!index.isComplete) drop(userId, index)
    }
    build(userId, index).then(ended, ended)
  }

  /** Whether so many bytes fit beside what is kept, after giving up indexes that were not used for long. */
  function makeRoom(bytes: number, userId: number): boolean {
    const used = (): number =>
      [...indexes.values()].reduce((sum, { units, postings }) => sum + units.bytes + postings.bytes, 0)
    const oldestFirst = [...indexes].sort(([, one], [, other]) => one.lastUsed - other.lastUsed)
    for (const [owner, index] of oldestFirst) {
      if (used() + bytes <= mostBytes) break
      if (owner !== userId && searches - index.lastUsed >= recentlyUsed) indexes.delete(owner)
      else index.postings.clear()
    }
    return used() + bytes <= mostBytes
  }

  function drop(userId: number, index: Index): void {
    if (indexes.get(userId) === index) indexes.delete(userId)
    timesAsked.delete(userId)
  }

  /**
   * Reads session by session, in slices, between which the store may change. A session that changed after the start is
   * read again when the index is first used.
   */
  async function build(userId: number, index: Index): Promise<void> {
    const first = 'SELECT id, name FROM sessions WHERE user_id = ? ORDER BY name LIMIT 1'
    const after = 'SELECT id, name FROM sessions WHERE user_id = ? AND name > ? ORDER BY name LIMIT 1'
    const page = `SELECT ${columns} FROM turns WHERE session = ? AND place > ? ORDER BY place LIMIT ?`
    let session: SessionName | undefined
    let place = -1
    let isAtEnd = true
    for (;;) {
      // A timer, because an immediate that keeps no process alive is not run while a process waits for requests.
      await new Promise((resume) => setTimeout(resume, 1).unref())
      if (isClosed || indexes.get(userId) !== index || index.units.bytes > mostBytes) return
      const until = performance.now() + sliceMs
      do {
        if (isAtEnd) {
          const [next, asked] = session === undefined ? [first, [userId]] : [after, [userId, session.name]]
          session = connection.read(() => connection.get<SessionName>(next, asked))
          if (session === undefined) {
            index.isComplete = makeRoom(0, userId)
            return
          }
          place = -1
        }
        const asked = [session?.id, place, rowsAtOnce]
        const rows = connection.read(() => connection.all<TurnRow>(page, asked))
        for (const row of rows) index.units.add(turnOf(row))
        place = rows.at(-1)?.place ?? place
        isAtEnd = rows.length < rowsAtOnce
      } while (performance.now() < until)
    }
  }

  /** False when too much has changed, so that the index is made again. */
  function bringUpToDate(userId: number, index: Index): boolean {
    const { units } = index
    const known = [userId, index.event, mostChanged + 1]
    const added = connection.all<TurnRow>(
      `SELECT ${columns} FROM turns INDEXED BY turns_of_event WHERE user_id = ? AND event > ? ORDER BY event, ordinal LIMIT ?`,
      known,
    )
    const erased = connection.column<number>(
      'SELECT row FROM turns INDEXED BY turns_erased WHERE user_id = ? AND erased_by > ? LIMIT ?',
      known,
    )
    if (index.event > changes.newestEvent || added.length + erased.length > mostChanged) {
      drop(userId, index)
      return false
    }
    const changed = new Set(erased.map((row) => units.sessionOf(row)))
    for (const row of added) {
      if (row.session === null || changed.has(row.session)) continue
      // A turn that comes late moves others, and one that is known was read while the index was made.
      if (units.sessionOf(row.row) !== null || row.place !== units.turnsIn(row.session)) changed.add(row.session)
      else units.add(turnOf(row))
    }
    for (const session of changed) {
      if (session === null) continue
      units.empty(session)
      const all = `SELECT ${columns} FROM turns WHERE session = ? ORDER BY place`
      for (const row of connection.all<TurnRow>(all, [session])) units.add(turnOf(row))
    }
    if (erased.length > 0) index.postings.clear()
    index.postings.catchUp(added)
    index.event = changes.newestEvent
    return true
  }

  return { of, close }
}

const turnOf = ({ role, asks, lengths, session, ...row }: TurnRow) => ({
  ...row,
  session: session as number,
  role: roleOf(role),
  asks: asks === 1,
  lengths: lengths.split(',').map(Number),
})

/** The row that the next turn will have. */
const nextRow = (connection: Connection): number =>
  connection.value<number>('SELECT row + passages FROM turns ORDER BY row DESC LIMIT 1') ?? 0

type KnownPostings = {
  /** Null for a term that occurs nowhere. */
  readonly found: TermPostings | null
  /** Turns from this row on are missing. */
  readonly before: number
}

/** More turns or characters at once are read from their postings, and of so many terms the newest occurrences are kept. */
const mostRead = 16
const mostCharacters = 10_000
const mostNewest = 20_000
const bytesPerTerm = 200
const bytesPerPosting = 5

/**
 * The postings of the terms that were asked for last, in two generations: a full young one becomes the old one. Turns are
 * only ever added at the end, so that known postings are brought up to date from their last block.
 */
class RecentPostings {
  readonly #connection: Connection
  readonly #mostBytes: number
  #young = new Map<string, KnownPostings>()
  #old = new Map<string, KnownPostings>()
  #youngBytes = 0
  #oldBytes = 0
  /** The row that the next turn will have. */
  #nextRow: number
  /** Where the terms of the newest turns occur, from a row on: in a conversation every message brings some. */
  #newest = new Map<string, { readonly row: number; readonly count: number }[]>()
  #newestFrom: number

  constructor(connection: Connection, mostBytes: number) {
    this.#connection = connection
    this.#mostBytes = mostBytes
    this.#nextRow = nextRow(connection)
    this.#newestFrom = this.#nextRow
  }

  /** `added` are the turns since the last time. */
  catchUp(added: readonly Pick<TurnRow, 'row' | 'session' | 'scope'>[]): void {
    this.#nextRow = nextRow(this.#connection)
    const isMuch = added.length > mostRead || this.#newest.size > mostNewest
    const texts = isMuch ? [] : added.map(({ row }) => this.#textAt(row))
    if (isMuch || texts.reduce((sum, { length }) => sum + length, 0) > mostCharacters) {
      this.#newest.clear()
      this.#newestFrom = this.#nextRow
      return
    }
    for (const [at, { row, scope }] of added.entries()) {
      for (const [passage, { counts }] of unitsOf(texts[at] as string).entries())
        for (const [term, count] of counts) {
          const known = this.#newest.get(`${scope} ${term}`) ?? []
          this.#newest.set(`${scope} ${term}`, known)
          known.push({ row: row + passage, count: Math.min(count, mostOccurrences) })
        }
    }
  }

  #textAt(row: number): string {
    return this.#connection.value<string>('SELECT text FROM turn_texts WHERE row = ?', [row]) ?? ''
  }

  get bytes(): number {
    return this.#youngBytes + this.#oldBytes
  }

  clear(): void {
    this.#newest.clear()
    this.#newestFrom = this.#nextRow
    this.#young.clear()
    this.#old.clear()
    this.#youngBytes = 0
    this.#oldBytes = 0
  }

  /** Does what `readPostings` does. */
  read(scopes: readonly number[], term: string): TermPostings | null {
    return joined(scopes.map((scope) => this.#inScope(scope, term)))
  }

  #inScope(scope: number, term: string): TermPostings | null {
    const key = `${scope} ${term}`
    const young = this.#young.get(key)
    const known = young ?? this.#old.get(key)
    const isNewest = known?.before === this.#nextRow
    const found = isNewest ? known.found : joined([known?.found ?? null, this.#since(scope, term, known?.before)])
    if (young === undefined || !isNewest) this.#keep(key, { found, before: this.#nextRow })
    return found
  }

  /** The postings of turns from a row on; of all turns when none is given. */
  #since(scope: number, term: string, from = 0): TermPostings | null {
    if (from < this.#newestFrom) return readPostings(this.#connection, [scope], term, from)
    const found = (this.#newest.get(`${scope} ${term}`) ?? []).filter(({ row }) => row >= from)
    if (found.length === 0) return null
    return { rows: Int32Array.from(found, ({ row }) => row), counts: Uint8Array.from(found, ({ count }) => count) }
  }

  #keep(key: string, postings: KnownPostings): void {
    this.#youngBytes += sizeOf(postings) - sizeOf(this.#young.get(key))
    this.#young.set(key, postings)
    if (this.#youngBytes <= this.#mostBytes / 2) return
    this.#old = this.#young
    this.#oldBytes = this.#youngBytes
    this.#young = new Map()
    this.#youngBytes = 0
  }
}

const sizeOf = (known: KnownPostings | undefined): number =>
  known === undefined ? 0 : bytesPerTerm + bytesPerPosting * (known.found?.rows.length ?? 0)

/** Postings one after the other; null when there are none. */
function joined(parts: readonly (TermPostings | null)[]): TermPostings | null {
  const some = parts.filter((part) => part !== null)
  if (some.length < 2) return some[0] ?? null
  const size = some.reduce((sum, { rows }) => sum + rows.length, 0)
  const rows = new Int32Array(size)
  const counts = new Uint8Array(size)
  let to = 0
  for (const part of some) {
    rows.set(part.rows, to)
    counts.set(part.counts, to)
    to += part.rows.length
  }
  return { rows, counts }
}
