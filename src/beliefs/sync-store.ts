import type { Belief } from './belief.ts'
import type { BeliefChange, Commit, EventKind, EventStamp, JournalEvent, Seen } from './journal.ts'
import type { NewTurn } from './turn.ts'

/** An event to exchange with other devices. Changes and turns whose text was forgotten later are left out. */
export type SyncEvent = Pick<JournalEvent, 'actor' | 'origin' | 'at'> & {
  readonly kind: EventKind
  readonly stamp: EventStamp
  readonly undoes: { readonly device: string; readonly number: number } | null
  readonly changes: readonly Omit<BeliefChange, 'expectedVersion'>[]
  readonly turns: readonly NewTurn[]
  readonly forgottenTurns: readonly string[]
  /** Fingerprints of the texts that the event erased. */
  readonly fingerprints: readonly string[]
}

/** The newest change to a belief. `belief` is null unless the outcome is `present`. */
export type BeliefHead = {
  readonly version: number
  readonly outcome: BeliefChange['outcome']
  readonly belief: Belief | null
  readonly stamp: EventStamp
  /** Whether a sync made the change, to settle a conflict. */
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
  /** Gives every event without a stamp the stamp of this device. Returns the number of the newest event in the journal. */
  stampEvents(user: string, device: string): Promise<number>
  /** The events after `seen`, in journal order. `forgetting`: only those that forget. `device`: only those of this device. */
  eventsAfter(
    user: string,
    seen: Seen,
    options: { readonly limit: number; readonly forgetting?: boolean; readonly device?: string },
  ): Promise<readonly SyncEvent[]>
  /** The number of events after `seen`. */
  countAfter(user: string, seen: Seen): Promise<number>
  /** The local number of an event; null if the store does not have it. `isUndone`: another event undid it. */
  findEvent(
    user: string,
    id: { readonly device: string; readonly number: number },
  ): Promise<{ readonly number: number; readonly isUndone: boolean } | null>
  heads(user: string, beliefIds: readonly string[]): Promise<ReadonlyMap<string, BeliefHead>>
  /** Those of the ids under which a turn was ever stored, even if the turn was forgotten later. */
  turnIds(user: string, ids: readonly string[]): Promise<ReadonlySet<string>>
  hasForgottenTexts(user: string): Promise<boolean>
  /** The given fingerprints that are stored, each with the stamp of the event that forgot its text. */
  forgottenTexts(user: string, fingerprints: readonly string[]): Promise<ReadonlyMap<string, EventStamp | null>>
  /** All fingerprints, by user. */
  allForgottenTexts(): Promise<ReadonlyMap<string, readonly string[]>>
  /** Removes the fingerprints that an event stored, so that the texts it forgot may be stored again. Returns their number. */
  reinstate(user: string, event: number): Promise<number>
  /**
   * Appends events in one transaction. If `head` is no longer the newest event, returns `stale` and writes nothing. Events
   * whose key is known are skipped. The caller must leave out known turns.
   */
  commitAll(user: string, commits: readonly Commit[], head: number): Promise<'committed' | 'stale'>
}
