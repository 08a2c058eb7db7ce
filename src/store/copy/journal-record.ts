import { hash } from 'node:crypto'
import type { EventKind } from '../../beliefs/journal.ts'
import type { SealedChange } from '../journal-chain.ts'
import type { AccessTransfer } from './copy-access.ts'

/** What a turn that was not forgotten says, as the tables have it. */
export type SaidTurn = {
  readonly session: string
  readonly place: number
  readonly givenIndex: number | null
  readonly role: number
  readonly speaker: string | null
  readonly at: number
  readonly scope: string
  readonly host: string
  readonly origin: number
  readonly key: Buffer
  readonly asks: boolean
  readonly lengths: string
  readonly text: string
}

export type TurnRecord = {
  readonly id: string
  readonly passages: number
  readonly hash: Buffer
  readonly salt: Buffer | null
  readonly messageId: string | null
  /** Null when it was forgotten. */
  readonly said: SaidTurn | null
}

/** One event of a user with everything it wrote. Numbers count the events of the user, from 1. */
export type JournalRecord = {
  readonly number: number
  readonly kind: EventKind
  readonly actor: string
  readonly origin: string
  readonly at: string
  readonly key: string | null
  readonly fingerprint: string | null
  readonly requestSalt: Buffer | null
  readonly undoes: number | null
  readonly changesHash: Buffer
  readonly changes: readonly {
    readonly belief: string
    readonly version: number
    readonly outcome: SealedChange['outcome']
    readonly bodyHash: Buffer | null
    readonly salt: Buffer | null
    readonly body: string | null
  }[]
  readonly turns: readonly TurnRecord[]
  readonly erasedTurns: readonly string[]
}

/** A journal that records are read from, and appended to, with the people, tokens and teams of its store. */
export type JournalTransfer = AccessTransfer & {
  users(): Promise<readonly string[]>
  /** How many events the user has. */
  count(user: string): Promise<number>
  /** The events after a number, at most `limit`. */
  read(user: string, after: number, limit: number): Promise<readonly JournalRecord[]>
  /** Appends the events that follow, in one transaction. The derived tables are behind until `complete`. */
  append(user: string, records: readonly JournalRecord[]): Promise<void>
  /** The place of every turn in its session: a turn that came late or was forgotten has moved others. */
  places(user: string): Promise<ReadonlyMap<string, number>>
  /** Sets the places of turns, after the last event of a user. */
  finish(user: string, places: ReadonlyMap<string, number>): Promise<void>
  /** Derives everything from the journal, after the last user. */
  complete(): Promise<void>
  close(): Promise<void>
}

const hex = (bytes: Uint8Array | null): string | null => (bytes === null ? null : Buffer.from(bytes).toString('hex'))

/** A hash over a hash and everything that records hold. */
export const digestOf = (previous: string, records: readonly JournalRecord[]): string =>
  records.reduce(
    (sum, record) =>
      hash(
        'sha256',
        JSON.stringify([sum, record], (_, value) =>
          value?.type === 'Buffer' ? hex(Buffer.from(value.data as number[])) : (value as unknown),
        ),
      ),
    previous,
  )
