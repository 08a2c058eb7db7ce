import type { Belief } from './belief.ts'
import type { BeliefChange, Commit, EventKind, EventStamp, JournalEvent, Seen } from './journal.ts'
import type { NewTurn } from './turn.ts'

/** An event as devices exchange it. A text that was forgotten since is left out, with its change or turn. */
export type SyncEvent = Pick<JournalEvent, 'actor' | 'origin' | 'at'> & {
  readonly kind: EventKind
  readonly stamp: EventStamp
  readonly undoes: { readonly device: string; readonly number: number } | null
  readonly changes: readonly Omit<BeliefChange, 'expectedVersion'>[]
  readonly turns: readonly NewTurn[]
  readonly forgottenTurns: readonly string[]
  /** Of the texts that it erased. */
  readonly fingerprints: readonly string[]
}

/** The newest change of a belief. `belief` is null unless the outcome is `present`. */
export type BeliefHead = {
  readonly version: number
  readonly outcome: BeliefChange['outcome']
  readonly belief: Belief | null
  readonly stamp: EventStamp
  /** Whether a sync made it to settle a conflict. */
  readonly isSettling: boolean
}

/** Number and hash of the newest known event of each device. */
export type KnownEvents = Readonly<Record<string, { readonly number: number; readonly hash: string }>>

/** The part of a store that exchanges events with other devices. */
export type SyncStore = {
  /** The newest known event of every device that has a stamp. */
  known(user: string): Promise<KnownEvents>
  /** Whether the journal has an event of this number with this hash. */
  hasEvent(number: number, hash: string): Promise<boolean>
  /** Gives every event without a stamp one of this device. Returns the number of the newest event in the journal. */
  stampEvents(user: string, device: string): Promise<number>
  /** Events that are missing in `seen`, in the order of the journal; only those that forget, or only those of one device. */
  eventsAfter(
    user: string,
    seen: Seen,
    options: { readonly limit: number; readonly forgetting?: boolean; readonly device?: string },
  ): Promise<readonly SyncEvent[]>
  /** How many events are missing in `seen`. */
  countAfter(user: string, seen: Seen): Promise<number>
  /** The local number of an event; null if it is not here. `isUndone`: another event took it back. */
  findEvent(
    user: string,
    id: { readonly device: string; readonly number: number },
  ): Promise<{ readonly number: number; readonly isUndone: boolean } | null>
  heads(user: string, beliefIds: readonly string[]): Promise<ReadonlyMap<string, BeliefHead>>
  /** Which of these turn ids were ever stored; forgotten ones are among them. */
  turnIds(user: string, ids: readonly string[]): Promise<ReadonlySet<string>>
  hasForgottenTexts(user: string): Promise<boolean>
  /** Which of these fingerprints were stored, with the stamp of the forgetting. */
  forgottenTexts(user: string, fingerprints: readonly string[]): Promise<ReadonlyMap<string, EventStamp | null>>
  /** All fingerprints, by user. */
  allForgottenTexts(): Promise<ReadonlyMap<string, readonly string[]>>
  /** Removes the fingerprints that an event stored, so that its texts may be stored again. Returns how many there were. */
  reinstate(user: string, event: number): Promise<number>
  /**
   * Appends events in one transaction, if the journal still ends with the event `head`; else it is stale and nothing is written.
   * An event whose key is known is left out. Known turns must be left out by the caller.
   */
  commitAll(user: string, commits: readonly Commit[], head: number): Promise<'committed' | 'stale'>
}
