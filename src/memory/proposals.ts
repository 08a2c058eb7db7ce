import { type Belief, isCurrent } from '../beliefs/belief.ts'
import { MemoryError } from '../errors.ts'
import { type BeliefReference, findBelief } from './find-belief.ts'
import { superseded } from './remember.ts'
import { type ChangeRequest, change, revised, stateAfter, type Workshop, withdrawn } from './workshop.ts'

export type Proposal = { readonly proposal: Belief; readonly target: Belief | null }

/** Everything waiting for a decision, newest first. */
export async function proposals({ store }: Workshop, user: string): Promise<readonly Proposal[]> {
  const { items } = await store.list({ user, proposals: true }, { limit: 1_000, offset: 0 })
  const targets = await store.getMany(
    user,
    items.flatMap(({ proposedFor }) => proposedFor ?? []),
  )
  return items.map((proposal) => ({ proposal, target: targets.find(({ id }) => id === proposal.proposedFor) ?? null }))
}

export type ProposalRequest = ChangeRequest & BeliefReference

/** Lets a proposal take the place of what it contradicts. Only a person can, and from then on it is the person's word. */
export async function accept(
  workshop: Workshop,
  request: ProposalRequest,
): Promise<{ readonly belief: Belief; readonly replaced: readonly Belief[]; readonly event: number }> {
  return change(
    workshop,
    request,
    async (at) => {
      const { proposal, target } = await pending(workshop, request)
      const accepted = revised(proposal, at, { status: 'active', proposedFor: null, editedByPerson: true })
      const replaced = target !== null && isCurrent(target) ? [target] : []
      const others = await workshop.store.holders(request.user, proposal.name, proposal.scopes)
      const conflicting = others.find((holder) => !replaced.includes(holder) && holder.id !== target?.id)
      if (conflicting !== undefined) {
        throw new MemoryError(
          'conflict',
          `"${proposal.name}" now belongs to ${conflicting.id}, which is newer than this proposal.`,
          {
            hint: 'Reject the proposal, or correct the newer belief.',
          },
        )
      }
      return {
        kind: 'accept',
        changes: [accepted, ...replaced.map((old) => superseded(old, accepted.after, at))],
        result: (event) => ({ belief: accepted.after, replaced, event: event.number }),
      }
    },
    async (event) => ({
      belief: await stateAfter(workshop, event, event.beliefIds[0] as string),
      replaced: await workshop.store.getMany(event.user, event.beliefIds.slice(1)),
      event: event.number,
    }),
  )
}

/** Sets a proposal aside. It can be brought back by undo. */
export async function reject(
  workshop: Workshop,
  request: ProposalRequest,
): Promise<{ readonly beliefId: string; readonly event: number }> {
  return change(
    workshop,
    request,
    async () => {
      const { proposal } = await pending(workshop, request)
      return {
        kind: 'reject',
        changes: [withdrawn(proposal)],
        result: (event) => ({ beliefId: proposal.id, event: event.number }),
      }
    },
    async (event) => ({ beliefId: event.beliefIds[0] as string, event: event.number }),
  )
}

async function pending(workshop: Workshop, request: ProposalRequest): Promise<Proposal> {
  if (request.author.actor !== 'person') {
    throw new MemoryError('forbidden', 'Only a person decides on proposals.', {
      hint: 'Show the proposal to the person.',
    })
  }
  const proposal = await proposalFor(workshop, request)
  const target = await workshop.store.get(request.user, proposal.proposedFor as string)
  return { proposal, target }
}

/** A proposal by its own id, or the only one that is waiting for the belief named. */
async function proposalFor(workshop: Workshop, request: ProposalRequest): Promise<Belief> {
  const belief = await findBelief(workshop, request)
  if (belief.proposedFor !== null) return belief
  const waiting = await workshop.store.proposalsFor(belief.user, belief.id)
  const [only, ...others] = waiting
  if (only !== undefined && others.length === 0) return only
  throw new MemoryError(
    only === undefined ? 'not_found' : 'conflict',
    only === undefined
      ? `Nothing is proposed for "${belief.name}".`
      : `Several proposals wait for "${belief.name}": ${waiting.map(({ id }) => id).join(', ')}.`,
    {
      hint: 'List them with `credence proposals`.',
    },
  )
}
