import { type Belief, isVisibleTo } from '../beliefs/belief.ts'
import { mayName, parseScope, visibleScopes } from '../beliefs/scope.ts'
import { conflict, forbidden, MemoryError } from '../errors.ts'
import type { Memory } from '../memory/memory.ts'
import type { Author } from '../memory/ports.ts'

/** The user, the agent and the scopes that a server works with. */
export type MemoryView = {
  readonly user: string
  /** The active scopes of a call that names no scope. */
  readonly scopes: readonly string[]
  /** Where a new belief goes when a call names no scope. */
  readonly homeScopes: readonly string[]
  /** The agent whose own beliefs are in view too. */
  readonly agent: string | null
  /** Whether calls may only name scopes that are in view already. */
  readonly hasFixedScopes: boolean
  /** Whether calls may name any project. Only for a host that the person started outside of a project. */
  readonly servesEveryProject?: boolean
}

/** The memory as one client uses it. No argument of a call can change its user or its author. */
export type CallContext = {
  readonly view: MemoryView
  readonly memory: Memory
  readonly author: Author
  readonly version: string
}

export const scopesOf = (call: CallContext, named: string | undefined): readonly string[] =>
  named === undefined ? call.view.scopes : [allowedScope(call, named)]

export const homeOf = (call: CallContext, named: string | undefined): readonly string[] =>
  named === undefined ? call.view.homeScopes : [allowedScope(call, named)]

function allowedScope({ view }: CallContext, named: string): string {
  const scope = parseScope(named)
  const { scopes, hasFixedScopes, servesEveryProject = false } = view
  const isServed = hasFixedScopes ? visibleScopes(scopes).includes(scope) : servesEveryProject || mayName(scope, scopes)
  if (isServed) return scope
  throw forbidden(`The scope "${scope}" is not served here.`, `Use one of ${visibleScopes(scopes).join(', ')}.`)
}

export const isInView = (belief: Belief, scopes: readonly string[], agent: string | null): boolean => {
  const visible = visibleScopes(scopes)
  return isVisibleTo(belief.agent, agent) && belief.scopes.some((scope) => visible.includes(scope))
}

/**
 * Finds a belief by id, name or alias among those in view. One that is out of view gets the same error as one that does
 * not exist, because its existence would already reveal something about another scope.
 */
export async function beliefInView(call: CallContext, reference: string, named: string | undefined): Promise<Belief> {
  const { memory, view } = call
  const scopes = scopesOf(call, named)
  const found = await memory.get(reference, { scopes }).catch((error: unknown) => {
    if (error instanceof MemoryError && error.code === 'conflict') return null
    throw error instanceof MemoryError && error.code === 'not_found' ? notFound(reference, scopes) : error
  })
  if (found !== null && isInView(found, scopes, view.agent)) return found
  // The reference may fit several beliefs, of which only some are in view.
  const exact = (await memory.search(reference, { scopes, agent: view.agent, limit: 100, in: 'beliefs' })).beliefs
    .filter(({ strength }) => strength === 'exact')
    .map(({ belief }) => belief)
  const [only, ...others] = exact.filter((belief) => isCalled(belief, reference))
  if (only === undefined) throw notFound(reference, scopes)
  if (others.length === 0) return only
  const list = [only, ...others].slice(0, 10).map(({ id, name, scopes }) => `${id} (${name}, ${scopes.join(' ')})`)
  throw conflict(`"${reference}" matches several beliefs: ${list.join(', ')}.`, 'Give the id.')
}

const isCalled = ({ name, aliases }: Belief, reference: string): boolean => {
  const plain = (text: string): string => text.trim().toLowerCase()
  return [name, ...aliases].some((form) => plain(form) === plain(reference))
}

const notFound = (reference: string, scopes: readonly string[]): MemoryError =>
  new MemoryError('not_found', `There is no belief "${reference.slice(0, 200)}" in ${scopes.join(' and ')}.`, {
    hint: 'Look for it with memory_search, or name its scope.',
  })
