import { type Belief, isCurrent } from '../beliefs/belief.ts'
import type { BeliefFilter, Page } from '../beliefs/belief-store.ts'
import { parseScopes } from '../beliefs/scope.ts'
import { MemoryError } from '../errors.ts'
import type { Ports } from './change/transaction.ts'
import { everyHit, type SearchHit } from './recall/search.ts'

export type ListRequest = BeliefFilter & { readonly limit?: number; readonly offset?: number }

/** Most recently updated first. Default 50 at a time, at most 1000. */
export async function listBeliefs(
  { store }: Ports,
  { limit = 50, offset = 0, ...filter }: ListRequest,
): Promise<Page<Belief>> {
  requirePage({ limit, offset })
  return store.list(
    { ...filter, ...(filter.scopes === undefined ? {} : { scopes: parseScopes(filter.scopes) }) },
    { limit, offset },
  )
}

export type FindRequest = ListRequest & { readonly query: string }

/**
 * Like a list, of those that hold the words of a query, best first; the last may still be being typed. The filter means what it means for a list: a scope
 * is that scope alone, and what is retired is found too unless it asks for what is current.
 */
export async function findBeliefs(
  ports: Ports,
  { limit = 50, offset = 0, query, ...filter }: FindRequest,
): Promise<Page<SearchHit>> {
  requirePage({ limit, offset })
  const { user, scopes, types, statuses } = filter
  const inScopes = scopes === undefined ? null : parseScopes(scopes)
  const hits = await everyHit(ports, {
    user,
    query,
    isUnfinished: true,
    includeRetired: filter.current !== true,
    ...(inScopes === null ? {} : { scopes: inScopes }),
    ...(types === undefined ? {} : { types }),
    ...(statuses === undefined ? {} : { statuses }),
  })
  const wanted = hits.filter(({ belief }) => passes(belief, filter, inScopes))
  return { items: wanted.slice(offset, offset + limit), total: wanted.length }
}

const passes = (
  belief: Belief,
  { pinned, current, proposals, candidates }: Pick<FindRequest, 'pinned' | 'current' | 'proposals' | 'candidates'>,
  scopes: readonly string[] | null,
): boolean =>
  (pinned === undefined || belief.pinned === pinned) &&
  (current === undefined || isCurrent(belief) === current) &&
  (proposals === undefined || (belief.proposedFor !== null) === proposals) &&
  (candidates === undefined || belief.candidate === candidates) &&
  (scopes === null || belief.scopes.some((scope) => scopes.includes(scope)))

export function requirePage({ limit, offset }: { readonly limit: number; readonly offset: number }): void {
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > 1_000)
    throw new MemoryError('invalid', `The limit ${limit} is out of range.`, {
      hint: 'Give a whole number from 1 to 1000.',
    })
  if (!Number.isSafeInteger(offset) || offset < 0)
    throw new MemoryError('invalid', `The offset ${offset} is out of range.`, {
      hint: 'Give a whole number, 0 or more.',
    })
}
