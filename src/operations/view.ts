import { type Belief, isVisibleTo } from '../beliefs/belief.ts'
import { mayName, parseScope, visibleScopes } from '../beliefs/scope.ts'
import { conflict, forbidden, MemoryError } from '../errors.ts'
import { isObject } from '../json.ts'
import type { Field, Fields } from './field.ts'
import type { Call } from './operation.ts'
import { noBelief, readBeliefById, type ServedMemory } from './served-memory.ts'

/** The user, the agent and the scopes that a server serves. */
export type MemoryView = {
  readonly user: string
  /** The active scopes of a call that names no scope. */
  readonly scopes: readonly string[]
  /** The scopes of a new belief if the call names none. */
  readonly homeScopes: readonly string[]
  /** The agent whose private beliefs are also in view. */
  readonly agent: string | null
  /** Whether calls may only name scopes that are in view already. */
  readonly hasFixedScopes: boolean
  /** Whether calls may name any project: only for a host that the person started outside of a project. */
  readonly servesEveryProject?: boolean
}

type Viewed = Pick<Call, 'view' | 'memory'>

export const scopesOf = (call: Viewed, named: string | undefined): readonly string[] =>
  named === undefined ? call.view.scopes : [allowedScope(call, named)]

export const homeOf = (call: Viewed, named: string | undefined): readonly string[] =>
  named === undefined ? call.view.homeScopes : [allowedScope(call, named)]

function allowedScope({ view }: Viewed, named: string): string {
  const scope = parseScope(named)
  if (isServed(view, scope)) return scope
  throw forbidden(`The scope "${scope}" is not served here.`, `Use one of ${visibleScopes(view.scopes).join(', ')}.`)
}

const isServed = ({ scopes, hasFixedScopes, servesEveryProject = false }: MemoryView, scope: string): boolean =>
  hasFixedScopes ? visibleScopes(scopes).includes(scope) : servesEveryProject || mayName(scope, scopes)

export const isInView = (belief: Belief, scopes: readonly string[], agent: string | null): boolean => {
  const visible = visibleScopes(scopes)
  return isVisibleTo(belief.agent, agent) && belief.scopes.some((scope) => visible.includes(scope))
}

/**
 * Finds a belief by id, name or alias among those in view. For a belief out of view, the error is the same as for one that
 * does not exist, because its existence would reveal something about another scope.
 */
export async function findBeliefInView(call: Viewed, reference: string, named: string | undefined): Promise<Belief> {
  const { memory, view } = call
  const scopes = scopesOf(call, named)
  const found = await memory.get(reference, { scopes }).catch((error: unknown) => {
    if (error instanceof MemoryError && error.code === 'conflict') return null
    throw error instanceof MemoryError && error.code === 'not_found' ? notFound(reference, scopes) : error
  })
  if (found !== null && isInView(found, scopes, view.agent)) return found
  // Several beliefs may match the reference, and only some of them may be in view.
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

/** A value in the input of an operation, with the field that describes it. */
type FieldValue = { readonly field: Field; readonly value: string }

/** The texts in an input that name a scope or a belief. */
function* namesIn(fields: Fields, input: Readonly<Record<string, unknown>>): Generator<FieldValue> {
  for (const [name, field] of Object.entries(fields)) yield* namesOf(field, input[name])
}

function* namesOf(field: Field, value: unknown): Generator<FieldValue> {
  if (field.names !== undefined && typeof value === 'string') yield { field, value }
  if (field.item !== undefined && Array.isArray(value)) for (const item of value) yield* namesOf(field.item, item)
  if (field.fields !== undefined && isObject(value)) yield* namesIn(field.fields, value)
}

/**
 * Limits the input of an agent to the scopes that the server was started for. Throws if it names another project or a belief
 * out of view; lists and searches without a scope get all scopes in view.
 */
export async function limitToView<Input extends Readonly<Record<string, unknown>>>(
  served: ServedMemory,
  fields: Fields,
  input: Input,
): Promise<Input> {
  const { view } = served
  const visible = visibleScopes(view.scopes)
  for (const { field, value } of namesIn(fields, input)) {
    if (field.names === 'belief') {
      const { scopes } = await readBeliefById(served, value)
      // The same error as for a belief that does not exist: any other would reveal something about another scope.
      if (!scopes.some((scope) => visible.includes(scope))) throw noBelief(value)
      continue
    }
    // Parsed as in the operations, which ignore white space around a scope.
    const scope = parseScope(value)
    if (!isServed(view, scope))
      throw forbidden(`The scope "${scope}" is not served to agents here.`, `Use one of ${visible.join(', ')}.`)
  }
  const missing = Object.entries(fields).filter(
    ([name, { item }]) => item?.names === 'view' && input[name] === undefined,
  )
  return { ...input, ...Object.fromEntries(missing.map(([name]) => [name, visible])) }
}
