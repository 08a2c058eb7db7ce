import { hash } from 'node:crypto'
import { isSameTurn, type NewTurn, type TextRange, type Turn } from '../../../beliefs/turn.ts'
import { type IndexedUnit, passagesOf, unitsOf, wordCount } from '../../../search/turns/passages.ts'
import { countTerms } from '../../../search/turns/terms.ts'
import { sealTurns } from '../../journal-chain.ts'
import { PostingsDraft } from '../../posting-blocks.ts'
import { originCode, roleCode } from '../../turn-rows.ts'
import type { Connection } from '../connection.ts'
import { readTurn } from './turn-lookups.ts'
import { removePostings, writePostings } from './turn-postings.ts'

export type PreparedTurn = ReturnType<typeof sealTurns>[number] & { readonly units: readonly IndexedUnit[] }

/** Computes everything about turns that does not need the store, so that it is locked for a shorter time. Yields after each passage. */
export function* prepareTurns(turns: readonly NewTurn[], random: (bytes: number) => Uint8Array) {
  const prepared = sealTurns(turns, random).map((sealed) => ({ ...sealed, units: [] as IndexedUnit[] }))
  for (const { turn, units } of prepared)
    for (const passage of passagesOf(turn.text)) {
      units.push(countTerms(passage))
      yield
    }
  return prepared
}

/** A key that is equal for turns with the same session, role and words. */
const wordsKey = ({ session, role, text }: Pick<NewTurn, 'session' | 'role' | 'text'>): Buffer =>
  hash('sha256', JSON.stringify([session, role, text]), 'buffer').subarray(0, 8)

/** For each turn, the row of the stored turn that it repeats, or null. A stored turn that was matched already is not matched again by its words. */
export function findKnown(
  connection: Connection,
  userId: number,
  turns: readonly NewTurn[],
): readonly (number | null)[] {
  // The person's own message is not a duplicate of a turn that another author stored first. A forgotten turn matches any author.
  const byMessage = `SELECT row FROM turns WHERE user_id = ? AND message_id = ? AND (? OR origin = ? OR origin IS NULL)
    ORDER BY origin IS NOT NULL, row`
  const byWords = 'SELECT row FROM turns WHERE user_id = ? AND key = ? AND (? OR origin = ?) ORDER BY row'
  const taken = new Set<number>()
  const lastSaid = new Map<string, string | null>()
  return turns.map((turn) => {
    const previous = lastSaid.has(turn.session)
      ? (lastSaid.get(turn.session) ?? null)
      : lastUserText(connection, userId, turn.session, turn.at)
    if (turn.role === 'user') lastSaid.set(turn.session, turn.text)
    const author = [Number(turn.origin !== 'person'), originCode('person')]
    const sameMessage =
      turn.messageId === null ? undefined : connection.value<number>(byMessage, [userId, turn.messageId, ...author])
    const own = { messageId: turn.messageId, index: turn.index, at: turn.at, previous }
    const known =
      sameMessage ??
      connection
        .column<number>(byWords, [userId, wordsKey(turn), ...author])
        .find((row) => !taken.has(row) && isSameTurn(own, identityAt(connection, row)))
    if (known === undefined) return null
    taken.add(known)
    return known
  })
}

function identityAt(connection: Connection, row: number) {
  const found = connection.get<{
    message_id: string | null
    given_index: number | null
    at: number
    session: number
    place: number
  }>('SELECT message_id, given_index, at, session, place FROM turns WHERE row = ?', [row])
  const { message_id = null, given_index = null, at = 0, session = 0, place = 0 } = found ?? {}
  const previous = connection.value<string>(
    `SELECT text FROM turns JOIN turn_texts USING (row) WHERE session = ? AND place < ? AND role = 0
     ORDER BY place DESC LIMIT 1`,
    [session, place],
  )
  return { messageId: message_id, index: given_index, at: new Date(at).toISOString(), previous: previous ?? null }
}

const lastUserText = (connection: Connection, userId: number, session: string, at: string): string | null =>
  connection.value<string>(
    `SELECT text FROM turns JOIN turn_texts USING (row)
     WHERE session = (SELECT id FROM sessions WHERE user_id = ? AND name = ?) AND role = 0 AND at < ?
     ORDER BY place DESC LIMIT 1`,
    [userId, session, Date.parse(at)],
  ) ?? null

const passagesAtOnce = 10

type EventOfUser = { readonly userId: number; readonly event: number }

/**
 * Writes turns and updates the index, inside the caller's transaction. A turn belongs to its own `event`, if it has one, otherwise to the
 * given one. Yields after each part.
 */
export function* insertTurns(
  connection: Connection,
  { userId, event: eventOfAll }: EventOfUser,
  prepared: readonly (PreparedTurn & { readonly ordinal?: number; readonly event?: number })[],
): Generator<void, void> {
  const insert = connection.statement(
    `INSERT INTO turns (row, user_id, id, event, ordinal, passages, hash, salt, message_id, session, place, given_index,
       role, speaker, at, utc_offset, scope, host, origin, key, asks, lengths, doubtful)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const insertText = connection.statement('INSERT INTO turn_texts (row, text) VALUES (?, ?)')
  const indexer = openTurnIndexer(connection)
  const sessions = new Map<string, Session>()
  let row = connection.value<number>('SELECT row + passages FROM turns ORDER BY row DESC LIMIT 1') ?? 0
  for (const [index, { turn, hash, salt, units, ordinal = index, event = eventOfAll }] of prepared.entries()) {
    const session = sessions.get(turn.session) ?? findSession(connection, userId, turn.session)
    sessions.set(turn.session, session)
    const scope = findOrAdd(connection, 'turn_scopes', userId, turn.scope)
    const at = Date.parse(turn.at)
    const journalled = [row, userId, turn.id, event, ordinal, units.length, hash, salt, turn.messageId]
    const placed = [session.id, placeIn(connection, session, at, turn.index), turn.index]
    const said = [roleCode(turn.role), turn.speaker, at, turn.utcOffset, scope, turn.host, originCode(turn.origin)]
    const lengths = units.map(({ length }) => length).join(',')
    // Null for a turn that an earlier version stored and that was not judged yet.
    const doubtful = turn.doubtful === null ? null : JSON.stringify(turn.doubtful)
    const read = [wordsKey(turn), Number(turn.text.includes('?')), lengths, doubtful]
    insert.run(...journalled, ...placed, ...said, ...read)
    insertText.run(row, turn.text)
    yield* indexer.add({ row, scope, units, turn })
    row += units.length
  }
  yield* indexer.finish()
}

export function findOrAdd(
  connection: Connection,
  table: 'sessions' | 'turn_scopes',
  userId: number,
  name: string,
): number {
  const find = `SELECT id FROM ${table} WHERE user_id = ? AND name = ?`
  const add = `INSERT INTO ${table} (user_id, name) VALUES (?, ?) RETURNING id`
  return connection.value<number>(find, [userId, name]) ?? (connection.value(add, [userId, name]) as number)
}

/** A session with the number of its turns and the time of the last one. */
type Session = { readonly id: number; count: number; last: number }

function findSession(connection: Connection, userId: number, name: string): Session {
  const id = findOrAdd(connection, 'sessions', userId, name)
  const end = connection.get<{ count: number; last: number | null }>(
    'SELECT count(*) AS count, max(at) AS last FROM turns WHERE session = ?',
    [id],
  )
  return { id, count: end?.count ?? 0, last: end?.last ?? Number.NEGATIVE_INFINITY }
}

/** The index of a new turn in its session. A late turn shifts the turns after it up by one. */
function placeIn(connection: Connection, session: Session, at: number, index: number | null): number {
  // The place of the first turn that was said later.
  const byTime = (): number =>
    connection.value<number | null>('SELECT min(place) FROM turns WHERE session = ? AND at > ?', [session.id, at]) ?? 0
  const place = index !== null && index < session.count ? index : at >= session.last ? session.count : byTime()
  if (place < session.count)
    connection.run('UPDATE turns SET place = place + 1 WHERE session = ? AND place >= ?', [session.id, place])
  session.count += 1
  session.last = Math.max(session.last, at)
  return place
}

type SpokenTurn = {
  readonly row: number
  readonly scope: number
  readonly turn: Pick<Turn, 'role' | 'origin' | 'text' | 'speaker'>
}

/** Updates the derived tables for written and erased turns. `finish` writes the collected changes in parts. */
export function openTurnIndexer(connection: Connection) {
  const postings = new PostingsDraft<number>()
  const removed = new PostingsDraft<number>()
  const totals = new Map<number, { units: number; length: number; humanWords: number }>()

  function* add({ row, scope, units, turn }: SpokenTurn & { readonly units: readonly IndexedUnit[] }): Generator<void> {
    for (const [passage, unit] of units.entries()) {
      postings.add(scope, row + passage, [unit])
      if ((row + passage + 1) % passagesAtOnce === 0) yield
    }
    count(scope, units, turn, 1)
    if (turn.speaker === null) return
    connection.run(
      `INSERT INTO turn_speakers (scope, name, turns) VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET turns = turns + 1`,
      [scope, turn.speaker],
    )
  }

  function remove({ row, scope, turn }: SpokenTurn): void {
    const units = unitsOf(turn.text)
    removed.add(scope, row, units)
    count(scope, units, turn, -1)
    if (turn.speaker === null) return
    const speaker = [scope, turn.speaker]
    connection.run('UPDATE turn_speakers SET turns = turns - 1 WHERE scope = ? AND name = ?', speaker)
    connection.run('DELETE FROM turn_speakers WHERE scope = ? AND name = ? AND turns <= 0', speaker)
  }

  function* finish(): Generator<void, void> {
    yield* writePostings(connection, postings)
    yield* removePostings(connection, removed)
    const update = connection.statement(
      'UPDATE turn_scopes SET units = units + ?, length = length + ?, human_words = human_words + ? WHERE id = ?',
    )
    for (const [scope, { units, length, humanWords }] of totals) update.run(units, length, humanWords, scope)
    totals.clear()
  }

  function count(scope: number, units: readonly IndexedUnit[], turn: SpokenTurn['turn'], sign: 1 | -1): void {
    const total = totals.get(scope) ?? { units: 0, length: 0, humanWords: 0 }
    totals.set(scope, total)
    total.units += sign * units.length
    total.length += sign * units.reduce((sum, { length }) => sum + length, 0)
    if (turn.role === 'user' && turn.origin === 'person') total.humanWords += sign * wordCount(turn.text, units)
  }

  return { add, remove, finish }
}

/** Fills in `doubtful` for the newest user turns that earlier versions stored without it. Writes nothing if there are none. */
export async function judgeTurns(
  connection: Connection,
  userId: number,
  limit: number,
  judge: (text: string) => readonly TextRange[],
): Promise<boolean> {
  const unjudged = `SELECT turns.row, text FROM turns JOIN turn_texts USING (row)
    WHERE user_id = ? AND doubtful IS NULL AND role = 0 ORDER BY turns.row DESC LIMIT ?`
  const found = connection.read(() => connection.all<{ row: number; text: string }>(unjudged, [userId, limit]))
  const judged = found.map(({ row, text }) => ({ row, doubtful: JSON.stringify(judge(text)) }))
  if (judged.length === 0) return false
  await connection.writeInTurn(() => {
    // A turn may have been forgotten in the meantime.
    const update = connection.statement('UPDATE turns SET doubtful = ? WHERE row = ? AND role = 0')
    for (const { row, doubtful } of judged) update.run(doubtful, row)
  })
  return judged.length === limit
}

/** Removes the texts of turns and keeps only their hashes. False if one of the turns does not exist. Yields after each part. */
export function* eraseTurns(
  connection: Connection,
  { userId, event }: EventOfUser,
  ids: readonly string[],
  firstOrder = 0,
): Generator<void, boolean> {
  const index = openTurnIndexer(connection)
  const sessions = new Set<number>()
  for (const [order, id] of ids.entries()) {
    const found = connection.get<{ row: number; session: number; place: number; scope: number }>(
      'SELECT row, session, place, scope FROM turns WHERE user_id = ? AND id = ? AND session IS NOT NULL',
      [userId, id],
    )
    const turn = found === undefined ? null : readTurn(connection, found.row)
    if (found === undefined || turn === null) return false
    const { row, session, place, scope } = found
    index.remove({ row, scope, turn })
    eraseTurn(connection, row, { event, order: firstOrder + order })
    connection.run('UPDATE turns SET place = place - 1 WHERE session = ? AND place > ?', [session, place])
    sessions.add(session)
    yield
  }
  yield* index.finish()
  const removeEmpty =
    'DELETE FROM sessions WHERE id = ? AND NOT EXISTS (SELECT 1 FROM turns WHERE session = sessions.id)'
  for (const session of sessions) connection.run(removeEmpty, [session])
  return true
}

/** Removes the text of a turn, its feedback, and the salt of its request. */
export function eraseTurn(
  connection: Connection,
  row: number | undefined,
  { event, order }: { readonly event: number; readonly order: number },
): void {
  connection.run('DELETE FROM turn_vectors WHERE item = ?', [row])
  connection.run('DELETE FROM turn_texts WHERE row = ?', [row])
  connection.run('DELETE FROM feedback WHERE (user_id, item) = (SELECT user_id, id FROM turns WHERE row = ?)', [row])
  connection.run('DELETE FROM request_salts WHERE event = (SELECT event FROM turns WHERE row = ?)', [row])
  connection.run(
    `UPDATE turns SET erased_by = ?, erased_order = ?, salt = NULL, session = NULL, place = NULL, given_index = NULL,
     role = NULL, speaker = NULL, at = NULL, utc_offset = NULL, scope = NULL, host = NULL, origin = NULL, key = NULL, asks = NULL,
     lengths = NULL, doubtful = NULL WHERE row = ?`,
    [event, order, row],
  )
}
