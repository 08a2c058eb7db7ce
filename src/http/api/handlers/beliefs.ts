import type { Belief } from '../../../beliefs/belief.ts'
import type { BeliefFilter } from '../../../beliefs/belief-store.ts'
import { MemoryError } from '../../../errors.ts'
import type { Desk, Handlers } from '../handlers.ts'
import { mostItems } from '../request-shapes.ts'
import { sentEntry } from './journal.ts'

type BeliefRoutes =
  | 'scopes'
  | 'listBeliefs'
  | 'createBelief'
  | 'getBelief'
  | 'beliefHistory'
  | 'editBelief'
  | 'correctBelief'
  | 'confirmBelief'
  | 'resolveBelief'
  | 'forgetBelief'
  | 'listProposals'
  | 'acceptProposal'
  | 'rejectProposal'

export function beliefHandlers({ store, user, scopes, homeScopes }: Desk): Handlers<BeliefRoutes> {
  /** Names and beginnings of ids are for people; a program must never hit another belief. */
  const required = async (id: string): Promise<Belief> => {
    const belief = await store.get(user, id)
    if (belief !== null) return belief
    throw new MemoryError('not_found', `There is no belief with the id "${id}".`, {
      hint: 'It may have been forgotten. GET beliefs lists those there are.',
    })
  }
  const existing = async (id: string): Promise<string> => (await required(id)).id

  return {
    scopes: async ({ memory }) => ({ items: await memory.scopes(), active: scopes }),
    listBeliefs: async ({ memory, query: { query, scope, type, status, ...rest } }) => {
      const filter = {
        ...rest,
        ...(scope === undefined ? {} : { scopes: scope }),
        ...(type === undefined ? {} : { types: type }),
        ...(status === undefined ? {} : { statuses: status }),
      } satisfies Omit<BeliefFilter, 'user'> & { limit: number; offset: number }
      if (query !== undefined && query.trim() !== '') {
        const { items, total } = await memory.find(query, filter)
        return { items: items.map(({ belief, ...hit }) => ({ belief, hit })), total }
      }
      const { items, total } = await memory.list(filter)
      return { items: items.map((belief) => ({ belief, hit: null })), total }
    },
    createBelief: ({ memory, body, keyed }) => memory.remember({ scopes: homeScopes, ...body, ...keyed }),
    getBelief: async ({ params: { id } }) => ({
      belief: await required(id),
      proposals: await store.proposalsFor(user, id),
    }),
    beliefHistory: async ({ memory, params: { id } }) => {
      const { belief, revisions, chain } = await memory.history(await existing(id))
      return {
        belief,
        revisions: revisions.slice(-mostItems).map(({ event, ...rest }) => ({ ...rest, event: sentEntry(event) })),
        revisionCount: revisions.length,
        chain: around(chain, id),
      }
    },
    editBelief: async ({ memory, params: { id }, body: { expectedVersion, ...edits }, keyed }) =>
      memory.edit(await existing(id), edits, { ...keyed, ...versioned(expectedVersion) }),
    correctBelief: async ({ memory, params: { id }, body, keyed }) =>
      memory.correct(await existing(id), { ...body, ...keyed }),
    confirmBelief: async ({ memory, params: { id }, keyed }) => memory.confirm(await existing(id), keyed),
    resolveBelief: async ({ memory, params: { id }, body: { by }, keyed }) => {
      const decision = by !== undefined && 'id' in by ? { reference: await existing(by.id) } : by
      return memory.resolve(await existing(id), decision, keyed)
    },
    forgetBelief: async ({ memory, params: { id }, query: { wholeChain = false, expectedVersion }, keyed }) => {
      // What undo took back is found by nothing, but its text can still be forgotten; and so can a request be repeated.
      if ((await store.history(user, id)).length === 0) await required(id)
      return memory.forget(id, { wholeChain, ...keyed, ...versioned(expectedVersion) })
    },
    listProposals: async ({ memory }) => {
      const firstOf = <Item>(items: readonly Item[]) => ({ items: items.slice(0, mostItems), total: items.length })
      return { ...firstOf(await memory.proposals()), candidates: firstOf(await memory.candidates()) }
    },
    acceptProposal: async ({ memory, params: { id }, keyed }) => memory.accept(await existing(id), keyed),
    rejectProposal: async ({ memory, params: { id }, keyed }) => memory.reject(await existing(id), keyed),
  }
}

const versioned = (expectedVersion: number | undefined) => (expectedVersion === undefined ? {} : { expectedVersion })

/** A very long line of supersession is cut around the belief that was asked about. */
function around(chain: readonly Belief[], id: string): readonly Belief[] {
  const at = chain.findIndex((belief) => belief.id === id)
  const first = Math.max(0, Math.min(at - mostItems / 2, chain.length - mostItems))
  return chain.slice(first, first + mostItems)
}
