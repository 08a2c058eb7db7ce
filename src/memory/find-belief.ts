import type { Belief } from '../beliefs/belief.ts'
import { isCurrent } from '../beliefs/belief.ts'
import { nameKey } from '../beliefs/identity.ts'
import { visibleScopes } from '../beliefs/scope.ts'
import { MemoryError } from '../errors.ts'
import { formKeys } from '../search/forms.ts'
import type { Ports } from './change/transaction.ts'

const shortestPrefix = 4

/**
 * A belief pointed at by id, by name, by the beginning of an id, or by an alias nobody else has. What is retired is found
 * by its id, or by its name once nothing current answers to that.
 */
export type BeliefReference = {
  readonly user: string
  readonly reference: string
  /** Where to look first when several beliefs share the name. */
  readonly scopes?: readonly string[]
}

export async function findBelief({ store }: Ports, { user, reference, scopes = [] }: BeliefReference): Promise<Belief> {
  const wanted = reference.trim()
  const exact = await store.get(user, wanted)
  if (exact !== null) return exact

  const named = await store.named(user, wanted)
  if (named.some(isCurrent)) return onlyOne(wanted, preferred(named.filter(isCurrent), scopes))

  if (wanted.length >= shortestPrefix && !/\s/u.test(wanted)) {
    const ids = await store.idsStartingWith(user, wanted, 2)
    if (ids.length > 0) return onlyOne(wanted, await store.getMany(user, ids))
  }

  const keys = formKeys(wanted).map(({ key }) => key)
  const holders = [...(await store.everyHolder(user, keys)).values()].flat()
  const aliased = (await store.getMany(user, [...new Set(holders)])).filter(isCurrent)
  if (aliased.length > 0) return onlyOne(wanted, preferred(aliased, scopes))

  const [retired] = named
  if (retired !== undefined) return retired
  throw new MemoryError('not_found', `There is no belief "${wanted}".`, {
    hint: 'List beliefs with `credence beliefs`, or look for words with `credence search`.',
  })
}

/** Those in view, if there are any. */
function preferred(beliefs: readonly Belief[], scopes: readonly string[]): readonly Belief[] {
  const visible = visibleScopes(scopes)
  const inView = beliefs.filter((belief) => belief.scopes.some((scope) => visible.includes(scope)))
  return inView.length > 0 ? inView : beliefs
}

function onlyOne(reference: string, beliefs: readonly Belief[]): Belief {
  const [first, ...others] = beliefs
  if (first !== undefined && others.length === 0) return first
  const choices = beliefs
    .map((belief) => `${belief.id} (${nameKey(belief.name)}, ${belief.scopes.join(' ')})`)
    .join(', ')
  throw new MemoryError('conflict', `"${reference}" means several beliefs: ${choices}.`, {
    hint: 'Give the id, or a scope.',
  })
}
