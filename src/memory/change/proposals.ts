import { authorityOf, type Belief, isCurrent, outranks } from '../../beliefs/belief.ts'
import { mergeAliases, nameKey } from '../../beliefs/identity.ts'
import { conflict, forbidden, notFound } from '../../errors.ts'
import {
  type BeliefReference,
  currentBelief,
  findBelief,
  findLastSuccessor,
  freeName,
  requireVersion,
} from '../find-belief.ts'
import type { Ports } from '../ports.ts'
import type { EditRequest, EditResult } from './edit.ts'
import { supersedeBelief } from './remember.ts'
import { type ChangeRequest, change, reviseChange, stateAfter, withdrawChange } from './transaction.ts'

/** A proposal with a `resolvedAt` proposes to retire its target. If accepted, it supersedes the target and is itself retired. */
export type Proposal = {
  readonly proposal: Belief
  /** The belief that the proposal would change, or its current successor; null if there is none. */
  readonly target: Belief | null
  /** The belief after acceptance. */
  readonly accepted: Belief
}

export const isRemoval = ({ proposedFor, resolvedAt }: Belief): boolean => proposedFor !== null && resolvedAt !== null

const everyOne = { limit: 1_000, offset: 0 }

/** All waiting proposals, newest first. */
export async function listProposals(ports: Ports, user: string): Promise<readonly Proposal[]> {
  const { items } = await ports.store.list({ user, proposals: true }, everyOne)
  const waiting: Proposal[] = []
  for (const proposal of items) waiting.push(await withTarget(ports, proposal))
  return waiting
}

/** A proposal with the current state of its target, which may have been corrected or edited since. */
export async function withTarget(ports: Ports, proposal: Belief): Promise<Proposal> {
  const named = proposal.proposedFor === null ? null : await ports.store.get(proposal.user, proposal.proposedFor)
  const last = named === null ? null : await findLastSuccessor(ports.store, named)
  const target = last !== null && isCurrent(last) ? last : null
  const isTaken = named !== null && target !== null && !outranks({ actor: authorityOf(proposal) }, target)
  const fields = isTaken ? await withLaterEdits(ports, proposal, { named, target }) : {}
  const accepted = { ...proposal, ...fields, status: 'active', proposedFor: null, editedByPerson: true } as const
  return { proposal, target, accepted }
}

/** A belief that waits for a person to confirm or reject it, and why. */
export type ReviewCandidate = { readonly belief: Belief; readonly reason: string }

/** All beliefs from conversations or MEMORY.md that are not recalled until a person confirms them, newest first. */
export async function listCandidates({ store }: Ports, user: string): Promise<readonly ReviewCandidate[]> {
  const { items } = await store.list({ user, candidates: true }, everyOne)
  return items.map((belief) => ({ belief, reason: reasonOf(belief) }))
}

/** Why a candidate or a proposal waits for a person. */
export function reasonOf({ provenance: { model, origin, actor }, proposedFor, status }: Belief): string {
  if (proposedFor !== null)
    return actor === 'person' && origin !== 'file'
      ? 'It may correct a known belief.'
      : `The ${actor} ${origin} contradicts a known belief.`
  if (origin === 'file') return 'Written in MEMORY.md. Any program can write to a file, so only a person decides on it.'
  if (model !== null) return `The model ${model} found it in a message.`
  if (actor === 'tool' && origin === 'sync') return 'A notice of a sync. Reject it when you have read it.'
  if (actor !== 'person') return `The ${actor} ${origin} wants it remembered, and only a person decides on that.`
  if (status === 'inferred') return 'It was said once. It becomes active when you accept it or say it again.'
  return `Learned from a conversation in ${origin} by an earlier version of Credence.`
}

type ProposalRequest = ChangeRequest &
  BeliefReference & {
    /** The id of the current belief, if the proposal was made for an older one. Shows that the person has seen the current one. */
    readonly over?: string
  }

/** Accepts a proposal or a candidate. A proposal replaces its target; a candidate becomes the person's belief. Only a person can accept. */
export async function accept(
  ports: Ports,
  request: ProposalRequest,
): Promise<{ readonly belief: Belief; readonly replaced: readonly Belief[]; readonly event: number }> {
  return change(
    ports,
    { ...request, operation: 'accept' },
    async (at) => {
      const { proposal, target, accepted: wanted } = await requireProposal(ports, request)
      const { aliases, scopes, pinned, why } = wanted
      const fields = proposal.candidate ? await acceptCandidate(ports, proposal) : { aliases, scopes, pinned, why }
      const accepted = reviseChange(proposal, at, {
        ...fields,
        status: 'active',
        proposedFor: null,
        editedByPerson: true,
      })
      // A newer statement of the person is replaced only if the caller has seen it.
      const isKnown = target?.id === proposal.proposedFor || target?.id === request.over
      const replaced = proposal.candidate ? [] : await findReplacedWith(ports, accepted.after, isKnown ? target : null)
      return {
        kind: 'accept',
        changes: [accepted, ...replaced.map((old) => supersedeBelief(old, accepted.after, at))],
        result: (event) => ({ belief: accepted.after, replaced, event: event.number }),
      }
    },
    async (event, made) => ({
      belief: await stateAfter(ports, event, made),
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
    async () => ({ kind: 'reject', changes: [withdrawChange((await requireProposal(ports, request)).proposal)] }),
    async (event) => ({ beliefId: event.beliefIds[0] as string, event: event.number }),
  )
}

/** Makes an imported or inferred belief, or a candidate, active and the person's own statement. Only a person can confirm. */
export async function confirm(ports: Ports, request: EditRequest): Promise<EditResult> {
  if (request.author.actor !== 'person')
    throw forbidden('Only a person can confirm a belief.', 'An agent may reinforce it instead.')
  return change<EditResult>(
    ports,
    { ...request, operation: 'confirm' },
    async (at) => {
      const found = await findBelief(ports, request)
      const belief = found.candidate ? requireVersion(found, request) : await currentBelief(ports, request)
      if (belief.status === 'active' && belief.editedByPerson && !belief.candidate)
        return { kind: 'nothing', result: { outcome: 'unchanged', belief, event: null } }
      const fields = belief.candidate ? await acceptCandidate(ports, belief) : {}
      return {
        kind: 'confirm',
        changes: [reviseChange(belief, at, { ...fields, status: 'active', editedByPerson: true })],
      }
    },
    async (event, made) => ({ outcome: 'edited', belief: await stateAfter(ports, event, made), event: event.number }),
  )
}

/** The fields that change when a candidate becomes a belief. If its name is taken, it gets a new one and replaces nothing. */
async function acceptCandidate(ports: Ports, belief: Belief): Promise<Partial<Belief>> {
  const name = await freeName(ports, belief)
  return { candidate: false, name, aliases: mergeAliases(name, belief.aliases, [belief.name]) }
}

/** The fields of the proposal, with the later edits to its target. */
async function withLaterEdits(
  { store }: Ports,
  proposal: Belief,
  { named, target }: { readonly named: Belief; readonly target: Belief },
): Promise<Partial<Belief>> {
  const [made] = await store.history(proposal.user, proposal.id)
  const revisions = await store.history(named.user, named.id)
  const base =
    revisions.findLast(({ event }) => made !== undefined && event.number < made.event.number)?.belief ?? named
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
 * The beliefs that an accepted proposal replaces: its target, and other beliefs that already had the target's name in the same
 * scopes when the proposal was made. Throws if a belief took the name later, because the proposer did not know of it.
 */
async function findReplacedWith({ store }: Ports, accepted: Belief, target: Belief | null): Promise<readonly Belief[]> {
  const current = target !== null && isCurrent(target) ? target : null
  if (accepted.resolvedAt !== null) return current === null ? [] : [current]
  const holders = await store.holders(accepted.user, accepted.name, accepted.scopes)
  const others = holders.filter(({ id }) => id !== current?.id)
  const wasThere = (holder: Belief): boolean =>
    current !== null && nameKey(current.name) === nameKey(accepted.name) && holder.createdAt <= accepted.createdAt
  const taken = others.find((holder) => !wasThere(holder))
  if (taken !== undefined)
    throw conflict(
      `"${accepted.name}" belongs to ${taken.id}, which is not the target of this proposal.`,
      `Reject the proposal, or correct ${taken.id}.`,
    )
  return current === null ? [] : [current, ...others]
}

async function requireProposal(ports: Ports, request: ProposalRequest): Promise<Proposal> {
  if (request.author.actor !== 'person')
    throw forbidden('Only a person can accept or reject proposals.', 'Show the proposal to the person.')
  return withTarget(ports, await findProposal(ports, request))
}

/** The candidate or proposal that was named, or the only proposal for the named belief. */
async function findProposal(ports: Ports, request: ProposalRequest): Promise<Belief> {
  const belief = await findBelief(ports, request)
  if (belief.proposedFor !== null || belief.candidate) return belief
  const waiting = await ports.store.proposalsFor(belief.user, belief.id)
  const [only, ...others] = waiting
  const hint = 'List them with `credence review`.'
  if (only === undefined) throw notFound(`There is no proposal for "${belief.name}".`, hint)
  if (others.length === 0) return only
  const ids = waiting.map(({ id }) => id).join(', ')
  throw conflict(`Several proposals wait for "${belief.name}": ${ids}.`, hint)
}
