import { maxOpeningLength, type Turn } from '../../../beliefs/turn.ts'
import type { ExportedTurn, TurnFilter, TurnStore } from '../../../beliefs/turn-store.ts'
import type { TurnIndex, TurnPostings, TurnUnit, TurnView } from '../../../search/turns/turn-index.ts'
import { BoundedCache } from '../../bounded-cache.ts'
import {
  exportedPage,
  exportedTurn,
  isFiltered,
  passageRows,
  roleCode,
  type SessionRow,
  sessionOf,
  type TurnRow,
  turnOf,
  type UnitRow,
  unitsIn,
} from '../../turn-rows.ts'
import { lastCharacter } from '../belief-lookups.ts'
import { type Conditions, type Connection, joinConditions, noItems, type ReadForUser } from '../connection.ts'
import { readPostings } from './turn-postings.ts'

const maxViews = 50

const wholeTurns = `SELECT turns.row, passages, turns.id, users.name AS user, sessions.name AS session, place, role, speaker, at,
    utc_offset, turn_scopes.name AS scope, host, origin, message_id, text, doubtful
  FROM turns JOIN turn_texts USING (row) JOIN users ON users.id = turns.user_id JOIN sessions ON sessions.id = turns.session
  JOIN turn_scopes ON turn_scopes.id = turns.scope`

/** One turn with its text; null for a row that is missing or was forgotten. */
export function readTurn(connection: Connection, row: number): ExportedTurn | null {
  const found = connection.get<TurnRow>(`${wholeTurns} WHERE turns.row = ?`, [row])
  return found === undefined ? null : exportedTurn(found)
}

type TurnReads = Pick<TurnStore, 'getTurn' | 'turnIdsStartingWith' | 'listTurns' | 'listSessions' | 'exportTurns'> &
  TurnIndex

/** The functions that read turns and their index. The scopes of a view are cached until the store changes. */
export function turnReads(connection: Connection, reading: ReadForUser): TurnReads {
  /** The scopes of a view and their counts. They are cached, because every recall needs them. */
  const knownScopes = new BoundedCache<readonly ScopeRow[]>(maxViews)
  connection.onChange(() => knownScopes.clear())

  function scopesOf(userId: number, { scopes }: Pick<TurnView, 'scopes'>): readonly ScopeRow[] {
    const asked = JSON.stringify([userId, scopes])
    const known = knownScopes.get(asked)
    if (known !== undefined) return known
    const ofUser = 'SELECT id, units, length, human_words FROM turn_scopes WHERE user_id = ?'
    return knownScopes.set(
      asked,
      scopes === null
        ? connection.all<ScopeRow>(ofUser, [userId])
        : scopes.flatMap((scope) => connection.all<ScopeRow>(`${ofUser} AND name = ?`, [userId, scope])),
    )
  }

  /** The conditions of a filter. `containing` is compared here, because SQLite's `lower` changes only ASCII letters. */
  function withText(userId: number, filter: TurnFilter): Conditions {
    const { where, values } = conditionsOf(userId, filter)
    const wanted = filter.containing?.toLowerCase()
    if (wanted === undefined) return { where, values }
    const texts = connection.iterate<{ row: number; text: string }>(
      `SELECT turns.row, text ${fromTurns} JOIN turn_texts ON turn_texts.row = turns.row WHERE ${where}`,
      values,
    )
    const rows: number[] = []
    for (const { row, text } of texts) if (text.toLowerCase().includes(wanted)) rows.push(row)
    return {
      where: `${where} AND turns.row IN (SELECT value FROM json_each(?))`,
      values: [...values, JSON.stringify(rows)],
    }
  }

  function sessions(userId: number, filter: TurnFilter, { limit, offset }: { limit: number; offset: number }) {
    const { where, values } = withText(userId, filter)
    const ids = latestSessions({ where, values }, offset + limit).slice(offset)
    const rows = connection.all<SessionRow & { readonly id: number }>(
      `SELECT sessions.id, sessions.name AS session, count(*) AS turns, min(at) AS first, max(at) AS last,
         json_group_array(utc_offset ORDER BY at DESC, place DESC) ->> 0 AS utc_offset,
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
      sessionOf(row, connection.value<string>(opening, [maxOpeningLength, row.id, inScopes, inScopes])),
    )
    return { items, total: connection.value<number>(count, [userId, ...values]) ?? 0 }
  }

  /** The sessions with the latest turns, found by reading turns backwards until there are enough sessions. */
  function latestSessions({ where, values }: Conditions, count: number): readonly number[] {
    const turns = connection.iterate<{ session: number }>(
      `SELECT turns.session FROM turns INDEXED BY turns_by_time CROSS JOIN sessions ON sessions.id = turns.session
       CROSS JOIN turn_scopes ON turn_scopes.id = turns.scope WHERE ${where} ORDER BY at DESC, turns.session DESC`,
      values,
    )
    const found = new Set<number>()
    for (const { session } of turns) {
      if (found.size === count) break
      found.add(session)
    }
    return [...found]
  }

  function postings(userId: number, view: TurnView, terms: readonly string[]): TurnPostings {
    const scopes = scopesOf(userId, view)
    const total = (column: 'units' | 'length' | 'human_words'): number =>
      scopes.reduce((sum, scope) => sum + scope[column], 0)
    const ids = scopes.map(({ id }) => id)
    const found = terms.flatMap((term) => {
      const postings = readPostings(connection, ids, term)
      return postings === null ? [] : [[term, postings] as const]
    })
    return {
      units: total('units'),
      length: total('length'),
      humanWords: total('human_words'),
      terms: new Map(found),
      inView: rowsInView(userId, view),
    }
  }

  /** The rows that pass the filters of a view, apart from its scopes; null for a view without such filters. */
  function rowsInView(userId: number, { scopes: _scopes, ...view }: TurnView): ReadonlySet<number> | null {
    if (!isFiltered(view)) return null
    const { where, values } = conditionsOf(userId, view)
    return passageRows(connection.all(`SELECT turns.row, passages ${fromTurns} WHERE ${where}`, values))
  }

  function unitsAround(userId: number, view: TurnView, rows: readonly number[], reach: number): readonly TurnUnit[] {
    const scopes = new Set(scopesOf(userId, view).map(({ id }) => id))
    const placeOf = 'SELECT session, place FROM turns WHERE row <= ? ORDER BY row DESC LIMIT 1'
    const between = `SELECT row, session, place, role, speaker, at, scope, asks, lengths FROM turns
      WHERE session = ? AND place BETWEEN ? AND ? ORDER BY place`
    const bySession = new Map<number, number[]>()
    for (const row of rows) {
      const { session = null, place = 0 } =
        connection.get<{ session: number | null; place: number }>(placeOf, [row]) ?? {}
      if (session === null) continue
      const places = bySession.get(session) ?? []
      bySession.set(session, places)
      places.push(place)
    }
    const found: StoredUnitRow[] = []
    for (const [session, places] of [...bySession].sort(([a], [b]) => a - b)) {
      // Reads each turn once, although most are near several of the rows.
      let next = 0
      for (const place of places.sort((a, b) => a - b)) {
        const from = Math.max(next, place - reach)
        next = place + reach + 1
        if (from < next) found.push(...connection.all<StoredUnitRow>(between, [session, from, next - 1]))
      }
    }
    return found.filter(({ scope }) => scopes.has(scope)).flatMap((row) => unitsIn({ ...row, asks: row.asks === 1 }))
  }

  function turnsAt(rows: readonly number[]): ReadonlyMap<number, Turn> {
    const ownTurn = `${wholeTurns} WHERE turns.row = (SELECT max(row) FROM turns WHERE row <= ?)`
    const turns = new Map<number, Turn>()
    for (const asked of rows) {
      if (turns.has(asked)) continue
      const found = connection.get<TurnRow & { readonly passages: number }>(ownTurn, [asked])
      if (found === undefined) continue
      const turn = turnOf(found)
      // Reads a long turn once for all of its passages.
      for (const row of found.passages === 1 ? [asked] : rows)
        if (row >= found.row && row < found.row + found.passages) turns.set(row, turn)
    }
    return turns
  }

  return {
    getTurn: (user, id) => {
      const byId = `${wholeTurns} WHERE turns.user_id = ? AND turns.id = ?`
      return reading(user, null, (userId) => {
        const found = connection.get<TurnRow>(byId, [userId, id])
        return found === undefined ? null : turnOf(found)
      })
    },
    turnIdsStartingWith: (user, prefix, limit) => {
      const between = `SELECT id FROM turns WHERE user_id = ? AND id >= ? AND id < ? AND session IS NOT NULL
        ORDER BY id LIMIT ?`
      return reading(user, [], (userId) => connection.column(between, [userId, prefix, prefix + lastCharacter, limit]))
    },
    listTurns: (filter, { limit, offset }) =>
      reading(filter.user, noItems, (userId) => {
        const { where, values } = withText(userId, filter)
        const order = filter.session === undefined ? 'at DESC, turns.row DESC' : 'place'
        const page = `${wholeTurns} WHERE ${where} ORDER BY ${order} LIMIT ? OFFSET ?`
        const items = connection.all<TurnRow>(page, [...values, limit, offset])
        const total = connection.value<number>(`SELECT count(*) ${fromTurns} WHERE ${where}`, values)
        return { items: items.map(turnOf), total: total ?? 0 }
      }),
    listSessions: (filter, page) => reading(filter.user, noItems, (userId) => sessions(userId, filter, page)),
    exportTurns: (user, { after, limit }) => {
      const page = `${wholeTurns} WHERE turns.user_id = ? AND turns.row > ? ORDER BY turns.row LIMIT ?`
      return reading(user, { turns: [], next: null }, (userId) =>
        exportedPage(connection.all<TurnRow>(page, [userId, after ?? -1, limit]), limit),
      )
    },
    turnPostings: (view, terms) => reading(view.user, noPostings, (userId) => postings(userId, view, terms)),
    turnSpeakers: (view) => {
      const inScope = 'SELECT name FROM turn_speakers WHERE scope = ?'
      return reading(view.user, [], (userId) => {
        const names = scopesOf(userId, view).flatMap(({ id }) => connection.column<string>(inScope, [id]))
        return [...new Set(names)].sort()
      })
    },
    lastStep: (view) => {
      const sql = `SELECT row FROM turns WHERE user_id = ? AND role = ? AND scope IN (SELECT value FROM json_each(?))
        AND (? IS NULL OR session = (SELECT id FROM sessions WHERE user_id = turns.user_id AND name = ?)) ORDER BY row DESC LIMIT 1`
      const session = view.session ?? null
      return reading(view.user, null, (userId) => {
        const scopes = JSON.stringify(scopesOf(userId, view).map(({ id }) => id))
        return connection.value<number>(sql, [userId, roleCode('tool'), scopes, session, session]) ?? null
      })
    },
    unitsAround: (view, rows, reach) => reading(view.user, [], (userId) => unitsAround(userId, view, rows, reach)),
    turnsAt: (user, rows) => reading(user, new Map(), () => turnsAt(rows)),
  }
}

const noPostings = { units: 0, length: 0, humanWords: 0, terms: new Map(), inView: null }

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
  return joinConditions([
    ['turns.user_id = ? AND turns.session IS NOT NULL', userId],
    scopes && ['turn_scopes.name IN (SELECT value FROM json_each(?))', JSON.stringify(scopes)],
    session !== undefined && ['sessions.name = ?', session],
    speaker !== undefined && ['speaker = ?', speaker],
    roleCodes && ['role IN (SELECT value FROM json_each(?))', JSON.stringify(roleCodes)],
    since !== undefined && ['at >= ?', new Date(since).getTime()],
    until !== undefined && ['at <= ?', new Date(until).getTime()],
  ])
}
