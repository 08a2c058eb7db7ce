import { randomUUID } from 'node:crypto'
import { beforeFirst, hashEvent } from '../journal-chain.ts'
import {
  isErasing,
  type JournalRecord,
  type JournalTurnRow,
  recordOf,
  selectTurn,
  type TurnPlaces,
  turnColumns,
} from '../journal-record.ts'
import type { ChangeRow, EventRow } from '../journal-rows.ts'
import type { Run } from './connection.ts'
import { keyText } from './values.ts'

/** Number and hash of an owner's newest event; `forgotten` is the number of the newest event that erased texts. */
export type OwnerHead = { readonly number: number; readonly hash: Buffer; readonly forgotten: number }

const none: OwnerHead = { number: 0, hash: Buffer.from(beforeFirst), forgotten: 0 }

const selectHead = 'SELECT head AS number, hash, forgotten FROM credence.owners WHERE owner = $1'

export const readHead = async (run: Run, owner: string): Promise<OwnerHead> =>
  (await run<OwnerHead>(selectHead, [owner]))[0] ?? none

/** Creates the owner if new, and takes the lock that serialises changes to the owner's memory. */
export async function lockOwner(run: Run, owner: string): Promise<OwnerHead> {
  const made = run('INSERT INTO credence.owners (owner, head, hash) VALUES ($1, 0, $2) ON CONFLICT DO NOTHING', [
    owner,
    beforeFirst,
  ])
  const [[head]] = await Promise.all([run<OwnerHead>(`${selectHead} FOR UPDATE`, [owner]), made])
  if (head === undefined) throw new Error('The row of an owner is missing although it was just made.')
  return head
}

/** At most `limit` events, starting after the event with number `after`. */
export async function readRecords(run: Run, owner: string, after: number, limit: number) {
  const range = [owner, after, after + limit]
  const [events, changes, turns, erased] = await Promise.all([
    run<EventRow & { readonly request_salt: Buffer | null }>(
      `SELECT number, kind, actor, origin, at, coalesce(long_key, key) AS key, fingerprint, request_salt, undoes, changes_hash,
         previous_hash, hash FROM credence.events WHERE owner = $1 AND number > $2 AND number <= $3 ORDER BY number`,
      range,
    ),
    run<ChangeRow>(
      `SELECT event, belief, version, outcome, body_hash, salt, body FROM credence.changes
       WHERE owner = $1 AND event > $2 AND event <= $3 ORDER BY event, ordinal`,
      range,
    ),
    run<JournalTurnRow & { readonly event: number }>(
      `SELECT event, ${selectTurn()} FROM credence.turns
       WHERE owner = $1 AND event > $2 AND event <= $3 ORDER BY event, ordinal`,
      range,
    ),
    run<{ event: number; id: string }>(
      `SELECT erased_by AS event, id FROM credence.turns
       WHERE owner = $1 AND erased_by > $2 AND erased_by <= $3 ORDER BY erased_by, erased_order`,
      range,
    ),
  ])
  const byEvent = <Row extends { readonly event: number }>(rows: readonly Row[]) => {
    const groups = Map.groupBy(rows, ({ event }) => event)
    return (number: number): readonly Row[] => groups.get(number) ?? []
  }
  const changesOf = byEvent(changes)
  const turnsOf = byEvent(turns)
  const erasedBy = byEvent(erased)
  return events.map((event): JournalRecord => {
    return recordOf(event, {
      requestSalt: event.request_salt,
      changes: changesOf(event.number),
      turns: turnsOf(event.number),
      erasedTurns: erasedBy(event.number).map(({ id }) => id),
    })
  })
}

export async function readPlaces(run: Run, owner: string): Promise<TurnPlaces> {
  const select = 'SELECT id, place FROM credence.turns WHERE owner = $1 AND place IS NOT NULL'
  const rows = await run<{ id: string; place: number }>(select, [owner])
  return new Map(rows.map(({ id, place }) => [id, place]))
}

/** Updates the turns whose places in their sessions have changed. */
export const movePlaces = (run: Run, owner: string, places: TurnPlaces): Promise<unknown> =>
  run(
    `UPDATE credence.turns SET place = rows.place FROM unnest($2::text[], $3::integer[]) AS rows (id, place)
     WHERE turns.owner = $1 AND turns.id = rows.id AND turns.place <> rows.place`,
    [owner, [...places.keys()], [...places.values()]],
  )

/** The event that an earlier attempt of the same commit wrote. */
export async function eventOfAttempt(run: Run, owner: string, attempt: string): Promise<number | null> {
  const select = 'SELECT number FROM credence.events WHERE owner = $1 AND attempt = $2'
  return (await run<{ number: number }>(select, [owner, attempt]))[0]?.number ?? null
}

/**
 * Appends an event to the journal of an owner whose head is locked, and erases the texts that it forgets. All statements are sent
 * together, with the new head in the same transaction.
 */
export async function appendRecord(
  run: Run,
  owner: string,
  head: OwnerHead,
  record: JournalRecord,
  attempt: string = randomUUID(),
): Promise<OwnerHead> {
  const { number, kind, actor, origin, at, key, undoes, changesHash, changes, turns, erasedTurns } = record
  const fields = { number, user: owner, kind, actor, origin, at, key, undoes }
  const hash = Buffer.from(hashEvent(fields, changesHash, head.hash))
  const storedKey = key === null ? null : keyText(key.value)
  const longKey = storedKey === key?.value ? null : (key?.value ?? null)
  const erased = changes.filter(({ outcome }) => outcome === 'erased').map(({ beliefId }) => beliefId)
  const forgotten = isErasing(record) ? number : head.forgotten
  const moved = run<{ owner: string }>(
    `UPDATE credence.owners SET head = $3, hash = $4, forgotten = $5,
       forgot_at = CASE WHEN $6 THEN clock_timestamp() ELSE forgot_at END
     WHERE owner = $1 AND head = $2 RETURNING owner`,
    [owner, head.number, number, hash, forgotten, forgotten === number],
  )
  const sent: Promise<unknown>[] = [
    run(
      `INSERT INTO credence.events (owner, number, kind, actor, origin, at, undoes, key, long_key, fingerprint, request_salt,
         changes_hash, previous_hash, hash, attempt)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`,
      [
        owner,
        number,
        kind,
        actor,
        origin,
        at,
        undoes,
        storedKey,
        longKey,
        key?.fingerprint ?? null,
        key?.salt ?? null,
        changesHash,
        head.hash,
        hash,
        attempt,
      ],
    ),
  ]
  if (forgotten === number) sent.push(...forget(run, owner, erased, erasedTurns))
  if (changes.length > 0) sent.push(insertChanges(run, owner, number, changes))
  if (turns.length > 0) sent.push(...insertTurns(run, owner, number, turns))
  if (erasedTurns.length > 0) sent.push(...eraseTurns(run, owner, number, erasedTurns))
  // A statement that fails rolls back the others.
  const [[found]] = await Promise.all([moved, ...sent])
  if (found === undefined) throw new Error('The head of an owner moved although it was locked.')
  return { number, hash, forgotten }
}

function insertChanges(run: Run, owner: string, event: number, changes: JournalRecord['changes']): Promise<unknown> {
  const columns = ['beliefId', 'version', 'outcome', 'bodyHash', 'salt', 'body'] as const
  return run(
    `INSERT INTO credence.changes (owner, event, ordinal, belief, version, outcome, body_hash, salt, body)
     SELECT $1, $2, rows.at - 1, belief, version, outcome, body_hash, salt, body
     FROM unnest($3::text[], $4::integer[], $5::text[], $6::bytea[], $7::bytea[], $8::text[]) WITH ORDINALITY
       AS rows (belief, version, outcome, body_hash, salt, body, at)`,
    [owner, event, ...columns.map((name) => changes.map((change) => change[name]))],
  )
}

/**
 * Removes the earlier texts of erased beliefs, the feedback on erased items, the salts of requests with a forgotten text, and the
 * snapshots.
 */
const forget = (run: Run, owner: string, beliefs: readonly string[], turns: readonly string[]): Promise<unknown>[] => [
  run('DELETE FROM credence.snapshots WHERE owner = $1', [owner]),
  run('DELETE FROM credence.feedback WHERE owner = $1 AND item = ANY($2::text[])', [owner, [...beliefs, ...turns]]),
  run(
    `UPDATE credence.events SET request_salt = NULL WHERE owner = $1 AND request_salt IS NOT NULL AND number IN (
       SELECT event FROM credence.changes WHERE owner = $1 AND belief = ANY($2::text[])
       UNION ALL SELECT event FROM credence.turns WHERE owner = $1 AND id = ANY($3::text[]))`,
    [owner, beliefs, turns],
  ),
  run(
    `UPDATE credence.changes SET salt = NULL, body = NULL
     WHERE owner = $1 AND belief = ANY($2::text[]) AND body IS NOT NULL`,
    [owner, beliefs],
  ),
]

const turnTypes: Readonly<Partial<Record<(typeof turnColumns)[number], string>>> = {
  passages: 'integer',
  hash: 'bytea',
  salt: 'bytea',
  place: 'integer',
  given_index: 'integer',
  role: 'smallint',
  at: 'bigint',
  utc_offset: 'integer',
  origin: 'smallint',
  key: 'bytea',
  asks: 'boolean',
}
const insertTurnRows = `INSERT INTO credence.turns (owner, event, ordinal, ${turnColumns.join(', ')})
  SELECT $1, $2, rows.ordinal - 1, ${turnColumns.map((column) => `rows.${column}`).join(', ')}
  FROM unnest(${turnColumns.map((column, at) => `$${at + 3}::${turnTypes[column] ?? 'text'}[]`).join(', ')}) WITH ORDINALITY
    AS rows (${turnColumns.join(', ')}, ordinal)`

/** Inserts turns. A late turn shifts the turns after it in its session up by one. */
function insertTurns(run: Run, owner: string, event: number, turns: readonly JournalTurnRow[]): Promise<unknown>[] {
  const moves = [...Map.groupBy(turns, ({ session }) => session)].flatMap(([session, own]) => {
    if (session === null) return []
    const places = own.flatMap(({ place }) => place ?? []).sort((a, b) => a - b)
    // Each stored turn is shifted by the number of new turns before it.
    const gaps = places.map((place, before) => place - before)
    return run(
      `UPDATE credence.turns SET place = place + (SELECT count(*) FROM unnest($3::integer[]) AS gap WHERE gap <= place)
       WHERE owner = $1 AND session = $2 AND place >= $4`,
      [owner, session, gaps, gaps[0] ?? 0],
    )
  })
  return [
    ...moves,
    run(insertTurnRows, [owner, event, ...turnColumns.map((column) => turns.map((turn) => turn[column]))]),
  ]
}

/** Removes the texts of turns and keeps only their hashes. The later turns of the session are shifted down. */
const eraseTurns = (run: Run, owner: string, event: number, ids: readonly string[]): Promise<unknown>[] => [
  run(
    `UPDATE credence.turns SET place = turns.place - (SELECT count(*) FROM credence.turns AS gone WHERE gone.owner = $1
         AND gone.id = ANY($2::text[]) AND gone.session = turns.session AND gone.place < turns.place)
     WHERE owner = $1 AND session IN (SELECT session FROM credence.turns WHERE owner = $1 AND id = ANY($2::text[]))
       AND id <> ALL($2::text[])`,
    [owner, ids],
  ),
  run(
    `UPDATE credence.turns SET erased_by = $2, erased_order = gone.at - 1, ${erasedColumns} = NULL
     FROM unnest($3::text[]) WITH ORDINALITY AS gone (id, at) WHERE turns.owner = $1 AND turns.id = gone.id`,
    [owner, event, ids],
  ),
]

const keptColumns: readonly string[] = ['id', 'passages', 'hash', 'message_id']
const erasedColumns = turnColumns.filter((column) => !keptColumns.includes(column)).join(' = NULL, ')
