import type { Page } from '../../beliefs/belief-store.ts'
import { longestOpening, type Turn, type TurnRole, turnOrigins, turnRoles } from '../../beliefs/turn.ts'
import type { ExportedTurn, SessionSummary, TurnFilter } from '../../beliefs/turn-store.ts'
import type { TurnPostings, TurnUnit, TurnView } from '../../search/turns/turn-index.ts'
import { allOf, type Conditions, type Connection } from './connection.ts'
import { readPostings } from './turn-postings.ts'

type TurnRow = {
  readonly row: number
  readonly id: string
  readonly user: string
  readonly session: string
  readonly place: number
  readonly role: number
  readonly speaker: string | null
  readonly at: number
  readonly scope: string
  readonly host: string
  readonly origin: number
  readonly message_id: string | null
  readonly text: string
}

const wholeTurns = `SELECT turns.row, turns.id, users.name AS user, sessions.name AS session, place, role, speaker, at,
    turn_scopes.name AS scope, host, origin, message_id, text
  FROM turns JOIN turn_texts USING (row) JOIN users ON users.id = turns.user_id JOIN sessions ON sessions.id = turns.session
  JOIN turn_scopes ON turn_scopes.id = turns.scope`

/** One turn with its text; null for a row that is missing or was forgotten. */
export function readTurn(connection: Connection, row: number): ExportedTurn | null {
  const found = connection.get<TurnRow>(`${wholeTurns} WHERE turns.row = ?`, [row])
  return found === undefined ? null : { ...turnOf(found), messageId: found.message_id }
}

// Only indexes of these lists are ever written.
export const roleOf = (code: number): TurnRole => turnRoles[code] as TurnRole
export const originOf = (code: number): Turn['origin'] => turnOrigins[code] as Turn['origin']

const turnOf = ({ id, user, session, place, role, speaker, at, scope, host, origin, text }: TurnRow): Turn => ({
  id,
  user,
  session,
  index: place,
  role: roleOf(role),
  speaker,
  at: new Date(at).toISOString(),
  scope,
  host,
  origin: originOf(origin),
  text,
})

/** Reads turns and their index. Everything here runs inside the caller's transaction. */
export class TurnLookups {
  readonly #connection: Connection

  constructor(connection: Connection) {
    this.#connection = connection
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
    const turns = rows.map((row): ExportedTurn => ({ ...turnOf(row), messageId: row.message_id }))
    return { turns, next: rows.length < limit ? null : (rows.at(-1)?.row ?? null) }
  }

  sessions(
    userId: number,
    filter: TurnFilter,
    { limit, offset }: { limit: number; offset: number },
  ): Page<SessionSummary> {
    const { where, values } = this.#withText(userId, filter)
    const rows = this.#connection.all<SessionRow>(
      `SELECT sessions.id, sessions.name AS session, count(*) AS turns, min(at) AS first, max(at) AS last,
         json_group_array(DISTINCT turn_scopes.name) AS scopes, json_group_array(DISTINCT host) AS hosts
       ${fromTurns} WHERE ${where} GROUP BY sessions.id ORDER BY last DESC, sessions.id DESC LIMIT ? OFFSET ?`,
      [...values, limit, offset],
    )
    const count = `SELECT count(DISTINCT turns.session) ${fromTurns} WHERE ${where}`
    const inScopes = filter.scopes === undefined ? null : JSON.stringify(filter.scopes)
    const opening = `SELECT substr(text, 1, ?) FROM turns JOIN turn_texts USING (row)
      JOIN turn_scopes ON turn_scopes.id = scope
      WHERE session = ? AND (? IS NULL OR turn_scopes.name IN (SELECT value FROM json_each(?)))
      ORDER BY role <> 0, place LIMIT 1`
    const items = rows.map(({ id, session, turns, first, last, scopes, hosts }) => {
      const text = this.#connection.value<string>(opening, [longestOpening, id, inScopes, inScopes])
      return {
        session,
        turns,
        firstAt: new Date(first).toISOString(),
        lastAt: new Date(last).toISOString(),
        scopes: (JSON.parse(scopes) as string[]).sort(),
        hosts: (JSON.parse(hosts) as string[]).sort(),
        opening: (text ?? '').toWellFormed(),
      }
    })
    return { items, total: this.#connection.value<number>(count, values) ?? 0 }
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
    const found = terms.flatMap((term) => {
      const postings = readPostings(this.#connection, ids, term)
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
    return this.#connection.value<number>(sql, [userId, turnRoles.indexOf('tool'), scopes, session, session]) ?? null
  }

  unitsAround(userId: number, view: TurnView, rows: readonly number[], reach: number): readonly TurnUnit[] {
    const scopes = new Set(this.#scopesOf(userId, view).map(({ id }) => id))
    const placeOf = this.#connection.statement<{ session: number | null; place: number }>(
      'SELECT session, place FROM turns WHERE row <= ? ORDER BY row DESC LIMIT 1',
    )
    const between = this.#connection.statement<UnitRow>(
      `SELECT row, session, place, role, speaker, at, scope, asks, lengths FROM turns
       WHERE session = ? AND place BETWEEN ? AND ?`,
    )
    const found = new Map<number, UnitRow>()
    for (const row of rows) {
      const own = placeOf.get(row)
      if (own === undefined || own.session === null) continue
      for (const near of between.all(own.session, own.place - reach, own.place + reach)) found.set(near.row, near)
    }
    return [...found.values()]
      .filter(({ scope }) => scopes.has(scope))
      .sort((one, other) => one.session - other.session || one.place - other.place)
      .flatMap(unitsIn)
  }

  turnsAt(rows: readonly number[]): ReadonlyMap<number, Turn> {
    const ownTurn = `${wholeTurns} WHERE turns.row = (SELECT max(row) FROM turns WHERE row <= ?)`
    return new Map(
      rows.flatMap((row) => {
        const found = this.#connection.get<TurnRow>(ownTurn, [row])
        return found === undefined ? [] : [[row, turnOf(found)] as const]
      }),
    )
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

  withoutVectors(userId: number, model: string, limit: number): readonly { row: number; text: string }[] {
    return this.#connection.all(
      `SELECT turns.row, text FROM turns JOIN turn_texts USING (row)
       LEFT JOIN turn_vectors ON turn_vectors.row = turns.row AND model = ?
       WHERE user_id = ? AND role = 0 AND origin = ? AND turn_vectors.row IS NULL ORDER BY turns.row DESC LIMIT ?`,
      [model, userId, turnOrigins.indexOf('person'), limit],
    )
  }

  #scopesOf(userId: number, { scopes }: TurnView): readonly ScopeRow[] {
    const ofUser = 'SELECT id, units, length, human_words FROM turn_scopes WHERE user_id = ?'
    if (scopes === null) return this.#connection.all(ofUser, [userId])
    return scopes.flatMap((scope) => this.#connection.all<ScopeRow>(`${ofUser} AND name = ?`, [userId, scope]))
  }

  /** The rows that pass the filters of a view other than its scopes; null for a view without such filters. */
  #rowsInView(userId: number, { scopes: _scopes, ...view }: TurnView): ReadonlySet<number> | null {
    const { since, until, session, speaker, roles } = view
    if ([since, until, session, speaker, roles].every((one) => one === undefined)) return null
    const { where, values } = conditionsOf(userId, view)
    const rows = this.#connection.all<{ row: number; passages: number }>(
      `SELECT turns.row, passages ${fromTurns} WHERE ${where}`,
      values,
    )
    return new Set(rows.flatMap(({ row, passages }) => Array.from({ length: passages }, (_, place) => row + place)))
  }
}

const fromTurns =
  'FROM turns JOIN sessions ON sessions.id = turns.session JOIN turn_scopes ON turn_scopes.id = turns.scope'

type SessionRow = {
  readonly id: number
  readonly session: string
  readonly turns: number
  readonly first: number
  readonly last: number
  readonly scopes: string
  readonly hosts: string
}

type ScopeRow = {
  readonly id: number
  readonly units: number
  readonly length: number
  readonly human_words: number
}

type UnitRow = Pick<TurnRow, 'row' | 'place' | 'role' | 'speaker' | 'at'> & {
  readonly session: number
  readonly scope: number
  readonly asks: number
  readonly lengths: string
}

const unitsIn = ({ row, session, place, role, speaker, at, asks, lengths }: UnitRow): readonly TurnUnit[] =>
  lengths.split(',').map((length, passage) => ({
    row: row + passage,
    first: row,
    session,
    place,
    role: roleOf(role),
    speaker,
    at,
    length: Number(length),
    asks: asks === 1,
  }))

/** The WHERE clause of a filter. Times are ISO 8601 or milliseconds since the epoch. */
function conditionsOf(
  userId: number,
  filter: Omit<TurnFilter, 'since' | 'until'> & { since?: string | number; until?: string | number },
): Conditions {
  const { scopes, session, speaker, roles, since, until } = filter
  const roleCodes = roles?.map((role) => turnRoles.indexOf(role))
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
