import type { ActorKind, Belief } from './belief.ts'
import type { NewTurn } from './turn.ts'

export const eventKinds = [
  'remember',
  'learn',
  'reinforce',
  'correct',
  'edit',
  'pin',
  'unpin',
  'alias',
  'resolve',
  'propose',
  'accept',
  'reject',
  'confirm',
  'retire',
  'forget',
  'import',
  'review',
  'undo',
  /** Stores turns and changes no belief. */
  'hear',
] as const
export type EventKind = (typeof eventKinds)[number]

/** The change of one belief. */
export type BeliefChange = {
  readonly beliefId: string
  /** The version before the change; 0 for a new belief. The commit is stale if the belief has a different version. */
  readonly expectedVersion: number
  /** `present`: replaced by `after`. `absent`: withdrawn. `erased`: withdrawn, and its text is removed from the journal. */
  readonly outcome: 'present' | 'absent' | 'erased'
  readonly after: Belief | null
}

/**
 * Makes a retry harmless: commits with the same key and request have one effect. `fingerprint` is a hash of the request.
 * A store salts it, because the text of a short request could be guessed from its hash.
 */
export type IdempotencyKey = { readonly value: string; readonly fingerprint: string }

/** For each device, the number of its last known event. */
export type Seen = Readonly<Record<string, number>>

/** The device that made an event, the events that the device had seen before, and the event's position among all events. */
export type EventStamp = {
  readonly device: string
  /** The number of the event in the journal of its device. */
  readonly number: number
  /** The beginning of the event's hash on its device. */
  readonly hash: string
  /** Microseconds since the epoch, increased if needed to be later than every event that the device had seen. */
  readonly time: number
  readonly seen: Seen
}

/** A requested change. It becomes one event, atomically. */
export type Commit = {
  readonly user: string
  readonly kind: EventKind
  readonly actor: ActorKind
  readonly origin: string
  readonly at: string
  readonly key: IdempotencyKey | null
  /** The number of the event that this one undoes. */
  readonly undoes: number | null
  readonly changes: readonly BeliefChange[]
  /** Turns to store. The commit is stale if one of them was stored in the meantime. */
  readonly turns?: readonly NewTurn[]
  /** Ids of turns to erase. The commit is stale if one of them no longer exists. */
  readonly forgottenTurns?: readonly string[]
  /** Keyed fingerprints of the texts that the commit erases. */
  readonly fingerprints?: readonly string[]
  /** Set if a sync received or made the event. `number` and `hash` are null if the sync made it. */
  readonly stamp?: Omit<EventStamp, 'number' | 'hash'> & {
    readonly number: number | null
    readonly hash: string | null
  }
}

/** Whether a commit removes text, which must then be removed from every copy too. */
export const isForgetting = ({ changes, forgottenTurns = [] }: Commit): boolean =>
  forgottenTurns.length > 0 || changes.some(({ outcome }) => outcome === 'erased')

/** One entry of the journal. Each hash covers the one before it. */
export type JournalEvent = {
  readonly number: number
  readonly user: string
  readonly kind: EventKind
  readonly actor: ActorKind
  readonly origin: string
  readonly at: string
  /** The idempotency key of its request. */
  readonly key: string | null
  readonly undoes: number | null
  /** The number of the event that undid this one. */
  readonly undoneBy: number | null
  readonly beliefIds: readonly string[]
  /** The number of turns that the event stored or forgot. */
  readonly turnCount: number
  readonly hash: string
}

/** Max belief ids of an event in a list, because an import may have changed a hundred thousand beliefs. */
export const maxListedBeliefs = 20

/** An event in a list, with the number of its beliefs but only the first of their ids. */
export type JournalEntry = Omit<JournalEvent, 'beliefIds'> & {
  /** At most `maxListedBeliefs`. */
  readonly beliefIds: readonly string[]
  readonly beliefCount: number
}

export const entryOf = ({ beliefIds, ...event }: JournalEvent): JournalEntry => ({
  ...event,
  beliefIds: beliefIds.slice(0, maxListedBeliefs),
  beliefCount: beliefIds.length,
})

/** A belief as it was after one event. `belief` is null if it was withdrawn or its text has been erased. */
export type BeliefRevision = {
  readonly event: JournalEntry
  readonly beliefId: string
  /** Every revision has a new version, even a removal, so that a change based on an earlier read is stale. */
  readonly version: number
  readonly outcome: BeliefChange['outcome']
  readonly belief: Belief | null
}
