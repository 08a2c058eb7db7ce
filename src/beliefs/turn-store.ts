import type { Page } from './belief-store.ts'
import type { NewTurn, TextRange, Turn, TurnRole } from './turn.ts'

/** Selects turns. All given conditions must be met. */
export type TurnFilter = {
  readonly user: string
  readonly scopes?: readonly string[]
  readonly session?: string
  readonly speaker?: string
  readonly roles?: readonly TurnRole[]
  /** Said at this time or later, and not after that one; ISO 8601. */
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
  /** Of its last turn. */
  readonly utcOffset: number | null
  readonly scopes: readonly string[]
  readonly hosts: readonly string[]
  /** The beginning of the person's first message. */
  readonly opening: string
}

/** A turn with the fields that only an export needs. */
export type ExportedTurn = Turn & Pick<NewTurn, 'messageId'>

/** Where turns are read. They are kept and forgotten by a commit, in the same transaction as beliefs. */
export type TurnStore = {
  /**
   * For each of the turns, in order, the stored turn that it is; null for one that is new, and `forgotten` for one whose
   * host gave it the id of a turn that was forgotten. No stored turn is meant twice.
   */
  knownTurns(user: string, turns: readonly NewTurn[]): Promise<readonly (Turn | 'forgotten' | null)[]>
  getTurn(user: string, id: string): Promise<Turn | null>
  /** In order. */
  turnIdsStartingWith(user: string, prefix: string, limit: number): Promise<readonly string[]>
  /** Oldest first within a session; newest first without a session. */
  listTurns(filter: TurnFilter, page: { readonly limit: number; readonly offset: number }): Promise<Page<Turn>>
  /** The session that was last spoken in comes first. */
  listSessions(
    filter: TurnFilter,
    page: { readonly limit: number; readonly offset: number },
  ): Promise<Page<SessionSummary>>
  /** Turns in the order in which they were kept, after a cursor; `next` is the next cursor, null at the end. */
  exportTurns(
    user: string,
    page: { readonly after: number | null; readonly limit: number },
  ): Promise<{ readonly turns: readonly ExportedTurn[]; readonly next: number | null }>
  /**
   * Sets `doubtful` of the newest turns of the role `user` whose `doubtful` is null, at most `limit`. Returns whether there
   * may be more of them.
   */
  judgeOldTurns(user: string, limit: number, judge: (text: string) => readonly TextRange[]): Promise<boolean>
}
