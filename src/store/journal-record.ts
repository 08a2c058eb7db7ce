import type { NewTurn } from '../beliefs/turn.ts'
import type { WrittenChange } from './journal-chain.ts'
import type { ChangeRow, EventRow } from './journal-rows.ts'
import { exportedTurn } from './turn-rows.ts'

/** The columns of a turn in SQLite and in PostgreSQL; `session` and `scope` are names. Most are null for a forgotten turn. */
export const turnColumns = [
  'id',
  'passages',
  'hash',
  'salt',
  'message_id',
  'session',
  'place',
  'given_index',
  'role',
  'speaker',
  'at',
  'utc_offset',
  'scope',
  'host',
  'origin',
  'key',
  'asks',
  'lengths',
  'doubtful',
  'text',
] as const
export type TurnColumn = (typeof turnColumns)[number]

export type JournalTurnRow = Readonly<Record<TurnColumn, unknown>> & {
  readonly id: string
  readonly passages: number
  readonly hash: Uint8Array
  readonly salt: Uint8Array
  readonly session: string | null
  readonly place: number | null
  readonly scope: string | null
  readonly text: string | null
}

/** The columns of a turn in a SELECT; `from` maps a column to its name in the database. */
export const selectTurn = (from: Readonly<Partial<Record<TurnColumn, string>>> = {}): string =>
  turnColumns.map((column) => (from[column] === undefined ? column : `${from[column]} AS ${column}`)).join(', ')

/** Converts a row that has a text to the turn as it was received. */
export const newTurnOf = (user: string, row: JournalTurnRow): NewTurn => ({
  // The cast is safe, because a row with a text has a value in every required column.
  ...exportedTurn({ ...row, user, row: 0 } as unknown as Parameters<typeof exportedTurn>[0]),
  index: row.given_index as number | null,
})

/** One event of a user with all rows that it wrote. `number` counts the events of the user, from 1. */
export type JournalRecord = Pick<EventRow, 'number' | 'kind' | 'actor' | 'origin' | 'at' | 'undoes'> & {
  readonly key: { readonly value: string; readonly fingerprint: string; readonly salt: Uint8Array | null } | null
  readonly changesHash: Uint8Array
  readonly changes: readonly WrittenChange[]
  readonly turns: readonly JournalTurnRow[]
  readonly erasedTurns: readonly string[]
}

/** Whether this event erases texts. */
export const isErasing = ({ changes, erasedTurns }: JournalRecord): boolean =>
  erasedTurns.length > 0 || changes.some(({ outcome }) => outcome === 'erased')

type RecordRows = {
  readonly requestSalt: Uint8Array | null
  readonly changes: readonly ChangeRow[]
  readonly turns: readonly JournalTurnRow[]
  readonly erasedTurns: readonly string[]
}

export function recordOf(event: EventRow, { requestSalt, changes, turns, erasedTurns }: RecordRows): JournalRecord {
  const { number, kind, actor, origin, at, key, fingerprint, undoes } = event
  return {
    number,
    kind,
    actor,
    origin,
    at,
    undoes,
    changesHash: event.changes_hash,
    key: key === null ? null : { value: key, fingerprint: fingerprint ?? '', salt: requestSalt },
    changes: changes.map(({ belief: beliefId, version, outcome, body_hash: bodyHash, salt, body }) => {
      return { beliefId, version, outcome, bodyHash, salt, body }
    }),
    turns: turns.map((row) => {
      const columns = turnColumns.map((column) => [column, row[column]])
      return { ...(Object.fromEntries(columns) as JournalTurnRow), asks: row.asks === null ? null : Boolean(row.asks) }
    }),
    erasedTurns,
  }
}

/** The index of every turn in its session, by id. Storing a late turn or forgetting one shifts the turns after it. */
export type TurnPlaces = ReadonlyMap<string, number>

/** A journal whose records can be read and appended. */
export type RecordJournal = {
  users(): Promise<readonly string[]>
  /** The number of events of the user. */
  count(user: string): Promise<number>
  /** At most `limit` events, starting after the event with number `after`. */
  read(user: string, after: number, limit: number): Promise<readonly JournalRecord[]>
  /** Appends those of the records that the journal lacks, in one transaction. */
  append(user: string, records: readonly JournalRecord[]): Promise<void>
  places(user: string): Promise<TurnPlaces>
  setPlaces(user: string, places: TurnPlaces): Promise<void>
}
