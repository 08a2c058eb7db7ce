import { authorityOf, type Belief, isCurrent } from '../beliefs/belief.ts'
import { nameKey, numberedName } from '../beliefs/identity.ts'
import { visibleScopes } from '../beliefs/scope.ts'
import { conflict, notFound } from '../errors.ts'
import { formKeys } from '../search/forms.ts'
import type { Ports, Store } from './ports.ts'

/** Min length of a reference that is tried as the beginning of an id. */
export const minPrefixLength = 4

/** Names one belief of a user by its id, its name, the beginning of its id, or an alias that no other belief has. */
export type BeliefReference = {
  readonly user: string
  readonly reference: string
  /** Scopes to look in first if several beliefs have the name. */
  readonly scopes?: readonly string[]
}

/**
 * Finds the belief that a reference names, preferably a current one. A retired belief is found by its id, or by its name if no
 * current belief has that name. If several retired beliefs have the name, the result is the newest one that none of the others
 * replaced. A person's beliefs are tried first by name and alias, so that no id, name or alias of another author's belief can
 * hide them.
 */
export async function findBelief({ store }: Ports, { user, reference, scopes = [] }: BeliefReference): Promise<Belief> {
  const wanted = reference.trim()
  const exact = await store.get(user, wanted)
  if (exact !== null && isByPerson(exact)) return exact

  const named = await store.named(user, wanted)
  const current = named.filter(isCurrent)
  const aliased = await aliasedBeliefs(store, user, wanted)
  for (const holders of [current, aliased].map((beliefs) => preferVisible(beliefs, scopes).filter(isByPerson)))
    if (holders.length > 0) return requireOne(wanted, holders)
  if (exact !== null) return exact
  if (current.length > 0) return requireOne(wanted, preferVisible(current, scopes))

  if (wanted.length >= minPrefixLength && !/\s/u.test(wanted)) {
    const ids = await store.idsStartingWith(user, wanted, 2)
    if (ids.length > 0) return requireOne(wanted, await store.getMany(user, ids))
  }

  if (aliased.length > 0) return requireOne(wanted, preferVisible(aliased, scopes))

  // One change can replace a belief and retire its successor. Both then have the same time, so a replaced belief is skipped.
  const retired = named.find(({ supersededBy }) => !named.some(({ id }) => id === supersededBy)) ?? named[0]
  if (retired !== undefined) return retired
  throw notFound(
    `There is no belief "${wanted}".`,
    'List beliefs with `credence beliefs`, or look for words with `credence search`.',
  )
}

const isByPerson = (belief: Belief): boolean => authorityOf(belief) === 'person'

/** The current beliefs that have a form as their name or alias. */
async function aliasedBeliefs(store: Store, user: string, form: string): Promise<readonly Belief[]> {
  const keys = formKeys(form).map(({ key }) => key)
  const holders = [...(await store.everyHolder(user, keys)).values()].flat()
  return (await store.getMany(user, [...new Set(holders)])).filter(isCurrent)
}

function preferVisible(beliefs: readonly Belief[], scopes: readonly string[]): readonly Belief[] {
  const visible = visibleScopes(scopes)
  const inView = beliefs.filter((belief) => belief.scopes.some((scope) => visible.includes(scope)))
  return inView.length > 0 ? inView : beliefs
}

function requireOne(reference: string, beliefs: readonly Belief[]): Belief {
  const [first, ...others] = beliefs
  if (first !== undefined && others.length === 0) return first
  const choices = beliefs.map(({ id, name, scopes }) => `${id} (${nameKey(name)}, ${scopes.join(' ')})`).join(', ')
  throw conflict(`"${reference}" matches several beliefs: ${choices}.`, 'Give the id, or a scope.')
}

/** The end of a chain of supersession: the belief itself or its last successor. Null if the last successor was forgotten. */
export async function findLastSuccessor(store: Pick<Store, 'get'>, belief: Belief): Promise<Belief | null> {
  const seen = new Set<string>()
  let last: Belief | null = belief
  while (last !== null && last.supersededBy !== null && !seen.has(last.id)) {
    seen.add(last.id)
    last = await store.get(belief.user, last.supersededBy)
  }
  return last
}

/** The version that the caller saw when deciding on a change. If the belief has changed since, the change is refused. */
export type VersionExpectation = { readonly expectedVersion?: number }

/** Finds a belief. Throws if it can no longer be changed. */
export async function currentBelief(ports: Ports, reference: BeliefReference & VersionExpectation): Promise<Belief> {
  const belief = await findBelief(ports, reference)
  if (isCurrent(belief)) return requireVersion(belief, reference)
  const { id, name, supersededBy } = belief
  if (supersededBy !== null)
    throw conflict(
      `The belief ${id} ("${name}") was superseded by ${supersededBy}.`,
      `Use ${supersededBy}, or undo the correction first.`,
    )
  if (belief.proposedFor !== null)
    throw conflict(`The belief ${id} is a proposal.`, 'Accept or reject it with `credence review`.')
  if (belief.candidate)
    throw conflict(
      `The belief ${id} is an unconfirmed candidate.`,
      `Run \`credence confirm ${id}\`, or reject it with \`credence review reject ${id}\`.`,
    )
  throw conflict(
    `The belief ${id} ("${name}") can no longer be changed.`,
    'See what happened to it with `credence history`.',
  )
}

export function requireVersion(belief: Belief, { expectedVersion }: VersionExpectation): Belief {
  if (expectedVersion === undefined || expectedVersion === belief.version) return belief
  throw conflict(
    `The belief ${belief.id} ("${belief.name}") is at version ${belief.version} now, not ${expectedVersion}.`,
    'Another program changed it. Read it again, then repeat the change if you still want it.',
  )
}

type Named = Pick<Belief, 'user' | 'name' | 'scopes'>

/** Checks that no current belief has the name in one of the scopes, except those in `except`. */
export async function requireFreeName(
  { store }: Ports,
  { user, name, scopes }: Named,
  { except, hint }: { readonly except: readonly string[]; readonly hint: (taken: Belief) => string },
): Promise<void> {
  const taken = (await store.holders(user, name, scopes)).find(({ id }) => !except.includes(id))
  if (taken === undefined) return
  throw conflict(`The name "${name}" already belongs to ${taken.id} in ${taken.scopes.join(' ')}.`, hint(taken))
}

/** The name, or the name with the next free number if another belief has it in one of the scopes. */
export async function freeName(
  { store }: Pick<Ports, 'store'>,
  { user, name, scopes }: Named,
  isTaken: (name: string) => boolean = () => false,
): Promise<string> {
  for (let number = 1; ; number += 1) {
    const tried = numberedName(name, number)
    if (!isTaken(tried) && (await store.holders(user, tried, scopes)).length === 0) return tried
  }
}
