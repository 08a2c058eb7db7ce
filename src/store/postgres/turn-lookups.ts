import type { Page } from '../../beliefs/belief-store.ts'
import { longestOpening, type TextRange, type Turn } from '../../beliefs/turn.ts'
import type { SessionSummary, TurnFilter } from '../../beliefs/turn-store.ts'
import type { TurnPostings, TurnUnit, TurnVectors, TurnView } from '../../search/turns/turn-index.ts'
import { decodePostings } from '../posting-blocks.ts'
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
} from '../turn-rows.ts'
import { lastCharacter } from './belief-lookups.ts'
import type { Connection, Run } from './connection.ts'
import { noTurns } from './form-lookups.ts'

const inSessions =
  'credence.turns JOIN credence.sessions ON sessions.owner = turns.owner AND sessions.id = turns.session'
const wholeTurns = `SELECT turns.row, turns.id, turns.owner AS "user", sessions.name AS session, place, role, speaker, at, utc_offset,
    scope, host, origin, message_id, text, doubtful
  FROM ${inSessions} WHERE turns.owner = $1`

const readRows = (run: Run, condition: string, values: readonly unknown[]): Promise<readonly TurnRow[]> =>
  run<TurnRow>(`${wholeTurns} AND ${condition}`, values)

/** Turns with their texts; `$1` is the owner. */
export const readTurns = async (run: Run, condition: string, values: readonly unknown[]) =>
  (await readRows(run, condition, values)).map((row) => ({ ...exportedTurn(row), row: row.row }))

/** The row of the turn that each of `rows` belongs to: a long turn has several. */
const ownRow = `(SELECT turns.row FROM credence.turns WHERE turns.owner = $1 AND turns.row <= asked.row
  ORDER BY turns.row DESC LIMIT 1)`

/** Reads turns and their index. */
export class TurnLookups {
  readonly #connection: Connection

  constructor(connection: Connection) {
    this.#connection = connection
  }

  async get(user: string, id: string): Promise<Turn | null> {
    const [turn] = await this.#connection.read((run) => readRows(run, 'turns.id = $2', [user, id]))
    return turn === undefined ? null : turnOf(turn)
  }

  idsStartingWith(user: string, prefix: string, limit: number): Promise<readonly string[]> {
    return this.#connection.read(async (run) => {
      const rows = await run<{ id: string }>(
        `SELECT id FROM credence.turns WHERE owner = $1 AND id >= $2 AND id < $3 AND session IS NOT NULL
         ORDER BY id LIMIT $4`,
        [user, prefix, prefix + lastCharacter, limit],
      )
      return rows.map(({ id }) => id)
    })
  }

  /** The turns at exactly these rows. A row without a text was forgotten, and is absent. */
  async at(user: string, rows: readonly number[]): Promise<ReadonlyMap<number, Turn>> {
    const turns = await this.#connection.read((run) => readRows(run, 'turns.row = ANY($2::integer[])', [user, rows]))
    return new Map(turns.map((turn) => [turn.row, turnOf(turn)]))
  }

  list(filter: TurnFilter, { limit, offset }: { limit: number; offset: number }): Promise<Page<Turn>> {
    return this.#connection.read(async (run) => {
      const { where, values } = await withText(run, filter)
      const order = filter.session === undefined ? 'at DESC, turns.row DESC' : 'place'
      const page = `ORDER BY ${order} LIMIT $${values.length + 1} OFFSET $${values.length + 2}`
      const [items, counted] = await Promise.all([
        readRows(run, `${where} ${page}`, [...values, limit, offset]),
        run<{ total: number }>(
          `SELECT count(*) AS total FROM ${inSessions} WHERE turns.owner = $1 AND ${where}`,
          values,
        ),
      ])
      return { items: items.map(turnOf), total: counted[0]?.total ?? 0 }
    })
  }

  async export(user: string, { after, limit }: { readonly after: number | null; readonly limit: number }) {
    const found = await this.#connection.read((run) =>
      readRows(run, 'turns.row > $2 ORDER BY turns.row LIMIT $3', [user, after ?? -1, limit]),
    )
    return exportedPage(found, limit)
  }

  sessions(filter: TurnFilter, { limit, offset }: { limit: number; offset: number }): Promise<Page<SessionSummary>> {
    return this.#connection.read(async (run) => {
      const { where, values } = await withText(run, filter)
      const at = values.length
      const opening = `(SELECT left(text, ${longestOpening}) FROM credence.turns AS opening WHERE opening.owner = $1
        AND opening.session = sessions.id AND ($${at + 3}::text[] IS NULL OR opening.scope = ANY($${at + 3}::text[]))
        ORDER BY role <> 0, place LIMIT 1)`
      const [rows, counted] = await Promise.all([
        run<SessionRow & { readonly opening: string | null }>(
          `SELECT sessions.name AS session, count(*) AS turns, min(at) AS first, max(at) AS last,
             (array_agg(utc_offset ORDER BY at DESC, place DESC))[1] AS utc_offset,
             array_to_json(array_agg(DISTINCT scope))::text AS scopes, array_to_json(array_agg(DISTINCT host))::text AS hosts,
             ${opening} AS opening
           FROM ${inSessions} WHERE turns.owner = $1 AND ${where} GROUP BY sessions.id, sessions.name
           ORDER BY last DESC, sessions.id DESC LIMIT $${at + 1} OFFSET $${at + 2}`,
          [...values, limit, offset, filter.scopes ?? null],
        ),
        run<{ total: number }>(
          `SELECT count(DISTINCT turns.session) AS total FROM ${inSessions} WHERE turns.owner = $1 AND ${where}`,
          values,
        ),
      ])
      return { items: rows.map((row) => sessionOf(row, row.opening)), total: counted[0]?.total ?? 0 }
    })
  }

  async postings(view: TurnView, terms: readonly string[]): Promise<TurnPostings> {
    if (this.#connection.memo?.get(noTurns(view.user)) === true)
      return { units: 0, length: 0, humanWords: 0, terms: new Map(), inView: null }
    return this.#connection.read(async (run) => {
      const inScopes = 'owner = $1 AND ($2::text[] IS NULL OR scope = ANY($2::text[]))'
      const [totals, rows, inView] = await Promise.all([
        run<{ units: number; length: number; words: number }>(
          `SELECT coalesce(sum(units), 0)::bigint AS units, coalesce(sum(length), 0)::bigint AS length,
             coalesce(sum(human_words), 0)::bigint AS words FROM credence.turn_scopes WHERE ${inScopes}`,
          [view.user, view.scopes],
        ),
        terms.length === 0
          ? []
          : run<{ term: string; block: number; entries: Buffer }>(
              `SELECT term, block, entries FROM credence.turn_postings WHERE owner = $1 AND scope IN (
                 SELECT scope FROM credence.turn_scopes WHERE ${inScopes}) AND term = ANY($3::text[])`,
              [view.user, view.scopes, terms],
            ),
        rowsInView(run, view),
      ])
      const byTerm = Map.groupBy(rows, ({ term }) => term)
      const found = terms.flatMap((term) => {
        const postings = decodePostings(byTerm.get(term) ?? [])
        return postings === null ? [] : [[term, postings] as const]
      })
      const { units = 0, length = 0, words = 0 } = totals[0] ?? {}
      return { units, length, humanWords: words, terms: new Map(found), inView }
    })
  }

  async speakers({ user, scopes }: TurnView): Promise<readonly string[]> {
    const rows = await this.#connection.read((run) =>
      run<{ name: string }>(
        `SELECT DISTINCT name FROM credence.turn_speakers
         WHERE owner = $1 AND ($2::text[] IS NULL OR scope = ANY($2::text[]))`,
        [user, scopes],
      ),
    )
    return rows.map(({ name }) => name).sort()
  }

  async lastStep({ user, scopes, session }: TurnView): Promise<number | null> {
    const [found] = await this.#connection.read((run) =>
      run<{ row: number }>(
        `SELECT row FROM credence.turns WHERE owner = $1 AND role = ${roleCode('tool')}
         AND ($2::text[] IS NULL OR scope = ANY($2::text[]))
         AND ($3::text IS NULL OR session = (SELECT id FROM credence.sessions WHERE owner = $1 AND name = $3))
         ORDER BY row DESC LIMIT 1`,
        [user, scopes, session ?? null],
      ),
    )
    return found?.row ?? null
  }

  async unitsAround(view: TurnView, rows: readonly number[], reach: number): Promise<readonly TurnUnit[]> {
    if (rows.length === 0) return []
    const found = await this.#connection.read((run) =>
      run<UnitRow>(
        `WITH own AS (SELECT DISTINCT session, place FROM credence.turns WHERE owner = $1 AND session IS NOT NULL
           AND row IN (SELECT ${ownRow} FROM unnest($2::integer[]) AS asked (row)))
         SELECT DISTINCT near.row, near.session, near.place, near.role, near.speaker, near.at, near.asks, near.lengths
         FROM own JOIN credence.turns AS near ON near.owner = $1 AND near.session = own.session
           AND near.place BETWEEN own.place - $3::integer AND own.place + $3::integer
         WHERE $4::text[] IS NULL OR near.scope = ANY($4::text[]) ORDER BY near.session, near.place`,
        [view.user, rows, reach, view.scopes],
      ),
    )
    return found.flatMap(unitsIn)
  }

  async turnsAt(user: string, rows: readonly number[]): Promise<ReadonlyMap<number, Turn>> {
    if (rows.length === 0) return new Map()
    const found = await this.#connection.read((run) =>
      run<TurnRow & { readonly asked: number }>(
        `SELECT asked.row AS asked, whole.* FROM unnest($2::integer[]) AS asked (row)
         JOIN (${wholeTurns}) AS whole ON whole.row = ${ownRow}`,
        [user, rows],
      ),
    )
    return new Map(found.map((row) => [row.asked, turnOf(row)]))
  }

  async vectorsAt(user: string, model: string, rows: readonly number[]): Promise<ReadonlyMap<number, Int8Array>> {
    const found = await this.#connection.read((run) =>
      run<{ asked: number; vectors: Buffer }>(
        `SELECT asked.row AS asked, vectors FROM unnest($2::integer[]) AS asked (row)
         JOIN credence.turn_vectors ON turn_vectors.owner = $1 AND model = $3 AND turn_vectors.row = ${ownRow}`,
        [user, rows, model],
      ),
    )
    return new Map(found.map(({ asked, vectors }) => [asked, new Int8Array(vectors)]))
  }

  withoutVectors(
    user: string,
    model: string,
    { limit, before }: { readonly limit: number; readonly before?: number },
  ): Promise<readonly { row: number; text: string }[]> {
    return this.#connection.read((run) =>
      run(
        `SELECT row, text FROM credence.turns WHERE owner = $1 AND role = 0 AND origin = ${originCode('person')}
         AND ($2::integer IS NULL OR row < $2) AND NOT EXISTS (SELECT 1 FROM credence.turn_vectors AS known
           WHERE known.owner = $1 AND known.row = turns.row AND known.model = $3)
         ORDER BY row DESC LIMIT $4`,
        [user, before ?? null, model, limit],
      ),
    )
  }

  /** Keeps the vectors of turns that still exist. */
  async keepVectors(user: string, model: string, vectors: readonly TurnVectors[]): Promise<void> {
    if (vectors.length === 0) return
    await this.#connection.write(async (run) => {
      // The rows are locked, so that a forget at the same time does not leave vectors behind.
      await run(
        `INSERT INTO credence.turn_vectors (owner, row, model, vectors)
         SELECT $1, kept.row, $2, rows.vectors FROM unnest($3::integer[], $4::bytea[]) AS rows (row, vectors)
         JOIN (SELECT row FROM credence.turns WHERE owner = $1 AND row = ANY($3::integer[]) AND session IS NOT NULL
           FOR UPDATE) AS kept ON kept.row = rows.row
         ON CONFLICT (owner, row, model) DO UPDATE SET vectors = excluded.vectors`,
        [user, model, vectors.map(({ row }) => row), vectors.map(({ vectors: bytes }) => bytesOf(bytes))],
      )
      await run('COMMIT')
    })
  }

  /** Judges the newest turns that earlier versions stored. */
  async judgeOld(user: string, limit: number, judge: (text: string) => readonly TextRange[]): Promise<boolean> {
    const unjudged = 'turns.doubtful IS NULL AND role = 0 ORDER BY turns.row DESC LIMIT $2'
    const found = await this.#connection.read((run) => readTurns(run, unjudged, [user, limit]))
    if (found.length === 0) return false
    const judged = found.map(({ text }) => JSON.stringify(judge(text)))
    await this.#connection.write(async (run) => {
      // A turn may have been forgotten in the meantime.
      await run(
        `UPDATE credence.turns SET doubtful = judged.doubtful FROM unnest($2::integer[], $3::text[]) AS judged (row, doubtful)
         WHERE turns.owner = $1 AND turns.row = judged.row AND turns.role = 0`,
        [user, found.map(({ row }) => row), judged],
      )
      await run('COMMIT')
    })
    return found.length === limit
  }
}

const bytesOf = (bytes: Int8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

type Conditions = { readonly where: string; readonly values: readonly unknown[] }

/** The WHERE clause of a filter; `$1` is the owner. Times are ISO 8601 or milliseconds since the epoch. */
function conditionsOf(
  filter: Omit<TurnFilter, 'since' | 'until'> & { since?: string | number; until?: string | number },
): Conditions {
  const { user, scopes, session, speaker, roles, since, until } = filter
  const conditions: string[] = []
  const values: unknown[] = [user]
  const add = (condition: string, value: unknown): void => {
    values.push(value)
    conditions.push(condition.replace('?', `$${values.length}`))
  }
  if (scopes !== undefined) add('turns.scope = ANY(?::text[])', scopes)
  if (session !== undefined) add('sessions.name = ?', session)
  if (speaker !== undefined) add('speaker = ?', speaker)
  if (roles !== undefined) add('role = ANY(?::smallint[])', roles.map(roleCode))
  if (since !== undefined) add('at >= ?', new Date(since).getTime())
  if (until !== undefined) add('at <= ?', new Date(until).getTime())
  return { where: conditions.length === 0 ? 'true' : conditions.join(' AND '), values }
}

/** The conditions of a filter. Texts are compared here, since lower case in the database depends on its locale. */
async function withText(run: Run, filter: TurnFilter): Promise<Conditions> {
  const { where, values } = conditionsOf(filter)
  const wanted = filter.containing?.toLowerCase()
  if (wanted === undefined) return { where, values }
  const texts = await run<{ row: number; text: string }>(
    `SELECT turns.row, text FROM ${inSessions} WHERE turns.owner = $1 AND ${where}`,
    values,
  )
  const rows = texts.filter(({ text }) => text.toLowerCase().includes(wanted)).map(({ row }) => row)
  return { where: `${where} AND turns.row = ANY($${values.length + 1}::integer[])`, values: [...values, rows] }
}

/** The rows that pass the filters of a view other than its scopes; null for a view without such filters. */
async function rowsInView(run: Run, { scopes: _scopes, ...view }: TurnView): Promise<ReadonlySet<number> | null> {
  if (!isFiltered(view)) return null
  const { where, values } = conditionsOf(view)
  const rows = await run<{ row: number; passages: number }>(
    `SELECT turns.row, passages FROM ${inSessions} WHERE turns.owner = $1 AND ${where}`,
    values,
  )
  return passageRows(rows)
}
