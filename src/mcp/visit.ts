import { type Belief, isVisibleTo } from '../beliefs/belief.ts'
import { parseScope, visibleScopes } from '../beliefs/scope.ts'
import { MemoryError } from '../errors.ts'
import type { Memory } from '../memory/memory.ts'
import type { Author } from '../memory/ports.ts'

/** Where a server stands: whose memory it is, what of it is in view, and where something new goes. */
export type Standing = {
  readonly user: string
  /** The active scopes of a call that names none. */
  readonly scopes: readonly string[]
  /** Where something new goes when a call names no scope. */
  readonly homeScopes: readonly string[]
  /** The agent whose own beliefs are in view too. */
  readonly agent: string | null
  /** Refuses a scope that is not in view already. */
  readonly hasFixedScopes: boolean
}

/** The memory as one client sees it during one call. No argument of a call can change whose it is or who writes. */
export type Visit = {
  readonly standing: Standing
  readonly memory: Memory
  readonly author: Author
  readonly version: string
}

/** The active scopes of a call: as it says, else as the server stands. */
export const scopesOf = (visit: Visit, given: string | undefined): readonly string[] =>
  given === undefined ? visit.standing.scopes : [allowedScope(visit, given)]

/** Where a call writes to. */
export const homeOf = (visit: Visit, given: string | undefined): readonly string[] =>
  given === undefined ? visit.standing.homeScopes : [allowedScope(visit, given)]

function allowedScope({ standing }: Visit, given: string): string {
  const scope = parseScope(given)
  if (!standing.hasFixedScopes || visibleScopes(standing.scopes).includes(scope)) return scope
  throw new MemoryError('forbidden', `The scope "${scope}" is not open here.`, {
    hint: `Open are ${visibleScopes(standing.scopes).join(', ')}.`,
  })
}

export const isInView = (belief: Belief, scopes: readonly string[], agent: string | null): boolean => {
  const visible = visibleScopes(scopes)
  return isVisibleTo(belief.agent, agent) && belief.scopes.some((scope) => visible.includes(scope))
}

/**
 * The belief a reference means, among those in view and no others. What is out of view is answered like what does not
 * exist: that it exists is already something about another scope.
 */
export async function beliefInView(visit: Visit, reference: string, given: string | undefined): Promise<Belief> {
  const { memory, standing } = visit
  const scopes = scopesOf(visit, given)
  const found = await memory.get(reference, { scopes }).catch((error: unknown) => {
    if (error instanceof MemoryError && error.code === 'conflict') return null
    throw error instanceof MemoryError && error.code === 'not_found' ? notFound(reference, scopes) : error
  })
  if (found !== null && isInView(found, scopes, standing.agent)) return found
  // The reference may mean several beliefs of which only some are in view.
  const exact = (await memory.search(reference, { scopes, agent: standing.agent, limit: 100, in: 'beliefs' })).beliefs
    .filter(({ strength }) => strength === 'exact')
    .map(({ belief }) => belief)
  const [only, ...others] = exact.filter((belief) => isCalled(belief, reference))
  if (only === undefined) throw notFound(reference, scopes)
  if (others.length === 0) return only
  throw new MemoryError('conflict', `"${reference}" means several beliefs: ${listed([only, ...others])}.`, {
    hint: 'Give the id.',
  })
}

const isCalled = ({ name, aliases }: Belief, reference: string): boolean => {
  const plain = (text: string): string => text.trim().toLowerCase()
  return [name, ...aliases].some((form) => plain(form) === plain(reference))
}

const listed = (beliefs: readonly Belief[]): string =>
  beliefs
    .slice(0, 10)
    .map(({ id, name, scopes }) => `${id} (${name}, ${scopes.join(' ')})`)
    .join(', ')

const notFound = (reference: string, scopes: readonly string[]): MemoryError =>
  new MemoryError('not_found', `There is no belief "${reference.slice(0, 200)}" in ${scopes.join(' and ')}.`, {
    hint: 'Look for it with memory_search, or name its scope.',
  })
