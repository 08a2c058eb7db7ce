import { analysisVersion } from '../belief-row.ts'
import type { ChangeRow, EventRow } from '../journal-rows.ts'
import { Connection } from '../sqlite/connection.ts'
import { defaultBusyTimeoutMs, openDatabase } from '../sqlite/database.ts'
import { deriveAgain } from '../sqlite/derivation.ts'
import { openJournal, selectChanges, selectEvents } from '../sqlite/journal.ts'
import { eraseTurn, findOrAdd } from '../sqlite/turns/turn-writing.ts'
import {
  type JournalRecord,
  type JournalTransfer,
  readAccess,
  recordOf,
  replacing,
  selectTurn,
  type TurnRow,
  turnColumns,
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
        `SELECT ${selectTurn({ id: 'turns.id', session: 'sessions.name', scope: 'turn_scopes.name' })}
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
    const journal = openJournal(connection)
    const idIn = (table: 'sessions' | 'turn_scopes', name: string | null): number | null =>
      name === null ? null : findOrAdd(connection, table, userId, name)
    for (const record of records) {
      if (record.number <= count) continue
      count = record.number
      const undoes = record.undoes === null ? null : (numbersOf(userId, record.undoes - 1, 1)[0] ?? null)
      const { kind, actor, origin, at, key, changesHash, changes } = record
      const event = { user, kind, actor, origin, at, key, undoes }
      const { number } = journal.write(userId, event, changesHash, changes)
      for (const [ordinal, turn] of record.turns.entries()) {
        const row = connection.value<number>('SELECT row + passages FROM turns ORDER BY row DESC LIMIT 1') ?? 0
        const ids = { session: idIn('sessions', turn.session), scope: idIn('turn_scopes', turn.scope) }
        const said = { ...turn, ...ids, asks: turn.asks === null ? null : Number(turn.asks) }
        connection.run(insertTurn, [row, userId, number, ordinal, ...ownColumns.map((column) => said[column])])
        if (turn.text !== null) connection.run('INSERT INTO turn_texts (row, text) VALUES (?, ?)', [row, turn.text])
      }
      for (const [order, id] of record.erasedTurns.entries()) {
        const row = connection.value<number>('SELECT row FROM turns WHERE user_id = ? AND id = ?', [userId, id])
        eraseTurn(connection, row, { event: number, order })
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

/** Texts are in a table of their own. */
const ownColumns = turnColumns.filter((column) => column !== 'text')
const insertTurn = `INSERT INTO turns (row, user_id, event, ordinal, ${ownColumns.join(', ')})
  VALUES (?, ?, ?, ?, ${ownColumns.map(() => '?').join(', ')})`

/** A statement for PostgreSQL as one for SQLite, whose tables are in no schema. */
const ofFile = (sql: string): string => sql.replaceAll('credence.', '')
