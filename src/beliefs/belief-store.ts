import type { Belief, BeliefType, Status } from './belief.ts'
import type { BeliefRevision, Commit, IdempotencyKey, JournalEntry, JournalEvent } from './journal.ts'

/**
 * `stale`: a belief changed since it was read, or another belief now has the name; read again and retry.
 * `replayed`: the idempotency key was used before; `event` is the event of that use.
 */
export type CommitResult =
  | { readonly outcome: 'committed'; readonly event: JournalEvent }
  | { readonly outcome: 'replayed'; readonly event: JournalEvent }
  | { readonly outcome: 'stale' }

/** Which beliefs to list. All given conditions must be met; `scopes` matches beliefs in any of them. */
export type BeliefFilter = {
  readonly user: string
  readonly scopes?: readonly string[]
  readonly types?: readonly BeliefType[]
  readonly statuses?: readonly Status[]
  readonly pinned?: boolean
  /** Only beliefs that recall may return; false for only the others. */
  readonly current?: boolean
  /** Only proposals, or no proposals. */
  readonly proposals?: boolean
  /** Only candidates, or no candidates. */
  readonly candidates?: boolean
  /** Only beliefs that were recalled at least once, or only the others. A store that does not count treats all as never recalled. */
  readonly recalled?: boolean
}

export const beliefOrders = ['updated', 'name', 'recalled'] as const
/** `updated`: last changed first. `name`: by name. `recalled`: most often recalled first. */
export type BeliefOrder = (typeof beliefOrders)[number]

/** Which events to list: those before a number, and, with `hearing`, also those that only kept turns. */
export type EventPage = { readonly limit: number; readonly before?: number; readonly hearing?: boolean }

export type Page<Item> = { readonly items: readonly Item[]; readonly total: number }

/** The user, agent and scopes of a request. `scopes` includes the ancestors. */
export type Viewpoint = { readonly user: string; readonly agent: string | null; readonly scopes: readonly string[] }

/** Where beliefs are kept. Everything read is as of the last acknowledged commit, by any process. */
export type BeliefStore = {
  /** Appends one event and brings every derived table up to date, in one transaction. Durable when it returns. */
  commit(commit: Commit): Promise<CommitResult>

  get(user: string, id: string): Promise<Belief | null>
  getMany(user: string, ids: readonly string[]): Promise<readonly Belief[]>
  /** Ids of the user that start with `prefix`, at most `limit`. */
  idsStartingWith(user: string, prefix: string, limit: number): Promise<readonly string[]>
  /** Every belief with this name, current ones first, then newest first. */
  named(user: string, name: string): Promise<readonly Belief[]>
  /** Current beliefs with this name in one of the scopes. At most one per scope. */
  holders(user: string, name: string, scopes: readonly string[]): Promise<readonly Belief[]>
  /** The beliefs this one directly replaced. */
  supersededBy(user: string, id: string): Promise<readonly Belief[]>
  /** Proposals that would replace this belief. */
  proposalsFor(user: string, id: string): Promise<readonly Belief[]>
  /** Most recently updated first, then by name, unless another order is asked for. */
  list(
    filter: BeliefFilter,
    page: { readonly limit: number; readonly offset: number; readonly order?: BeliefOrder },
  ): Promise<Page<Belief>>
  /** Every scope of the user with the number of current beliefs in it, by name. */
  scopes(user: string): Promise<readonly { readonly scope: string; readonly beliefs: number }[]>

  /** Pinned current beliefs in view, open questions among them. With `editedEverywhere`, person-edited ones of every scope too. */
  pinned(view: Viewpoint, options: { readonly editedEverywhere: boolean }): Promise<readonly Belief[]>
  /**
   * What is part of every context: standing instructions of the scopes in view, and the preferences in `user:universal`,
   * which need not be in view. In the order of `byStanding`.
   */
  standing(view: Viewpoint, limit: number): Promise<readonly Belief[]>

  /** Newest first. What it costs depends on how many are asked for, not on how many beliefs they touched. */
  events(user: string, page: EventPage): Promise<readonly JournalEntry[]>
  event(user: string, number: number): Promise<JournalEvent | null>
  /** The event of an earlier request with this key. Throws `conflict` when the key was used for another request. */
  eventByKey(user: string, key: IdempotencyKey): Promise<JournalEvent | null>
  /** The newest event that is neither an undo nor undone. */
  lastUndoable(user: string): Promise<JournalEvent | null>
  /** Everything that ever happened to a belief, oldest first. */
  history(user: string, beliefId: string): Promise<readonly BeliefRevision[]>
  /** The changes of one event, belief by belief. */
  revisions(user: string, event: number): Promise<readonly BeliefRevision[]>

  /**
   * Runs several reads on one state of the store, as long as this store writes nothing in between, and `work` awaits
   * only this store. Faster than separate reads.
   */
  withSnapshot<Result>(work: () => Promise<Result>): Promise<Result>

  close(): Promise<void>
}
