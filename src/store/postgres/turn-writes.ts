import { isSameTurn, type NewTurn } from '../../beliefs/turn.ts'
import type { ExportedTurn } from '../../beliefs/turn-store.ts'
import { unitsOf, wordCount } from '../../search/turns/passages.ts'
import { entriesOf, PostingsDraft, withoutPlaces } from '../posting-blocks.ts'
import { type PreparedTurn, wordsKey } from '../prepared-turns.ts'
import { originCode, roleCode } from '../turn-rows.ts'
import type { Run } from './connection.ts'
import { readTurns } from './turn-lookups.ts'

type KnownRow = {
  readonly row: number
  readonly message_id: string | null
  readonly key: Buffer | null
  readonly given_index: number | null
  readonly at: number | null
  readonly previous: string | null
}

/** For each turn the row of the stored turn that it is, or null. No stored turn is used twice. */
export async function findKnown(
  run: Run,
  owner: string,
  turns: readonly NewTurn[],
): Promise<readonly (number | null)[]> {
  if (turns.length === 0) return []
  const messageIds = turns.flatMap(({ messageId }) => messageId ?? [])
  const keys = turns.map(wordsKey)
  const previousText = `(SELECT text FROM credence.turns AS before WHERE before.owner = $1 AND before.session = turns.session
    AND before.place < turns.place AND before.role = 0 ORDER BY before.place DESC LIMIT 1) AS previous`
  const [found, lastSaid] = await Promise.all([
    run<KnownRow>(
      `SELECT row, message_id, key, given_index, at, ${previousText} FROM credence.turns
       WHERE owner = $1 AND (message_id = ANY($2::text[]) OR key = ANY($3::bytea[])) ORDER BY row`,
      [owner, messageIds, keys],
    ),
    run<{ text: string | null }>(
      `SELECT (SELECT text FROM credence.turns WHERE turns.owner = $1 AND turns.session = sessions.id
         AND role = 0 AND at < asked.at ORDER BY place DESC LIMIT 1) AS text
       FROM unnest($2::text[], $3::bigint[]) WITH ORDINALITY AS asked (session, at, number)
       LEFT JOIN credence.sessions ON sessions.owner = $1 AND sessions.name = asked.session ORDER BY asked.number`,
      [owner, turns.map(({ session }) => session), turns.map(({ at }) => Date.parse(at))],
    ),
  ])
  const taken = new Set<number>()
  const said = new Map<string, string>()
  return turns.map((turn, at) => {
    const previous = said.get(turn.session) ?? lastSaid[at]?.text ?? null
    const own = { messageId: turn.messageId, index: turn.index, at: turn.at, previous }
    if (turn.role === 'user') said.set(turn.session, turn.text)
    const sameMessage = turn.messageId === null ? undefined : found.find((row) => row.message_id === turn.messageId)
    const key = keys[at] as Buffer
    const known =
      sameMessage ??
      found.find((row) => row.key?.equals(key) === true && !taken.has(row.row) && isSameTurn(own, identityOf(row)))
    if (known === undefined) return null
    taken.add(known.row)
    return known.row
  })
}

const identityOf = ({ message_id, given_index, at, previous }: KnownRow) => ({
  messageId: message_id,
  index: given_index,
  at: new Date(at ?? 0).toISOString(),
  previous,
})

/** What the owner's row knows about its turns. */
export type TurnCounters = { next_row: number; next_session: number }

type Session = { readonly id: number; readonly times: number[]; readonly isNew: boolean }

/** The state of the sessions that new turns belong to, read before anything is written. */
export async function readSessions(
  run: Run,
  owner: string,
  turns: readonly NewTurn[],
): Promise<ReadonlyMap<string, { readonly id: number; readonly times: readonly number[] }>> {
  if (turns.length === 0) return new Map()
  const names = [...new Set(turns.map(({ session }) => session))]
  const rows = await run<{ id: number; name: string; times: string | null }>(
    `SELECT id, name, (SELECT string_agg(at::text, ',' ORDER BY place) FROM credence.turns
       WHERE turns.owner = $1 AND turns.session = sessions.id) AS times
     FROM credence.sessions WHERE owner = $1 AND name = ANY($2::text[])`,
    [owner, names],
  )
  return new Map(
    rows.map(({ id, name, times }) => [name, { id, times: times === null ? [] : times.split(',').map(Number) }]),
  )
}

/** Sends the rows of new turns, without waiting for the answers. Moves the counters on. */
export function insertTurns(
  run: Run,
  { owner, event, counters }: { readonly owner: string; readonly event: number; readonly counters: TurnCounters },
  prepared: readonly PreparedTurn[],
  known: Awaited<ReturnType<typeof readSessions>>,
): readonly Promise<unknown>[] {
  if (prepared.length === 0) return []
  const sent: Promise<unknown>[] = []
  const sessions = new Map<string, Session>(
    [...known].map(([name, { id, times }]) => [name, { id, times: [...times], isNew: false }]),
  )
  const index = new TurnIndex()
  /** Rows of this event, whose places may still move. */
  const rows: { values: unknown[]; session: Session; place: number }[] = []
  for (const [ordinal, { turn, hash, salt, units }] of prepared.entries()) {
    const session = sessions.get(turn.session) ?? { id: counters.next_session++, times: [], isNew: true }
    sessions.set(turn.session, session)
    const at = Date.parse(turn.at)
    const later = session.times.findIndex((time) => time > at)
    const byTime = later < 0 ? session.times.length : later
    const place = turn.index !== null && turn.index < session.times.length ? turn.index : byTime
    if (place < session.times.length) {
      const move = 'UPDATE credence.turns SET place = place + 1 WHERE owner = $1 AND session = $2 AND place >= $3'
      if (!session.isNew) sent.push(run(move, [owner, session.id, place]))
      for (const row of rows) if (row.session === session && row.place >= place) row.place += 1
    }
    session.times.splice(place, 0, at)
    const row = counters.next_row
    counters.next_row += units.length
    const journalled = [row, turn.id, event, ordinal, units.length, hash, salt, turn.messageId]
    const time = [at, turn.utcOffset]
    const spoken = [
      turn.index,
      roleCode(turn.role),
      turn.speaker,
      ...time,
      turn.scope,
      turn.host,
      originCode(turn.origin),
    ]
    const searched = [wordsKey(turn), turn.text.includes('?'), units.map(({ length }) => length).join(','), turn.text]
    const values = [...journalled, ...spoken, ...searched, JSON.stringify(turn.doubtful)]
    rows.push({ values, session, place })
    index.add({ row, turn, units, step: 1 })
  }
  const made = [...sessions].filter(([, { isNew }]) => isNew)
  if (made.length > 0)
    sent.push(
      run(
        'INSERT INTO credence.sessions (owner, id, name) SELECT $1, rows.* FROM unnest($2::integer[], $3::text[]) AS rows (id, name)',
        [owner, made.map(([, { id }]) => id), made.map(([name]) => name)],
      ),
    )
  const types =
    'integer text bigint integer integer bytea bytea text integer smallint text bigint integer text text smallint bytea boolean text text text integer integer'
  const arrays = types.split(' ').map((type, at) => `$${at + 2}::${type}[]`)
  const columns = rows.map(({ values, session, place }) => [...values, session.id, place])
  sent.push(
    run(
      `INSERT INTO credence.turns (owner, row, id, event, ordinal, passages, hash, salt, message_id, given_index, role, speaker,
         at, utc_offset, scope, host, origin, key, asks, lengths, text, doubtful, session, place)
       SELECT $1, rows.* FROM unnest(${arrays.join(', ')}) AS rows`,
      [owner, ...arrays.map((_, at) => columns.map((values) => values[at]))],
    ),
  )
  sent.push(...index.write(run, owner))
  return sent
}

type IndexedTurn = {
  readonly row: number
  readonly turn: Pick<NewTurn, 'role' | 'origin' | 'text' | 'speaker' | 'scope'>
  readonly units: ReturnType<typeof unitsOf>
  readonly step: 1 | -1
}

/** Collects what turns that come and go change in the derived tables. */
export class TurnIndex {
  readonly draft = new PostingsDraft<string>()
  readonly #gone = new Map<string, Set<number>>()
  readonly scopes = new Map<string, [units: number, length: number, humanWords: number]>()
  readonly speakers = new Map<string, number>()

  add({ row, turn, units, step }: IndexedTurn): void {
    const { scope, role, origin, speaker, text } = turn
    if (step === 1) this.draft.add(scope, row, units)
    else
      for (const { term, block, place } of entriesOf(row, units)) {
        const key = JSON.stringify([scope, term, block])
        const places = this.#gone.get(key) ?? new Set<number>()
        this.#gone.set(key, places)
        places.add(place)
      }
    const totals = this.scopes.get(scope) ?? [0, 0, 0]
    this.scopes.set(scope, totals)
    totals[0] += step * units.length
    totals[1] += step * units.reduce((sum, { length }) => sum + length, 0)
    if (role === 'user' && origin === 'person') totals[2] += step * wordCount(text, units)
    const named = JSON.stringify([scope, speaker])
    if (speaker !== null) this.speakers.set(named, (this.speakers.get(named) ?? 0) + step)
  }

  /** Reads the blocks that lose entries. */
  async readGone(run: Run, owner: string): Promise<ReadonlyMap<string, Buffer>> {
    const keys = [...this.#gone.keys()].map((key) => JSON.parse(key) as [string, string, number])
    if (keys.length === 0) return new Map()
    const rows = await run<{ scope: string; term: string; block: number; entries: Buffer }>(
      `SELECT scope, term, block, entries FROM credence.turn_postings
       JOIN unnest($2::text[], $3::text[], $4::integer[]) AS asked (scope, term, block) USING (scope, term, block)
       WHERE owner = $1`,
      [owner, keys.map(([scope]) => scope), keys.map(([, term]) => term), keys.map(([, , block]) => block)],
    )
    return new Map(
      rows.map(({ scope, term, block, entries }) => {
        const key = JSON.stringify([scope, term, block])
        return [key, withoutPlaces(entries, this.#gone.get(key) ?? new Set())]
      }),
    )
  }

  /** `left` are the blocks that lost entries, as they are now. */
  write(run: Run, owner: string, left: ReadonlyMap<string, Buffer> = new Map()): readonly Promise<unknown>[] {
    const sent: Promise<unknown>[] = []
    const blocks = [...this.draft.take()]
    const postings = 'unnest($2::text[], $3::text[], $4::integer[], $5::bytea[]) AS rows (scope, term, block, entries)'
    if (blocks.length > 0)
      sent.push(
        run(
          `INSERT INTO credence.turn_postings (owner, scope, term, block, entries) SELECT $1, rows.* FROM ${postings}
           ON CONFLICT (owner, scope, term, block) DO UPDATE SET entries = turn_postings.entries || excluded.entries`,
          [
            owner,
            ...(['scope', 'term', 'block', 'entries'] as const).map((name) => blocks.map((block) => block[name])),
          ],
        ),
      )
    if (left.size > 0) {
      const keys = [...left.keys()].map((key) => JSON.parse(key) as [string, string, number])
      const values = [
        owner,
        keys.map(([scope]) => scope),
        keys.map(([, term]) => term),
        keys.map(([, , block]) => block),
      ]
      const isSame =
        'turn_postings.owner = $1 AND turn_postings.scope = rows.scope AND turn_postings.term = rows.term AND turn_postings.block = rows.block'
      sent.push(
        run(`UPDATE credence.turn_postings SET entries = rows.entries FROM ${postings} WHERE ${isSame}`, [
          ...values,
          [...left.values()],
        ]),
        run(
          `DELETE FROM credence.turn_postings USING unnest($2::text[], $3::text[], $4::integer[]) AS rows (scope, term, block)
           WHERE ${isSame} AND length(turn_postings.entries) = 0`,
          values,
        ),
      )
    }
    const totals = [...this.scopes]
    if (totals.length > 0)
      sent.push(
        run(
          `INSERT INTO credence.turn_scopes (owner, scope, units, length, human_words)
           SELECT $1, rows.* FROM unnest($2::text[], $3::integer[], $4::bigint[], $5::bigint[]) AS rows
           ON CONFLICT (owner, scope) DO UPDATE SET units = turn_scopes.units + excluded.units,
             length = turn_scopes.length + excluded.length, human_words = turn_scopes.human_words + excluded.human_words`,
          [owner, totals.map(([scope]) => scope), ...[0, 1, 2].map((at) => totals.map(([, amounts]) => amounts[at]))],
        ),
      )
    const speakers = [...this.speakers].map(
      ([key, turns]) => [...(JSON.parse(key) as [string, string]), turns] as const,
    )
    if (speakers.length > 0)
      sent.push(
        run(
          `INSERT INTO credence.turn_speakers (owner, scope, name, turns)
           SELECT $1, rows.* FROM unnest($2::text[], $3::text[], $4::integer[]) AS rows
           ON CONFLICT (owner, scope, name) DO UPDATE SET turns = turn_speakers.turns + excluded.turns`,
          [owner, ...[0, 1, 2].map((at) => speakers.map((speaker) => speaker[at as 0 | 1 | 2]))],
        ),
        run('DELETE FROM credence.turn_speakers WHERE owner = $1 AND scope = ANY($2::text[]) AND turns <= 0', [
          owner,
          speakers.map(([scope]) => scope),
        ]),
      )
    return sent
  }
}

/** The turns to erase with their rows; null when one of them does not exist. */
export async function readDoomed(
  run: Run,
  owner: string,
  ids: readonly string[],
): Promise<readonly (ExportedTurn & { readonly row: number })[] | null> {
  if (ids.length === 0) return []
  const turns = await readTurns(run, 'turns.id = ANY($2::text[])', [owner, ids])
  const byId = new Map(turns.map((turn) => [turn.id, turn]))
  return new Set(ids).size === ids.length && ids.every((id) => byId.has(id))
    ? ids.map((id) => byId.get(id) as (typeof turns)[number])
    : null
}

/** Sends what removes every text of turns; only their hashes stay. */
export function eraseTurns(
  run: Run,
  { owner, event }: { readonly owner: string; readonly event: number },
  doomed: readonly (ExportedTurn & { readonly row: number })[],
  { index, left }: { readonly index: TurnIndex; readonly left: ReadonlyMap<string, Buffer> },
): readonly Promise<unknown>[] {
  if (doomed.length === 0) return []
  const rows = doomed.map(({ row }) => row)
  return [
    run(
      `UPDATE credence.events SET request_salt = NULL WHERE owner = $1 AND request_salt IS NOT NULL AND number IN (
         SELECT event FROM credence.turns WHERE owner = $1 AND row = ANY($2::integer[]))`,
      [owner, rows],
    ),
    run('DELETE FROM credence.turn_vectors WHERE owner = $1 AND row = ANY($2::integer[])', [owner, rows]),
    run(
      `WITH touched AS (SELECT DISTINCT session FROM credence.turns WHERE owner = $1 AND row = ANY($2::integer[])),
       moved AS (SELECT row, row_number() OVER (PARTITION BY session ORDER BY place) - 1 AS place FROM credence.turns
         WHERE owner = $1 AND session IN (SELECT session FROM touched) AND row <> ALL($2::integer[]))
       UPDATE credence.turns SET place = moved.place FROM moved
       WHERE turns.owner = $1 AND turns.row = moved.row AND turns.place <> moved.place`,
      [owner, rows],
    ),
    run(
      `UPDATE credence.turns SET erased_by = $2, erased_order = doomed.at - 1, salt = NULL, session = NULL, place = NULL,
         given_index = NULL, role = NULL, speaker = NULL, at = NULL, utc_offset = NULL, scope = NULL, host = NULL, origin = NULL, key = NULL,
         asks = NULL, lengths = NULL, doubtful = NULL, text = NULL
       FROM unnest($3::integer[]) WITH ORDINALITY AS doomed (row, at) WHERE turns.owner = $1 AND turns.row = doomed.row`,
      [owner, event, rows],
    ),
    run(
      `DELETE FROM credence.sessions WHERE owner = $1 AND name = ANY($2::text[])
       AND NOT EXISTS (SELECT 1 FROM credence.turns WHERE turns.owner = $1 AND turns.session = sessions.id)`,
      [owner, [...new Set(doomed.map(({ session }) => session))]],
    ),
    ...index.write(run, owner, left),
  ]
}

/** What erasing turns takes out of the index. */
export function indexWithout(doomed: readonly (ExportedTurn & { readonly row: number })[]): TurnIndex {
  const index = new TurnIndex()
  for (const turn of doomed) index.add({ row: turn.row, turn, units: unitsOf(turn.text), step: -1 })
  return index
}
