import type { Page } from '../../beliefs/belief-store.ts'
import { longestOpening, type Turn, turnOrigins, turnRoles } from '../../beliefs/turn.ts'
import type { ExportedTurn, SessionSummary, TurnFilter } from '../../beliefs/turn-store.ts'
import type { TurnPostings, TurnUnit, TurnView } from '../../search/turns/turn-index.ts'
import type { Connection } from './connection.ts'
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

/** One turn, whole; null for a row that is none or was forgotten. */
export function readTurn(connection: Connection, row: number): ExportedTurn | null {
  const found = connection.statement<[number], TurnRow>(`${wholeTurns} WHERE turns.row = ?`).get(row)
  return found === undefined ? null : { ...turnOf(found), messageId: found.message_id }
}

const turnOf = ({ id, user, session, place, role, speaker, at, scope, host, origin, text }: TurnRow): Turn => ({
  id,
  user,
  session,
  index: place,
  // Only these were ever written.
  role: turnRoles[role] as Turn['role'],
  speaker,
  at: new Date(at).toISOString(),
  scope,
  host,
  origin: turnOrigins[origin] as Turn['origin'],
  text,
})

/** Reads turns and their index. Everything here runs inside the caller's transaction. */
export class TurnLookups {
  readonly #connection: Connection

  constructor(connection: Connection) {
    this.#connection = connection
  }

  get(userId: number, id: string): Turn | null {
    const found = this.#connection
      .statement<[number, string], TurnRow>(`${wholeTurns} WHERE turns.user_id = ? AND turns.id = ?`)
      .get(userId, id)
    return found === undefined ? null : turnOf(found)
  }

  list(userId: number, filter: TurnFilter, { limit, offset }: { limit: number; offset: number }): Page<Turn> {
    const { where, values } = this.#withText(userId, filter)
    const order = filter.session === undefined ? 'at DESC, turns.row DESC' : 'place'
    const items = this.#connection
      .statement<unknown[], TurnRow>(`${wholeTurns} WHERE ${where} ORDER BY ${order} LIMIT ? OFFSET ?`)
      .all(...values, limit, offset)
    const total = this.#connection
      .statement<unknown[], { count: number }>(`SELECT count(*) AS count ${fromTurns} WHERE ${where}`)
      .get(...values)
    return { items: items.map(turnOf), total: total?.count ?? 0 }
  }

  export(userId: number, { after, limit }: { readonly after: number | null; readonly limit: number }) {
    const rows = this.#connection
      .statement<[number, number, number], TurnRow>(
        `${wholeTurns} WHERE turns.user_id = ? AND turns.row > ? ORDER BY turns.row LIMIT ?`,
      )
      .all(userId, after ?? -1, limit)
    const turns = rows.map((row): ExportedTurn => ({ ...turnOf(row), messageId: row.message_id }))
    return { turns, next: rows.length < limit ? null : (rows.at(-1)?.row ?? null) }
  }

  sessions(
    userId: number,
    filter: TurnFilter,
    { limit, offset }: { limit: number; offset: number },
  ): Page<SessionSummary> {
    const { where, values } = this.#withText(userId, filter)
    const rows = this.#connection
      .statement<
        unknown[],
        { id: number; session: string; turns: number; first: number; last: number; scopes: string; hosts: string }
      >(
        `SELECT sessions.id, sessions.name AS session, count(*) AS turns, min(at) AS first, max(at) AS last,
           json_group_array(DISTINCT turn_scopes.name) AS scopes, json_group_array(DISTINCT host) AS hosts
         ${fromTurns} WHERE ${where} GROUP BY sessions.id ORDER BY last DESC, sessions.id DESC LIMIT ? OFFSET ?`,
      )
      .all(...values, limit, offset)
    const total = this.#connection
      .statement<unknown[], { count: number }>(
        `SELECT count(DISTINCT turns.session) AS count ${fromTurns} WHERE ${where}`,
      )
      .get(...values)
    const inScopes = filter.scopes === undefined ? null : JSON.stringify(filter.scopes)
    const opening = this.#connection.statement<[number, number, string | null, string | null], { text: string }>(
      `SELECT substr(text, 1, ?) AS text FROM turns JOIN turn_texts USING (row) JOIN turn_scopes ON turn_scopes.id = scope
       WHERE session = ? AND (? IS NULL OR turn_scopes.name IN (SELECT value FROM json_each(?)))
       ORDER BY role <> 0, place LIMIT 1`,
    )
    return {
      items: rows.map(({ id, session, turns, first, last, scopes, hosts }) => ({
        session,
        turns,
        firstAt: new Date(first).toISOString(),
        lastAt: new Date(last).toISOString(),
        scopes: (JSON.parse(scopes) as string[]).sort(),
        hosts: (JSON.parse(hosts) as string[]).sort(),
        opening: (opening.get(longestOpening, id, inScopes, inScopes)?.text ?? '').toWellFormed(),
      })),
      total: total?.count ?? 0,
    }
  }

  /** The conditions of a filter. Lower case as SQLite knows it covers ASCII alone, so texts are compared here. */
  #withText(userId: number, filter: TurnFilter): { readonly where: string; readonly values: unknown[] } {
    const { where, values } = conditionsOf(userId, filter)
    const wanted = filter.containing?.toLowerCase()
    if (wanted === undefined) return { where, values }
    const texts = this.#connection.statement<unknown[], { row: number; text: string }>(
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
    const totals = scopes.reduce(
      (sum, { units, length, human_words }) => ({
        units: sum.units + units,
        length: sum.length + length,
        humanWords: sum.humanWords + human_words,
      }),
      { units: 0, length: 0, humanWords: 0 },
    )
    const ids = scopes.map(({ id }) => id)
    const found = terms.flatMap((term) => {
      const postings = readPostings(this.#connection, ids, term)
      return postings === null ? [] : [[term, postings] as const]
    })
    return { ...totals, terms: new Map(found), inView: this.#rowsInView(userId, view) }
  }

  speakers(userId: number, view: TurnView): readonly string[] {
    const statement = this.#connection.statement<[number], { name: string }>(
      'SELECT name FROM turn_speakers WHERE scope = ?',
    )
    const names = this.#scopesOf(userId, view).flatMap(({ id }) => statement.all(id).map(({ name }) => name))
    return [...new Set(names)].sort()
  }

  unitsAround(userId: number, view: TurnView, rows: readonly number[], reach: number): readonly TurnUnit[] {
    const scopes = new Set(this.#scopesOf(userId, view).map(({ id }) => id))
    const placeOf = this.#connection.statement<[number], { session: number | null; place: number }>(
      'SELECT session, place FROM turns WHERE row <= ? ORDER BY row DESC LIMIT 1',
    )
    const between = this.#connection.statement<[number, number, number], UnitRow>(
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
    const first = this.#connection.statement<[number], { row: number }>(
      'SELECT row FROM turns WHERE row <= ? ORDER BY row DESC LIMIT 1',
    )
    const turns = new Map<number, Turn>()
    for (const row of rows) {
      const found = first.get(row)
      const turn = found === undefined ? null : readTurn(this.#connection, found.row)
      if (turn === null) continue
      const { messageId: _messageId, ...rest } = turn
      turns.set(row, rest)
    }
    return turns
  }

  vectorsAt(model: string, rows: readonly number[]): ReadonlyMap<number, Int8Array> {
    const statement = this.#connection.statement<[number, string], { vectors: Buffer }>(
      `SELECT vectors FROM turn_vectors
       WHERE row = (SELECT max(row) FROM turns WHERE row <= ?) AND model = ?`,
    )
    return new Map(
      rows.flatMap((row) => {
        const found = statement.get(row, model)
        return found === undefined ? [] : [[row, new Int8Array(found.vectors)] as const]
      }),
    )
  }

  withoutVectors(userId: number, model: string, limit: number): readonly { row: number; text: string }[] {
    return this.#connection
      .statement<[string, number, number, number], { row: number; text: string }>(
        `SELECT turns.row, text FROM turns JOIN turn_texts USING (row) LEFT JOIN turn_vectors ON turn_vectors.row = turns.row
           AND model = ?
         WHERE user_id = ? AND role = 0 AND origin = ? AND turn_vectors.row IS NULL ORDER BY turns.row DESC LIMIT ?`,
      )
      .all(model, userId, turnOrigins.indexOf('person'), limit)
  }

  #scopesOf(userId: number, { scopes }: TurnView): readonly ScopeRow[] {
    const columns = 'SELECT id, name, units, length, human_words FROM turn_scopes WHERE user_id = ?'
    if (scopes === null) return this.#connection.statement<[number], ScopeRow>(columns).all(userId)
    const byName = this.#connection.statement<[number, string], ScopeRow>(`${columns} AND name = ?`)
    return scopes.flatMap((scope) => byName.all(userId, scope))
  }

  /** Null where nothing but user and scopes is asked for. */
  #rowsInView(userId: number, view: TurnView): ReadonlySet<number> | null {
    const { since, until, session, speaker, roles } = view
    if ([since, until, session, speaker, roles].every((one) => one === undefined)) return null
    const { where, values } = conditionsOf(userId, {
      user: view.user,
      ...(session === undefined ? {} : { session }),
      ...(speaker === undefined ? {} : { speaker }),
      ...(roles === undefined ? {} : { roles }),
      ...(since === undefined ? {} : { since: new Date(since).toISOString() }),
      ...(until === undefined ? {} : { until: new Date(until).toISOString() }),
    })
    const rows = this.#connection
      .statement<unknown[], { row: number; passages: number }>(`SELECT turns.row, passages ${fromTurns} WHERE ${where}`)
      .all(...values)
    return new Set(rows.flatMap(({ row, passages }) => Array.from({ length: passages }, (_, place) => row + place)))
  }
}

const fromTurns =
  'FROM turns JOIN sessions ON sessions.id = turns.session JOIN turn_scopes ON turn_scopes.id = turns.scope'

type ScopeRow = {
  readonly id: number
  readonly name: string
  readonly units: number
  readonly length: number
  readonly human_words: number
}

type UnitRow = {
  readonly row: number
  readonly session: number
  readonly place: number
  readonly role: number
  readonly speaker: string | null
  readonly at: number
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
    role: turnRoles[role] as TurnUnit['role'],
    speaker,
    at,
    length: Number(length),
    asks: asks === 1,
  }))

function conditionsOf(userId: number, filter: TurnFilter): { readonly where: string; readonly values: unknown[] } {
  const { scopes, session, speaker, roles, since, until } = filter
  const conditions: readonly (readonly [condition: string, value: unknown])[] = [
    ['turns.user_id = ? AND turns.session IS NOT NULL', userId],
    ...(scopes === undefined
      ? []
      : [['turn_scopes.name IN (SELECT value FROM json_each(?))', JSON.stringify(scopes)] as const]),
    ...(session === undefined ? [] : [['sessions.name = ?', session] as const]),
    ...(speaker === undefined ? [] : [['speaker = ?', speaker] as const]),
    ...(roles === undefined
      ? []
      : [
          [
            'role IN (SELECT value FROM json_each(?))',
            JSON.stringify(roles.map((role) => turnRoles.indexOf(role))),
          ] as const,
        ]),
    ...(since === undefined ? [] : [['at >= ?', Date.parse(since)] as const]),
    ...(until === undefined ? [] : [['at <= ?', Date.parse(until)] as const]),
  ]
  return { where: conditions.map(([one]) => one).join(' AND '), values: conditions.map(([, value]) => value) }
}
