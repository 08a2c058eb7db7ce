import { type Belief, isCurrent } from '../../beliefs/belief.ts'
import { mergeAliases, nameKey } from '../../beliefs/identity.ts'
import { MemoryError } from '../../errors.ts'
import { type BeliefReference, findBelief } from '../find-belief.ts'
import { noLongerCandidate } from './confirm.ts'
import { superseded } from './remember.ts'
import { type ChangeRequest, change, type Ports, revised, stateAfter, withdrawn } from './transaction.ts'

export type Proposal = { readonly proposal: Belief; readonly target: Belief | null }

/** Everything waiting for a decision, newest first. */
export async function proposals({ store }: Ports, user: string): Promise<readonly Proposal[]> {
  const { items } = await store.list({ user, proposals: true }, { limit: 1_000, offset: 0 })
  const targets = await store.getMany(
    user,
    items.flatMap(({ proposedFor }) => proposedFor ?? []),
  )
  return items.map((proposal) => ({ proposal, target: targets.find(({ id }) => id === proposal.proposedFor) ?? null }))
}

/** A belief that waits for a person to confirm or reject it, and why it does. */
export type ReviewCandidate = { readonly belief: Belief; readonly reason: string }

/** Everything that was found in conversations and is not recalled yet, newest first. */
export async function candidates({ store }: Ports, user: string): Promise<readonly ReviewCandidate[]> {
  const { items } = await store.list({ user, candidates: true }, { limit: 1_000, offset: 0 })
  return items.map((belief) => ({ belief, reason: reasonOf(belief) }))
}

function reasonOf({ provenance: { model, origin, actor }, status }: Belief): string {
  if (model !== null) return `The model ${model} found it in a message.`
  if (actor !== 'person') return `The ${actor} ${origin} found it in a message.`
  if (status === 'inferred') return 'Stated once as a preference. Said a second time, it becomes active by itself.'
  return `Learned from a conversation in ${origin} by an earlier version of Credence.`
}

export type ProposalRequest = ChangeRequest & BeliefReference

/**
 * Lets a proposal take the place of what it contradicts, or a candidate become a belief. Only a person can, and from
 * then on it is the person's word.
 */
export async function accept(
  ports: Ports,
  request: ProposalRequest,
): Promise<{ readonly belief: Belief; readonly replaced: readonly Belief[]; readonly event: number }> {
  return change(
    ports,
    { ...request, operation: 'accept' },
    async (at) => {
      const { proposal, target } = await pending(ports, request)
      const wish = proposal.candidate
        ? await noLongerCandidate(ports.store, proposal)
        : target === null
          ? {}
          : await withLaterEdits(ports, proposal, target)
      const accepted = revised(proposal, at, { ...wish, status: 'active', proposedFor: null, editedByPerson: true })
      const replaced = proposal.candidate ? [] : await replacedWith(ports, accepted.after, target)
      return {
        kind: 'accept',
        changes: [accepted, ...replaced.map((old) => superseded(old, accepted.after, at))],
        result: (event) => ({ belief: accepted.after, replaced, event: event.number }),
      }
    },
    async (event) => ({
      belief: await stateAfter(ports, event, event.beliefIds[0] as string),
      replaced: await ports.store.getMany(event.user, event.beliefIds.slice(1)),
      event: event.number,
    }),
  )
}

/** Sets a proposal or a candidate aside. It can be brought back by undo. */
export async function reject(
  ports: Ports,
  request: ProposalRequest,
): Promise<{ readonly beliefId: string; readonly event: number }> {
  return change(
    ports,
    { ...request, operation: 'reject' },
    async () => {
      const { proposal } = await pending(ports, request)
      return {
        kind: 'reject',
        changes: [withdrawn(proposal)],
        result: (event) => ({ beliefId: proposal.id, event: event.number }),
      }
    },
    async (event) => ({ beliefId: event.beliefIds[0] as string, event: event.number }),
  )
}

/** What the proposal asks for, keeping what has been changed about its target since it was made. */
async function withLaterEdits({ store }: Ports, proposal: Belief, target: Belief): Promise<Partial<Belief>> {
  const [made] = await store.history(proposal.user, proposal.id)
  const revisions = await store.history(target.user, target.id)
  const base =
    revisions.findLast(({ event }) => made !== undefined && event.number < made.event.number)?.belief ?? target
  const added = target.aliases.filter((alias) => !base.aliases.includes(alias))
  const removed = base.aliases.filter((alias) => !target.aliases.includes(alias))
  return {
    aliases: mergeAliases(
      proposal.name,
      proposal.aliases.filter((alias) => !removed.includes(alias)),
      added,
    ),
    scopes: [...new Set([...proposal.scopes, ...target.scopes])].sort(),
    pinned: target.pinned === base.pinned ? proposal.pinned : target.pinned,
    why: target.why === base.why ? proposal.why : target.why,
  }
}

/**
 * What makes room for an accepted proposal: its target, and whatever else held the name in its scopes when it was made.
 * What has taken the name since was not weighed by anyone and is not replaced.
 */
async function replacedWith({ store }: Ports, accepted: Belief, target: Belief | null): Promise<readonly Belief[]> {
  const isTargetCurrent = target !== null && isCurrent(target)
  const others = (await store.holders(accepted.user, accepted.name, accepted.scopes)).filter(
    ({ id }) => !(isTargetCurrent && id === target.id),
  )
  const wasThere = (holder: Belief): boolean =>
    isTargetCurrent && nameKey(target.name) === nameKey(accepted.name) && holder.createdAt <= accepted.createdAt
  const taken = others.find((holder) => !wasThere(holder))
  if (taken !== undefined) {
    throw new MemoryError('conflict', `"${accepted.name}" belongs to ${taken.id}, which this proposal is not about.`, {
      hint: `Reject the proposal, or correct ${taken.id}.`,
    })
  }
  return isTargetCurrent ? [target, ...others] : []
}

async function pending(ports: Ports, request: ProposalRequest): Promise<Proposal> {
  if (request.author.actor !== 'person') {
    throw new MemoryError('forbidden', 'Only a person decides on proposals.', {
      hint: 'Show the proposal to the person.',
    })
  }
  const proposal = await proposalFor(ports, request)
  const target = proposal.proposedFor === null ? null : await ports.store.get(request.user, proposal.proposedFor)
  return { proposal, target }
}

/** A candidate, a proposal by its own id, or the only proposal that is waiting for the belief named. */
async function proposalFor(ports: Ports, request: ProposalRequest): Promise<Belief> {
  const belief = await findBelief(ports, request)
  if (belief.proposedFor !== null || belief.candidate) return belief
  const waiting = await ports.store.proposalsFor(belief.user, belief.id)
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
