import type { Page } from '../../../beliefs/belief-store.ts'
import { longestOpening, type Turn } from '../../../beliefs/turn.ts'
import type { ExportedTurn, SessionSummary, TurnFilter } from '../../../beliefs/turn-store.ts'
import type { TurnPostings, TurnUnit, TurnView } from '../../../search/turns/turn-index.ts'
import { BoundedCache } from '../../resident/bounded-cache.ts'
import {
  exportedPage,
  exportedTurn,
  isFiltered,
  originCode,
  passageRows,
  roleCode,
  type SessionRow,
  sessionOf,
  type TurnRow,
  turnOf,
  type UnitRow,
  unitsIn,
} from '../../turn-rows.ts'
import { allOf, type Conditions, type Connection } from '../connection.ts'
import type { ResidentTurns } from './resident-turns.ts'
import { readPostings } from './turn-postings.ts'

const mostViews = 50

type OwnTurnRow = TurnRow & { readonly passages: number }

const wholeTurns = `SELECT turns.row, passages, turns.id, users.name AS user, sessions.name AS session, place, role, speaker, at,
    turn_scopes.name AS scope, host, origin, message_id, text
  FROM turns JOIN turn_texts USING (row) JOIN users ON users.id = turns.user_id JOIN sessions ON sessions.id = turns.session
  JOIN turn_scopes ON turn_scopes.id = turns.scope`

/** One turn with its text; null for a row that is missing or was forgotten. */
export function readTurn(connection: Connection, row: number): ExportedTurn | null {
  const found = connection.get<TurnRow>(`${wholeTurns} WHERE turns.row = ?`, [row])
  return found === undefined ? null : exportedTurn(found)
}

/** Reads turns and their index. Everything here runs inside the caller's transaction. */
export class TurnLookups {
  readonly #connection: Connection
  readonly #resident: () => ResidentTurns | null
  /** The scopes of a view and their counts, which every recall asks for. */
  readonly #scopes = new BoundedCache<readonly ScopeRow[]>(mostViews)

  /** `resident` is null until the index in memory is there, and in processes that keep none. */
  constructor(connection: Connection, resident: () => ResidentTurns | null) {
    this.#connection = connection
    this.#resident = resident
    connection.onChange(() => this.#scopes.clear())
  }

  get(userId: number, id: string): Turn | null {
    const byId = `${wholeTurns} WHERE turns.user_id = ? AND turns.id = ?`
    const found = this.#connection.get<TurnRow>(byId, [userId, id])
    return found === undefined ? null : turnOf(found)
  }

  list(userId: number, filter: TurnFilter, { limit, offset }: { limit: number; offset: number }): Page<Turn> {
    const { where, values } = this.#withText(userId, filter)
    const order = filter.session === undefined ? 'at DESC, turns.row DESC' : 'place'
    const page = `${wholeTurns} WHERE ${where} ORDER BY ${order} LIMIT ? OFFSET ?`
    const items = this.#connection.all<TurnRow>(page, [...values, limit, offset])
    const total = this.#connection.value<number>(`SELECT count(*) ${fromTurns} WHERE ${where}`, values)
    return { items: items.map(turnOf), total: total ?? 0 }
  }

  export(userId: number, { after, limit }: { readonly after: number | null; readonly limit: number }) {
    const rows = this.#connection.all<TurnRow>(
      `${wholeTurns} WHERE turns.user_id = ? AND turns.row > ? ORDER BY turns.row LIMIT ?`,
      [userId, after ?? -1, limit],
    )
    return exportedPage(rows, limit)
  }

  sessions(
    userId: number,
    filter: TurnFilter,
    { limit, offset }: { limit: number; offset: number },
  ): Page<SessionSummary> {
    const { where, values } = this.#withText(userId, filter)
    const ids = this.#latestSessions({ where, values }, offset + limit).slice(offset)
    const rows = this.#connection.all<SessionRow & { readonly id: number }>(
      `SELECT sessions.id, sessions.name AS session, count(*) AS turns, min(at) AS first, max(at) AS last,
         json_group_array(DISTINCT turn_scopes.name) AS scopes, json_group_array(DISTINCT host) AS hosts
       FROM json_each(?) CROSS JOIN turns INDEXED BY turns_in_session ON turns.session = json_each.value JOIN sessions ON sessions.id = turns.session
       JOIN turn_scopes ON turn_scopes.id = turns.scope WHERE ${where} GROUP BY json_each.key ORDER BY json_each.key`,
      [JSON.stringify(ids), ...values],
    )
    const count = `SELECT count(*) FROM sessions WHERE user_id = ? AND EXISTS (SELECT 1 FROM turns INDEXED BY turns_in_session CROSS JOIN turn_scopes
      ON turn_scopes.id = turns.scope WHERE turns.session = sessions.id AND ${where})`
    const inScopes = filter.scopes === undefined ? null : JSON.stringify(filter.scopes)
    const opening = `SELECT substr(text, 1, ?) FROM turns JOIN turn_texts USING (row)
      JOIN turn_scopes ON turn_scopes.id = scope
      WHERE session = ? AND (? IS NULL OR turn_scopes.name IN (SELECT value FROM json_each(?)))
      ORDER BY role <> 0, place LIMIT 1`
    const items = rows.map((row) =>
      sessionOf(row, this.#connection.value<string>(opening, [longestOpening, row.id, inScopes, inScopes])),
    )
    return { items, total: this.#connection.value<number>(count, [userId, ...values]) ?? 0 }
  }

  /** The sessions with the latest turns, found by reading turns backwards in time until there are enough. */
  #latestSessions({ where, values }: Conditions, count: number): readonly number[] {
    const turns = this.#connection.statement<{ session: number }>(
      `SELECT turns.session FROM turns INDEXED BY turns_by_time CROSS JOIN sessions ON sessions.id = turns.session
       CROSS JOIN turn_scopes ON turn_scopes.id = turns.scope WHERE ${where} ORDER BY at DESC, turns.session DESC`,
    )
    const found = new Set<number>()
    for (const { session } of turns.iterate(...values)) {
      if (found.size === count) break
      found.add(session)
    }
    return [...found]
  }

  /** The conditions of a filter. Texts are compared here, since SQLite's lower case covers ASCII only. */
  #withText(userId: number, filter: TurnFilter): Conditions {
    const { where, values } = conditionsOf(userId, filter)
    const wanted = filter.containing?.toLowerCase()
    if (wanted === undefined) return { where, values }
    const texts = this.#connection.statement<{ row: number; text: string }>(
      `SELECT turns.row, text ${fromTurns} JOIN turn_texts ON turn_texts.row = turns.row WHERE ${where}`,
    )
    const rows: number[] = []
    for (const { row, text } of texts.iterate(...values)) if (text.toLowerCase().includes(wanted)) rows.push(row)
    return {
      where: `${where} AND turns.row IN (SELECT value FROM json_each(?))`,
      values: [...values, JSON.stringify(rows)],
    }
  }

  postings(userId: number, view: TurnView, terms: readonly string[]): TurnPostings {
    const scopes = this.#scopesOf(userId, view)
    const total = (column: 'units' | 'length' | 'human_words'): number =>
      scopes.reduce((sum, scope) => sum + scope[column], 0)
    const ids = scopes.map(({ id }) => id)
    const resident = terms.length === 0 ? null : (this.#resident()?.of(userId) ?? null)
    const found = terms.flatMap((term) => {
      const postings = resident === null ? readPostings(this.#connection, ids, term) : resident.postings.read(ids, term)
      return postings === null ? [] : [[term, postings] as const]
    })
    return {
      units: total('units'),
      length: total('length'),
      humanWords: total('human_words'),
      terms: new Map(found),
      inView: this.#rowsInView(userId, view),
    }
  }

  speakers(userId: number, view: TurnView): readonly string[] {
    const inScope = 'SELECT name FROM turn_speakers WHERE scope = ?'
    const names = this.#scopesOf(userId, view).flatMap(({ id }) => this.#connection.column<string>(inScope, [id]))
    return [...new Set(names)].sort()
  }

  lastStep(userId: number, view: TurnView): number | null {
    const scopes = JSON.stringify(this.#scopesOf(userId, view).map(({ id }) => id))
    const sql = `SELECT row FROM turns WHERE user_id = ? AND role = ? AND scope IN (SELECT value FROM json_each(?))
      AND (? IS NULL OR session = (SELECT id FROM sessions WHERE user_id = turns.user_id AND name = ?)) ORDER BY row DESC LIMIT 1`
    const session = view.session ?? null
    return this.#connection.value<number>(sql, [userId, roleCode('tool'), scopes, session, session]) ?? null
  }

  unitsAround(userId: number, view: TurnView, rows: readonly number[], reach: number): readonly TurnUnit[] {
    const scopes = new Set(this.#scopesOf(userId, view).map(({ id }) => id))
    const resident = this.#resident()?.of(userId) ?? null
    if (resident !== null) return resident.units.unitsAround(scopes, rows, reach)
    const placeOf = this.#connection.statement<{ session: number | null; place: number }>(
      'SELECT session, place FROM turns WHERE row <= ? ORDER BY row DESC LIMIT 1',
    )
    const between = this.#connection.statement<StoredUnitRow>(
      `SELECT row, session, place, role, speaker, at, scope, asks, lengths FROM turns
       WHERE session = ? AND place BETWEEN ? AND ? ORDER BY place`,
    )
    const bySession = new Map<number, number[]>()
    for (const row of rows) {
      const { session = null, place = 0 } = placeOf.get(row) ?? {}
      if (session === null) continue
      const places = bySession.get(session) ?? []
      bySession.set(session, places)
      places.push(place)
    }
    const found: StoredUnitRow[] = []
    for (const [session, places] of [...bySession].sort(([one], [other]) => one - other)) {
      // Each turn is read once, although most are near several of the rows.
      let next = 0
      for (const place of places.sort((one, other) => one - other)) {
        const from = Math.max(next, place - reach)
        next = place + reach + 1
        if (from < next) found.push(...between.all(session, from, next - 1))
      }
    }
    return found.filter(({ scope }) => scopes.has(scope)).flatMap((row) => unitsIn({ ...row, asks: row.asks === 1 }))
  }

  turnsAt(rows: readonly number[]): ReadonlyMap<number, Turn> {
    const ownTurn = `${wholeTurns} WHERE turns.row = (SELECT max(row) FROM turns WHERE row <= ?)`
    const turns = new Map<number, Turn>()
    for (const asked of rows) {
      if (turns.has(asked)) continue
      const found = this.#connection.get<OwnTurnRow>(ownTurn, [asked])
      if (found === undefined) continue
      const turn = turnOf(found)
      // A long turn is read once for all of its passages.
      for (const row of found.passages === 1 ? [asked] : rows)
        if (row >= found.row && row < found.row + found.passages) turns.set(row, turn)
    }
    return turns
  }

  vectorsAt(model: string, rows: readonly number[]): ReadonlyMap<number, Int8Array> {
    const ofTurn =
      'SELECT vectors FROM turn_vectors WHERE row = (SELECT max(row) FROM turns WHERE row <= ?) AND model = ?'
    return new Map(
      rows.flatMap((row) => {
        const vectors = this.#connection.value<Buffer>(ofTurn, [row, model])
        return vectors === undefined ? [] : [[row, new Int8Array(vectors)] as const]
      }),
    )
  }

  withoutVectors(
    userId: number,
    model: string,
    { limit, before = Number.MAX_SAFE_INTEGER }: { readonly limit: number; readonly before?: number },
  ): readonly { row: number; text: string }[] {
    return this.#connection.all(
      `SELECT turns.row, text FROM turns JOIN turn_texts USING (row)
       LEFT JOIN turn_vectors ON turn_vectors.row = turns.row AND model = ?
       WHERE user_id = ? AND role = 0 AND origin = ? AND turns.row < ? AND turn_vectors.row IS NULL
       ORDER BY turns.row DESC LIMIT ?`,
      [model, userId, originCode('person'), before, limit],
    )
  }

  #scopesOf(userId: number, { scopes }: TurnView): readonly ScopeRow[] {
    const asked = JSON.stringify([userId, scopes])
    const known = this.#scopes.get(asked)
    if (known !== undefined) return known
    const ofUser = 'SELECT id, units, length, human_words FROM turn_scopes WHERE user_id = ?'
    const found =
      scopes === null
        ? this.#connection.all<ScopeRow>(ofUser, [userId])
        : scopes.flatMap((scope) => this.#connection.all<ScopeRow>(`${ofUser} AND name = ?`, [userId, scope]))
    this.#scopes.set(asked, found)
    return found
  }

  /** The rows that pass the filters of a view other than its scopes; null for a view without such filters. */
  #rowsInView(userId: number, { scopes: _scopes, ...view }: TurnView): ReadonlySet<number> | null {
    if (!isFiltered(view)) return null
    const { where, values } = conditionsOf(userId, view)
    const rows = this.#connection.all<{ row: number; passages: number }>(
      `SELECT turns.row, passages ${fromTurns} WHERE ${where}`,
      values,
    )
    return passageRows(rows)
  }
}

const fromTurns =
  'FROM turns JOIN sessions ON sessions.id = turns.session JOIN turn_scopes ON turn_scopes.id = turns.scope'

type ScopeRow = {
  readonly id: number
  readonly units: number
  readonly length: number
  readonly human_words: number
}

type StoredUnitRow = Omit<UnitRow, 'asks'> & { readonly scope: number; readonly asks: number }

/** The WHERE clause of a filter. Times are ISO 8601 or milliseconds since the epoch. */
function conditionsOf(
  userId: number,
  filter: Omit<TurnFilter, 'since' | 'until'> & { since?: string | number; until?: string | number },
): Conditions {
  const { scopes, session, speaker, roles, since, until } = filter
  const roleCodes = roles?.map(roleCode)
  return allOf([
    ['turns.user_id = ? AND turns.session IS NOT NULL', userId],
    scopes && ['turn_scopes.name IN (SELECT value FROM json_each(?))', JSON.stringify(scopes)],
    session !== undefined && ['sessions.name = ?', session],
    speaker !== undefined && ['speaker = ?', speaker],
    roleCodes && ['role IN (SELECT value FROM json_each(?))', JSON.stringify(roleCodes)],
    since !== undefined && ['at >= ?', new Date(since).getTime()],
    until !== undefined && ['at <= ?', new Date(until).getTime()],
  ])
}
