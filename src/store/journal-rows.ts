import type { BeliefRevision, EventKind, JournalEntry, JournalEvent } from '../beliefs/journal.ts'
import { type MemoryError, unavailable } from '../errors.ts'
import { actorOf, isAsWritten, parseBody } from './belief-row.ts'
import { type SealedChange, toHex } from './journal-chain.ts'

/** The columns of an event that every database has. */
export type EventRow = {
  readonly number: number
  readonly kind: EventKind
  readonly actor: JournalEvent['actor']
  readonly origin: string
  readonly at: string
  readonly key: string | null
  readonly fingerprint: string | null
  readonly undoes: number | null
  readonly changes_hash: Uint8Array
  readonly previous_hash: Uint8Array
  readonly hash: Uint8Array
}

export type ChangeRow = {
  readonly event: number
  readonly belief: string
  readonly version: number
  readonly outcome: SealedChange['outcome']
  readonly body_hash: Uint8Array | null
  readonly salt: Uint8Array | null
  readonly body: string | null
}

/** The fields of an event that its hash covers. */
export const eventFields = (user: string, row: EventRow) => {
  const { number, kind, actor, origin, at, key, fingerprint, undoes } = row
  const idempotencyKey = key === null ? null : { value: key, fingerprint: fingerprint ?? '' }
  return { number, user, kind, actor, origin, at, key: idempotencyKey, undoes }
}

/** An event without the beliefs that it changed. */
export const eventOf = (
  user: string,
  row: EventRow,
  { undoneBy, turnCount }: Pick<JournalEvent, 'undoneBy' | 'turnCount'>,
): Omit<JournalEvent, 'beliefIds'> => ({
  ...eventFields(user, row),
  actor: actorOf(row.actor),
  key: row.key,
  undoneBy,
  turnCount,
  hash: toHex(row.hash),
})

/** Throws if the text does not match its hash, so that no altered belief is read. `store` names the store in that error. */
export function revisionOf(store: string, event: JournalEntry, change: ChangeRow): BeliefRevision {
  const { belief, version, outcome, body } = change
  if (!isAsWritten(change)) throw damagedJournal(store, change)
  return { event, beliefId: belief, version, outcome, belief: body === null ? null : parseBody(body) }
}

export const damagedJournal = (store: string, { event, belief }: Pick<ChangeRow, 'event' | 'belief'>): MemoryError =>
  unavailable(
    `The journal of ${store} is damaged: the text of ${belief} in event ${event} was altered.`,
    'Nothing was changed. Restore a backup.',
  )
