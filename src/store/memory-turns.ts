import type { Page } from '../beliefs/belief-store.ts'
import { isSameTurn, longestOpening, type NewTurn, type Turn } from '../beliefs/turn.ts'
import type { ExportedTurn, SessionSummary, TurnFilter } from '../beliefs/turn-store.ts'
import type { TurnPostings, TurnUnit, TurnVectors, TurnView } from '../search/turns/turn-index.ts'
import { mostOccurrences, unitsOf, wordCount } from '../search/turns/units.ts'
import { compareText } from './text-order.ts'

type Kept = { readonly turn: NewTurn; readonly row: number }

/** The turns of one user in a store that lives in memory. Everything is worked out from the turns when it is asked for. */
export class UserTurns {
  /** In the order in which they were kept. */
  #kept: Kept[] = []
  /** The turns of each session, in the order of the conversation. */
  readonly #sessions = new Map<string, Kept[]>()
  readonly #sessionNumbers = new Map<string, number>()
  readonly #forgottenMessages = new Set<string>()
  readonly #vectors = new Map<string, Int8Array>()
  #nextRow = 0

  known(turns: readonly NewTurn[]): readonly (Turn | 'forgotten' | null)[] {
    const taken = new Set<Kept>()
    const lastSaid = new Map<string, string>()
    return turns.map((turn) => {
      const before = (this.#sessions.get(turn.session) ?? []).filter((kept) => kept.turn.at < turn.at)
      const previous = lastSaid.get(turn.session) ?? lastUserText(before)
      if (turn.role === 'user') lastSaid.set(turn.session, turn.text)
      if (turn.messageId !== null && this.#forgottenMessages.has(turn.messageId)) return 'forgotten'
      const same = this.#kept.find(
        (kept) =>
          (turn.messageId !== null && kept.turn.messageId === turn.messageId) ||
          (!taken.has(kept) &&
            kept.turn.session === turn.session &&
            kept.turn.role === turn.role &&
            kept.turn.text === turn.text &&
            isSameTurn({ ...turn, previous }, { ...kept.turn, previous: this.#previousOf(kept) })),
      )
      if (same === undefined) return null
      taken.add(same)
      return this.#turnOf(same)
    })
  }

  keep(turns: readonly NewTurn[]): void {
    for (const turn of turns) {
      const kept = { turn, row: this.#nextRow }
      this.#nextRow += unitsOf(turn.text).length
      this.#kept.push(kept)
      const session = this.#sessions.get(turn.session) ?? []
      this.#sessions.set(turn.session, session)
      if (!this.#sessionNumbers.has(turn.session)) this.#sessionNumbers.set(turn.session, this.#sessionNumbers.size)
      const later = session.findIndex((other) => other.turn.at > turn.at)
      const place = turn.index !== null && turn.index < session.length ? turn.index : later
      session.splice(place < 0 ? session.length : place, 0, kept)
    }
  }

  forget(ids: readonly string[]): void {
    const doomed = this.#kept.filter(({ turn }) => ids.includes(turn.id))
    for (const { turn } of doomed) if (turn.messageId !== null) this.#forgottenMessages.add(turn.messageId)
    this.#kept = this.#kept.filter((kept) => !doomed.includes(kept))
    for (const [name, session] of this.#sessions) {
      const left = session.filter((kept) => !doomed.includes(kept))
      if (left.length === 0) this.#sessions.delete(name)
      else this.#sessions.set(name, left)
    }
  }

  has(id: string): boolean {
    return this.#kept.some(({ turn }) => turn.id === id)
  }

  get(id: string): Turn | null {
    const kept = this.#kept.find(({ turn }) => turn.id === id)
    return kept === undefined ? null : this.#turnOf(kept)
  }

  list(filter: TurnFilter, { limit, offset }: { limit: number; offset: number }): Page<Turn> {
    const found = this.#kept.filter(({ turn }) => passes(turn, filter))
    const ordered =
      filter.session === undefined
        ? found.sort((one, other) => compareText(other.turn.at, one.turn.at) || other.row - one.row)
        : (this.#sessions.get(filter.session) ?? []).filter((kept) => found.includes(kept))
    return {
      items: ordered.slice(offset, offset + limit).map((kept) => this.#turnOf(kept)),
      total: ordered.length,
    }
  }

  export({ after, limit }: { readonly after: number | null; readonly limit: number }) {
    const kept = this.#kept.filter(({ row }) => row > (after ?? -1)).slice(0, limit)
    const turns = kept.map((one): ExportedTurn => ({ ...this.#turnOf(one), messageId: one.turn.messageId }))
    return { turns, next: kept.length < limit ? null : (kept.at(-1)?.row ?? null) }
  }

  sessions(filter: TurnFilter, { limit, offset }: { limit: number; offset: number }): Page<SessionSummary> {
    const summaries = [...this.#sessions].flatMap(([session, all]) => {
      const turns = all.filter(({ turn }) => passes(turn, filter)).map(({ turn }) => turn)
      const times = turns.map(({ at }) => at).sort(compareText)
      const inScope = all.filter(({ turn }) => filter.scopes?.includes(turn.scope) ?? true)
      const opening = inScope.find(({ turn }) => turn.role === 'user') ?? inScope[0]
      if (turns.length === 0) return []
      return [
        {
          session,
          turns: turns.length,
          firstAt: times[0] as string,
          lastAt: times.at(-1) as string,
          scopes: [...new Set(turns.map(({ scope }) => scope))].sort(),
          hosts: [...new Set(turns.map(({ host }) => host))].sort(),
          opening: [...(opening?.turn.text ?? '')].slice(0, longestOpening).join(''),
        },
      ]
    })
    const ordered = summaries.sort(
      (one, other) =>
        compareText(other.lastAt, one.lastAt) ||
        (this.#sessionNumbers.get(other.session) ?? 0) - (this.#sessionNumbers.get(one.session) ?? 0),
    )
    return { items: ordered.slice(offset, offset + limit), total: ordered.length }
  }

  postings(view: TurnView, terms: readonly string[]): TurnPostings {
    const inScope = this.#inScope(view)
    const units = inScope.flatMap(({ turn, row }) =>
      unitsOf(turn.text).map((unit, passage) => ({ ...unit, row: row + passage })),
    )
    const found = new Map(
      terms.flatMap((term) => {
        const holding = units.filter(({ counts }) => counts.has(term))
        const rows = Int32Array.from(holding.map(({ row }) => row))
        const counts = Uint8Array.from(
          holding.map((unit) => Math.min(unit.counts.get(term) as number, mostOccurrences)),
        )
        return holding.length === 0 ? [] : [[term, { rows, counts }] as const]
      }),
    )
    const isNarrowed = [view.since, view.until, view.session, view.speaker, view.roles].some((one) => one !== undefined)
    return {
      units: units.length,
      length: units.reduce((total, { length }) => total + length, 0),
      humanWords: inScope
        .filter(({ turn }) => turn.role === 'user' && turn.origin === 'person')
        .reduce((total, { turn }) => total + wordCount(turn.text), 0),
      terms: found,
      inView: isNarrowed
        ? new Set(
            this.#kept
              .filter(({ turn }) => passes(turn, filterOf(view)))
              .flatMap(({ turn, row }) => unitsOf(turn.text).map((_, passage) => row + passage)),
          )
        : null,
    }
  }

  speakers(view: TurnView): readonly string[] {
    return [...new Set(this.#inScope(view).flatMap(({ turn }) => turn.speaker ?? []))].sort()
  }

  unitsAround(view: TurnView, rows: readonly number[], reach: number): readonly TurnUnit[] {
    const inScope = new Set(this.#inScope(view))
    const wanted = new Set<Kept>()
    for (const row of rows) {
      const own = this.#holding(row)
      if (own === undefined) continue
      const session = this.#sessions.get(own.turn.session) ?? []
      const place = session.indexOf(own)
      for (const kept of session.slice(Math.max(0, place - reach), place + reach + 1))
        if (inScope.has(kept)) wanted.add(kept)
    }
    return [...wanted]
      .flatMap((kept) => this.#unitsIn(kept))
      .sort((one, other) => one.session - other.session || one.place - other.place || one.row - other.row)
  }

  turnsAt(rows: readonly number[]): ReadonlyMap<number, Turn> {
    return new Map(
      rows.flatMap((row) => {
        const kept = this.#holding(row)
        return kept === undefined ? [] : [[row, this.#turnOf(kept)] as const]
      }),
    )
  }

  vectorsAt(model: string, rows: readonly number[]): ReadonlyMap<number, Int8Array> {
    return new Map(
      rows.flatMap((row) => {
        const vectors = this.#vectors.get(`${model} ${this.#holding(row)?.row}`)
        return vectors === undefined ? [] : [[row, vectors] as const]
      }),
    )
  }

  withoutVectors(model: string, limit: number): readonly { row: number; text: string }[] {
    return this.#kept
      .filter(
        ({ turn, row }) => turn.role === 'user' && turn.origin === 'person' && !this.#vectors.has(`${model} ${row}`),
      )
      .map(({ turn, row }) => ({ row, text: turn.text }))
      .reverse()
      .slice(0, limit)
  }

  keepVectors(model: string, vectors: readonly TurnVectors[]): void {
    for (const { row, vectors: bytes } of vectors)
      if (this.#kept.some((kept) => kept.row === row)) this.#vectors.set(`${model} ${row}`, bytes)
  }

  #inScope({ scopes }: TurnView): readonly Kept[] {
    return scopes === null ? this.#kept : this.#kept.filter(({ turn }) => scopes.includes(turn.scope))
  }

  #holding(row: number): Kept | undefined {
    return this.#kept.find((kept) => kept.row <= row && row < kept.row + unitsOf(kept.turn.text).length)
  }

  #unitsIn({ turn, row }: Kept): readonly TurnUnit[] {
    const { session, role, speaker, at, text } = turn
    const place = (this.#sessions.get(session) ?? []).findIndex((kept) => kept.turn === turn)
    return unitsOf(text).map(({ length }, passage) => ({
      row: row + passage,
      first: row,
      session: this.#sessionNumbers.get(session) ?? 0,
      place,
      role,
      speaker,
      at: Date.parse(at),
      length,
      asks: text.includes('?'),
    }))
  }

  #previousOf(kept: Kept): string | null {
    const session = this.#sessions.get(kept.turn.session) ?? []
    return lastUserText(session.slice(0, session.indexOf(kept)))
  }

  #turnOf(kept: Kept): Turn {
    const { messageId: _messageId, ...turn } = kept.turn
    return { ...turn, index: (this.#sessions.get(turn.session) ?? []).indexOf(kept) }
  }
}

const lastUserText = (kept: readonly Kept[]): string | null =>
  kept.findLast(({ turn }) => turn.role === 'user')?.turn.text ?? null

const filterOf = ({ since, until, session, speaker, roles, user }: TurnView): TurnFilter => ({
  user,
  ...(session === undefined ? {} : { session }),
  ...(speaker === undefined ? {} : { speaker }),
  ...(roles === undefined ? {} : { roles }),
  ...(since === undefined ? {} : { since: new Date(since).toISOString() }),
  ...(until === undefined ? {} : { until: new Date(until).toISOString() }),
})

const passes = (turn: NewTurn, filter: TurnFilter): boolean => {
  const { scopes, session, speaker, roles, since, until, containing } = filter
  return (
    (scopes === undefined || scopes.includes(turn.scope)) &&
    (session === undefined || turn.session === session) &&
    (speaker === undefined || turn.speaker === speaker) &&
    (roles === undefined || roles.includes(turn.role)) &&
    (since === undefined || Date.parse(turn.at) >= Date.parse(since)) &&
    (until === undefined || Date.parse(turn.at) <= Date.parse(until)) &&
    (containing === undefined || turn.text.toLowerCase().includes(containing.toLowerCase()))
  )
}
