import { hash as digest } from 'node:crypto'
import { isSameTurn, type NewTurn, type Turn, turnOrigins, turnRoles } from '../../beliefs/turn.ts'
import { type IndexedUnit, unitsOf, wordCount } from '../../search/turns/passages.ts'
import type { TurnVectors } from '../../search/turns/turn-index.ts'
import { hashBody, type SealedTurn, saltBytes, turnBody } from '../journal-hash.ts'
import type { Connection } from './connection.ts'
import { readTurn } from './turn-lookups.ts'
import { PostingsDraft, removePostings } from './turn-postings.ts'

/** A turn with everything that can be worked out before the store is locked. */
export type PreparedTurn = SealedTurn & {
  readonly turn: NewTurn
  readonly hash: Uint8Array
  readonly salt: Uint8Array
  readonly units: readonly IndexedUnit[]
}

export function prepareTurns(
  turns: readonly NewTurn[],
  random: (bytes: number) => Uint8Array,
): readonly PreparedTurn[] {
  const salts = random(saltBytes * turns.length)
  return turns.map((turn, place) => {
    const salt = salts.subarray(place * saltBytes, (place + 1) * saltBytes)
    return { id: turn.id, turn, salt, hash: hashBody(salt, turnBody(turn)), units: unitsOf(turn.text) }
  })
}

/** Equal for turns with the same session, role and words. */
const wordsKey = ({ session, role, text }: Pick<NewTurn, 'session' | 'role' | 'text'>): Buffer =>
  digest('sha256', JSON.stringify([session, role, text]), 'buffer').subarray(0, 8)

/** For each turn the row of the stored turn that it is, or null. No stored turn is meant twice. */
export function findKnown(
  connection: Connection,
  userId: number,
  turns: readonly NewTurn[],
): readonly (number | null)[] {
  const byMessage = connection.statement<[number, string], { row: number; session: number | null }>(
    'SELECT row, session FROM turns WHERE user_id = ? AND message_id = ?',
  )
  const byWords = connection.statement<[number, Buffer], { row: number }>(
    'SELECT row FROM turns WHERE user_id = ? AND key = ? ORDER BY row',
  )
  const taken = new Set<number>()
  const lastSaid = new Map<string, string | null>()
  return turns.map((turn) => {
    const previous = lastSaid.has(turn.session)
      ? (lastSaid.get(turn.session) ?? null)
      : lastUserText(connection, userId, turn.session, turn.at)
    if (turn.role === 'user') lastSaid.set(turn.session, turn.text)
    const sameMessage = turn.messageId === null ? undefined : byMessage.get(userId, turn.messageId)
    if (sameMessage !== undefined) {
      taken.add(sameMessage.row)
      return sameMessage.row
    }
    const own = { messageId: turn.messageId, index: turn.index, at: turn.at, previous }
    for (const { row } of byWords.all(userId, wordsKey(turn))) {
      if (taken.has(row) || !isSameTurn(own, identityAt(connection, row))) continue
      taken.add(row)
      return row
    }
    return null
  })
}

function identityAt(connection: Connection, row: number) {
  const found = connection
    .statement<
      [number],
      { message_id: string | null; given_index: number | null; at: number; session: number; place: number }
    >('SELECT message_id, given_index, at, session, place FROM turns WHERE row = ?')
    .get(row)
  const { message_id = null, given_index = null, at = 0, session = 0, place = 0 } = found ?? {}
  const previous = connection
    .statement<[number, number], { text: string }>(
      `SELECT text FROM turns JOIN turn_texts USING (row) WHERE session = ? AND place < ? AND role = 0
       ORDER BY place DESC LIMIT 1`,
    )
    .get(session, place)
  return {
    messageId: message_id,
    index: given_index,
    at: new Date(at).toISOString(),
    previous: previous?.text ?? null,
  }
}

function lastUserText(connection: Connection, userId: number, session: string, at: string): string | null {
  return (
    connection
      .statement<[number, string, number], { text: string }>(
        `SELECT text FROM turns JOIN turn_texts USING (row)
         WHERE session = (SELECT id FROM sessions WHERE user_id = ? AND name = ?) AND role = 0 AND at < ?
         ORDER BY place DESC LIMIT 1`,
      )
      .get(userId, session, Date.parse(at))?.text ?? null
  )
}

/** Writes turns of one event and brings the index up to date, inside the caller's transaction. */
export function insertTurns(
  connection: Connection,
  { userId, event }: { readonly userId: number; readonly event: number },
  prepared: readonly PreparedTurn[],
): void {
  const insert = connection.statement<unknown[]>(
    `INSERT INTO turns (row, user_id, id, event, ordinal, passages, hash, salt, message_id, session, place, given_index,
       role, speaker, at, scope, host, origin, key, asks, lengths)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const insertText = connection.statement<[number, string]>('INSERT INTO turn_texts (row, text) VALUES (?, ?)')
  const index = new TurnIndexer(connection)
  const names = new Names(connection, userId)
  const order = new SessionOrder(connection)
  let row = nextRow(connection)
  for (const [ordinal, { turn, hash, salt, units }] of prepared.entries()) {
    const session = names.session(turn.session)
    const scope = names.scope(turn.scope)
    const at = Date.parse(turn.at)
    insert.run(
      row,
      userId,
      turn.id,
      event,
      ordinal,
      units.length,
      hash,
      salt,
      turn.messageId,
      session,
      order.placeFor(session, at, turn.index),
      turn.index,
      turnRoles.indexOf(turn.role),
      turn.speaker,
      at,
      scope,
      turn.host,
      turnOrigins.indexOf(turn.origin),
      wordsKey(turn),
      Number(turn.text.includes('?')),
      units.map(({ length }) => length).join(','),
    )
    insertText.run(row, turn.text)
    index.add({ row, scope, units, turn })
    row += units.length
  }
  index.finish()
}

const nextRow = (connection: Connection): number => {
  const last = connection
    .statement<[], { row: number; passages: number }>('SELECT row, passages FROM turns ORDER BY row DESC LIMIT 1')
    .get()
  return last === undefined ? 0 : last.row + last.passages
}

/** Brings the derived tables up to date with turns that were written. */
export class TurnIndexer {
  readonly #connection: Connection
  readonly #postings = new PostingsDraft()
  readonly #totals = new Map<number, { units: number; length: number; humanWords: number }>()

  constructor(connection: Connection) {
    this.#connection = connection
  }

  add({
    row,
    scope,
    units,
    turn,
  }: {
    readonly row: number
    readonly scope: number
    readonly units: readonly IndexedUnit[]
    readonly turn: Pick<Turn, 'role' | 'origin' | 'text' | 'speaker'>
  }): void {
    this.#postings.add(scope, row, units)
    this.#count(scope, units, turn, 1)
    if (turn.speaker !== null) {
      this.#connection
        .statement<[number, string]>(
          `INSERT INTO turn_speakers (scope, name, turns) VALUES (?, ?, 1) ON CONFLICT DO UPDATE SET turns = turns + 1`,
        )
        .run(scope, turn.speaker)
    }
  }

  remove({ row, scope, turn }: { readonly row: number; readonly scope: number; readonly turn: Turn }): void {
    const units = unitsOf(turn.text)
    removePostings(this.#connection, scope, row, units)
    this.#count(scope, units, turn, -1)
    if (turn.speaker === null) return
    this.#connection
      .statement<[number, string]>('UPDATE turn_speakers SET turns = turns - 1 WHERE scope = ? AND name = ?')
      .run(scope, turn.speaker)
    this.#connection
      .statement<[number, string]>('DELETE FROM turn_speakers WHERE scope = ? AND name = ? AND turns <= 0')
      .run(scope, turn.speaker)
  }

  finish(): void {
    this.#postings.write(this.#connection)
    const update = this.#connection.statement<[number, number, number, number]>(
      'UPDATE turn_scopes SET units = units + ?, length = length + ?, human_words = human_words + ? WHERE id = ?',
    )
    for (const [scope, { units, length, humanWords }] of this.#totals) update.run(units, length, humanWords, scope)
    this.#totals.clear()
  }

  #count(
    scope: number,
    units: readonly IndexedUnit[],
    { role, origin, text }: Pick<Turn, 'role' | 'origin' | 'text'>,
    sign: 1 | -1,
  ): void {
    const total = this.#totals.get(scope) ?? { units: 0, length: 0, humanWords: 0 }
    this.#totals.set(scope, total)
    total.units += sign * units.length
    total.length += sign * units.reduce((sum, { length }) => sum + length, 0)
    if (role === 'user' && origin === 'person') total.humanWords += sign * wordCount(text)
  }
}

/** Keeps what sentences of turns mean, where the turns are still there. */
export function insertVectors(
  connection: Connection,
  userId: number,
  model: string,
  vectors: readonly TurnVectors[],
): void {
  const insert = connection.statement<[number, string, Buffer, number, number]>(
    `INSERT OR REPLACE INTO turn_vectors (row, model, vectors)
     SELECT ?, ?, ? WHERE EXISTS (SELECT 1 FROM turns WHERE row = ? AND user_id = ? AND session IS NOT NULL)`,
  )
  for (const { row, vectors: bytes } of vectors)
    insert.run(row, model, Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), row, userId)
}

/** Removes every text of turns; only their hashes stay. */
export function eraseTurns(
  connection: Connection,
  { userId, event }: { readonly userId: number; readonly event: number },
  ids: readonly string[],
): boolean {
  const index = new TurnIndexer(connection)
  const sessions = new Set<number>()
  for (const [order, id] of ids.entries()) {
    const found = connection
      .statement<[number, string], { row: number; session: number; place: number; scope: number }>(
        'SELECT row, session, place, scope FROM turns WHERE user_id = ? AND id = ? AND session IS NOT NULL',
      )
      .get(userId, id)
    const turn = found === undefined ? null : readTurn(connection, found.row)
    if (found === undefined || turn === null) return false
    index.remove({ row: found.row, scope: found.scope, turn })
    connection.statement<[number]>('DELETE FROM turn_vectors WHERE row = ?').run(found.row)
    connection.statement<[number]>('DELETE FROM turn_texts WHERE row = ?').run(found.row)
    connection
      .statement<[number, number, number]>(
        `UPDATE turns SET erased_by = ?, erased_order = ?, salt = NULL, session = NULL, place = NULL, given_index = NULL, role = NULL,
         speaker = NULL, at = NULL, scope = NULL, host = NULL, origin = NULL, key = NULL, asks = NULL, lengths = NULL
         WHERE row = ?`,
      )
      .run(event, order, found.row)
    connection
      .statement<[number, number]>('UPDATE turns SET place = place - 1 WHERE session = ? AND place > ?')
      .run(found.session, found.place)
    sessions.add(found.session)
  }
  index.finish()
  const removeEmpty = connection.statement<[number]>(
    'DELETE FROM sessions WHERE id = ? AND NOT EXISTS (SELECT 1 FROM turns WHERE session = sessions.id)',
  )
  for (const session of sessions) removeEmpty.run(session)
  return true
}

/** Numbers of the sessions and scopes of one user, made when they are first met. */
class Names {
  readonly #connection: Connection
  readonly #userId: number
  readonly #known = new Map<string, number>()

  constructor(connection: Connection, userId: number) {
    this.#connection = connection
    this.#userId = userId
  }

  session(name: string): number {
    return this.#number('sessions', name)
  }

  scope(name: string): number {
    return this.#number('turn_scopes', name)
  }

  #number(table: 'sessions' | 'turn_scopes', name: string): number {
    const key = `${table} ${name}`
    const known = this.#known.get(key)
    if (known !== undefined) return known
    const found = this.#connection
      .statement<[number, string], { id: number }>(`SELECT id FROM ${table} WHERE user_id = ? AND name = ?`)
      .get(this.#userId, name)
    const id =
      found?.id ??
      Number(
        this.#connection
          .statement<[number, string]>(`INSERT INTO ${table} (user_id, name) VALUES (?, ?)`)
          .run(this.#userId, name).lastInsertRowid,
      )
    this.#known.set(key, id)
    return id
  }
}

/** Finds the place of a new turn in its session, and makes room for one that comes late. */
class SessionOrder {
  readonly #connection: Connection
  readonly #ends = new Map<number, { count: number; last: number }>()

  constructor(connection: Connection) {
    this.#connection = connection
  }

  placeFor(session: number, at: number, index: number | null): number {
    const end = this.#ends.get(session) ?? this.#endOf(session)
    this.#ends.set(session, end)
    const place = index !== null && index < end.count ? index : at >= end.last ? end.count : this.#placeAt(session, at)
    if (place < end.count) {
      this.#connection
        .statement<[number, number]>('UPDATE turns SET place = place + 1 WHERE session = ? AND place >= ?')
        .run(session, place)
    }
    end.count += 1
    end.last = Math.max(end.last, at)
    return place
  }

  #endOf(session: number): { count: number; last: number } {
    const end = this.#connection
      .statement<[number], { count: number; last: number | null }>(
        'SELECT count(*) AS count, max(at) AS last FROM turns WHERE session = ?',
      )
      .get(session)
    return { count: end?.count ?? 0, last: end?.last ?? Number.NEGATIVE_INFINITY }
  }

  /** Before the first turn that was said later. */
  #placeAt(session: number, at: number): number {
    return (
      this.#connection
        .statement<[number, number], { place: number | null }>(
          'SELECT min(place) AS place FROM turns WHERE session = ? AND at > ?',
        )
        .get(session, at)?.place ?? 0
    )
  }
}
