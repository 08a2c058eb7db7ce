import type { Belief } from '../beliefs/belief.ts'
import type { BeliefFilter, Page } from '../beliefs/belief-store.ts'
import type { JournalEvent } from '../beliefs/journal.ts'
import type { Context } from './context.ts'
import { type Corrected, type CorrectRequest, correct } from './correct.ts'
import type { BeliefDraft } from './draft.ts'
import { addAliases, type Edited, pin, reinforce, removeAliases, setWhy, unpin } from './edit.ts'
import { exportBeliefs } from './export.ts'
import { findBelief } from './find-belief.ts'
import { forget, type Receipt } from './forget.ts'
import { type History, history, recentEvents } from './history.ts'
import { type Imported, importBeliefs } from './import.ts'
import { listBeliefs } from './list.ts'
import { accept, type Proposal, proposals, reject } from './proposals.ts'
import { type RecallRequest, recall } from './recall.ts'
import { type Remembered, remember } from './remember.ts'
import { type Resolved, type ResolveRequest, resolve } from './resolve.ts'
import { type SearchRequest, type SearchResult, search } from './search.ts'
import { type Undone, undo } from './undo.ts'
import { type Why, why } from './why.ts'
import type { Author, Workshop } from './workshop.ts'

/** Whose memory it is, where it is used, and who is using it. Each call may give its own scopes. */
export type Standpoint = {
  readonly user: string
  readonly scopes: readonly string[]
  readonly agent: string | null
  readonly author: Author
}

type Own<Request> = Omit<Request, 'user' | 'author' | 'reference'>
type Keyed = { readonly key?: string }

/** A memory, seen from one standpoint. A belief is pointed at by its id, the beginning of it, its name or an alias. */
export type Memory = {
  remember(
    draft: Omit<BeliefDraft, 'scopes'> & { readonly scopes?: readonly string[] } & Keyed & {
        readonly sourceId?: string
        readonly model?: string
      },
  ): Promise<Remembered>
  recall(message: string, options?: Partial<Own<RecallRequest>>): Promise<Context>
  search(query: string, options?: Omit<Own<SearchRequest>, 'query'>): Promise<SearchResult>
  why(message: string, reference: string, options?: Partial<Own<RecallRequest>>): Promise<Why>
  correct(reference: string, correction: Own<CorrectRequest>): Promise<Corrected>
  reinforce(reference: string, options?: Keyed): Promise<Edited>
  pin(reference: string, options?: Keyed): Promise<Edited>
  unpin(reference: string, options?: Keyed): Promise<Edited>
  addAliases(reference: string, aliases: readonly string[], options?: Keyed): Promise<Edited>
  removeAliases(reference: string, aliases: readonly string[], options?: Keyed): Promise<Edited>
  setWhy(reference: string, why: string, options?: Keyed): Promise<Edited>
  resolve(question: string, by?: ResolveRequest['by'], options?: Keyed): Promise<Resolved>
  forget(reference: string, options?: { readonly wholeChain?: boolean } & Keyed): Promise<Receipt>
  undo(event?: number, options?: Keyed): Promise<Undone>
  get(reference: string): Promise<Belief>
  list(
    options?: Omit<BeliefFilter, 'user'> & { readonly limit?: number; readonly offset?: number },
  ): Promise<Page<Belief>>
  history(reference: string): Promise<History>
  events(options?: { readonly limit?: number; readonly before?: number }): Promise<readonly JournalEvent[]>
  scopes(): Promise<readonly { readonly scope: string; readonly beliefs: number }[]>
  proposals(): Promise<readonly Proposal[]>
  accept(
    proposal: string,
    options?: Keyed,
  ): Promise<{ readonly belief: Belief; readonly replaced: readonly Belief[]; readonly event: number }>
  reject(proposal: string, options?: Keyed): Promise<{ readonly beliefId: string; readonly event: number }>
  /** `text` is a JSON array of beliefs or JSON Lines; all of it is taken in, or nothing. */
  import(text: string, options?: { readonly source?: string; readonly scopes?: readonly string[] }): Promise<Imported>
  export(filter?: Omit<BeliefFilter, 'user'>): AsyncIterable<Belief>
  close(): Promise<void>
}

/** Binds the use cases to a standpoint, which no option of a call can change: whose memory it is, and who is writing. */
export function memoryFrom(workshop: Workshop, standpoint: Standpoint): Memory {
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
  return {
    remember: ({ key, sourceId, model, ...draft }) =>
      remember(workshop, {
        user,
        author,
        draft: { scopes, ...draft },
        ...(key === undefined ? {} : { key }),
        ...(sourceId === undefined ? {} : { sourceId }),
        ...(model === undefined ? {} : { model }),
      }),
    recall: (message, options = {}) => recall(workshop, { ...view, ...options, user, message }),
    search: (query, options = {}) => search(workshop, { agent, ...options, user, query }),
    why: (message, reference, options = {}) => why(workshop, { ...view, ...options, user, message, reference }),
    correct: (reference, correction) => correct(workshop, at(reference, correction)),
    reinforce: (reference, options) => reinforce(workshop, at(reference, options)),
    pin: (reference, options) => pin(workshop, at(reference, options)),
    unpin: (reference, options) => unpin(workshop, at(reference, options)),
    addAliases: (reference, aliases, options) => addAliases(workshop, { ...at(reference, options), aliases }),
    removeAliases: (reference, aliases, options) => removeAliases(workshop, { ...at(reference, options), aliases }),
    setWhy: (reference, text, options) => setWhy(workshop, { ...at(reference, options), why: text }),
    resolve: (question, by, options) =>
      resolve(workshop, { ...at(question, options), ...(by === undefined ? {} : { by }) }),
    forget: (reference, options) => forget(workshop, at(reference, options)),
    undo: (event, options = {}) =>
      undo(workshop, { ...options, user, author, ...(event === undefined ? {} : { event }) }),
    get: (reference) => findBelief(workshop, at(reference)),
    list: (options = {}) => listBeliefs(workshop, { ...options, user }),
    history: (reference) => history(workshop, at(reference)),
    events: (options = {}) => recentEvents(workshop, user, { limit: 50, ...options }),
    scopes: () => workshop.store.scopes(user),
    proposals: () => proposals(workshop, user),
    accept: (proposal, options) => accept(workshop, at(proposal, options)),
    reject: (proposal, options) => reject(workshop, at(proposal, options)),
    import: (text, options = {}) =>
      importBeliefs(workshop, { source: 'import', scopes, ...options, user, author, text }),
    export: (filter = {}) => exportBeliefs(workshop, { ...filter, user }),
    close: () => workshop.store.close(),
  }
}
