import type { RouteName } from '../../src/http/api/contract.ts'

/** Ids of another person's data. */
export type Hostile = {
  readonly id: string
  readonly turn: string
  readonly session: string
  readonly event: number
  readonly user: string
}
export type Sent = {
  readonly path?: string
  readonly query?: Record<string, string | readonly string[]>
  readonly body?: unknown
}

/** A request to every route about another person's data. Routes without a request concern no user, or start processes. */
export const attempts: Partial<Record<RouteName, (of: Hostile) => Sent>> = {
  health: () => ({}),
  scopes: () => ({}),
  mirror: () => ({}),
  listBeliefs: ({ user }) => ({ query: { query: `secret plan of ${user}`, limit: '200' } }),
  createBelief: ({ user, id }) => ({ body: { name: 'note', content: `Same for ${id}.`, participants: [id, user] } }),
  getBelief: ({ id }) => ({ path: id }),
  beliefHistory: ({ id }) => ({ path: id }),
  beliefLinks: ({ id }) => ({ path: id }),
  editBelief: ({ id }) => ({ path: id, body: { why: 'taken over', pinned: true, scopes: ['project:taken'] } }),
  correctBelief: ({ id }) => ({ path: id, body: { content: 'Taken over.' } }),
  confirmBelief: ({ id }) => ({ path: id }),
  resolveBelief: ({ id }) => ({ path: id, body: { by: { id } } }),
  forgetBelief: ({ id }) => ({ path: id, query: { wholeChain: 'true' } }),
  previewForget: ({ id }) => ({ path: id, query: { wholeChain: 'true' } }),
  listProposals: () => ({}),
  review: () => ({ query: { limit: '200' } }),
  acceptProposal: ({ id }) => ({ path: id }),
  rejectProposal: ({ id }) => ({ path: id }),
  hear: ({ session }) => ({ body: { text: 'A turn of mine.', session, learn: 'nothing' } }),
  listTurns: ({ session }) => ({ query: { session, limit: '200' } }),
  getTurn: ({ turn }) => ({ path: turn, query: { around: '50' } }),
  forgetTurns: ({ turn }) => ({ query: { turn } }),
  listConversations: () => ({ query: { limit: '200' } }),
  getConversation: ({ session }) => ({ path: session }),
  search: ({ user }) => ({ query: { q: `What is the secret plan of ${user}?`, limit: '100' } }),
  recall: ({ user }) => ({ body: { message: `Tell me the secret plan of ${user}.` } }),
  why: ({ id }) => ({ body: { message: 'the secret plan', beliefId: id } }),
  whyTurn: ({ turn }) => ({ path: turn, body: { message: 'the secret plan' } }),
  giveFeedback: ({ id }) => ({ body: { id, verdict: 'useful' } }),
  listFeedback: () => ({}),
  sync: () => ({ body: { message: 'nothing' } }),
  syncStatus: () => ({}),
  remedies: ({ id }) => ({ body: { message: 'the secret plan', beliefId: id, wish: 'absent' } }),
  applyRemedy: ({ id }) => ({
    body: { message: 'the secret plan', beliefId: id, wish: 'absent', change: { removeAliases: ['plan b'] } },
  }),
  capture: ({ id }) => ({ body: { message: 'the secret plan', expect: [id] } }),
  journal: () => ({ query: { limit: '200', hearing: 'true' } }),
  journalEvent: ({ event }) => ({ path: String(event) }),
  undo: ({ event }) => ({ path: String(event) }),
  hosts: () => ({}),
  growth: () => ({}),
  pastBeliefs: () => ({ query: { asOf: '2099-01-01', limit: '50' } }),
}
/** Other values instead of an id. */
export const guesses = (id: string): readonly string[] => [
  id,
  id,
  id,
  id.slice(0, 6),
  id.slice(0, -1),
  id.toUpperCase(),
  `${id} `,
  `${id}\u200b`,
  id.replaceAll('-', '‐'),
  'null',
  'undefined',
  '*',
  '%',
  '_',
  '%25',
  '[]',
  '["a"]',
  '{}',
  '0',
  '-1',
  "' OR 1=1 --",
  '../',
  id.normalize('NFD'),
]
/** Bodies that no route accepts. */
export const bodies: readonly unknown[] = [
  null,
  [],
  [null],
  'text',
  0,
  { id: null },
  { user: 'ada' },
  { user: ['ada'], scopes: ['*'] },
]
