import { MemoryError } from '../errors.ts'
import { currentBelief } from './correct.ts'
import type { Edited, EditRequest } from './edit.ts'
import { change, revised, stateAfter, type Workshop } from './workshop.ts'

/**
 * Makes a belief the person's own word: what came in through a file or was inferred is settled from then on. Only a
 * person can.
 */
export async function confirm(workshop: Workshop, request: EditRequest): Promise<Edited> {
  if (request.author.actor !== 'person') {
    throw new MemoryError('forbidden', 'Only a person confirms what is remembered.', {
      hint: 'An agent may reinforce it instead.',
    })
  }
  return change<Edited>(
    workshop,
    { ...request, operation: 'confirm' },
    async (at) => {
      const belief = await currentBelief(workshop, request)
      if (belief.status === 'active' && belief.editedByPerson)
        return { kind: 'nothing', result: { outcome: 'unchanged', belief, event: null } }
      const revision = revised(belief, at, { status: 'active', editedByPerson: true })
      return {
        kind: 'confirm',
        changes: [revision],
        result: (event) => ({ outcome: 'edited', belief: revision.after, event: event.number }),
      }
    },
    async (event) => ({
      outcome: 'edited',
      belief: await stateAfter(workshop, event, event.beliefIds[0] as string),
      event: event.number,
    }),
  )
}
