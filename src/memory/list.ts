import type { Belief } from '../beliefs/belief.ts'
import type { BeliefFilter, Page } from '../beliefs/belief-store.ts'
import { parseScopes } from '../beliefs/scope.ts'
import { MemoryError } from '../errors.ts'
import type { Workshop } from './workshop.ts'

export type ListRequest = BeliefFilter & { readonly limit?: number; readonly offset?: number }

/** Most recently updated first. Default 50 at a time, at most 1000. */
export async function listBeliefs(
  { store }: Workshop,
  { limit = 50, offset = 0, ...filter }: ListRequest,
): Promise<Page<Belief>> {
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > 1_000)
    throw new MemoryError('invalid', `The limit ${limit} is out of range.`, {
      hint: 'Give a whole number from 1 to 1000.',
    })
  if (!Number.isSafeInteger(offset) || offset < 0)
    throw new MemoryError('invalid', `The offset ${offset} is out of range.`, {
      hint: 'Give a whole number, 0 or more.',
    })
  return store.list(
    { ...filter, ...(filter.scopes === undefined ? {} : { scopes: parseScopes(filter.scopes) }) },
    { limit, offset },
  )
}
