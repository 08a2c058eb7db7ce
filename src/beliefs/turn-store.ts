import type { Page } from './belief-store.ts'
import type { NewTurn, TextRange, Turn, TurnRole } from './turn.ts'

/** Selects turns. All given conditions must be met. */
export type TurnFilter = {
  readonly user: string
  readonly scopes?: readonly string[]
  readonly session?: string
  readonly speaker?: string
  readonly roles?: readonly TurnRole[]
  /** The earliest and latest time, both inclusive; ISO 8601. */
  readonly since?: string
  readonly until?: string
  /** Contains this text, ignoring case. */
  readonly containing?: string
}

/** A conversation in a list. */
export type SessionSummary = {
  readonly session: string
  readonly turns: number
  readonly firstAt: string
  readonly lastAt: string
  /** The UTC offset of the last turn. */
  readonly utcOffset: number | null
  readonly scopes: readonly string[]
  readonly hosts: readonly string[]
  /** The beginning of the person's first message. */
  readonly opening: string
}

/** A turn with the fields that only an export needs. */
export type ExportedTurn = Turn & Pick<NewTurn, 'messageId'>

/** Reads turns. A commit stores and forgets them, in the same transaction as beliefs. */
export type TurnStore = {
  /**
   * Returns for each turn, in order: the stored turn that it repeats; null if it is new; `forgotten` if a turn with the same message id was
   * forgotten. Equal words alone never match one stored turn twice.
   */
  knownTurns(user: string, turns: readonly NewTurn[]): Promise<readonly (Turn | 'forgotten' | null)[]>
  getTurn(user: string, id: string): Promise<Turn | null>
  /** At most `limit` ids, sorted. */
  turnIdsStartingWith(user: string, prefix: string, limit: number): Promise<readonly string[]>
  /** Oldest first if the filter names a session; otherwise newest first. */
  listTurns(filter: TurnFilter, page: { readonly limit: number; readonly offset: number }): Promise<Page<Turn>>
  /** Sorted by the last turn of each session, newest first. */
  listSessions(
    filter: TurnFilter,
    page: { readonly limit: number; readonly offset: number },
  ): Promise<Page<SessionSummary>>
  /** Turns in the order in which they were stored, after a cursor; `next` is the next cursor, null at the end. */
  exportTurns(
    user: string,
    page: { readonly after: number | null; readonly limit: number },
  ): Promise<{ readonly turns: readonly ExportedTurn[]; readonly next: number | null }>
  /**
   * Sets `doubtful` in at most `limit` turns of the role `user` in which it is null, newest first. Returns whether there may be more such
   * turns.
   */
  judgeOldTurns(user: string, limit: number, judge: (text: string) => readonly TextRange[]): Promise<boolean>
}
