import { type Belief, isCurrent } from '../../beliefs/belief.ts'
import { compareStrings, nameKey } from '../../beliefs/identity.ts'
import type { FeedbackCount, RecallCount } from '../../beliefs/recall-counts.ts'
import type { Turn } from '../../beliefs/turn.ts'
import { type Proposal, withTarget } from '../change/proposals.ts'
import { findTurn } from '../conversation/turns.ts'
import { type BeliefReference, findBelief } from '../find-belief.ts'
import type { Ports } from '../ports.ts'
import { feedbackOn } from '../recall/feedback.ts'
import { readChain } from './history.ts'

/** The connections of a belief. */
type Links = {
  readonly belief: Belief
  /** The participants of a relation; null for a name that no belief has. */
  readonly participants: readonly { readonly name: string; readonly belief: Belief | null }[]
  /** Relations that it takes part in. */
  readonly relations: readonly Belief[]
  /** `settles`: the questions that it settled. `settledBy`: the belief that settled it. */
  readonly settles: readonly Belief[]
  readonly settledBy: Belief | null
  /** `replaces`: the beliefs that it replaced directly. `replacedBy`: the belief that replaced it. */
  readonly replaces: readonly Belief[]
  readonly replacedBy: Belief | null
  /** The message that it was learned from. */
  readonly turn: Turn | null
  /** How often it was recalled; null if never, or if recalls are not counted. */
  readonly recalled: RecallCount | null
  /** How often the person marked it as useful or not useful; null without feedback. */
  readonly feedback: FeedbackCount | null
}

/** Max relations, and max settled questions, to look through. */
const maxLookedThrough = 1_000

/** The relations and questions that may have links to a belief. */
export type Linkable = { readonly relations: readonly Belief[]; readonly questions: readonly Belief[] }

/** The relations and settled questions of a user. Read once for several beliefs, because they do not depend on the belief. */
export async function readLinkableBeliefs({ store }: Ports, user: string): Promise<Linkable> {
  const page = { limit: maxLookedThrough, offset: 0 }
  const { items: relations } = await store.list({ user, types: ['relation'], current: true }, page)
  const { items: questions } = await store.list({ user, types: ['open_question'], current: false }, page)
  return { relations, questions }
}

export async function readLinks(
  ports: Ports,
  reference: BeliefReference,
  { relations, questions }: Linkable,
): Promise<Links> {
  const { store, counts } = ports
  const belief = await findBelief(ports, reference)
  const { user, id, supersededBy, resolvedBy, provenance } = belief
  const forms = new Set([belief.name, ...belief.aliases].map(nameKey))
  const isPart = ({ participants }: Belief): boolean =>
    participants.some((participant) => participant === id || forms.has(nameKey(participant)))
  return {
    belief,
    participants: await participantsOf(ports, belief),
    relations: relations.filter((relation) => relation.id !== id && isPart(relation)),
    settles: questions.filter((question) => question.resolvedBy === id),
    settledBy: resolvedBy === null ? null : await store.get(user, resolvedBy),
    replaces: await store.supersededBy(user, id),
    replacedBy: supersededBy === null ? null : await store.get(user, supersededBy),
    turn: provenance.sourceId === null ? null : await store.getTurn(user, provenance.sourceId),
    recalled: (await counts?.recallCounts(user, [id]))?.get(id) ?? null,
    feedback: await feedbackOn(ports, user, id),
  }
}

async function participantsOf({ store }: Ports, { user, participants }: Belief): Promise<Links['participants']> {
  const byId = new Map((await store.getMany(user, participants)).map((belief) => [belief.id, belief]))
  const found: { name: string; belief: Belief | null }[] = []
  for (const participant of participants) {
    const named = byId.get(participant) ?? (await store.named(user, participant)).find(isCurrent) ?? null
    found.push({ name: named?.name ?? participant, belief: named })
  }
  return found
}

/** The beliefs that were learned from each of these turns, by the turn's id. */
export async function learnedFrom(
  { store }: Ports,
  user: string,
  turns: readonly Turn[],
): Promise<ReadonlyMap<string, readonly Belief[]>> {
  const wanted = new Set(turns.map(({ id }) => id))
  const since = turns.map(({ at }) => at).sort()[0] ?? ''
  const found = new Map<string, Belief[]>()
  // A belief that last changed before a turn was said was not learned from it, so reading the latest beliefs is enough.
  for (let offset = 0; offset < maxLookedThrough * 5; offset += maxLookedThrough) {
    const { items } = await store.list({ user }, { limit: maxLookedThrough, offset })
    for (const belief of items) {
      const { sourceId } = belief.provenance
      if (sourceId !== null && wanted.has(sourceId)) found.set(sourceId, [...(found.get(sourceId) ?? []), belief])
    }
    if (items.length < maxLookedThrough || (items.at(-1)?.updatedAt ?? '') < since) break
  }
  return found
}

/** The beliefs that were learned from one turn, given its id or the beginning of its id. */
export async function learnedFromTurn(ports: Ports, user: string, reference: string): Promise<readonly Belief[]> {
  const turn = await findTurn(ports, user, reference)
  return (await learnedFrom(ports, user, [turn])).get(turn.id) ?? []
}

/** The proposals about a belief or its predecessors, newest first. If the belief is a proposal, only the belief itself. */
export async function findProposalsAbout(ports: Ports, belief: Belief): Promise<readonly Proposal[]> {
  if (belief.proposedFor !== null) return [await withTarget(ports, belief)]
  const waiting: Proposal[] = []
  for (const { user, id } of await readChain(ports, belief))
    for (const proposal of await ports.store.proposalsFor(user, id)) waiting.push(await withTarget(ports, proposal))
  return waiting
    .filter(({ target }) => target?.id === belief.id)
    .sort((a, b) => compareStrings(b.proposal.createdAt, a.proposal.createdAt))
}
