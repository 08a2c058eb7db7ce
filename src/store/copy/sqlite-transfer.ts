import { analysisVersion } from '../belief-row.ts'
import { hashEvent } from '../journal-chain.ts'
import type { ChangeRow, EventRow } from '../journal-rows.ts'
import { Connection } from '../sqlite/connection.ts'
import { defaultBusyTimeoutMs, openDatabase } from '../sqlite/database.ts'
import { deriveAgain } from '../sqlite/derivation.ts'
import { Journal, selectChanges, selectEvents } from '../sqlite/journal.ts'
import {
  type JournalRecord,
  type JournalTransfer,
  readAccess,
  recordOf,
  replacing,
  type TurnRow,
} from './journal-transfer.ts'

/** The journal of a SQLite store that is not open in this process. Reading it changes nothing. */
export function openSqliteTransfer(file: string, isReadonly: boolean): JournalTransfer {
  const open = () => openDatabase({ file, readonly: isReadonly })
  const connection = new Connection({ file, isReadonly, busyTimeoutMs: defaultBusyTimeoutMs, open })
  const idOf = (user: string): number | null =>
    connection.value<number>('SELECT id FROM users WHERE name = ?', [user]) ?? null
  const countOf = (id: number | null): number =>
    connection.value<number>('SELECT count(*) FROM events WHERE user_id = ?', [id]) ?? 0
  /** The numbers of a user's events in the file: the place in the list is the number that counts the user's events alone. */
  const numbersOf = (id: number | null, after: number, limit: number): readonly number[] =>
    connection.column<number>('SELECT number FROM events WHERE user_id = ? ORDER BY number LIMIT ? OFFSET ?', [
      id,
      limit,
      after,
    ])

  function read(user: string, after: number, limit: number): readonly JournalRecord[] {
    const id = idOf(user)
    const ownNumber = (number: number | null): number | null =>
      number === null
        ? null
        : (connection.value<number>('SELECT count(*) FROM events WHERE user_id = ? AND number <= ?', [id, number]) ?? 0)
    return numbersOf(id, after, limit).map((number, at) => {
      const event = connection.get<EventRow>(`${selectEvents} WHERE number = ?`, [number]) as EventRow
      const changes = connection.all<ChangeRow>(`${selectChanges} WHERE event = ? ORDER BY ordinal`, [number])
      const turns = connection.all<TurnRow>(
        `SELECT turns.id, passages, hash, salt, message_id, sessions.name AS session, place, given_index, role, speaker, at,
           turn_scopes.name AS scope, host, origin, key, asks, lengths, text
         FROM turns LEFT JOIN sessions ON sessions.id = turns.session LEFT JOIN turn_scopes ON turn_scopes.id = turns.scope
         LEFT JOIN turn_texts ON turn_texts.row = turns.row WHERE event = ? ORDER BY ordinal`,
        [number],
      )
      const own = { ...event, number: after + at + 1, undoes: ownNumber(event.undoes) }
      return recordOf(own, {
        requestSalt: connection.value<Buffer>('SELECT salt FROM request_salts WHERE event = ?', [number]) ?? null,
        changes,
        turns,
        erasedTurns: connection.column<string>('SELECT id FROM turns WHERE erased_by = ? ORDER BY erased_order', [
          number,
        ]),
      })
    })
  }

  function append(user: string, records: readonly JournalRecord[]): void {
    const userId =
      idOf(user) ?? (connection.value('INSERT INTO users (name) VALUES (?) RETURNING id', [user]) as number)
    let count = countOf(userId)
    const findOrAdd = (table: 'sessions' | 'turn_scopes', name: string): number =>
      connection.value<number>(`SELECT id FROM ${table} WHERE user_id = ? AND name = ?`, [userId, name]) ??
      (connection.value(`INSERT INTO ${table} (user_id, name) VALUES (?, ?) RETURNING id`, [userId, name]) as number)
    for (const record of records) {
      if (record.number <= count) continue
      const { kind, actor, origin, at, key, fingerprint, changesHash } = record
      const head = new Journal(connection).head()
      const number = head.number + 1
      const undoes = record.undoes === null ? null : (numbersOf(userId, record.undoes - 1, 1)[0] ?? null)
      const sealedKey = key === null ? null : { value: key, fingerprint: fingerprint ?? '' }
      const fields = { number, user, kind, actor, origin, at, key: sealedKey, undoes }
      const hash = hashEvent(fields as Parameters<typeof hashEvent>[0], changesHash, head.hash)
      count = record.number
      connection.run(
        `INSERT INTO events (number, user_id, kind, actor, origin, at, key, fingerprint, undoes, changes_hash, previous_hash, hash)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        [number, userId, kind, actor, origin, at, key, fingerprint, undoes, changesHash, head.hash, hash],
      )
      if (record.requestSalt !== null)
        connection.run('INSERT INTO request_salts (event, salt) VALUES (?, ?)', [number, record.requestSalt])
      for (const [ordinal, { beliefId, version, outcome, bodyHash, salt, body }] of record.changes.entries()) {
        if (outcome === 'erased') {
          connection.run(
            'DELETE FROM request_salts WHERE event IN (SELECT event FROM changes WHERE user_id = ? AND belief_id = ?)',
            [userId, beliefId],
          )
          connection.run(
            'UPDATE changes SET salt = NULL, body = NULL WHERE user_id = ? AND belief_id = ? AND body IS NOT NULL',
            [userId, beliefId],
          )
        }
        connection.run(
          `INSERT INTO changes (event, ordinal, user_id, belief_id, version, outcome, body_hash, salt, body)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
          [number, ordinal, userId, beliefId, version, outcome, bodyHash, salt, body],
        )
      }
      for (const [ordinal, { id, passages, hash: turnHash, salt, messageId, said }] of record.turns.entries()) {
        const row = connection.value<number>('SELECT row + passages FROM turns ORDER BY row DESC LIMIT 1') ?? 0
        const place =
          said === null
            ? Array(12).fill(null)
            : [
                findOrAdd('sessions', said.session),
                said.place,
                said.givenIndex,
                said.role,
                said.speaker,
                said.at,
                findOrAdd('turn_scopes', said.scope),
                said.host,
                said.origin,
                said.key,
                Number(said.asks),
                said.lengths,
              ]
        connection.run(
          `INSERT INTO turns (row, user_id, id, event, ordinal, passages, hash, salt, message_id, session, place, given_index,
             role, speaker, at, scope, host, origin, key, asks, lengths)
           VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
          [row, userId, id, number, ordinal, passages, turnHash, salt, messageId, ...place],
        )
        if (said !== null) connection.run('INSERT INTO turn_texts (row, text) VALUES (?, ?)', [row, said.text])
      }
      for (const [order, id] of record.erasedTurns.entries()) {
        const row = connection.value<number>('SELECT row FROM turns WHERE user_id = ? AND id = ?', [userId, id])
        connection.run('DELETE FROM turn_vectors WHERE row = ?', [row])
        connection.run('DELETE FROM request_salts WHERE event = (SELECT event FROM turns WHERE row = ?)', [row])
        connection.run('DELETE FROM turn_texts WHERE row = ?', [row])
        connection.run(
          `UPDATE turns SET erased_by = ?, erased_order = ?, salt = NULL, session = NULL, place = NULL, given_index = NULL,
             role = NULL, speaker = NULL, at = NULL, scope = NULL, host = NULL, origin = NULL, key = NULL, asks = NULL,
             lengths = NULL WHERE row = ?`,
          [number, order, row],
        )
      }
    }
    // Whoever opens the store next derives it again.
    connection.run('INSERT OR REPLACE INTO derivation (id, analysis) VALUES (1, ?)', ['a copy is under way'])
  }

  return {
    users: async () =>
      connection.column<string>(
        'SELECT name FROM users WHERE EXISTS (SELECT 1 FROM events WHERE user_id = users.id) ORDER BY name',
      ),
    count: async (user) => countOf(idOf(user)),
    read: async (user, after, limit) => connection.read(() => read(user, after, limit)),
    append: async (user, records) => connection.write(() => append(user, records)),
    places: async (user) => {
      const rows = connection.all<{ id: string; place: number }>(
        'SELECT id, place FROM turns WHERE user_id = ? AND place IS NOT NULL',
        [idOf(user)],
      )
      return new Map(rows.map(({ id, place }) => [id, place]))
    },
    finish: async (user, places) =>
      connection.write(() => {
        const move = connection.statement('UPDATE turns SET place = ? WHERE user_id = ? AND id = ? AND place <> ?')
        for (const [id, place] of places) move.run(place, idOf(user), id, place)
      }),
    complete: async () => connection.write(() => deriveAgain(connection, analysisVersion)),
    access: () => readAccess(async (sql) => connection.read(() => connection.all(ofFile(sql)))),
    replaceAccess: async (rows) =>
      connection.write(() => {
        for (const [sql, values] of replacing(rows)) connection.run(ofFile(sql).replaceAll(/\$\d+/gu, '?'), values)
      }),
    close: async () => connection.close(),
  }
}

/** A statement for PostgreSQL as one for SQLite, whose tables are in no schema. */
const ofFile = (sql: string): string => sql.replaceAll('credence.', '')
