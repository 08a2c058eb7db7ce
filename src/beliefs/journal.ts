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
  /** Keeps turns and changes no belief. */
  'hear',
] as const
export type EventKind = (typeof eventKinds)[number]

/** The change of one belief. */
export type BeliefChange = {
  readonly beliefId: string
  /** Version before the change; 0 when the belief did not exist. The commit is refused if it has another version by then. */
  readonly expectedVersion: number
  /** `present`: now reads `after`. `absent`: withdrawn, its history kept. `erased`: its text is removed from the journal too. */
  readonly outcome: 'present' | 'absent' | 'erased'
  readonly after: Belief | null
}

/**
 * Makes a retry harmless: the same key with the same request has one effect. `fingerprint` is a hash of the request. A
 * store keeps it only under a random salt, because the text of a short request could be guessed from its hash.
 */
export type IdempotencyKey = { readonly value: string; readonly fingerprint: string }

/** The last known event of each device, by its number on that device. */
export type Seen = Readonly<Record<string, number>>

/** Which device made an event, what that device had seen, and its place in the order of all events. */
export type EventStamp = {
  readonly device: string
  /** The number of the event in the journal of its device. */
  readonly number: number
  /** The beginning of the event's hash on its device. */
  readonly hash: string
  /** Microseconds since the epoch, but later than everything that the device had seen. */
  readonly time: number
  readonly seen: Seen
}

/** A change asked for: it becomes one event, wholly or not at all. */
export type Commit = {
  readonly user: string
  readonly kind: EventKind
  readonly actor: ActorKind
  readonly origin: string
  readonly at: string
  readonly key: IdempotencyKey | null
  /** Number of the event this one takes back. */
  readonly undoes: number | null
  readonly changes: readonly BeliefChange[]
  /** Turns to keep. The commit is stale when one of them is known by now. */
  readonly turns?: readonly NewTurn[]
  /** Ids of turns to erase. The commit is stale when one of them no longer exists. */
  readonly forgottenTurns?: readonly string[]
  /** Keyed fingerprints of the texts that it erases. */
  readonly fingerprints?: readonly string[]
  /** For an event that a sync brought or made; number and hash are null for one that it made. */
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
  /** Number of the event that took this one back. */
  readonly undoneBy: number | null
  readonly beliefIds: readonly string[]
  /** How many turns it kept or forgot. */
  readonly turnCount: number
  readonly hash: string
}

/** Most beliefs named for an event in a list: an import may have touched a hundred thousand. */
export const maxListedBeliefs = 20

/** An event as lists have it: which beliefs it touched first, and how many in all. */
export type JournalEntry = Omit<JournalEvent, 'beliefIds'> & {
  /** The first of them, at most `maxListedBeliefs`. */
  readonly beliefIds: readonly string[]
  readonly beliefCount: number
}

/** The entry that a list has for an event. */
export const entryOf = ({ beliefIds, ...event }: JournalEvent): JournalEntry => ({
  ...event,
  beliefIds: beliefIds.slice(0, maxListedBeliefs),
  beliefCount: beliefIds.length,
})

/** The state of a belief after one event: `belief` is null when it was withdrawn, or its text has been erased. */
export type BeliefRevision = {
  readonly event: JournalEntry
  readonly beliefId: string
  /** Every revision, including a removal, has its own version: a change that read the belief before it was removed is stale. */
  readonly version: number
  readonly outcome: BeliefChange['outcome']
  readonly belief: Belief | null
}
