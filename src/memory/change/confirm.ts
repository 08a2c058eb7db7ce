import type { Belief } from '../../beliefs/belief.ts'
import { mergeAliases } from '../../beliefs/identity.ts'
import { MemoryError } from '../../errors.ts'
import { findBelief } from '../find-belief.ts'
import type { Store } from '../store.ts'
import { currentBelief, requireVersion } from './correct.ts'
import type { Edited, EditRequest } from './edit.ts'
import { change, type Ports, revised, stateAfter } from './transaction.ts'

/**
 * Makes a belief the person's own word: what came in through a file, was inferred or was only a candidate is settled
 * from then on. Only a person can.
 */
export async function confirm(ports: Ports, request: EditRequest): Promise<Edited> {
  if (request.author.actor !== 'person') {
    throw new MemoryError('forbidden', 'Only a person confirms what is remembered.', {
      hint: 'An agent may reinforce it instead.',
    })
  }
  return change<Edited>(
    ports,
    { ...request, operation: 'confirm' },
    async (at) => {
      const found = await findBelief(ports, request)
      const belief = found.candidate ? requireVersion(found, request) : await currentBelief(ports, request)
      if (belief.status === 'active' && belief.editedByPerson && !belief.candidate)
        return { kind: 'nothing', result: { outcome: 'unchanged', belief, event: null } }
      const settled = { status: 'active', editedByPerson: true } as const
      const revision = revised(belief, at, {
        ...settled,
        ...(belief.candidate ? await noLongerCandidate(ports.store, belief) : {}),
      })
      return {
        kind: 'confirm',
        changes: [revision],
        result: (event) => ({ outcome: 'edited', belief: revision.after, event: event.number }),
      }
    },
    async (event) => ({
      outcome: 'edited',
      belief: await stateAfter(ports, event, event.beliefIds[0] as string),
      event: event.number,
    }),
  )
}

/** What changes when a candidate becomes a belief. It replaces nothing: where its name is taken it gets another. */
export async function noLongerCandidate(
  store: Store,
  belief: Belief,
): Promise<Pick<Belief, 'candidate' | 'name' | 'aliases'>> {
  const name = await freeName(store, belief)
  return { candidate: false, name, aliases: mergeAliases(name, belief.aliases, [belief.name]) }
}

/** The name of a belief, or where another belief holds it in one of the scopes, the name with the next free number. */
export async function freeName(
  store: Store,
  { user, name, scopes }: Pick<Belief, 'user' | 'name' | 'scopes'>,
): Promise<string> {
  for (let number = 1; ; number += 1) {
    const tried = number === 1 ? name : `${name} (${number})`
    if ((await store.holders(user, tried, scopes)).length === 0) return tried
  }
}
