import type { Belief } from '../beliefs/belief.ts'
import type { BeliefFilter, BeliefOrder, EventPage, Page } from '../beliefs/belief-store.ts'
import type { JournalEntry } from '../beliefs/journal.ts'
import type { FeedbackVerdict } from '../beliefs/recall-counts.ts'
import type { Turn } from '../beliefs/turn.ts'
import type { ExportedTurn, SessionSummary, TurnFilter } from '../beliefs/turn-store.ts'
import { omitUndefined } from '../omit-undefined.ts'
import type { CorrectRequest, CorrectResult } from './change/correct.ts'
import type { BeliefDraft } from './change/draft.ts'
import type { EditResult, Edits } from './change/edit.ts'
import type { ForgetPreview, ForgetRequest, Receipt } from './change/forget.ts'
import type { Proposal, ReviewCandidate } from './change/proposals.ts'
import type { RememberRequest, RememberResult } from './change/remember.ts'
import type { ResolveRequest, ResolveResult } from './change/resolve.ts'
import type { ReviewItem, ReviewRequest } from './change/review.ts'
import type { UndoRequest, UndoResult } from './change/undo.ts'
import type { HeardTurn, HearRequest, HearResult } from './conversation/hear.ts'
import type { EmbedRequest } from './conversation/meaning.ts'
import type { ForgottenTurns, TurnSelection } from './conversation/turns.ts'
import type { History } from './explain/history.ts'
import type { Remedies, RemedyRequest } from './explain/remedies.ts'
import type { Why } from './explain/why.ts'
import type { WhyTurn } from './explain/why-turn.ts'
import type { LearnRequest, LearnResult } from './learn/learn.ts'
import type { Author, Ports } from './ports.ts'
import type { Context } from './recall/context.ts'
import type { FeedbackItem } from './recall/feedback.ts'
import { type RecallRequest, recall } from './recall/recall.ts'
import type { SearchHit, SearchRequest, SearchResult } from './recall/search.ts'
import type { ImportRequest, ImportResult } from './transfer/import.ts'

/** A user, the active scopes, the agent that asks, and the author of changes. */
export type Standpoint = {
  readonly user: string
  readonly scopes: readonly string[]
  readonly agent: string | null
  readonly author: Author
}

/** Idempotency key: a retry with the same key has no second effect. */
export type KeyOption = { readonly key?: string }
/** If the belief is no longer at this version, throws a `conflict` and changes nothing. */
type VersionOption = { readonly expectedVersion?: number }
type Paging = { readonly limit?: number; readonly offset?: number }

export type Statement = Omit<BeliefDraft, 'name' | 'scopes'> &
  Partial<Pick<BeliefDraft, 'name'>> &
  KeyOption &
  Pick<RememberRequest, 'sourceId' | 'model' | 'replace'> & { readonly scopes?: readonly string[] }
export type Correction = Omit<CorrectRequest, 'user' | 'author' | 'reference'>
export type LearnOptions = Partial<Omit<LearnRequest, 'user' | 'author' | 'agent' | 'view' | 'text'>>
export type HearOptions = Partial<Omit<HearRequest, 'user' | 'author' | 'agent' | 'view' | 'turns'>>
export type EmbedOptions = Omit<EmbedRequest, 'user' | 'turnsAfter'>
export type RecallOptions = Partial<Omit<RecallRequest, 'user' | 'message'>>
export type SearchOptions = Omit<SearchRequest, 'user' | 'query'>
export type RemedyOptions = Partial<Omit<RemedyRequest, 'user' | 'message' | 'reference' | 'wish'>> &
  Pick<RemedyRequest, 'wish'>
export type BeliefListOptions = Omit<BeliefFilter, 'user'> & Paging & { readonly order?: BeliefOrder }
export type FindOptions = Omit<BeliefListOptions, 'order'>
export type TurnListOptions = Omit<TurnFilter, 'user'> & Paging
export type ReviewOptions = Omit<ReviewRequest, 'user'>
export type UndoOptions = KeyOption & Pick<UndoRequest, 'review'>
export type EditOptions = KeyOption & VersionOption
export type ForgetExtent = Pick<ForgetRequest, 'wholeChain' | 'keepTurns'>
export type ForgetOptions = EditOptions & ForgetExtent
export type ForgetTurnsOptions = KeyOption & { readonly dryRun?: boolean }
export type ScopeOption = { readonly scopes?: readonly string[] }
export type ImportOptions = ScopeOption & Partial<Pick<ImportRequest, 'source' | 'format' | 'trusted' | 'dryRun'>>
export type ResolvedBy = NonNullable<ResolveRequest['by']>
export type MeaningStatus = {
  /** Null if vectors are off. */
  readonly model: string | null
  /** `indexed` turns and beliefs have vectors of the model; `waiting` ones do not yet. */
  readonly indexed: number
  readonly waiting: number
  /** The reason why the last attempt in the background failed. */
  readonly problem: string | null
  /** False in a one-shot command, whose recall compares words alone. */
  readonly isUsedByRecall: boolean
}
export type ScopeCount = { readonly scope: string; readonly beliefs: number }
export type Accepted = { readonly belief: Belief; readonly replaced: readonly Belief[]; readonly event: number }
export type Rejected = { readonly beliefId: string; readonly event: number }

/** The memory of one user. A reference to a belief is its id, the beginning of its id, its name or an alias. */
export type Memory = {
  /** If no name is given, it is derived from the content. */
  remember(statement: Statement): Promise<RememberResult>
  /** Learns from a message of a conversation, statement by statement. */
  learn(text: string, options?: LearnOptions): Promise<LearnResult>
  /** Stores turns word for word and learns from them. Turns that are already stored are skipped. */
  hear(turns: HeardTurn | readonly HeardTurn[], options?: HearOptions): Promise<HearResult>
  /** The stored turns: oldest first if the options name a session, otherwise newest first. Default 50 at a time. */
  turns(options?: TurnListOptions): Promise<Page<Turn>>
  /** A turn by its id, or by the beginning of its id. */
  turn(reference: string): Promise<Turn>
  /** The beliefs that were learned from a turn. */
  learnedFrom(turn: string): Promise<readonly Belief[]>
  /** Conversations, most recently active first. Default 50 at a time. */
  conversations(options?: Omit<TurnListOptions, 'session'>): Promise<Page<SessionSummary>>
  /** Computes the vectors of new turns and beliefs now, instead of in the background. */
  embedTexts(options?: EmbedOptions): Promise<{ readonly embedded: number }>
  /** The embedding model that search uses in addition to words, and the progress of its index. */
  meaningStatus(): Promise<MeaningStatus>
  /** Erases every text of the turns; with `dryRun`, only returns the turns. */
  forgetTurns(selection: TurnSelection, options?: ForgetTurnsOptions): Promise<ForgottenTurns>
  recall(message: string, options?: RecallOptions): Promise<Context>
  search(query: string, options?: SearchOptions): Promise<SearchResult>
  why(message: string, reference: string, options?: RecallOptions): Promise<Why>
  /** Whether and why a turn is quoted for a message. */
  whyTurn(message: string, turn: string, options?: RecallOptions): Promise<WhyTurn>
  /** Changes that would make a belief appear for a message, or disappear. */
  remedies(message: string, reference: string, options: RemedyOptions): Promise<Remedies>
  /** Words of a message that would name a belief if they were its aliases, best first. They are not tried out. */
  suggestAliases(message: string, reference: string): Promise<readonly string[]>
  /** Counts whether a recalled belief or turn was useful; recall does not depend on it. Only a person can give feedback. */
  giveFeedback(reference: string, verdict: FeedbackVerdict): Promise<FeedbackItem>
  /** Every belief and turn with feedback, the latest first. */
  feedback(): Promise<readonly FeedbackItem[]>
  correct(reference: string, correction: Correction): Promise<CorrectResult>
  reinforce(reference: string, options?: KeyOption): Promise<EditResult>
  /** Makes an unconfirmed belief the person's own statement. Only a person can confirm. */
  confirm(reference: string, options?: KeyOption): Promise<EditResult>
  pin(reference: string, options?: KeyOption): Promise<EditResult>
  unpin(reference: string, options?: KeyOption): Promise<EditResult>
  addAliases(reference: string, aliases: readonly string[], options?: KeyOption): Promise<EditResult>
  removeAliases(reference: string, aliases: readonly string[], options?: KeyOption): Promise<EditResult>
  setWhy(reference: string, why: string, options?: KeyOption): Promise<EditResult>
  /** Makes several edits as one change; `scopes` replaces all scopes of the belief. */
  edit(reference: string, edits: Edits, options?: EditOptions): Promise<EditResult>
  resolve(question: string, by?: ResolvedBy, options?: KeyOption): Promise<ResolveResult>
  /** Also forgets the turns that the belief was learned from, unless `keepTurns`. */
  forget(reference: string, options?: ForgetOptions): Promise<Receipt>
  /** The beliefs and turns that `forget` would erase. */
  previewForget(reference: string, options?: ForgetExtent): Promise<ForgetPreview>
  undo(event?: number, options?: UndoOptions): Promise<UndoResult>
  /** `scopes`: where to look first if several beliefs have the name. */
  get(reference: string, options?: ScopeOption): Promise<Belief>
  list(options?: BeliefListOptions): Promise<Page<Belief>>
  /** Like `list`, but only beliefs that contain the words of a query, best first. The last word may be incomplete. */
  find(query: string, options?: FindOptions): Promise<Page<SearchHit> & { readonly isCut: boolean }>
  history(reference: string): Promise<History>
  /** The journal, newest first. `hearing`: includes changes that only stored turns. */
  events(options?: Partial<EventPage>): Promise<readonly JournalEntry[]>
  scopes(): Promise<readonly ScopeCount[]>
  proposals(): Promise<readonly Proposal[]>
  /** Statements found in conversations that wait for `confirm`, `reject` or `forget`, newest first. */
  candidates(): Promise<readonly ReviewCandidate[]>
  /** Proposals and candidates in one list, newest turn first, with the turns they were found in. Default 50 at a time. */
  review(options?: ReviewOptions): Promise<Page<ReviewItem>>
  /** `over`: id of the current belief, if it is no longer the one that the proposal was made for. */
  accept(proposal: string, options?: KeyOption & { readonly over?: string }): Promise<Accepted>
  reject(proposal: string, options?: KeyOption): Promise<Rejected>
  /** `text` is a JSON array of beliefs or JSON Lines, or Markdown with that `format`. Imports everything or nothing. */
  import(text: string, options?: ImportOptions): Promise<ImportResult>
  export(options?: Omit<BeliefFilter, 'user'>): AsyncIterable<Belief>
  /** Every turn, in the order in which they were stored. */
  exportTurns(options?: ScopeOption): AsyncIterable<ExportedTurn>
  close(): Promise<void>
}

/**
 * A memory that forwards each call to the memory that `choose` returns for its arguments. `exportTurns` and `close` always use
 * the given memory.
 */
export function routeCalls(memory: Memory, choose: (given: readonly unknown[]) => Promise<Memory>): Memory {
  const { close, export: _export, exportTurns, ...calls } = memory
  const chosen = Object.keys(calls).map((name) => [
    name,
    async (...given: readonly unknown[]): Promise<unknown> => {
      const call = (await choose(given))[name as keyof typeof calls] as (...values: readonly unknown[]) => unknown
      return call(...given)
    },
  ])
  return {
    // Every call keeps its name and type.
    ...(Object.fromEntries(chosen) as typeof calls),
    export: async function* (filter) {
      yield* (await choose([filter])).export(filter)
    },
    exportTurns,
    close,
  }
}

const isList = (turns: HeardTurn | readonly HeardTurn[]): turns is readonly HeardTurn[] => Array.isArray(turns)

/** Binds the use cases to a user, scopes, an agent and an author. No option of a call can change the user or the author. */
export function memoryFrom(ports: Ports, standpoint: Standpoint): Memory {
  const { user, scopes, agent, author } = standpoint
  const view = { user, scopes, agent }
  const speaker = { user, author, agent, view: scopes }
  const at = <Options extends object>(reference: string, options?: Options) => ({
    scopes,
    ...(options as Options),
    user,
    author,
    reference,
  })
  let useCases: Promise<typeof import('./use-cases.ts')> | undefined
  let remembering: Promise<typeof import('./change/remember.ts')> | undefined
  const begin = async <Value>(value?: Value): Promise<Awaited<Value>> => {
    await ports.beforeCall?.()
    return (await value) as Awaited<Value>
  }
  // Kept, because `import()` is slow even if the module is already loaded.
  const load = () => {
    useCases ??= import('./use-cases.ts')
    return begin(useCases)
  }
  const edit: Memory['edit'] = async (reference, edits, options) =>
    (await load()).editBelief(ports, { ...at(reference, options), edits })
  return {
    remember: async ({ key, sourceId, model, replace, ...draft }) => {
      remembering ??= import('./change/remember.ts')
      const given = { draft: { scopes, ...draft }, ...omitUndefined({ key, sourceId, model, replace }) }
      return (await begin(remembering)).remember(ports, { user, author, ...given })
    },
    learn: async (text, options = {}) =>
      (await begin(import('./learn/learn.ts'))).learn(ports, { scopes, ...options, ...speaker, text }),
    hear: async (turns, options = {}) => {
      const { hear } = await begin(import('./conversation/hear.ts'))
      return hear(ports, { scopes, ...options, ...speaker, turns: isList(turns) ? turns : [turns] })
    },
    turns: async (options = {}) => (await load()).listTurns(ports, { ...options, user }),
    turn: async (reference) => (await load()).findTurn(ports, user, reference),
    learnedFrom: async (turn) => (await load()).learnedFromTurn(ports, user, turn),
    conversations: async (options = {}) => (await load()).listConversations(ports, { ...options, user }),
    embedTexts: async (options = {}) => {
      const { embedded } = await (await import('./conversation/meaning.ts')).embedTexts(ports, { ...options, user })
      return { embedded }
    },
    meaningStatus: async () => {
      const { model = null, problem = () => null } = ports.semantic ?? {}
      const counts = model === null ? { indexed: 0, waiting: 0 } : await ports.store.vectorCounts(user, model)
      return { model, ...counts, problem: problem(), isUsedByRecall: ports.recallByMeaning === true }
    },
    forgetTurns: async (selection, options) =>
      (await load()).forgetTurns(ports, { ...selection, ...options, user, author }),
    recall: async (message, options = {}) => {
      await begin()
      const started = performance.now()
      const context = await recall(ports, { ...view, ...options, user, message })
      // `why` and as-of recalls are not counted as use of the memory.
      if (options.nearMisses !== true && options.asOf === undefined)
        ports.counter?.note(user, context, ports.now(), performance.now() - started)
      return context
    },
    search: async (query, options = {}) =>
      (await begin(import('./recall/search.ts'))).search(ports, { agent, ...options, user, query }),
    why: async (message, reference, options = {}) =>
      (await load()).why(ports, { ...view, ...options, user, message, reference }),
    whyTurn: async (message, turn, options = {}) =>
      (await load()).whyTurn(ports, { ...view, ...options, user, message, turn }),
    giveFeedback: async (reference, verdict) =>
      (await load()).giveFeedback(ports, { user, scopes, reference, verdict, author }),
    feedback: async () => (await load()).listFeedback(ports, user),
    remedies: async (message, reference, options) =>
      (await load()).remedies(ports, { ...view, ...options, user, message, reference }),
    suggestAliases: async (message, reference) =>
      (await load()).suggestAliases(ports, { ...view, user, message, reference }),
    correct: async (reference, correction) => (await load()).correct(ports, at(reference, correction)),
    reinforce: async (reference, options) => (await load()).reinforce(ports, at(reference, options)),
    confirm: async (reference, options) => (await load()).confirm(ports, at(reference, options)),
    pin: (reference, options) => edit(reference, { pinned: true }, options),
    unpin: (reference, options) => edit(reference, { pinned: false }, options),
    addAliases: (reference, aliases, options) => edit(reference, { addAliases: aliases }, options),
    removeAliases: (reference, aliases, options) => edit(reference, { removeAliases: aliases }, options),
    setWhy: (reference, text, options) => edit(reference, { why: text }, options),
    edit,
    resolve: async (question, by, options) =>
      (await load()).resolve(ports, { ...at(question, options), ...(by === undefined ? {} : { by }) }),
    forget: async (reference, options) => (await load()).forget(ports, at(reference, options)),
    previewForget: async (reference, options) => (await load()).previewForget(ports, at(reference, options)),
    undo: async (event, options = {}) =>
      (await load()).undo(ports, { ...options, user, author, ...(event === undefined ? {} : { event }) }),
    get: async (reference, options) => (await load()).findBelief(ports, at(reference, options)),
    list: async (options = {}) => (await load()).listBeliefs(ports, { ...options, user }),
    find: async (query, options = {}) => (await load()).findBeliefs(ports, { ...options, user, query }),
    history: async (reference) => (await load()).history(ports, at(reference)),
    events: async (options = {}) => (await load()).listEvents(ports, user, { limit: 50, ...options }),
    scopes: () => begin().then(() => ports.store.scopes(user)),
    proposals: async () => (await load()).listProposals(ports, user),
    candidates: async () => (await load()).listCandidates(ports, user),
    review: async (options = {}) => (await load()).reviewItems(ports, { ...options, user }),
    accept: async (proposal, options) => (await load()).accept(ports, at(proposal, options)),
    reject: async (proposal, options) => (await load()).reject(ports, at(proposal, options)),
    import: async (text, options = {}) =>
      (await load()).importBeliefs(ports, { source: 'import', scopes, ...options, user, author, text }),
    export: async function* (filter = {}) {
      yield* (await load()).exportBeliefs(ports, { ...filter, user })
    },
    exportTurns: async function* (filter = {}) {
      // MEMORY.md shows no turns, so its edits need not be read first.
      yield* (await import('./use-cases.ts')).exportTurns(ports, { ...filter, user })
    },
    close: () => ports.store.close(),
  }
}
