import type { EventPage } from '../../beliefs/belief-store.ts'
import {
  type BeliefRevision,
  type Commit,
  type IdempotencyKey,
  type JournalEntry,
  type JournalEvent,
  maxListedBeliefs,
} from '../../beliefs/journal.ts'
import {
  beforeFirst,
  findUndo,
  hashChanges,
  hashEvent,
  requireSameRequest,
  type SealedEvent,
  type SealedKey,
  type SealedTurn,
  toHex,
  type WrittenChange,
} from '../journal-chain.ts'
import { type ChangeRow, type EventRow, eventOf, revisionOf } from '../journal-rows.ts'
import type { Connection } from './connection.ts'

export type OwnEventRow = EventRow & { readonly user: string; readonly user_id: number }
export type OwnChangeRow = ChangeRow & { readonly user_id: number }

export const selectEvents = `SELECT number, users.name AS user, user_id, kind, actor, origin, at, key, fingerprint, undoes,
  changes_hash, previous_hash, hash FROM events JOIN users ON users.id = events.user_id`

export const selectChanges = `SELECT event, user_id, belief_id AS belief, version, outcome, body_hash, salt, body FROM changes`

/** The append-only record of all events. Everything here runs inside the caller's transaction. */
export function openJournal(connection: Connection) {
  /** Newest first. */
  function events(userId: number, { limit, before, hearing = false }: EventPage): readonly JournalEntry[] {
    return connection
      .all<OwnEventRow>(
        `${selectEvents} WHERE user_id = ? AND number < ? AND (? OR kind <> 'hear') ORDER BY number DESC LIMIT ?`,
        [userId, before ?? Number.MAX_SAFE_INTEGER, Number(hearing), limit],
      )
      .map((row) => entryOf(row))
  }

  function eventAt(userId: number, number: number): JournalEvent | null {
    const row = rowAt(userId, number)
    return row === undefined ? null : wholeEvent(row)
  }

  function eventByKey(userId: number, key: IdempotencyKey): JournalEvent | null {
    const row = connection.get<OwnEventRow>(`${selectEvents} WHERE user_id = ? AND key = ?`, [userId, key.value])
    if (row === undefined) return null
    const salt = connection.value<Uint8Array>('SELECT salt FROM request_salts WHERE event = ?', [row.number]) ?? null
    requireSameRequest(key, { fingerprint: row.fingerprint ?? '', salt })
    return wholeEvent(row)
  }

  function lastUndoable(userId: number): JournalEvent | null {
    const candidates = `SELECT number FROM events WHERE user_id = ? AND undoes IS NULL AND kind NOT IN ('undo', 'hear')
      ORDER BY number DESC`
    for (const { number } of connection.iterate<{ number: number }>(candidates, [userId])) {
      if (undoOf(number) === null) return eventAt(userId, number)
    }
    return null
  }

  function history(userId: number, beliefId: string): readonly BeliefRevision[] {
    return connection
      .all<ChangeRow>(`${selectChanges} WHERE user_id = ? AND belief_id = ? ORDER BY event`, [userId, beliefId])
      .flatMap((row) => {
        const event = rowAt(userId, row.event)
        return event === undefined ? [] : [revisionOf(connection.file, entryOf(event), row)]
      })
  }

  function revisions(userId: number, number: number): readonly BeliefRevision[] {
    const row = rowAt(userId, number)
    if (row === undefined) return []
    const event = entryOf(row)
    const changes = connection.all<ChangeRow>(`${selectChanges} WHERE event = ? ORDER BY ordinal`, [number])
    return changes.map((change) => revisionOf(connection.file, event, change))
  }

  /** The version of a belief after its last change; 0 if there was none. */
  function versionOf(userId: number, beliefId: string): number {
    const newest = 'SELECT version FROM changes WHERE user_id = ? AND belief_id = ? ORDER BY event DESC LIMIT 1'
    return connection.value<number>(newest, [userId, beliefId]) ?? 0
  }

  function newestEvent(): { readonly number: number; readonly hash: Uint8Array } {
    const newest = 'SELECT number, hash FROM events ORDER BY number DESC LIMIT 1'
    return connection.get<{ number: number; hash: Uint8Array }>(newest) ?? { number: 0, hash: beforeFirst }
  }

  function append(
    userId: number,
    commit: Omit<Commit, 'key'> & { readonly key: SealedKey | null },
    changes: readonly WrittenChange[],
    turns: readonly SealedTurn[],
  ): JournalEvent {
    const { user, kind, actor, origin, at, key, undoes } = commit
    const fields = { user, kind, actor, origin, at, undoes }
    const { number, hash } = write(userId, { ...fields, key }, hashChanges(changes, turns), changes)
    const beliefIds = changes.map(({ beliefId }) => beliefId)
    const event = { number, ...fields, key: key?.value ?? null, undoneBy: null, beliefIds }
    return { ...event, turnCount: turns.length, hash: toHex(hash) }
  }

  /** Writes an event and its changes, and removes the earlier texts of erased beliefs, their feedback, and the salts of their requests. */
  function write(
    userId: number,
    event: Omit<SealedEvent, 'number' | 'key'> & {
      readonly key: (IdempotencyKey & { readonly salt: Uint8Array | null }) | null
    },
    changesHash: Uint8Array,
    changes: readonly WrittenChange[],
  ): { readonly number: number; readonly hash: Uint8Array } {
    const { kind, actor, origin, at, key, undoes } = event
    const head = newestEvent()
    const number = head.number + 1
    const hash = hashEvent({ ...event, number }, changesHash, head.hash)
    const idempotency = [key?.value ?? null, key?.fingerprint ?? null]
    connection.run(
      `INSERT INTO events (number, user_id, kind, actor, origin, at, key, fingerprint, undoes, changes_hash,
       previous_hash, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      [number, userId, kind, actor, origin, at, ...idempotency, undoes, changesHash, head.hash, hash],
    )
    if (key?.salt) connection.run('INSERT INTO request_salts (event, salt) VALUES (?, ?)', [number, key.salt])
    const insert = connection.statement(
      `INSERT INTO changes (event, ordinal, user_id, belief_id, version, outcome, body_hash, salt, body)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    const erase = connection.statement(
      'UPDATE changes SET salt = NULL, body = NULL WHERE user_id = ? AND belief_id = ? AND body IS NOT NULL',
    )
    const forgetRequests = connection.statement(
      'DELETE FROM request_salts WHERE event IN (SELECT event FROM changes WHERE user_id = ? AND belief_id = ?)',
    )
    const eraseFeedback = connection.statement('DELETE FROM feedback WHERE user_id = ? AND item = ?')
    for (const [ordinal, { beliefId, version, outcome, bodyHash, salt, body }] of changes.entries()) {
      if (outcome === 'erased') {
        forgetRequests.run(userId, beliefId)
        erase.run(userId, beliefId)
        eraseFeedback.run(userId, beliefId)
      }
      insert.run(number, ordinal, userId, beliefId, version, outcome, bodyHash, salt, body)
    }
    return { number, hash }
  }

  function undoOf(number: number): number | null {
    const undosOf = 'SELECT number FROM events WHERE undoes = ? ORDER BY number DESC'
    return findUndo(number, (undone) => connection.column<number>(undosOf, [undone]))
  }

  function rowAt(userId: number, number: number): OwnEventRow | undefined {
    return connection.get(`${selectEvents} WHERE number = ? AND user_id = ?`, [number, userId])
  }

  function wholeEvent(row: OwnEventRow): JournalEvent {
    const everything = -1
    return { ...commonFields(row), beliefIds: beliefIdsOf(row.number, everything) }
  }

  function entryOf(row: OwnEventRow): JournalEntry {
    // Ordinals start at 0 without gaps, so the highest determines the count.
    const last = connection.value<number>('SELECT max(ordinal) FROM changes WHERE event = ?', [row.number])
    const beliefIds = beliefIdsOf(row.number, maxListedBeliefs)
    return { ...commonFields(row), beliefIds, beliefCount: (last ?? -1) + 1 }
  }

  function beliefIdsOf(number: number, limit: number): readonly string[] {
    const inOrder = 'SELECT belief_id FROM changes WHERE event = ? ORDER BY ordinal LIMIT ?'
    return connection.column(inOrder, [number, limit])
  }

  function commonFields(row: OwnEventRow): Omit<JournalEvent, 'beliefIds'> {
    const { number } = row
    const turnCount = connection.value<number>(
      'SELECT (SELECT count(*) FROM turns WHERE event = ?) + (SELECT count(*) FROM turns WHERE erased_by = ?)',
      [number, number],
    )
    return eventOf(row.user, row, { undoneBy: undoOf(number), turnCount: turnCount ?? 0 })
  }

  return {
    events,
    event: eventAt,
    eventByKey,
    lastUndoable,
    history,
    revisions,
    versionOf,
    head: newestEvent,
    append,
    write,
  }
}
