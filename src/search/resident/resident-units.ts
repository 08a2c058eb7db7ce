import type { TurnRole } from '../../beliefs/turn.ts'
import type { TurnUnit } from '../turns/turn-index.ts'
import { IntList } from './word-index.ts'

/** A turn as ranking needs it. `row` is that of its first passage. */
type ResidentTurn = Pick<TurnUnit, 'row' | 'session' | 'place' | 'role' | 'speaker' | 'at' | 'asks'> & {
  readonly scope: number
  /** The number of terms of each passage. */
  readonly lengths: readonly number[]
}

const pageBits = 10
const pageSize = 1 << pageBits
/** The time, the place in its session and the like, roughly. */
const bytesPerTurn = 24
const bytesPerSession = 120

/**
 * Everything about the turns of one user that ranking needs besides their words, in memory. Numbers are kept in typed
 * arrays. A turn that was removed leaves its place in them behind.
 */
export class ResidentUnits {
  /** Where the turn of a row is in the lists, one more, by pages of rows: other users have rows between those of this one. */
  readonly #pages = new Map<number, Int32Array>()
  readonly #row = new IntList()
  readonly #session = new IntList()
  readonly #place = new IntList()
  readonly #role = new IntList()
  readonly #speaker = new IntList()
  readonly #scope = new IntList()
  readonly #asks = new IntList()
  /** The length of the only passage, or one less than minus the place of several among `#passages`. */
  readonly #length = new IntList()
  readonly #passages: (readonly number[])[] = []
  readonly #at: number[] = []
  readonly #roles: TurnRole[] = []
  readonly #speakers: (string | null)[] = []
  /** The turns of a session by place. */
  readonly #sessions = new Map<number, number[]>()

  /** An estimate of the memory taken. */
  get bytes(): number {
    const lists = [this.#row, this.#session, this.#place, this.#role, this.#speaker, this.#scope, this.#asks]
    const numbers = [...lists, this.#length].reduce((sum, { bytes }) => sum + bytes, 0)
    const rest = this.#at.length * bytesPerTurn + this.#sessions.size * bytesPerSession
    return numbers + this.#pages.size * pageSize * Int32Array.BYTES_PER_ELEMENT + rest
  }

  /** How many turns a session has; 0 for one that is not known. */
  turnsIn(session: number): number {
    return this.#sessions.get(session)?.length ?? 0
  }

  /** The session of the turn that a row belongs to; null for a row that is not known. */
  sessionOf(row: number): number | null {
    const turn = this.#turnAt(row)
    return turn < 0 ? null : this.#session.at(turn)
  }

  /** Adds a turn at the end of its session. One that is known is put there anew. */
  add({ row, session, place, role, speaker, at, asks, scope, lengths }: ResidentTurn): void {
    const known = this.#turnAt(row)
    const turn = known < 0 ? this.#row.push(row) : known
    const length = lengths.length === 1 ? (lengths[0] as number) : -this.#passages.push(lengths)
    this.#session.put(turn, session)
    this.#place.put(turn, place)
    this.#role.put(turn, indexIn(this.#roles, role))
    this.#speaker.put(turn, indexIn(this.#speakers, speaker))
    this.#scope.put(turn, scope)
    this.#asks.put(turn, Number(asks))
    this.#length.put(turn, length)
    this.#at[turn] = at
    for (let passage = 0; passage < lengths.length; passage += 1) this.#setTurnAt(row + passage, turn)
    const turns = this.#sessions.get(session)
    if (turns === undefined) this.#sessions.set(session, [turn])
    else turns.push(turn)
  }

  /** Forgets the turns of a session. */
  empty(session: number): void {
    for (const turn of this.#sessions.get(session) ?? [])
      for (let passage = 0; passage < this.#lengthsOf(turn).length; passage += 1)
        this.#setTurnAt(this.#row.at(turn) + passage, -1)
    this.#sessions.delete(session)
  }

  /** Does what `TurnIndex.unitsAround` does. */
  unitsAround(scopes: ReadonlySet<number>, rows: readonly number[], reach: number): readonly TurnUnit[] {
    const bySession = new Map<number, number[]>()
    for (const row of rows) {
      const turn = this.#turnAt(row)
      if (turn < 0) continue
      const session = this.#session.at(turn)
      const places = bySession.get(session)
      if (places === undefined) bySession.set(session, [this.#place.at(turn)])
      else places.push(this.#place.at(turn))
    }
    const units: TurnUnit[] = []
    for (const [session, places] of [...bySession].sort(([one], [other]) => one - other)) {
      const turns = this.#sessions.get(session) ?? []
      let next = 0
      for (const place of places.sort((one, other) => one - other)) {
        const from = Math.max(next, place - reach)
        next = place + reach + 1
        for (let at = this.#firstFrom(turns, from); at < turns.length; at += 1) {
          const turn = turns[at] as number
          if (this.#place.at(turn) >= next) break
          if (scopes.has(this.#scope.at(turn))) this.#addUnits(units, turn)
        }
      }
    }
    return units
  }

  /** Where the turns of a session begin that have at least this place. */
  #firstFrom(turns: readonly number[], place: number): number {
    let [low, high] = [0, turns.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#place.at(turns[middle] as number) < place) low = middle + 1
      else high = middle
    }
    return low
  }

  #addUnits(units: TurnUnit[], turn: number): void {
    const first = this.#row.at(turn)
    for (const [passage, length] of this.#lengthsOf(turn).entries())
      units.push({
        row: first + passage,
        first,
        session: this.#session.at(turn),
        place: this.#place.at(turn),
        role: this.#roles[this.#role.at(turn)] as TurnRole,
        speaker: this.#speakers[this.#speaker.at(turn)] ?? null,
        at: this.#at[turn] as number,
        length,
        asks: this.#asks.at(turn) === 1,
      })
  }

  #lengthsOf(turn: number): readonly number[] {
    const length = this.#length.at(turn)
    return length >= 0 ? [length] : (this.#passages[-length - 1] as readonly number[])
  }

  /** -1 for a row that is not known. */
  #turnAt(row: number): number {
    return (this.#pages.get(row >> pageBits)?.[row & (pageSize - 1)] ?? 0) - 1
  }

  #setTurnAt(row: number, turn: number): void {
    const page = this.#pages.get(row >> pageBits) ?? new Int32Array(pageSize)
    this.#pages.set(row >> pageBits, page)
    page[row & (pageSize - 1)] = turn + 1
  }
}

function indexIn<Value>(known: Value[], value: Value): number {
  const index = known.indexOf(value)
  return index < 0 ? known.push(value) - 1 : index
}
