import { mayChange } from '../beliefs/authority.ts'
import type { Belief } from '../beliefs/belief.ts'
import { mergeAliases, nameKey } from '../beliefs/identity.ts'
import type { EventKind } from '../beliefs/journal.ts'
import { MemoryError } from '../errors.ts'
import { currentBelief } from './correct.ts'
import { limits, parseForm, parseText } from './draft.ts'
import type { BeliefReference } from './find-belief.ts'
import { proposal } from './remember.ts'
import { type ChangeRequest, change, revised, stateAfter, type Workshop } from './workshop.ts'

export type EditRequest = ChangeRequest & BeliefReference

/** `unchanged`: it was like that already. `proposed`: the author may not change it, so someone else must decide. */
export type Edited = {
  readonly outcome: 'edited' | 'unchanged' | 'proposed'
  readonly belief: Belief
  readonly event: number | null
}

/** Recalls the belief in its scope whatever the message says. */
export const pin = (workshop: Workshop, request: EditRequest): Promise<Edited> =>
  edit(workshop, { ...request, operation: 'pin' }, 'pin', () => ({ pinned: true }))

export const unpin = (workshop: Workshop, request: EditRequest): Promise<Edited> =>
  edit(workshop, { ...request, operation: 'unpin' }, 'unpin', () => ({ pinned: false }))

/** Confirms a belief: it counts as said once more, now. Anyone may. */
export const reinforce = (workshop: Workshop, request: EditRequest): Promise<Edited> =>
  edit(workshop, { ...request, operation: 'reinforce' }, 'reinforce', (belief, at) => ({
    reinforcement: { count: belief.reinforcement.count + 1, at },
  }))

export const addAliases = (
  workshop: Workshop,
  request: EditRequest & { readonly aliases: readonly string[] },
): Promise<Edited> =>
  edit(workshop, { ...request, operation: 'add aliases' }, 'alias', (belief) => {
    const aliases = mergeAliases(
      belief.name,
      belief.aliases,
      request.aliases.map((alias) => parseForm('alias', alias)),
    )
    if (aliases.length > limits.aliases) {
      throw new MemoryError('invalid', `A belief has at most ${limits.aliases} aliases.`, {
        hint: 'Remove some first.',
      })
    }
    return { aliases }
  })

export const removeAliases = (
  workshop: Workshop,
  request: EditRequest & { readonly aliases: readonly string[] },
): Promise<Edited> =>
  edit(workshop, { ...request, operation: 'remove aliases' }, 'alias', (belief) => {
    const unwanted = new Set(request.aliases.map(nameKey))
    const missing = [...unwanted].filter((key) => !belief.aliases.some((alias) => nameKey(alias) === key))
    if (missing.length > 0) {
      throw new MemoryError('not_found', `"${belief.name}" has no alias "${missing[0]}".`, {
        hint: `Its aliases: ${belief.aliases.join(', ') || 'none'}.`,
      })
    }
    return { aliases: belief.aliases.filter((alias) => !unwanted.has(nameKey(alias))) }
  })

/** Changes what an agent should do about a belief, without changing what is true. */
export const setWhy = (workshop: Workshop, request: EditRequest & { readonly why: string }): Promise<Edited> =>
  edit(workshop, { ...request, operation: 'set why' }, 'edit', () => ({
    why: request.why.trim() === '' ? '' : parseText('why', request.why, limits.why),
  }))

async function edit(
  workshop: Workshop,
  request: EditRequest & { readonly operation: string },
  kind: EventKind,
  fields: (belief: Belief, at: string) => Partial<Belief>,
): Promise<Edited> {
  return change<Edited>(
    workshop,
    request,
    async (at) => {
      const belief = await currentBelief(workshop, request)
      const { actor } = request.author
      if (isUnchanged(belief, fields(belief, at)))
        return { kind: 'nothing', result: { outcome: 'unchanged', belief, event: null } }
      if (kind !== 'reinforce' && !mayChange(actor, belief)) {
        const provenance = { ...request.author, sourceId: null, model: null, at }
        const wish = {
          ...belief,
          ...fields(belief, at),
          id: workshop.newId(),
          editedByPerson: false,
          provenance,
          version: 1,
          createdAt: at,
          updatedAt: at,
        }
        return proposal(
          workshop,
          [belief],
          wish,
          at,
          ({ belief: proposed, event }): Edited => ({ outcome: 'proposed', belief: proposed, event }),
        )
      }
      const editedByPerson = belief.editedByPerson || (actor === 'person' && kind !== 'reinforce')
      const revision = revised(belief, at, { ...fields(belief, at), editedByPerson })
      return {
        kind,
        changes: [revision],
        result: (event) => ({ outcome: 'edited', belief: revision.after, event: event.number }),
      }
    },
    async (event) => ({
      outcome: event.kind === 'propose' ? 'proposed' : 'edited',
      belief: await stateAfter(workshop, event, event.beliefIds[0] as string),
      event: event.number,
    }),
  )
}

const isUnchanged = (belief: Belief, fields: Partial<Belief>): boolean =>
  Object.entries(fields).every(
    ([field, value]) => JSON.stringify(belief[field as keyof Belief]) === JSON.stringify(value),
  )
