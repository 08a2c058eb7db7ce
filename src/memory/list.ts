import { type Belief, passesFilter } from '../beliefs/belief.ts'
import type { BeliefFilter, BeliefOrder, Page } from '../beliefs/belief-store.ts'
import { parseScopes } from '../beliefs/scope.ts'
import { omitUndefined } from '../omit-undefined.ts'
import { cutMessage } from '../search/message.ts'
import type { Ports } from './ports.ts'
import { everyHit, requirePage, type SearchHit } from './recall/search.ts'

export type ListRequest = BeliefFilter & {
  readonly limit?: number
  readonly offset?: number
  readonly order?: BeliefOrder
}

/** Most recently updated first. Default 50 at a time, at most 1000. */
export async function listBeliefs(
  { store }: Ports,
  { limit = 50, offset = 0, order = 'updated', ...filter }: ListRequest,
): Promise<Page<Belief>> {
  requirePage({ limit, offset })
  return store.list(parseFilter(filter), { limit, offset, order })
}

type FindRequest = Omit<ListRequest, 'order'> & { readonly query: string }

/**
 * Like `listBeliefs`, but only beliefs that contain the words of a query, best first; the last word may be incomplete. As in
 * `listBeliefs`, a scope does not include its ancestors, and retired beliefs are found unless `current` is true. `isCut` is true
 * if more beliefs match than were ranked, so that `total` is a lower bound.
 */
export async function findBeliefs(
  ports: Ports,
  { limit = 50, offset = 0, query, ...given }: FindRequest,
): Promise<Page<SearchHit> & { readonly isCut: boolean }> {
  requirePage({ limit, offset })
  const filter = parseFilter(given)
  const { user, scopes, types, statuses } = filter
  const request = { user, query: cutMessage(query), isUnfinished: true, includeRetired: filter.current !== true }
  const { hits, isCut, shown } = await everyHit(ports, { ...request, ...omitUndefined({ scopes, types, statuses }) })
  const wanted = hits.filter(({ belief }) => passesFilter(belief, filter))
  return { items: shown(wanted.slice(offset, offset + limit)), total: wanted.length, isCut }
}

const parseFilter = ({ scopes, ...filter }: BeliefFilter): BeliefFilter =>
  scopes === undefined ? filter : { ...filter, scopes: parseScopes(scopes) }
