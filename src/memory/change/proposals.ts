import { type Belief, isCurrent } from '../../beliefs/belief.ts'
import { mergeAliases, nameKey } from '../../beliefs/identity.ts'
import { conflict, forbidden, notFound } from '../../errors.ts'
import { type BeliefReference, currentBelief, findBelief, freeName, requireVersion } from '../find-belief.ts'
import type { Ports } from '../ports.ts'
import type { Edited, EditRequest } from './edit.ts'
import { superseded } from './remember.ts'
import { type ChangeRequest, change, revised, stateAfter, withdrawn } from './transaction.ts'

export type Proposal = { readonly proposal: Belief; readonly target: Belief | null }

const everyOne = { limit: 1_000, offset: 0 }

/** Everything waiting for a decision, newest first. */
export async function proposals({ store }: Ports, user: string): Promise<readonly Proposal[]> {
  const { items } = await store.list({ user, proposals: true }, everyOne)
  const ids = items.flatMap(({ proposedFor }) => proposedFor ?? [])
  const targets = new Map((await store.getMany(user, ids)).map((target) => [target.id, target]))
  return items.map((proposal) => ({ proposal, target: targets.get(proposal.proposedFor ?? '') ?? null }))
}

/** A belief that waits for a person to confirm or reject it, and why. */
export type ReviewCandidate = { readonly belief: Belief; readonly reason: string }

/** Everything that was found in conversations and is not recalled yet, newest first. */
export async function candidates({ store }: Ports, user: string): Promise<readonly ReviewCandidate[]> {
  const { items } = await store.list({ user, candidates: true }, everyOne)
  return items.map((belief) => ({ belief, reason: reasonOf(belief) }))
}

function reasonOf({ provenance: { model, origin, actor }, status }: Belief): string {
  if (model !== null) return `The model ${model} found it in a message.`
  if (actor !== 'person') return `The ${actor} ${origin} found it in a message.`
  if (status === 'inferred') return 'Stated once as a preference. Said a second time, it becomes active by itself.'
  return `Learned from a conversation in ${origin} by an earlier version of Credence.`
}

export type ProposalRequest = ChangeRequest & BeliefReference

/** Lets a proposal replace its target, or a candidate become a belief that the person stated. Only a person can. */
export async function accept(
  ports: Ports,
  request: ProposalRequest,
): Promise<{ readonly belief: Belief; readonly replaced: readonly Belief[]; readonly event: number }> {
  return change(
    ports,
    { ...request, operation: 'accept' },
    async (at) => {
      const { proposal, target } = await pending(ports, request)
      const fields = proposal.candidate
        ? await noLongerCandidate(ports, proposal)
        : target === null
          ? {}
          : await withLaterEdits(ports, proposal, target)
      const accepted = revised(proposal, at, { ...fields, status: 'active', proposedFor: null, editedByPerson: true })
      const replaced = proposal.candidate ? [] : await replacedWith(ports, accepted.after, target)
      return {
        kind: 'accept',
        changes: [accepted, ...replaced.map((old) => superseded(old, accepted.after, at))],
        result: (event) => ({ belief: accepted.after, replaced, event: event.number }),
      }
    },
    async (event) => ({
      belief: await stateAfter(ports, event),
      replaced: await ports.store.getMany(event.user, event.beliefIds.slice(1)),
      event: event.number,
    }),
  )
}

/** Withdraws a proposal or a candidate. Undo brings it back. */
export async function reject(
  ports: Ports,
  request: ProposalRequest,
): Promise<{ readonly beliefId: string; readonly event: number }> {
  return change(
    ports,
    { ...request, operation: 'reject' },
    async () => ({ kind: 'reject', changes: [withdrawn((await pending(ports, request)).proposal)] }),
    async (event) => ({ beliefId: event.beliefIds[0] as string, event: event.number }),
  )
}

/** Makes an imported or inferred belief, or a candidate, active and the person's own. Only a person can. */
export async function confirm(ports: Ports, request: EditRequest): Promise<Edited> {
  if (request.author.actor !== 'person')
    throw forbidden('Only a person confirms what is remembered.', 'An agent may reinforce it instead.')
  return change<Edited>(
    ports,
    { ...request, operation: 'confirm' },
    async (at) => {
      const found = await findBelief(ports, request)
      const belief = found.candidate ? requireVersion(found, request) : await currentBelief(ports, request)
      if (belief.status === 'active' && belief.editedByPerson && !belief.candidate)
        return { kind: 'nothing', result: { outcome: 'unchanged', belief, event: null } }
      const fields = belief.candidate ? await noLongerCandidate(ports, belief) : {}
      return { kind: 'confirm', changes: [revised(belief, at, { ...fields, status: 'active', editedByPerson: true })] }
    },
    async (event) => ({ outcome: 'edited', belief: await stateAfter(ports, event), event: event.number }),
  )
}

/** What changes when a candidate becomes a belief. It replaces no other belief: where its name is taken it gets another. */
async function noLongerCandidate(ports: Ports, belief: Belief): Promise<Partial<Belief>> {
  const name = await freeName(ports, belief)
  return { candidate: false, name, aliases: mergeAliases(name, belief.aliases, [belief.name]) }
}

/** What the proposal asks for, keeping what has been changed about its target since it was made. */
async function withLaterEdits({ store }: Ports, proposal: Belief, target: Belief): Promise<Partial<Belief>> {
  const [made] = await store.history(proposal.user, proposal.id)
  const revisions = await store.history(target.user, target.id)
  const base =
    revisions.findLast(({ event }) => made !== undefined && event.number < made.event.number)?.belief ?? target
  const added = target.aliases.filter((alias) => !base.aliases.includes(alias))
  const removed = base.aliases.filter((alias) => !target.aliases.includes(alias))
  const kept = proposal.aliases.filter((alias) => !removed.includes(alias))
  return {
    aliases: mergeAliases(proposal.name, kept, added),
    scopes: [...new Set([...proposal.scopes, ...target.scopes])].sort(),
    pinned: target.pinned === base.pinned ? proposal.pinned : target.pinned,
    why: target.why === base.why ? proposal.why : target.why,
  }
}

/**
 * What an accepted proposal replaces: its target, and whatever else held the name in its scopes when it was made. A
 * belief that took the name later was not known to the proposer and is not replaced.
 */
async function replacedWith({ store }: Ports, accepted: Belief, target: Belief | null): Promise<readonly Belief[]> {
  const current = target !== null && isCurrent(target) ? target : null
  const holders = await store.holders(accepted.user, accepted.name, accepted.scopes)
  const others = holders.filter(({ id }) => id !== current?.id)
  const wasThere = (holder: Belief): boolean =>
    current !== null && nameKey(current.name) === nameKey(accepted.name) && holder.createdAt <= accepted.createdAt
  const taken = others.find((holder) => !wasThere(holder))
  if (taken !== undefined)
    throw conflict(
      `"${accepted.name}" belongs to ${taken.id}, which this proposal is not about.`,
      `Reject the proposal, or correct ${taken.id}.`,
    )
  return current === null ? [] : [current, ...others]
}

async function pending(ports: Ports, request: ProposalRequest): Promise<Proposal> {
  if (request.author.actor !== 'person')
    throw forbidden('Only a person decides on proposals.', 'Show the proposal to the person.')
  const proposal = await proposalFor(ports, request)
  const target = proposal.proposedFor === null ? null : await ports.store.get(request.user, proposal.proposedFor)
  return { proposal, target }
}

/** A candidate, a proposal by its own id, or the only proposal for the belief named. */
async function proposalFor(ports: Ports, request: ProposalRequest): Promise<Belief> {
  const belief = await findBelief(ports, request)
  if (belief.proposedFor !== null || belief.candidate) return belief
  const waiting = await ports.store.proposalsFor(belief.user, belief.id)
  const [only, ...others] = waiting
  const hint = 'List them with `credence proposals`.'
  if (only === undefined) throw notFound(`Nothing is proposed for "${belief.name}".`, hint)
  if (others.length === 0) return only
  const ids = waiting.map(({ id }) => id).join(', ')
  throw conflict(`Several proposals wait for "${belief.name}": ${ids}.`, hint)
}
