import type { Commit, EventKind } from '../../beliefs/journal.ts'
import { beforeFirst, hashChanges, hashEvent, type SealedChange } from '../journal-hash.ts'
import type { Connection } from './connection.ts'
import { isAsWritten } from './journal.ts'
import { complaintsAboutTurns, turnsOfEvent } from './turn-care.ts'
import type { CheckResult } from './verify.ts'

type EventRow = {
  readonly number: number
  readonly user: string
  readonly user_id: number
  readonly kind: EventKind
  readonly actor: Commit['actor']
  readonly origin: string
  readonly at: string
  readonly key: string | null
  readonly fingerprint: string | null
  readonly undoes: number | null
  readonly changes_hash: Buffer
  readonly previous_hash: Buffer
  readonly hash: Buffer
}

type ChangeRow = {
  readonly user_id: number
  readonly belief_id: string
  readonly version: number
  readonly outcome: SealedChange['outcome']
  readonly body_hash: Buffer | null
  readonly salt: Buffer | null
  readonly body: string | null
}

/** Recomputes the hash of every event and of every text that has not been erased. */
export function verifyChain(connection: Connection): CheckResult {
  const complaints: string[] = []
  let previous: Uint8Array = beforeFirst
  let number = 0
  let texts = 0
  let changes = 0
  for (const event of eventsOf(connection)) {
    number += 1
    if (event.number !== number) complaints.push(`event ${number} is missing`)
    number = event.number
    const rows = changesOf(connection, event.number)
    changes += rows.length
    texts += rows.filter(({ body }) => body !== null).length
    if (!isEqual(event.previous_hash, previous)) complaints.push(`event ${number} does not follow the one before it`)
    complaints.push(...complaintsAbout(connection, event, rows))
    previous = event.hash
  }
  const written = connection.statement<[], { count: number }>('SELECT count(*) AS count FROM changes').get()?.count
  if (written !== changes) complaints.push(`${(written ?? 0) - changes} changes belong to no event`)
  return { detail: `${number} events in one chain, ${texts} texts as written`, complaints }
}

function complaintsAbout(connection: Connection, event: EventRow, rows: readonly ChangeRow[]): readonly string[] {
  const { number, user, kind, actor, origin, at, undoes } = event
  const complaints = [
    ...rows.flatMap((row) => complaintsAboutText(connection, event, row)),
    ...complaintsAboutTurns(connection, number),
  ]
  const sealed = rows.map(({ belief_id, version, outcome, body_hash }) => ({
    beliefId: belief_id,
    version,
    outcome,
    bodyHash: body_hash,
  }))
  if (!isEqual(hashChanges(sealed, turnsOfEvent(connection, number)), event.changes_hash))
    complaints.push(`the changes of event ${number} were altered`)
  const key = event.key === null ? null : { value: event.key, fingerprint: event.fingerprint ?? '' }
  const fields = { number, user, kind, actor, origin, at, key, undoes }
  const expected = hashEvent(fields, event.changes_hash, event.previous_hash)
  if (!isEqual(expected, event.hash)) complaints.push(`event ${number} was altered`)
  return complaints
}

function complaintsAboutText(connection: Connection, event: EventRow, row: ChangeRow): string[] {
  const place = `the text of ${row.belief_id} in event ${event.number}`
  if (row.user_id !== event.user_id) return [`${place} belongs to another user than the event`]
  if (!isAsWritten(row)) return [`${place} was altered`]
  if (row.body !== null || row.outcome !== 'present') return []
  const erased = connection
    .statement<[number, string, number], object>(
      `SELECT 1 FROM changes WHERE user_id = ? AND belief_id = ? AND event > ? AND outcome = 'erased' LIMIT 1`,
    )
    .get(row.user_id, row.belief_id, event.number)
  return erased === undefined ? [`${place} is gone, although nobody forgot it`] : []
}

const pageSize = 500

function* eventsOf(connection: Connection): Generator<EventRow> {
  const statement = connection.statement<[number, number], EventRow>(
    `SELECT number, users.name AS user, user_id, kind, actor, origin, at, key, fingerprint, undoes, changes_hash,
     previous_hash, hash FROM events JOIN users ON users.id = user_id WHERE number > ? ORDER BY number LIMIT ?`,
  )
  for (let last = 0; ; ) {
    const page = statement.all(last, pageSize)
    yield* page
    if (page.length < pageSize) return
    last = page.at(-1)?.number ?? last
  }
}

const changesOf = (connection: Connection, event: number): readonly ChangeRow[] =>
  connection
    .statement<[number], ChangeRow>(
      `SELECT user_id, belief_id, version, outcome, body_hash, salt, body FROM changes
       WHERE event = ? ORDER BY ordinal`,
    )
    .all(event)

const isEqual = (one: Uint8Array, other: Uint8Array): boolean => Buffer.compare(one, other) === 0
