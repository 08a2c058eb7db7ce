import type { EventPage } from '../../beliefs/belief-store.ts'
import {
  type BeliefRevision,
  type Commit,
  type EventKind,
  type JournalEntry,
  type JournalEvent,
  mostListedBeliefs,
} from '../../beliefs/journal.ts'
import { MemoryError } from '../../errors.ts'
import type { CheckedChange } from '../checked-commit.ts'
import {
  beforeFirst,
  hashBody,
  hashChanges,
  hashEvent,
  type SealedChange,
  type SealedTurn,
  saltBytes,
  toHex,
} from '../journal-hash.ts'
import { undoneBy } from '../undo-chain.ts'
import { parseBody } from './belief-row.ts'
import type { Connection } from './connection.ts'

type EventRow = {
  readonly number: number
  readonly user: string
  readonly kind: EventKind
  readonly actor: JournalEvent['actor']
  readonly origin: string
  readonly at: string
  readonly key: string | null
  readonly fingerprint: string | null
  readonly undoes: number | null
  readonly hash: Buffer
}

type ChangeRow = {
  readonly event: number
  readonly belief_id: string
  readonly outcome: CheckedChange['outcome']
  readonly body_hash: Buffer | null
  readonly salt: Buffer | null
  readonly body: string | null
}

/** A change ready to be written, with the text that goes into the journal and into the belief's row. */
export type WrittenChange = SealedChange & { readonly salt: Uint8Array | null; readonly body: string | null }

const eventColumns = `number, users.name AS user, kind, actor, origin, at, key, fingerprint, undoes, hash
  FROM events JOIN users ON users.id = events.user_id`

const changeColumns = 'event, belief_id, outcome, body_hash, salt, body FROM changes'

/** For SQLite: as many as there are. */
const noLimit = -1

/** The append-only record of what happened, in SQLite. Everything here runs inside the caller's transaction. */
export class Journal {
  readonly #connection: Connection

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Newest first. */
  events(userId: number, { limit, before, hearing = false }: EventPage): readonly JournalEntry[] {
    return this.#connection
      .statement<[number, number, number, number], EventRow>(
        `SELECT ${eventColumns} WHERE user_id = ? AND number < ? AND (? OR kind <> 'hear') ORDER BY number DESC LIMIT ?`,
      )
      .all(userId, before ?? Number.MAX_SAFE_INTEGER, Number(hearing), limit)
      .map((row) => this.#entryOf(row))
  }

  event(userId: number, number: number): JournalEvent | null {
    const row = this.#rowAt(userId, number)
    return row === null ? null : this.#eventOf(row)
  }

  eventByKey(userId: number, key: string): JournalEvent | null {
    const row = this.#connection
      .statement<[number, string], EventRow>(`SELECT ${eventColumns} WHERE user_id = ? AND key = ?`)
      .get(userId, key)
    return row === undefined ? null : this.#eventOf(row)
  }

  lastUndoable(userId: number): JournalEvent | null {
    const candidates = this.#connection
      .statement<[number], { number: number }>(
        `SELECT number FROM events WHERE user_id = ? AND undoes IS NULL AND kind NOT IN ('undo', 'hear') ORDER BY number DESC`,
      )
      .iterate(userId)
    for (const { number } of candidates) {
      if (this.#undoneBy(number) === null) return this.event(userId, number)
    }
    return null
  }

  history(userId: number, beliefId: string): readonly BeliefRevision[] {
    const rows = this.#connection
      .statement<[number, string], ChangeRow>(
        `SELECT ${changeColumns} WHERE user_id = ? AND belief_id = ? ORDER BY event`,
      )
      .all(userId, beliefId)
    return rows.flatMap((row) => {
      const event = this.#rowAt(userId, row.event)
      return event === null ? [] : [this.#revisionOf(this.#entryOf(event), row)]
    })
  }

  revisions(userId: number, number: number): readonly BeliefRevision[] {
    const row = this.#rowAt(userId, number)
    if (row === null) return []
    const event = this.#entryOf(row)
    return this.#connection
      .statement<[number], ChangeRow>(`SELECT ${changeColumns} WHERE event = ? ORDER BY ordinal`)
      .all(number)
      .map((change) => this.#revisionOf(event, change))
  }

  /** Version after the last thing that happened to a belief, 0 if nothing did. */
  versionOf(userId: number, beliefId: string): number {
    const row = this.#connection
      .statement<[number, string], { version: number }>(
        'SELECT version FROM changes WHERE user_id = ? AND belief_id = ? ORDER BY event DESC LIMIT 1',
      )
      .get(userId, beliefId)
    return row?.version ?? 0
  }

  head(): { readonly number: number; readonly hash: Uint8Array } {
    const row = this.#connection
      .statement<[], { number: number; hash: Buffer }>('SELECT number, hash FROM events ORDER BY number DESC LIMIT 1')
      .get()
    return row ?? { number: 0, hash: beforeFirst }
  }

  /** Writes the event and its changes, and takes the text out of what is erased. */
  append(
    userId: number,
    commit: Commit,
    changes: readonly WrittenChange[],
    turns: readonly SealedTurn[],
  ): JournalEvent {
    const { user, kind, actor, origin, at, key, undoes } = commit
    const head = this.head()
    const fields = { number: head.number + 1, user, kind, actor, origin, at, key, undoes }
    const changesHash = hashChanges(changes, turns)
    const hash = hashEvent(fields, changesHash, head.hash)
    this.#connection
      .statement<unknown[]>(
        `INSERT INTO events (number, user_id, kind, actor, origin, at, key, fingerprint, undoes, changes_hash,
         previous_hash, hash) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      )
      .run(
        fields.number,
        userId,
        kind,
        actor,
        origin,
        at,
        key?.value ?? null,
        key?.fingerprint ?? null,
        undoes,
        changesHash,
        head.hash,
        hash,
      )
    const insert = this.#connection.statement<unknown[]>(
      `INSERT INTO changes (event, ordinal, user_id, belief_id, version, outcome, body_hash, salt, body)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    )
    const erase = this.#connection.statement<[number, string]>(
      'UPDATE changes SET salt = NULL, body = NULL WHERE user_id = ? AND belief_id = ? AND body IS NOT NULL',
    )
    for (const [ordinal, { beliefId, version, outcome, bodyHash, salt, body }] of changes.entries()) {
      if (outcome === 'erased') erase.run(userId, beliefId)
      insert.run(fields.number, ordinal, userId, beliefId, version, outcome, bodyHash, salt, body)
    }
    const beliefIds = changes.map(({ beliefId }) => beliefId)
    return { ...fields, undoneBy: null, beliefIds, turnCount: turns.length, hash: toHex(hash) }
  }

  /** A text that is no longer the one written is an error, never a different belief. */
  #revisionOf(event: JournalEntry, row: ChangeRow): BeliefRevision {
    const { belief_id, outcome, body } = row
    if (!isAsWritten(row)) throw damagedJournal(this.#connection.file, event.number, belief_id)
    return { event, beliefId: belief_id, outcome, belief: body === null ? null : parseBody(body) }
  }

  #undoneBy(number: number): number | null {
    const statement = this.#connection.statement<[number], { number: number }>(
      'SELECT number FROM events WHERE undoes = ? ORDER BY number DESC',
    )
    return undoneBy(number, (undone) => statement.all(undone).map((row) => row.number))
  }

  #rowAt(userId: number, number: number): EventRow | null {
    const row = this.#connection
      .statement<[number, number], EventRow>(`SELECT ${eventColumns} WHERE number = ? AND user_id = ?`)
      .get(number, userId)
    return row ?? null
  }

  #eventOf(row: EventRow): JournalEvent {
    return { ...this.#fieldsOf(row), beliefIds: this.#beliefIds(row.number, noLimit) }
  }

  #entryOf(row: EventRow): JournalEntry {
    // Changes are numbered from 0 without a gap, so that the last number is the count without counting.
    const last = this.#connection
      .statement<[number], { last: number | null }>('SELECT max(ordinal) AS last FROM changes WHERE event = ?')
      .get(row.number)
    return {
      ...this.#fieldsOf(row),
      beliefIds: this.#beliefIds(row.number, mostListedBeliefs),
      beliefCount: (last?.last ?? -1) + 1,
    }
  }

  #beliefIds(number: number, limit: number): readonly string[] {
    return this.#connection
      .statement<[number, number], { belief_id: string }>(
        'SELECT belief_id FROM changes WHERE event = ? ORDER BY ordinal LIMIT ?',
      )
      .all(number, limit)
      .map(({ belief_id }) => belief_id)
  }

  #turnCount(number: number): number {
    const found = this.#connection
      .statement<[number, number], { count: number }>(
        `SELECT (SELECT count(*) FROM turns WHERE event = ?) + (SELECT count(*) FROM turns WHERE erased_by = ?) AS count`,
      )
      .get(number, number)
    return found?.count ?? 0
  }

  #fieldsOf(row: EventRow): Omit<JournalEvent, 'beliefIds'> {
    const { number, user, kind, actor, origin, at, key, fingerprint, undoes, hash } = row
    return {
      number,
      user,
      kind,
      actor,
      origin,
      at,
      key: key === null ? null : { value: key, fingerprint: fingerprint ?? '' },
      undoes,
      undoneBy: this.#undoneBy(number),
      turnCount: this.#turnCount(number),
      hash: toHex(hash),
    }
  }
}

/** Whether a text of the journal is the one that was hashed. One that was erased has nothing left to compare. */
export const isAsWritten = ({ body, body_hash, salt }: Pick<ChangeRow, 'body' | 'body_hash' | 'salt'>): boolean =>
  body === null || (salt !== null && body_hash !== null && Buffer.compare(hashBody(salt, body), body_hash) === 0)

export const damagedJournal = (file: string, event: number, beliefId: string): MemoryError =>
  new MemoryError(
    'unavailable',
    `The journal of ${file} is damaged: event ${event} no longer holds what it wrote of ${beliefId}.`,
    { hint: 'Nothing was changed. Restore a backup.' },
  )

/** Works out what each change writes. One draw of salts serves the whole commit. */
export function sealChanges(
  changes: readonly CheckedChange[],
  random: (bytes: number) => Uint8Array,
): readonly WrittenChange[] {
  const salts = random(saltBytes * changes.length)
  return changes.map(({ beliefId, expectedVersion, outcome, after }, index) => {
    if (after === null) return { beliefId, version: expectedVersion, outcome, bodyHash: null, salt: null, body: null }
    const salt = salts.subarray(index * saltBytes, (index + 1) * saltBytes)
    const body = JSON.stringify(after)
    return { beliefId, version: after.version, outcome, bodyHash: hashBody(salt, body), salt, body }
  })
}
