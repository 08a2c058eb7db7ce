import type { Belief } from '../beliefs/belief.ts'
import type { Page } from '../beliefs/belief-store.ts'
import { compareText } from '../beliefs/identity.ts'
import { isSameTurn, maxOpeningLength, type NewTurn, type Turn } from '../beliefs/turn.ts'
import type { ExportedTurn, SessionSummary, TurnFilter } from '../beliefs/turn-store.ts'
import { compareWith } from '../search/turns/cosines.ts'
import { maxOccurrences, unitsOf, wordCount } from '../search/turns/passages.ts'
import type {
  MessageVectors,
  TurnCosines,
  TurnPostings,
  TurnUnit,
  TurnVectors,
  TurnView,
} from '../search/turns/turn-index.ts'
import { type ModelOptions, openModelBeliefs } from './model-beliefs.contract.ts'

type StoredTurn = { readonly turn: NewTurn; readonly row: number }

/** The reference model with which stores are compared, in process memory. Written to be obviously correct, not fast. */
export function openModelStore(options: Omit<ModelOptions, 'turns'>): ReturnType<typeof openModelBeliefs> {
  const turns = new Map<string, UserTurns>()
  const noTurns = new UserTurns()
  const saidBy = (user: string): UserTurns => turns.get(user) ?? noTurns
  const store = openModelBeliefs({
    ...options,
    turns: {
      isStale: ({ user, turns: heard = [], forgottenTurns = [] }) =>
        saidBy(user)
          .known(heard)
          .some((known) => known !== null) || forgottenTurns.some((id) => !saidBy(user).has(id)),
      apply: ({ user, turns: heard = [], forgottenTurns = [] }) => {
        const said = turns.get(user) ?? new UserTurns()
        turns.set(user, said)
        said.keep(heard)
        said.forget(forgottenTurns)
      },
    },
  })
  const beliefVectors = new Map<string, Int8Array>()
  /** The row number of a belief is its index in this list. */
  const beliefKeys: string[] = []
  const beliefKey = ({ user, id, content }: Belief): string => `${JSON.stringify(user)} ${id} ${content}`
  const currentBeliefs = async (user: string) =>
    (await store.list({ user, current: true }, { limit: Number.MAX_SAFE_INTEGER, offset: 0 })).items
  const beliefsWithout = async (
    user: string,
    model: string,
    { limit, before = Number.POSITIVE_INFINITY }: { readonly limit: number; readonly before?: number },
  ) =>
    (await currentBeliefs(user))
      .filter((belief) => !beliefVectors.has(`${model} ${beliefKey(belief)}`))
      .map((belief) => {
        if (!beliefKeys.includes(beliefKey(belief))) beliefKeys.push(beliefKey(belief))
        return { row: beliefKeys.indexOf(beliefKey(belief)), text: belief.content }
      })
      .filter(({ row }) => row < before)
      .sort((a, b) => b.row - a.row)
      .slice(0, limit)
  return {
    ...store,
    knownTurns: async (user, heard) => saidBy(user).known(heard),
    getTurn: async (user, id) => saidBy(user).get(id),
    turnIdsStartingWith: async (user, prefix, limit) => saidBy(user).idsStartingWith(prefix).slice(0, limit),
    listTurns: async (filter, page) => saidBy(filter.user).list(filter, page),
    listSessions: async (filter, page) => saidBy(filter.user).sessions(filter, page),
    exportTurns: async (user, page) => saidBy(user).export(page),
    turnPostings: async (view, terms) => saidBy(view.user).postings(view, terms),
    turnSpeakers: async (view) => saidBy(view.user).speakers(view),
    lastStep: async (view) => saidBy(view.user).lastStep(view),
    unitsAround: async (view, rows, reach) => saidBy(view.user).unitsAround(view, rows, reach),
    turnCosines: async (view, model, message) => saidBy(view.user).turnCosines(view, model, message),
    vectorsAt: async (user, model, rows) => saidBy(user).vectorsAt(model, rows),
    withoutVectors: async (user, model, kind, page) => {
      const texts = kind === 'turn' ? saidBy(user).withoutVectors(model, page) : await beliefsWithout(user, model, page)
      return { texts, next: texts.at(-1)?.row ?? null }
    },
    keepVectors: async (user, model, kind, vectors) => {
      if (kind === 'turn') return saidBy(user).keepVectors(model, vectors)
      for (const { row, vectors: bytes } of vectors) beliefVectors.set(`${model} ${beliefKeys[row]}`, bytes)
    },
    hasVectors: async (user) =>
      saidBy(user).vectorModels().length > 0 ||
      [...beliefVectors.keys()].some((key) => key.includes(` ${JSON.stringify(user)} `)),
    vectorCounts: async (user, model) => {
      const waitingTurns = saidBy(user).withoutVectors(model, { limit: Number.MAX_SAFE_INTEGER }).length
      const waitingBeliefs = (await beliefsWithout(user, model, { limit: Number.MAX_SAFE_INTEGER })).length
      const turnsDone = saidBy(user)
        .vectorModels()
        .filter((one) => one === model).length
      const beliefsDone = (await currentBeliefs(user)).length - waitingBeliefs
      return { indexed: turnsDone + beliefsDone, waiting: waitingTurns + waitingBeliefs }
    },
    beliefCosines: async (user, model, message, limit) => {
      const found = (await currentBeliefs(user)).flatMap((belief) => {
        const vectors = beliefVectors.get(`${model} ${beliefKey(belief)}`)
        return vectors === undefined ? [] : [{ beliefId: belief.id, cosine: compareWith(message)(vectors) }]
      })
      return found.sort((a, b) => b.cosine - a.cosine).slice(0, limit)
    },
    turnsAt: async (user, rows) => saidBy(user).turnsAt(rows),
  }
}

/** The turns of one user. Every answer is computed from the turns on each call. */
class UserTurns {
  /** The turns in the order in which they were stored. */
  #kept: StoredTurn[] = []
  readonly #sessions = new Map<string, StoredTurn[]>()
  readonly #sessionNumbers = new Map<string, number>()
  readonly #forgottenMessages = new Set<string>()
  readonly #vectors = new Map<string, Int8Array>()
  #nextRow = 0

  known(turns: readonly NewTurn[]): readonly (Turn | 'forgotten' | null)[] {
    const taken = new Set<StoredTurn>()
    const lastSaid = new Map<string, string>()
    return turns.map((turn) => {
      const before = this.#inSession(turn.session).filter((kept) => kept.turn.at < turn.at)
      const previous = lastSaid.get(turn.session) ?? lastUserText(before)
      if (turn.role === 'user') lastSaid.set(turn.session, turn.text)
      if (turn.messageId !== null && this.#forgottenMessages.has(turn.messageId)) return 'forgotten'
      // The person's own message is not a duplicate of a turn that another author stored first.
      const candidates = this.#kept.filter((kept) => turn.origin !== 'person' || kept.turn.origin === 'person')
      const sameMessage = candidates.find((kept) => turn.messageId !== null && kept.turn.messageId === turn.messageId)
      const same =
        sameMessage ??
        candidates.find(
          (kept) =>
            !taken.has(kept) &&
            kept.turn.session === turn.session &&
            kept.turn.role === turn.role &&
            kept.turn.text === turn.text &&
            isSameTurn({ ...turn, previous }, { ...kept.turn, previous: this.#previousOf(kept) }),
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

  idsStartingWith(prefix: string): readonly string[] {
    return this.#kept.flatMap(({ turn }) => (turn.id.startsWith(prefix) ? [turn.id] : [])).sort(compareText)
  }

  list(filter: TurnFilter, { limit, offset }: { limit: number; offset: number }): Page<Turn> {
    const found = this.#kept.filter(({ turn }) => passes(turn, filter))
    const ordered =
      filter.session === undefined
        ? found.sort((a, b) => compareText(b.turn.at, a.turn.at) || b.row - a.row)
        : this.#inSession(filter.session).filter((kept) => found.includes(kept))
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
          utcOffset: turns.findLast(({ at }) => at === times.at(-1))?.utcOffset ?? null,
          scopes: [...new Set(turns.map(({ scope }) => scope))].sort(),
          hosts: [...new Set(turns.map(({ host }) => host))].sort(),
          opening: [...(opening?.turn.text ?? '')].slice(0, maxOpeningLength).join(''),
        },
      ]
    })
    const ordered = summaries.sort(
      (a, b) =>
        compareText(b.lastAt, a.lastAt) ||
        (this.#sessionNumbers.get(b.session) ?? 0) - (this.#sessionNumbers.get(a.session) ?? 0),
    )
    return { items: ordered.slice(offset, offset + limit), total: ordered.length }
  }

  postings(view: TurnView, terms: readonly string[]): TurnPostings {
    const inScope = this.#inScope(view)
    const units = inScope.flatMap(({ turn, row }) =>
      unitsOf(turn.text).map((unit, passage) => ({ ...unit, row: row + passage })),
    )
    const found = terms.flatMap((term) => {
      const holding = units.filter(({ counts }) => counts.has(term))
      const rows = Int32Array.from(holding.map(({ row }) => row))
      const counts = holding.map((unit) => Math.min(unit.counts.get(term) as number, maxOccurrences))
      return holding.length === 0 ? [] : [[term, { rows, counts: Uint8Array.from(counts) }] as const]
    })
    const { scopes: _scopes, ...filter } = view
    const { since, until, session, speaker, roles } = filter
    const isNarrowed = [since, until, session, speaker, roles].some((one) => one !== undefined)
    const inView = this.#kept.filter(({ turn }) => isNarrowed && passes(turn, filter))
    return {
      units: units.length,
      length: units.reduce((total, { length }) => total + length, 0),
      humanWords: inScope
        .filter(isByPerson)
        .reduce((total, { turn }) => total + wordCount(turn.text, unitsOf(turn.text)), 0),
      terms: new Map(found),
      inView: isNarrowed ? new Set(inView.flatMap((kept) => this.#unitsIn(kept).map(({ row }) => row))) : null,
    }
  }

  speakers(view: TurnView): readonly string[] {
    return [...new Set(this.#inScope(view).flatMap(({ turn }) => turn.speaker ?? []))].sort()
  }

  lastStep(view: TurnView): number | null {
    const isStep = ({ turn }: StoredTurn): boolean =>
      turn.role === 'tool' && (view.session === undefined || turn.session === view.session)
    return this.#inScope(view).findLast(isStep)?.row ?? null
  }

  unitsAround(view: TurnView, rows: readonly number[], reach: number): readonly TurnUnit[] {
    const inScope = new Set(this.#inScope(view))
    const near = rows.flatMap((row) => {
      const own = this.#holding(row)
      const session = own === undefined ? [] : this.#inSession(own.turn.session)
      const place = own === undefined ? 0 : session.indexOf(own)
      return session.slice(Math.max(0, place - reach), place + reach + 1)
    })
    return [...new Set(near)]
      .filter((kept) => inScope.has(kept))
      .flatMap((kept) => this.#unitsIn(kept))
      .sort((a, b) => a.session - b.session || a.place - b.place || a.row - b.row)
  }

  turnsAt(rows: readonly number[]): ReadonlyMap<number, Turn> {
    return new Map(
      rows.flatMap((row) => {
        const kept = this.#holding(row)
        return kept === undefined ? [] : [[row, this.#turnOf(kept)] as const]
      }),
    )
  }

  turnCosines(view: Pick<TurnView, 'scopes'>, model: string, message: MessageVectors): TurnCosines {
    const found = this.#kept.flatMap(({ row, turn }) => {
      const vectors = this.#vectors.get(`${model} ${row}`)
      const isInView = view.scopes === null || view.scopes.includes(turn.scope)
      return vectors === undefined || !isInView ? [] : [{ row, cosine: compareWith(message)(vectors) }]
    })
    const cosines = Float32Array.from(found, ({ cosine }) => cosine)
    const meanOf = (numbers: readonly number[]): number =>
      numbers.reduce((sum, number) => sum + number, 0) / Math.max(1, numbers.length)
    const mean = meanOf(found.map(({ cosine }) => cosine))
    const deviation = Math.sqrt(meanOf(found.map(({ cosine }) => (cosine - mean) ** 2)))
    return { rows: Int32Array.from(found, ({ row }) => row), cosines, isEvery: true, mean, deviation }
  }

  vectorsAt(model: string, rows: readonly number[]): ReadonlyMap<number, Int8Array> {
    return new Map(
      rows.flatMap((row) => {
        const vectors = this.#vectors.get(`${model} ${this.#holding(row)?.row}`)
        return vectors === undefined ? [] : [[row, vectors] as const]
      }),
    )
  }

  withoutVectors(
    model: string,
    { limit, before = Number.POSITIVE_INFINITY }: { readonly limit: number; readonly before?: number },
  ): readonly { row: number; text: string }[] {
    const waiting = this.#kept.filter(
      (kept) => kept.row < before && isByPerson(kept) && !this.#vectors.has(`${model} ${kept.row}`),
    )
    return waiting
      .reverse()
      .slice(0, limit)
      .map(({ turn, row }) => ({ row, text: turn.text }))
  }

  keepVectors(model: string, vectors: readonly TurnVectors[]): void {
    for (const { row, vectors: bytes } of vectors)
      if (this.#kept.some((kept) => kept.row === row)) {
        // A turn has vectors of only one model, so its older vectors are deleted.
        for (const key of this.#vectors.keys()) if (key.endsWith(` ${row}`)) this.#vectors.delete(key)
        this.#vectors.set(`${model} ${row}`, bytes)
      }
  }

  /** The model of each turn that has vectors. */
  vectorModels(): readonly string[] {
    return [...this.#vectors.keys()].flatMap((key) => {
      const at = key.lastIndexOf(' ')
      return this.#kept.some(({ row }) => row === Number(key.slice(at + 1))) ? [key.slice(0, at)] : []
    })
  }

  /** The turns of a session, in the order of the conversation. */
  #inSession(session: string): readonly StoredTurn[] {
    return this.#sessions.get(session) ?? []
  }

  #inScope({ scopes }: TurnView): readonly StoredTurn[] {
    return scopes === null ? this.#kept : this.#kept.filter(({ turn }) => scopes.includes(turn.scope))
  }

  #holding(row: number): StoredTurn | undefined {
    return this.#kept.find((kept) => kept.row <= row && row < kept.row + unitsOf(kept.turn.text).length)
  }

  #unitsIn({ turn, row }: StoredTurn): readonly TurnUnit[] {
    const { session, role, speaker, at, text } = turn
    const place = this.#inSession(session).findIndex((kept) => kept.turn === turn)
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

  #previousOf(kept: StoredTurn): string | null {
    const session = this.#inSession(kept.turn.session)
    return lastUserText(session.slice(0, session.indexOf(kept)))
  }

  #turnOf(kept: StoredTurn): Turn {
    const { messageId: _messageId, ...turn } = kept.turn
    return { ...turn, index: this.#inSession(turn.session).indexOf(kept) }
  }
}

const lastUserText = (kept: readonly StoredTurn[]): string | null =>
  kept.findLast(({ turn }) => turn.role === 'user')?.turn.text ?? null

const isByPerson = ({ turn }: StoredTurn): boolean => turn.role === 'user' && turn.origin === 'person'

/** Times are ISO 8601 or milliseconds since the epoch. */
type Filter = Omit<TurnFilter, 'since' | 'until'> & { since?: string | number; until?: string | number }

function passes(turn: NewTurn, { scopes, session, speaker, roles, since, until, containing }: Filter): boolean {
  const at = Date.parse(turn.at)
  return (
    (scopes === undefined || scopes.includes(turn.scope)) &&
    (session === undefined || turn.session === session) &&
    (speaker === undefined || turn.speaker === speaker) &&
    (roles === undefined || roles.includes(turn.role)) &&
    (since === undefined || at >= new Date(since).getTime()) &&
    (until === undefined || at <= new Date(until).getTime()) &&
    (containing === undefined || turn.text.toLowerCase().includes(containing.toLowerCase()))
  )
}
