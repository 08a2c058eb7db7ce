import type { CommitResult } from '../../beliefs/belief-store.ts'
import type { Commit } from '../../beliefs/journal.ts'
import type { RecallCount } from '../../beliefs/recall-counts.ts'
import { runToEnd } from '../../next-turn.ts'
import { unitsOf } from '../../search/turns/passages.ts'
import { parseBody } from '../belief-row.ts'
import {
  isErasing,
  type JournalRecord,
  type JournalTurnRow,
  newTurnOf,
  recordOf,
  selectTurn,
  type TurnPlaces,
} from '../journal-record.ts'
import type { ChangeRow, EventRow } from '../journal-rows.ts'
import { noteRemains, scrubSoon } from './care/scrub.ts'
import { type Committing, commitPrepared, prepareCommit, projectChanges, StaleCommit } from './commit.ts'
import { openJournal, selectChanges, selectEvents } from './journal.ts'
import { eraseTurn, eraseTurns, insertTurns } from './turns/turn-writing.ts'

/** Rolls back the transaction in which a commit was decided. */
class Decided extends Error {
  readonly result: CommitResult
  readonly record: JournalRecord | null

  constructor(result: CommitResult, record: JournalRecord | null) {
    super('A decision is no error.')
    this.result = result
    this.record = record
  }
}

/** The journal of a store as records. Every call is a separate transaction, or part of the caller's snapshot. */
export function openJournalRecords(committing: Committing) {
  const { connection, users } = committing
  const journal = openJournal(connection)
  /** Whether the store has a single user. Then the number of an event in the file is also its number for the user. */
  const isOnlyUser = (): boolean => connection.value<number>('SELECT count(*) FROM users') === 1
  const countOf = (id: number | null): number =>
    id !== null && isOnlyUser()
      ? journal.head().number
      : (connection.value<number>('SELECT count(*) FROM events WHERE user_id = ?', [id]) ?? 0)
  /** The numbers that a user's events have in the file, in order. The position of an event is its number for the user. */
  const numbersOf = (id: number | null, after: number, limit: number): readonly number[] =>
    connection.column<number>('SELECT number FROM events WHERE user_id = ? ORDER BY number LIMIT ? OFFSET ?', [
      id,
      limit,
      after,
    ])
  const ownNumber = (id: number, number: number): number =>
    isOnlyUser()
      ? number
      : (connection.value<number>('SELECT count(*) FROM events WHERE user_id = ? AND number <= ?', [id, number]) ?? 0)

  function recordAt(userId: number, number: number): JournalRecord {
    const event = connection.get<EventRow>(`${selectEvents} WHERE number = ?`, [number]) as EventRow
    const turns = connection.all<JournalTurnRow>(
      `SELECT ${selectTurn({ id: 'turns.id', session: 'sessions.name', scope: 'turn_scopes.name' })}
       FROM turns LEFT JOIN sessions ON sessions.id = turns.session LEFT JOIN turn_scopes ON turn_scopes.id = turns.scope
       LEFT JOIN turn_texts ON turn_texts.row = turns.row WHERE event = ? ORDER BY ordinal`,
      [number],
    )
    const undoes = event.undoes === null ? null : ownNumber(userId, event.undoes)
    return recordOf(
      { ...event, number: ownNumber(userId, number), undoes },
      {
        requestSalt: connection.value<Uint8Array>('SELECT salt FROM request_salts WHERE event = ?', [number]) ?? null,
        changes: connection.all<ChangeRow>(`${selectChanges} WHERE event = ? ORDER BY ordinal`, [number]),
        turns,
        erasedTurns: connection.column<string>('SELECT id FROM turns WHERE erased_by = ? ORDER BY erased_order', [
          number,
        ]),
      },
    )
  }

  /** Writes an event that was committed elsewhere, and updates every derived table. */
  function apply(user: string, userId: number, record: JournalRecord): void {
    const changes = record.changes.map(({ beliefId, version, outcome, body }) => {
      const change = { beliefId, expectedVersion: version - 1 }
      // The text is null if the belief was forgotten later; a later event in the journal erases the belief.
      return outcome === 'present' && body !== null
        ? ({ ...change, outcome, after: parseBody(body) } as const)
        : ({ ...change, outcome: outcome === 'erased' ? outcome : 'absent', after: null } as const)
    })
    runToEnd(projectChanges(connection, userId, changes))
    const undoes = record.undoes === null ? null : (numbersOf(userId, record.undoes - 1, 1)[0] ?? null)
    const { kind, actor, origin, at, key } = record
    const event = { user, kind, actor, origin, at, key, undoes }
    const { number } = journal.write(userId, event, record.changesHash, record.changes)
    const turns = record.turns.map((row, ordinal) => ({ row, ordinal }))
    const inserted = insertTurns(
      connection,
      { userId, event: number },
      turns.flatMap(({ row, ordinal }) => {
        if (row.text === null) return []
        const turn = newTurnOf(user, row)
        return [{ id: turn.id, turn, hash: row.hash, salt: row.salt, units: unitsOf(row.text), ordinal }]
      }),
    )
    runToEnd(inserted)
    for (const { row, ordinal } of turns) if (row.text === null) insertErasedTurn(userId, number, ordinal, row)
    for (const [order, id] of record.erasedTurns.entries()) {
      if (runToEnd(eraseTurns(connection, { userId, event: number }, [id], order))) continue
      const row = connection.value<number>('SELECT row FROM turns WHERE user_id = ? AND id = ?', [userId, id])
      eraseTurn(connection, row, { event: number, order })
    }
    if (isErasing(record)) noteRemains(connection, number)
  }

  /** Inserts a turn that was forgotten later, without its text. */
  function insertErasedTurn(userId: number, event: number, ordinal: number, turn: JournalTurnRow): void {
    connection.run(
      `INSERT INTO turns (row, user_id, event, ordinal, id, passages, hash, message_id)
       VALUES (ifnull((SELECT row + passages FROM turns ORDER BY row DESC LIMIT 1), 0), ?, ?, ?, ?, ?, ?, ?)`,
      [userId, event, ordinal, turn.id, turn.passages, turn.hash, turn.message_id],
    )
  }

  function movePlaces(userId: number | null, places: TurnPlaces): void {
    const move = connection.statement('UPDATE turns SET place = ? WHERE user_id = ? AND id = ? AND place <> ?')
    for (const [id, place] of places) move.run(place, userId, id, place)
  }

  return {
    users: () =>
      connection.column<string>(
        'SELECT name FROM users WHERE EXISTS (SELECT 1 FROM events WHERE user_id = users.id) ORDER BY name',
      ),
    count: (user: string) => countOf(users.find(user)),
    /** Number and hash of the newest event in the file. */
    head: () => connection.read(journal.head),
    read: (user: string, after: number, limit: number): readonly JournalRecord[] =>
      connection.read(() => {
        const userId = users.find(user)
        return userId === null ? [] : numbersOf(userId, after, limit).map((number) => recordAt(userId, number))
      }),
    /** Skips events that are already stored. */
    async append(user: string, records: readonly JournalRecord[], places: TurnPlaces = new Map()): Promise<void> {
      connection.write(() => {
        const userId = users.findOrAdd(user)
        const count = countOf(userId)
        for (const record of records) if (record.number > count) apply(user, userId, record)
        if (places.size === 0) return
        // `places` are those after the last record, so there must be no later event.
        const { number } = journal.head()
        if (number !== (records.at(-1)?.number ?? number)) throw new Error('Later events are there already.')
        movePlaces(userId, places)
      })
      // Scrubs large files too, because `doctor`, which would do it later, is never run on a local copy.
      if (records.some(isErasing)) await scrubSoon(connection, { ifSmall: false })
    },
    places: (user: string): TurnPlaces =>
      new Map(
        connection
          .all<{ id: string; place: number }>('SELECT id, place FROM turns WHERE user_id = ? AND place IS NOT NULL', [
            users.find(user),
          ])
          .map(({ id, place }) => [id, place]),
      ),
    setPlaces: (user: string, places: TurnPlaces): void => connection.write(() => movePlaces(users.find(user), places)),
    /** Decides a commit without changing the store. Returns the record that the commit would add to the journal, if any. */
    decide(commit: Commit): { readonly result: CommitResult; readonly record: JournalRecord | null } {
      const prepared = prepareCommit(committing, commit)
      try {
        return connection.write(() => {
          const result = commitPrepared(committing, commit, prepared)
          if (result.outcome !== 'committed') throw new Decided(result, null)
          throw new Decided(result, recordAt(users.findOrAdd(commit.user), result.event.number))
        })
      } catch (error) {
        if (error instanceof Decided) return error
        if (error instanceof StaleCommit) return { result: { outcome: 'stale' }, record: null }
        throw error
      }
    },
    /** Replaces the recall counts, by which lists can be sorted. */
    setRecallCounts(user: string, counts: ReadonlyMap<string, RecallCount>): void {
      connection.write(() => {
        const userId = users.findOrAdd(user)
        connection.run('DELETE FROM recall_counts WHERE user_id = ?', [userId])
        const rows = [...counts].map(([belief, { count, lastAt }]) => [userId, belief, count, lastAt])
        connection.insertMany('recall_counts (user_id, belief, count, last_at)', rows)
      })
    },
    /** Reads people, tokens or teams. */
    readAccess: (sql: string) => connection.read(() => connection.all<Readonly<Record<string, string | null>>>(sql)),
    /** Runs statements on people, tokens and teams in one transaction. */
    writeAccess: (statements: readonly (readonly [sql: string, values: readonly unknown[]])[]): void =>
      connection.write(() => {
        for (const [sql, values] of statements) connection.run(sql, values)
      }),
    /** Sets a PRAGMA until the connection is closed. */
    setPragma: (pragma: string): void => connection.outsideTransaction(() => void connection.run(`PRAGMA ${pragma}`)),
    /** Writes a compact copy of the store to a new file. */
    copyTo: (file: string): void => connection.outsideTransaction(() => void connection.run('VACUUM INTO ?', [file])),
  }
}

export type SqliteRecords = ReturnType<typeof openJournalRecords>
