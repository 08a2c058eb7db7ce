import type { Belief } from '../../../beliefs/belief.ts'
import { type JournalEntry as DomainEntry, entryOf, mostListedBeliefs } from '../../../beliefs/journal.ts'
import { changesOf, filteredEvents, type Removal, removalOf } from '../../../memory/explain/history.ts'
import { linkableBeliefs, linksOf, proposalsAbout } from '../../../memory/explain/links.ts'
import { omitUndefined } from '../../../omit-undefined.ts'
import type { ApiJournalEntry } from '../contract.ts'
import { mostItems } from '../route.ts'
import type { beliefRoutes, journalRoutes, proposalRoutes } from '../routes/belief-routes.ts'
import { beliefById, cachedUntilChange, type Handlers, type ServerDeps } from '../server-deps.ts'

type BeliefRoute = keyof typeof beliefRoutes | keyof typeof proposalRoutes | keyof typeof journalRoutes

const mostNames = 3

export function beliefHandlers(deps: ServerDeps): Handlers<BeliefRoute> {
  const { store, user, scopes, homeScopes } = deps
  const existing = async (id: string): Promise<string> => (await beliefById(deps, id)).id
  const linkable = cachedUntilChange(deps, () => linkableBeliefs(deps.ports, user))
  /** Adds how often each belief was recalled, and when it last was. */
  const counted = async <Item extends { readonly belief: Belief }>(items: readonly Item[]) => {
    const ids = items.map(({ belief }) => belief.id)
    const counts = await deps.ports.counts?.recallCounts(user, ids)
    return items.map((item) => {
      const { count = 0, lastAt = null } = counts?.get(item.belief.id) ?? {}
      return { ...item, recalls: count, recalledAt: lastAt }
    })
  }
  return {
    scopes: async ({ memory }) => ({ items: await memory.scopes(), active: scopes }),
    listBeliefs: async ({ memory, query: { query, order, scope, type, status, ...rest } }) => {
      const filter = { ...rest, ...omitUndefined({ scopes: scope, types: type, statuses: status }) }
      if (query !== undefined && query.trim() !== '') {
        const { items, ...rest } = await memory.find(query, filter)
        return { items: await counted(items.map(({ belief, ...hit }) => ({ belief, hit }))), ...rest }
      }
      const { items, total } = await memory.list({ ...filter, ...omitUndefined({ order }) })
      return { items: await counted(items.map((belief) => ({ belief, hit: null }))), total, isCut: false }
    },
    createBelief: ({ memory, body, idempotency }) => memory.remember({ scopes: homeScopes, ...body, ...idempotency }),
    getBelief: async ({ params: { id } }) => {
      const belief = await beliefById(deps, id)
      return { belief, proposals: await proposalsAbout(deps.ports, belief) }
    },
    beliefHistory: async ({ memory, params: { id } }) => {
      const { belief, revisions, chain } = await memory.history(await existing(id))
      return {
        belief,
        revisions: revisions.slice(-mostItems).map(({ event, ...rest }) => ({ ...rest, event: sentEntry(event) })),
        revisionCount: revisions.length,
        chain: around(chain, id),
      }
    },
    beliefLinks: async ({ params: { id } }) =>
      linksOf(deps.ports, { user, scopes, reference: await existing(id) }, await linkable()),
    editBelief: async ({ memory, params: { id }, body: { expectedVersion, ...edits }, idempotency }) =>
      memory.edit(await existing(id), edits, { ...idempotency, ...omitUndefined({ expectedVersion }) }),
    correctBelief: async ({ memory, params: { id }, body, idempotency }) =>
      memory.correct(await existing(id), { ...body, ...idempotency }),
    confirmBelief: async ({ memory, params: { id }, idempotency }) => memory.confirm(await existing(id), idempotency),
    resolveBelief: async ({ memory, params: { id }, body: { by }, idempotency }) => {
      const decision = by !== undefined && 'id' in by ? { reference: await existing(by.id) } : by
      return memory.resolve(await existing(id), decision, idempotency)
    },
    forgetBelief: async ({ memory, params: { id }, query: { expectedVersion, ...also }, idempotency }) => {
      // A belief that was undone has no current version, but its text is still in the journal and can be forgotten.
      if ((await store.history(user, id)).length === 0) await beliefById(deps, id)
      return memory.forget(id, { ...omitUndefined(also), ...idempotency, ...omitUndefined({ expectedVersion }) })
    },
    previewForget: ({ memory, params: { id }, query }) => memory.previewForget(id, omitUndefined(query)),
    review: ({ memory, query }) => memory.review(query),
    listProposals: async ({ memory }) => {
      const firstOf = <Item>(items: readonly Item[]) => ({ items: items.slice(0, mostItems), total: items.length })
      return { ...firstOf(await memory.proposals()), candidates: firstOf(await memory.candidates()) }
    },
    acceptProposal: async ({ memory, params: { id }, query, idempotency }) =>
      memory.accept(await existing(id), { ...query, ...idempotency }),
    rejectProposal: async ({ memory, params: { id }, idempotency }) => memory.reject(await existing(id), idempotency),
    journal: async ({ query: { kind, actor, ...page } }) => {
      const wanted = { ...page, ...omitUndefined({ kinds: kind, actors: actor }) }
      const { entries, nextBefore } = await filteredEvents(deps.ports, user, wanted)
      const named = ({ beliefIds }: DomainEntry): readonly string[] => beliefIds.slice(0, mostNames)
      const beliefs = await store.getMany(user, [...new Set(entries.flatMap(named))])
      const names = new Map(beliefs.map(({ id, name }) => [id, name]))
      const removals: Record<string, Removal> = {}
      for (const id of new Set(entries.flatMap(named)))
        if (!names.has(id)) removals[id] = await removalOf(deps.ports, user, id)
      const goneOf = (entry: DomainEntry): Readonly<Record<string, Removal>> =>
        Object.fromEntries(Object.entries(removals).filter(([id]) => named(entry).includes(id)))
      return {
        items: entries.map((entry) => ({
          event: sentEntry(entry),
          names: Object.fromEntries(named(entry).map((id) => [id, names.get(id) ?? null])),
          gone: goneOf(entry),
        })),
        nextBefore,
      }
    },
    journalEvent: async ({ params: { number } }) => ({
      changes: await changesOf(deps.ports, user, number, mostListedBeliefs),
    }),
    undo: async ({ memory, params: { number }, idempotency }) => {
      const { undone, restored, withdrawn, event } = await memory.undo(number, idempotency)
      return {
        undone: sentEntry(entryOf(undone)),
        restored: restored.slice(0, mostListedBeliefs),
        restoredCount: restored.length,
        withdrawn: withdrawn.slice(0, mostListedBeliefs),
        withdrawnCount: withdrawn.length,
        event,
      }
    },
  }
}

/** A journal entry without its idempotency key, which belongs to the sender alone. */
const sentEntry = ({ user: _user, key: _key, ...entry }: DomainEntry): ApiJournalEntry => entry

/** At most `mostItems` of a supersession chain, around the belief that was asked for. */
function around(chain: readonly Belief[], id: string): readonly Belief[] {
  const at = chain.findIndex((belief) => belief.id === id)
  const first = Math.max(0, Math.min(at - mostItems / 2, chain.length - mostItems))
  return chain.slice(first, first + mostItems)
}
