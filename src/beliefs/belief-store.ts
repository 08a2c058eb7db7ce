import type { Belief, BeliefType, Status } from './belief.ts'
import type { BeliefRevision, Commit, IdempotencyKey, JournalEntry, JournalEvent } from './journal.ts'

/**
 * `stale`: a belief changed since it was read, or a different belief now has its name. The caller should read again and retry. `replayed`:
 * the idempotency key was used before; `event` is the event of that use.
 */
export type CommitResult =
  | { readonly outcome: 'committed'; readonly event: JournalEvent }
  | { readonly outcome: 'replayed'; readonly event: JournalEvent }
  | { readonly outcome: 'stale' }

/** Selects beliefs. All given conditions must be met; `scopes` selects beliefs in any of these scopes. */
export type BeliefFilter = {
  readonly user: string
  readonly scopes?: readonly string[]
  readonly types?: readonly BeliefType[]
  readonly statuses?: readonly Status[]
  readonly pinned?: boolean
  /** True: only beliefs that recall may return. False: only beliefs that it may not return. */
  readonly current?: boolean
  /** True: only proposals. False: no proposals. */
  readonly proposals?: boolean
  /** True: only candidates. False: no candidates. */
  readonly candidates?: boolean
  /** True: only beliefs that were ever recalled. False: only the rest. A store that counts no recalls has no recalled beliefs. */
  readonly recalled?: boolean
}

export const beliefOrders = ['updated', 'name', 'recalled'] as const
/** `updated`: last changed first. `name`: by name. `recalled`: most often recalled first. */
export type BeliefOrder = (typeof beliefOrders)[number]

/** Selects the newest events, or the newest before a number. `hearing` includes events that only stored turns. */
export type EventPage = { readonly limit: number; readonly before?: number; readonly hearing?: boolean }

export type Page<Item> = { readonly items: readonly Item[]; readonly total: number }

/** The user, agent and scopes of a request. `scopes` includes the ancestors. */
export type Viewpoint = { readonly user: string; readonly agent: string | null; readonly scopes: readonly string[] }

/** Stores beliefs. Reads return the state after the last acknowledged commit of any process. */
export type BeliefStore = {
  /** Appends one event and brings every derived table up to date, in one transaction. Durable when the promise resolves. */
  commit(commit: Commit): Promise<CommitResult>

  get(user: string, id: string): Promise<Belief | null>
  getMany(user: string, ids: readonly string[]): Promise<readonly Belief[]>
  /** At most `limit` ids of the user's beliefs that start with `prefix`. */
  idsStartingWith(user: string, prefix: string, limit: number): Promise<readonly string[]>
  /** Every belief with this name, current ones first, then newest first. */
  named(user: string, name: string): Promise<readonly Belief[]>
  /** Current beliefs with this name in one of the scopes. At most one per scope. */
  holders(user: string, name: string, scopes: readonly string[]): Promise<readonly Belief[]>
  /** The beliefs that this one replaced directly. */
  supersededBy(user: string, id: string): Promise<readonly Belief[]>
  /** Proposals that would replace this belief. */
  proposalsFor(user: string, id: string): Promise<readonly Belief[]>
  /** Most recently updated first, then by name, unless `order` is given. */
  list(
    filter: BeliefFilter,
    page: { readonly limit: number; readonly offset: number; readonly order?: BeliefOrder },
  ): Promise<Page<Belief>>
  /** Every scope of the user with the number of current beliefs in it, sorted by name. */
  scopes(user: string): Promise<readonly { readonly scope: string; readonly beliefs: number }[]>

  /**
   * Pinned current beliefs in view, including open questions. `editedEverywhere` adds pinned beliefs of other scopes if
   * a person edited them.
   */
  pinned(view: Viewpoint, options: { readonly editedEverywhere: boolean }): Promise<readonly Belief[]>
  /**
   * The beliefs that are part of every context: standing instructions of the scopes in view, and the preferences in
   * `user:universal`, even if it is not in view. Sorted by `compareStanding`.
   */
  standing(view: Viewpoint, limit: number): Promise<readonly Belief[]>

  /** Newest first. The cost depends on the number of requested events, not on how many beliefs they changed. */
  events(user: string, page: EventPage): Promise<readonly JournalEntry[]>
  event(user: string, number: number): Promise<JournalEvent | null>
  /** The event of an earlier request with this key. Throws `conflict` if the key was used for a different request. */
  eventByKey(user: string, key: IdempotencyKey): Promise<JournalEvent | null>
  /** The newest event that is neither an undo nor undone. */
  lastUndoable(user: string): Promise<JournalEvent | null>
  /** All revisions of a belief, oldest first. */
  history(user: string, beliefId: string): Promise<readonly BeliefRevision[]>
  /** The revisions that one event made, one per belief. */
  revisions(user: string, event: number): Promise<readonly BeliefRevision[]>

  /**
   * Lets all reads in `work` see the same state, unless this store writes in between. Faster than separate reads. `work` may await only
   * calls of this store.
   */
  withSnapshot<Result>(work: () => Promise<Result>): Promise<Result>

  close(): Promise<void>
}
