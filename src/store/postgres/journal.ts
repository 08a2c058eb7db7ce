import type { EventPage } from '../../beliefs/belief-store.ts'
import {
  type BeliefRevision,
  type EventKind,
  type IdempotencyKey,
  type JournalEntry,
  type JournalEvent,
  mostListedBeliefs,
} from '../../beliefs/journal.ts'
import { MemoryError } from '../../errors.ts'
import { actorOf, parseBody } from '../belief-row.ts'
import { hashBody, requireSameRequest, type SealedChange, toHex, undoneBy } from '../journal-chain.ts'
import { longTextHash } from './belief-rows.ts'
import type { Connection, Run } from './connection.ts'
import { keyText } from './values.ts'

export type EventRow = {
  readonly number: number
  readonly kind: EventKind
  readonly actor: JournalEvent['actor']
  readonly origin: string
  readonly at: string
  readonly key: string | null
  readonly fingerprint: string | null
  readonly request_salt: Buffer | null
  readonly undoes: number | null
  readonly changes_hash: Buffer
  readonly previous_hash: Buffer
  readonly hash: Buffer
  readonly beliefs: number
  readonly turns: number
}

export type ChangeRow = {
  readonly event: number
  readonly belief: string
  readonly version: number
  readonly outcome: SealedChange['outcome']
  readonly body_hash: Buffer | null
  readonly salt: Buffer | null
  readonly body: string | null
}

export const selectEvents = `SELECT number, kind, actor, origin, at, coalesce(long_key, key) AS key, fingerprint, request_salt,
  undoes, changes_hash, previous_hash, hash, beliefs, turns FROM credence.events WHERE owner = $1`

export const selectChanges = `SELECT event, belief, version, outcome, body_hash, salt, body FROM credence.changes
  WHERE owner = $1`

/** The fields of an event that its hash covers. */
export const eventFields = (user: string, row: EventRow) => {
  const { number, kind, actor, origin, at, key, fingerprint, undoes } = row
  return {
    number,
    user,
    kind,
    actor,
    origin,
    at,
    key: key === null ? null : { value: key, fingerprint: fingerprint ?? '' },
    undoes,
  }
}

/** An idempotency key as the index has it. */
export const storedIdempotencyKey = (value: string): string => keyText(value, longTextHash)

/** Reads of the journal of one owner at a time. Each answer takes one or two round trips, whatever its length. */
export class Journal {
  readonly #connection: Connection

  constructor(connection: Connection) {
    this.#connection = connection
  }

  /** Newest first. */
  events(user: string, { limit, before, hearing = false }: EventPage): Promise<readonly JournalEntry[]> {
    return this.#connection.read(async (run) => {
      const rows = await run<EventRow>(
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
        const rows = await run<EventRow>(
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
      const rows = await run<EventRow>(`${selectEvents} AND number = ANY($2::bigint[])`, [user, numbers])
      const entries = new Map((await entriesOf(run, user, rows)).map((entry) => [entry.number, entry]))
      return changes.flatMap((change) => {
        const event = entries.get(change.event)
        if (event === undefined) return []
        // A text that does not match its hash is an error, never a different belief.
        if (!isAsWritten(change)) throw damagedJournal(this.#connection.address.label, change)
        const { belief, version, outcome, body } = change
        return [{ event, beliefId: belief, version, outcome, belief: body === null ? null : parseBody(body) }]
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
  const [row] = await run<EventRow>(`${selectEvents} AND ${column} = $2`, [user, value])
  return row === undefined ? null : eventOf(run, user, row)
}

async function eventOf(run: Run, user: string, row: EventRow): Promise<JournalEvent> {
  const [undone, ids] = await Promise.all([
    undosOf(run, user, [row.number]),
    run<{ belief: string }>('SELECT belief FROM credence.changes WHERE owner = $1 AND event = $2 ORDER BY ordinal', [
      user,
      row.number,
    ]),
  ])
  return { ...commonFields(user, row, undone(row.number)), beliefIds: ids.map(({ belief }) => belief) }
}

export async function eventByKey(run: Run, user: string, key: IdempotencyKey): Promise<JournalEvent | null> {
  const [row] = await run<EventRow>(`${selectEvents} AND key = $2`, [user, storedIdempotencyKey(key.value)])
  if (row === undefined) return null
  requireSameRequest(key, { fingerprint: row.fingerprint ?? '', salt: row.request_salt })
  return eventOf(run, user, row)
}

async function entriesOf(run: Run, user: string, rows: readonly EventRow[]): Promise<readonly JournalEntry[]> {
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
    ...commonFields(user, row, undone(row.number)),
    beliefIds: (ids.get(row.number) ?? []).map(({ belief }) => belief),
    beliefCount: row.beliefs,
  }))
}

const commonFields = (user: string, row: EventRow, undone: number | null): Omit<JournalEvent, 'beliefIds'> => ({
  ...eventFields(user, row),
  actor: actorOf(row.actor),
  key: row.key,
  undoneBy: undone,
  turnCount: row.turns,
  hash: toHex(row.hash),
})

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

/** Whether a text of the journal matches its hash. An erased text has nothing left to compare. */
export const isAsWritten = ({ body, body_hash, salt }: Pick<ChangeRow, 'body' | 'body_hash' | 'salt'>): boolean =>
  body === null || (salt !== null && body_hash !== null && Buffer.compare(hashBody(salt, body), body_hash) === 0)

export const damagedJournal = (label: string, { event, belief }: Pick<ChangeRow, 'event' | 'belief'>): MemoryError =>
  new MemoryError(
    'unavailable',
    `The journal of ${label} is damaged: the text of ${belief} in event ${event} was altered.`,
    {
      hint: 'Nothing was changed. Restore a backup.',
    },
  )
