import type { EventPage } from '../../beliefs/belief-store.ts'
import {
  type BeliefRevision,
  type IdempotencyKey,
  type JournalEntry,
  type JournalEvent,
  mostListedBeliefs,
} from '../../beliefs/journal.ts'
import { requireSameRequest, undoneBy, type WrittenChange } from '../journal-chain.ts'
import { type ChangeRow, type EventRow, eventOf, revisionOf } from '../journal-rows.ts'
import { longTextHash } from './belief-rows.ts'
import type { Connection, Run } from './connection.ts'
import { keyText } from './values.ts'

export type OwnEventRow = EventRow & {
  readonly request_salt: Buffer | null
  readonly beliefs: number
  readonly turns: number
}

export const selectEvents = `SELECT number, kind, actor, origin, at, coalesce(long_key, key) AS key, fingerprint, request_salt,
  undoes, changes_hash, previous_hash, hash, beliefs, turns FROM credence.events WHERE owner = $1`

export const selectChanges = `SELECT event, belief, version, outcome, body_hash, salt, body FROM credence.changes
  WHERE owner = $1`

/** An idempotency key as the index has it. */
const storedIdempotencyKey = (value: string): string => keyText(value, longTextHash)

/** Reads of the journal of one owner at a time. Each answer takes one or two round trips, whatever its length. */
export class Journal {
  readonly #connection: Connection

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Newest first. */
  events(user: string, { limit, before, hearing = false }: EventPage): Promise<readonly JournalEntry[]> {
    return this.#connection.read(async (run) => {
      const rows = await run<OwnEventRow>(
        `${selectEvents} AND number < $2 AND ($3 OR kind <> 'hear') ORDER BY number DESC LIMIT $4`,
        [user, before ?? Number.MAX_SAFE_INTEGER, hearing, limit],
      )
      return entriesOf(run, user, rows)
    })
  }

  event(user: string, number: number): Promise<JournalEvent | null> {
    return this.#connection.read((run) => readEvent(run, user, 'number', number))
  }

  eventByKey(user: string, key: IdempotencyKey): Promise<JournalEvent | null> {
    return this.#connection.read((run) => eventByKey(run, user, key))
  }

  lastUndoable(user: string): Promise<JournalEvent | null> {
    const pageSize = 50
    return this.#connection.read(async (run) => {
      for (let before = Number.MAX_SAFE_INTEGER; ; ) {
        const rows = await run<OwnEventRow>(
          `${selectEvents} AND number < $2 AND undoes IS NULL AND kind NOT IN ('undo', 'hear')
           ORDER BY number DESC LIMIT ${pageSize}`,
          [user, before],
        )
        const undone = await undosOf(
          run,
          user,
          rows.map(({ number }) => number),
        )
        const found = rows.find(({ number }) => undone(number) === null)
        if (found !== undefined) return readEvent(run, user, 'number', found.number)
        if (rows.length < pageSize) return null
        before = rows.at(-1)?.number ?? 0
      }
    })
  }

  history(user: string, beliefId: string): Promise<readonly BeliefRevision[]> {
    return this.#revisions(user, `${selectChanges} AND belief = $2 ORDER BY event`, beliefId)
  }

  revisions(user: string, number: number): Promise<readonly BeliefRevision[]> {
    return this.#revisions(user, `${selectChanges} AND event = $2 ORDER BY ordinal`, number)
  }

  #revisions(user: string, sql: string, value: unknown): Promise<readonly BeliefRevision[]> {
    return this.#connection.read(async (run) => {
      const changes = await run<ChangeRow>(sql, [user, value])
      const numbers = [...new Set(changes.map(({ event }) => event))]
      if (numbers.length === 0) return []
      const rows = await run<OwnEventRow>(`${selectEvents} AND number = ANY($2::bigint[])`, [user, numbers])
      const entries = new Map((await entriesOf(run, user, rows)).map((entry) => [entry.number, entry]))
      return changes.flatMap((change) => {
        const event = entries.get(change.event)
        return event === undefined ? [] : revisionOf(this.#connection.address.label, event, change)
      })
    })
  }
}

/** The event with a number, a key or an attempt. */
export async function readEvent(
  run: Run,
  user: string,
  column: 'number' | 'key' | 'attempt',
  value: unknown,
): Promise<JournalEvent | null> {
  const [row] = await run<OwnEventRow>(`${selectEvents} AND ${column} = $2`, [user, value])
  return row === undefined ? null : wholeEvent(run, user, row)
}

async function wholeEvent(run: Run, user: string, row: OwnEventRow): Promise<JournalEvent> {
  const [undone, ids] = await Promise.all([
    undosOf(run, user, [row.number]),
    run<{ belief: string }>('SELECT belief FROM credence.changes WHERE owner = $1 AND event = $2 ORDER BY ordinal', [
      user,
      row.number,
    ]),
  ])
  return {
    ...eventOf(user, row, { undoneBy: undone(row.number), turnCount: row.turns }),
    beliefIds: ids.map(({ belief }) => belief),
  }
}

export async function eventByKey(run: Run, user: string, key: IdempotencyKey): Promise<JournalEvent | null> {
  const [row] = await run<OwnEventRow>(`${selectEvents} AND key = $2`, [user, storedIdempotencyKey(key.value)])
  if (row === undefined) return null
  requireSameRequest(key, { fingerprint: row.fingerprint ?? '', salt: row.request_salt })
  return wholeEvent(run, user, row)
}

async function entriesOf(run: Run, user: string, rows: readonly OwnEventRow[]): Promise<readonly JournalEntry[]> {
  const numbers = rows.map(({ number }) => number)
  if (numbers.length === 0) return []
  const [undone, listed] = await Promise.all([
    undosOf(run, user, numbers),
    run<{ event: number; belief: string }>(
      `SELECT event, belief FROM credence.changes WHERE owner = $1 AND event = ANY($2::bigint[])
       AND ordinal < ${mostListedBeliefs} ORDER BY event, ordinal`,
      [user, numbers],
    ),
  ])
  const ids = Map.groupBy(listed, ({ event }) => event)
  return rows.map((row) => ({
    ...eventOf(user, row, { undoneBy: undone(row.number), turnCount: row.turns }),
    beliefIds: (ids.get(row.number) ?? []).map(({ belief }) => belief),
    beliefCount: row.beliefs,
  }))
}

/** Which event has undone each of these, by all undos that go back to them. */
async function undosOf(run: Run, user: string, numbers: readonly number[]): Promise<(number: number) => number | null> {
  const rows = await run<{ number: number; undoes: number }>(
    `WITH RECURSIVE undos AS (
       SELECT number, undoes FROM credence.events WHERE owner = $1 AND undoes = ANY($2::bigint[])
       UNION SELECT later.number, later.undoes FROM credence.events AS later
       JOIN undos ON later.owner = $1 AND later.undoes = undos.number)
     SELECT number, undoes FROM undos ORDER BY number DESC`,
    [user, numbers],
  )
  const byUndone = Map.groupBy(rows, ({ undoes }) => undoes)
  return (number) => undoneBy(number, (undone) => (byUndone.get(undone) ?? []).map((row) => row.number))
}

type NewEvent = Pick<EventRow, 'number' | 'kind' | 'origin' | 'at' | 'undoes'> & {
  readonly user: string
  readonly actor: string
  readonly key: { readonly value: string; readonly fingerprint: string | null; readonly salt: Uint8Array | null } | null
  readonly changesHash: Uint8Array
  readonly previousHash: Uint8Array
  readonly hash: Uint8Array
  readonly attempt: string
  readonly beliefs: number
  readonly turns: number
}

export function insertEvent(run: Run, event: NewEvent): Promise<unknown> {
  const { user, number, kind, actor, origin, at, undoes, key } = event
  const stored = key === null ? null : storedIdempotencyKey(key.value)
  const longKey = stored === key?.value ? null : (key?.value ?? null)
  const request = [stored, longKey, key?.fingerprint ?? null, key?.salt ?? null]
  const hashes = [event.changesHash, event.previousHash, event.hash]
  return run(
    `INSERT INTO credence.events (owner, number, kind, actor, origin, at, undoes, key, long_key, fingerprint, request_salt,
       changes_hash, previous_hash, hash, attempt, beliefs, turns)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`,
    [user, number, kind, actor, origin, at, undoes, ...request, ...hashes, event.attempt, event.beliefs, event.turns],
  )
}

export function insertChanges(
  run: Run,
  { user, number }: Pick<NewEvent, 'user' | 'number'>,
  changes: readonly WrittenChange[],
): Promise<unknown> {
  const columns = ['beliefId', 'version', 'outcome', 'bodyHash', 'salt', 'body'] as const
  return run(
    `INSERT INTO credence.changes (owner, event, ordinal, belief, version, outcome, body_hash, salt, body)
     SELECT $1, $2, rows.at - 1, belief, version, outcome, body_hash, salt, body
     FROM unnest($3::text[], $4::integer[], $5::text[], $6::bytea[], $7::bytea[], $8::text[]) WITH ORDINALITY
       AS rows (belief, version, outcome, body_hash, salt, body, at)`,
    [user, number, ...columns.map((name) => changes.map((change) => change[name]))],
  )
}

/** Removes the earlier texts of erased beliefs. */
export const eraseTexts = (run: Run, user: string, beliefs: readonly string[]): Promise<unknown> =>
  run(
    `UPDATE credence.changes SET salt = NULL, body = NULL
     WHERE owner = $1 AND belief = ANY($2::text[]) AND body IS NOT NULL`,
    [user, beliefs],
  )
