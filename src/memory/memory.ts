import type { Belief } from '../beliefs/belief.ts'
import type { BeliefFilter, EventPage, Page } from '../beliefs/belief-store.ts'
import type { JournalEntry } from '../beliefs/journal.ts'
import type { Turn } from '../beliefs/turn.ts'
import type { ExportedTurn, SessionSummary, TurnFilter } from '../beliefs/turn-store.ts'
import type { Corrected, CorrectRequest } from './change/correct.ts'
import type { BeliefDraft } from './change/draft.ts'
import type { Edited, Edits } from './change/edit.ts'
import type { Receipt } from './change/forget.ts'
import type { Proposal, ReviewCandidate } from './change/proposals.ts'
import type { Remembered } from './change/remember.ts'
import type { Resolved, ResolveRequest } from './change/resolve.ts'
import type { Undone, UndoRequest } from './change/undo.ts'
import type { Heard, HeardTurn, HearRequest } from './conversation/hear.ts'
import type { EmbedRequest } from './conversation/meaning.ts'
import type { ForgottenTurns, TurnSelection } from './conversation/turns.ts'
import type { History } from './explain/history.ts'
import type { Remedies, RemedyRequest } from './explain/remedies.ts'
import type { Why } from './explain/why.ts'
import type { Learned, LearnRequest } from './learn/learn.ts'
import type { Author, Ports } from './ports.ts'
import type { Context } from './recall/context.ts'
import { type RecallRequest, recall } from './recall/recall.ts'
import type { SearchHit, SearchRequest, SearchResult } from './recall/search.ts'
import type { Imported } from './transfer/import.ts'

/** Whose memory it is, where it is used, and who is using it. Each call may give its own scopes. */
export type Standpoint = {
  readonly user: string
  readonly scopes: readonly string[]
  readonly agent: string | null
  readonly author: Author
}

type Own<Request> = Omit<Request, 'user' | 'author' | 'reference'>
type Keyed = { readonly key?: string }
type Paged = { readonly limit?: number; readonly offset?: number }
type Versioned = { readonly expectedVersion?: number }

/** A memory, seen from one standpoint. A belief is pointed at by its id, the beginning of it, its name or an alias. */
export type Memory = {
  /** Without a name, one is derived from the content. */
  remember(
    draft: Omit<BeliefDraft, 'name' | 'scopes'> &
      Partial<Pick<BeliefDraft, 'name' | 'scopes'>> &
      Keyed & {
        readonly sourceId?: string
        readonly model?: string
      },
  ): Promise<Remembered>
  /** Takes in what somebody says in a conversation, statement by statement. */
  learn(text: string, options?: Partial<Omit<Own<LearnRequest>, 'text' | 'view' | 'agent'>>): Promise<Learned>
  /** Keeps what was said, word for word, and learns from it. A turn that is known already is not kept again. */
  hear(
    turns: HeardTurn | readonly HeardTurn[],
    options?: Partial<Omit<Own<HearRequest>, 'turns' | 'view' | 'agent'>>,
  ): Promise<Heard>
  /** Turns that were kept: oldest first within a session, else newest first. Default 50 at a time. */
  turns(options?: Omit<TurnFilter, 'user'> & Paged): Promise<Page<Turn>>
  turn(id: string): Promise<Turn>
  /** Conversations, the one last spoken in first. Default 50 at a time. */
  conversations(options?: Omit<TurnFilter, 'user' | 'session'> & Paged): Promise<Page<SessionSummary>>
  /** Works out what sentences mean that has not been worked out yet, where the memory was opened with vectors. */
  embedTurns(options?: Omit<EmbedRequest, 'user'>): Promise<{ readonly embedded: number }>
  /** Removes what was said, and nothing of it is left; with `dryRun` it says what would be removed. */
  forgetTurns(selection: TurnSelection, options?: Keyed & { readonly dryRun?: boolean }): Promise<ForgottenTurns>
  recall(message: string, options?: Partial<Own<RecallRequest>>): Promise<Context>
  search(query: string, options?: Omit<Own<SearchRequest>, 'query'>): Promise<SearchResult>
  why(message: string, reference: string, options?: Partial<Own<RecallRequest>>): Promise<Why>
  /** What would make a belief appear for a message, or stay away. */
  remedies(
    message: string,
    reference: string,
    options: Partial<Own<RemedyRequest>> & Pick<RemedyRequest, 'wish'>,
  ): Promise<Remedies>
  correct(reference: string, correction: Own<CorrectRequest>): Promise<Corrected>
  reinforce(reference: string, options?: Keyed): Promise<Edited>
  /** Makes an unconfirmed belief the person's own word. Only a person can. */
  confirm(reference: string, options?: Keyed): Promise<Edited>
  pin(reference: string, options?: Keyed): Promise<Edited>
  unpin(reference: string, options?: Keyed): Promise<Edited>
  addAliases(reference: string, aliases: readonly string[], options?: Keyed): Promise<Edited>
  removeAliases(reference: string, aliases: readonly string[], options?: Keyed): Promise<Edited>
  setWhy(reference: string, why: string, options?: Keyed): Promise<Edited>
  /** Several of these as one change; `scopes` are all that it is to have. */
  edit(reference: string, edits: Edits, options?: Keyed & Versioned): Promise<Edited>
  resolve(question: string, by?: ResolveRequest['by'], options?: Keyed): Promise<Resolved>
  forget(reference: string, options?: { readonly wholeChain?: boolean } & Keyed & Versioned): Promise<Receipt>
  undo(event?: number, options?: Keyed & Pick<UndoRequest, 'review'>): Promise<Undone>
  /** `scopes`: where to look first when several beliefs have the name. */
  get(reference: string, options?: { readonly scopes?: readonly string[] }): Promise<Belief>
  list(
    options?: Omit<BeliefFilter, 'user'> & { readonly limit?: number; readonly offset?: number },
  ): Promise<Page<Belief>>
  /** Like `list`, of those that hold the words of a query, best first. The last word may be the beginning of one. */
  find(
    query: string,
    options?: Omit<BeliefFilter, 'user'> & { readonly limit?: number; readonly offset?: number },
  ): Promise<Page<SearchHit>>
  history(reference: string): Promise<History>
  /** The journal, newest first. `hearing`: also changes that only kept what was said. */
  events(options?: Partial<EventPage>): Promise<readonly JournalEntry[]>
  scopes(): Promise<readonly { readonly scope: string; readonly beliefs: number }[]>
  proposals(): Promise<readonly Proposal[]>
  /** What was found in conversations and waits for `confirm`, `reject` or `forget`, newest first. */
  candidates(): Promise<readonly ReviewCandidate[]>
  accept(
    proposal: string,
    options?: Keyed,
  ): Promise<{ readonly belief: Belief; readonly replaced: readonly Belief[]; readonly event: number }>
  reject(proposal: string, options?: Keyed): Promise<{ readonly beliefId: string; readonly event: number }>
  /** `text` is a JSON array of beliefs or JSON Lines, or Markdown if `format` says so; all of it is taken in, or nothing. */
  import(
    text: string,
    options?: {
      readonly source?: string
      readonly scopes?: readonly string[]
      readonly format?: 'records' | 'markdown'
    },
  ): Promise<Imported>
  export(filter?: Omit<BeliefFilter, 'user'>): AsyncIterable<Belief>
  /** Every turn, in the order in which they were kept. */
  exportTurns(filter?: { readonly scopes?: readonly string[] }): AsyncIterable<ExportedTurn>
  close(): Promise<void>
}

const isList = (turns: HeardTurn | readonly HeardTurn[]): turns is readonly HeardTurn[] => Array.isArray(turns)

/** Binds the use cases to a standpoint, which no option of a call can change: whose memory it is, and who is writing. */
export function memoryFrom(ports: Ports, standpoint: Standpoint): Memory {
  const { user, scopes, agent, author } = standpoint
  const view = { user, scopes, agent }
  const at = <Options extends object>(reference: string, options?: Options) => ({
    scopes,
    // Spreading nothing adds nothing.
    ...(options as Options),
    user,
    author,
    reference,
  })
  const load = () => import('./use-cases.ts')
  return {
    remember: async ({ key, sourceId, model, ...draft }) =>
      (await import('./change/remember.ts')).remember(ports, {
        user,
        author,
        draft: { scopes, ...draft },
        ...(key === undefined ? {} : { key }),
        ...(sourceId === undefined ? {} : { sourceId }),
        ...(model === undefined ? {} : { model }),
      }),
    learn: async (text, options = {}) =>
      (await import('./learn/learn.ts')).learn(ports, {
        scopes,
        ...options,
        user,
        author,
        agent,
        view: scopes,
        text,
      }),
    hear: async (turns, options = {}) =>
      (await import('./conversation/hear.ts')).hear(ports, {
        scopes,
        ...options,
        user,
        author,
        agent,
        view: scopes,
        turns: isList(turns) ? turns : [turns],
      }),
    turns: async (options = {}) => (await load()).listTurns(ports, { ...options, user }),
    turn: async (id) => (await load()).getTurn(ports, user, id),
    conversations: async (options = {}) => (await load()).listConversations(ports, { ...options, user }),
    embedTurns: async (options = {}) =>
      (await import('./conversation/meaning.ts')).embedTurns(ports, { ...options, user }),
    forgetTurns: async (selection, options) =>
      (await load()).forgetTurns(ports, { ...selection, ...options, user, author }),
    recall: (message, options = {}) => recall(ports, { ...view, ...options, user, message }),
    search: async (query, options = {}) =>
      (await import('./recall/search.ts')).search(ports, { agent, ...options, user, query }),
    why: async (message, reference, options = {}) =>
      (await load()).why(ports, { ...view, ...options, user, message, reference }),
    remedies: async (message, reference, options) =>
      (await load()).remedies(ports, { ...view, ...options, user, message, reference }),
    correct: async (reference, correction) => (await load()).correct(ports, at(reference, correction)),
    reinforce: async (reference, options) => (await load()).reinforce(ports, at(reference, options)),
    confirm: async (reference, options) => (await load()).confirm(ports, at(reference, options)),
    pin: async (reference, options) => (await load()).pin(ports, at(reference, options)),
    unpin: async (reference, options) => (await load()).unpin(ports, at(reference, options)),
    addAliases: async (reference, aliases, options) =>
      (await load()).addAliases(ports, { ...at(reference, options), aliases }),
    removeAliases: async (reference, aliases, options) =>
      (await load()).removeAliases(ports, { ...at(reference, options), aliases }),
    setWhy: async (reference, text, options) => (await load()).setWhy(ports, { ...at(reference, options), why: text }),
    edit: async (reference, edits, options) => (await load()).editBelief(ports, { ...at(reference, options), edits }),
    resolve: async (question, by, options) =>
      (await load()).resolve(ports, { ...at(question, options), ...(by === undefined ? {} : { by }) }),
    forget: async (reference, options) => (await load()).forget(ports, at(reference, options)),
    undo: async (event, options = {}) =>
      (await load()).undo(ports, { ...options, user, author, ...(event === undefined ? {} : { event }) }),
    get: async (reference, options) => (await load()).findBelief(ports, at(reference, options)),
    list: async (options = {}) => (await load()).listBeliefs(ports, { ...options, user }),
    find: async (query, options = {}) => (await load()).findBeliefs(ports, { ...options, user, query }),
    history: async (reference) => (await load()).history(ports, at(reference)),
    events: async (options = {}) => (await load()).recentEvents(ports, user, { limit: 50, ...options }),
    scopes: () => ports.store.scopes(user),
    proposals: async () => (await load()).proposals(ports, user),
    candidates: async () => (await load()).candidates(ports, user),
    accept: async (proposal, options) => (await load()).accept(ports, at(proposal, options)),
    reject: async (proposal, options) => (await load()).reject(ports, at(proposal, options)),
    import: async (text, options = {}) =>
      (await load()).importBeliefs(ports, { source: 'import', scopes, ...options, user, author, text }),
    export: async function* (filter = {}) {
      yield* (await load()).exportBeliefs(ports, { ...filter, user })
    },
    exportTurns: async function* (filter = {}) {
      yield* (await load()).exportTurns(ports, { ...filter, user })
    },
    close: () => ports.store.close(),
  }
}
