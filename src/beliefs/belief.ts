import type { BeliefFilter } from './belief-store.ts'
import { universalScope } from './scope.ts'

/** Kinds of beliefs. Recall depends on them: open questions and expertise are never shown as relevant to a message. */
export const beliefTypes = ['preference', 'decision', 'entity', 'relation', 'open_question'] as const
export type BeliefType = (typeof beliefTypes)[number]

/**
 * Finer kinds of preference: the person's knowledge, their preferred style of answers, and standing instructions, which
 * are part of every context of their scope without being mentioned.
 */
export const subtypes = ['expertise', 'style', 'instruction'] as const
export type Subtype = (typeof subtypes)[number]

/** How settled a belief is. `superseded` is set together with `supersededBy` and never alone. */
export const statuses = ['active', 'inferred', 'exploratory', 'superseded'] as const
export type Status = (typeof statuses)[number]

export const expertiseDepths = ['learning', 'working', 'deep', 'expert'] as const
export type ExpertiseDepth = (typeof expertiseDepths)[number]

/**
 * The source of a text: a person; a document (a file, MEMORY.md, an import, pasted text); an agent; a tool's output; or a model's
 * conclusion. A person outranks a document, and a document outranks the rest.
 */
export const actorKinds = ['person', 'document', 'agent', 'tool', 'model'] as const
export type ActorKind = (typeof actorKinds)[number]

/** The source of a belief, determined by the channel it arrived through and never by its text. */
export type Provenance = {
  readonly actor: ActorKind
  /** The program or document that wrote it, such as `cli`, `claude-code` or `notes.jsonl`. */
  readonly origin: string
  /** The id of the episode, message or record that it was taken from. */
  readonly sourceId: string | null
  /** The model that derived it; null if none did. */
  readonly model: string | null
  readonly at: string
}

/** One typed statement about a person or their work. Times are ISO 8601 in UTC. */
export type Belief = {
  readonly id: string
  readonly user: string
  /** The agent it belongs to; null if every agent of the user may see it. */
  readonly agent: string | null
  readonly type: BeliefType
  readonly subtype: Subtype | null
  readonly name: string
  readonly aliases: readonly string[]
  /** The statement, in the person's words. */
  readonly content: string
  /** What an agent should do about it; may be empty. */
  readonly why: string
  readonly scopes: readonly string[]
  readonly status: Status
  /** 0 to 1. Shown to the agent when low; never part of the ranking. */
  readonly confidence: number
  readonly pinned: boolean
  readonly editedByPerson: boolean
  readonly supersededBy: string | null
  /** Set on a proposal: the belief it would replace if a person accepts it. */
  readonly proposedFor: string | null
  /** Listed for review, and not recalled until a person confirms or repeats it. */
  readonly candidate: boolean
  /** When it was settled. If this is set on a proposal, accepting the proposal retires its target. */
  readonly resolvedAt: string | null
  /** The belief that settled this open question. */
  readonly resolvedBy: string | null
  /** For relations: ids or names of the beliefs they connect. */
  readonly participants: readonly string[]
  readonly relation: string | null
  readonly expertise: { readonly domain: string; readonly depth: ExpertiseDepth } | null
  readonly provenance: Provenance
  readonly reinforcement: { readonly count: number; readonly at: string }
  readonly createdAt: string
  readonly updatedAt: string
  /** Starts at 1 and increases with each change. */
  readonly version: number
}

/**
 * Whether a belief may be recalled at all: it is not replaced, settled, merely proposed, or a candidate. Other beliefs stay stored, but
 * never affect a result or a score.
 */
export const isCurrent = (belief: Belief): boolean =>
  belief.status !== 'superseded' &&
  belief.supersededBy === null &&
  belief.resolvedAt === null &&
  belief.proposedFor === null &&
  !belief.candidate

/**
 * Whether a belief is part of every context without being named: a standing instruction in the scopes in view, or any
 * preference in `user:universal`.
 */
export const isStanding = (belief: Belief, scope: string): boolean =>
  isCurrent(belief) && belief.type === 'preference' && (belief.subtype === 'instruction' || scope === universalScope)

/** The order of standing beliefs: those edited by a person, then instructions, then the rest; in each group, latest reinforced first. */
export const compareStanding = (a: Belief, b: Belief): number =>
  Number(b.editedByPerson) - Number(a.editedByPerson) ||
  Number(b.subtype === 'instruction') - Number(a.subtype === 'instruction') ||
  reinforcedAt(b) - reinforcedAt(a) ||
  (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)

/** Milliseconds since the epoch; a time that cannot be read counts as the oldest. */
export function reinforcedAt({ reinforcement }: Belief): number {
  const at = Date.parse(reinforcement.at)
  return Number.isNaN(at) ? 0 : at
}

/** Whether an agent (or none) may see a belief of `owner`. Without an agent only shared beliefs are visible. */
export const isVisibleTo = (owner: string | null, agent: string | null): boolean => owner === null || owner === agent

/** Whether a belief of the filter's user passes the filter. */
export const passesFilter = (
  belief: Belief,
  { scopes, types, statuses, pinned, current, proposals, candidates }: Omit<BeliefFilter, 'user'>,
): boolean =>
  (scopes === undefined || belief.scopes.some((scope) => scopes.includes(scope))) &&
  (types === undefined || types.includes(belief.type)) &&
  (statuses === undefined || statuses.includes(belief.status)) &&
  (pinned === undefined || belief.pinned === pinned) &&
  (current === undefined || isCurrent(belief) === current) &&
  (proposals === undefined || (belief.proposedFor !== null) === proposals) &&
  (candidates === undefined || belief.candidate === candidates)

const rank: Record<ActorKind, number> = { person: 3, document: 2, agent: 1, tool: 1, model: 1 }

/** The highest authority that ever wrote or edited a belief. */
export const authorityOf = (belief: Pick<Belief, 'editedByPerson' | 'provenance'>): ActorKind =>
  belief.editedByPerson ? 'person' : belief.provenance.actor

/**
 * Whether an author may change a belief. Any author may change beliefs of lower authority. At equal rank, people and
 * documents may change any belief; agents, tools and models only their own. Otherwise the change can only be proposed.
 */
export function mayChange(author: Pick<Provenance, 'actor' | 'origin'>, belief: Belief): boolean {
  const ranks = rank[author.actor] - rank[authorityOf(belief)]
  if (ranks !== 0 || author.actor === 'person' || author.actor === 'document') return ranks >= 0
  return author.actor === belief.provenance.actor && author.origin === belief.provenance.origin
}

/** Whether an author has a higher authority than a belief. Such an author's version inherits no fields of the belief. */
export const outranks = (
  author: Pick<Provenance, 'actor'>,
  belief: Pick<Belief, 'editedByPerson' | 'provenance'>,
): boolean => rank[author.actor] > rank[authorityOf(belief)]

/**
 * Why a person must accept a belief by a different author: it would be part of the context of messages that do not mention it. Null if
 * nobody need accept it.
 */
export function explainWait({ scopes, pinned, subtype }: Pick<Belief, 'scopes' | 'pinned' | 'subtype'>): string | null {
  if (scopes.includes(universalScope)) return `It would apply everywhere (${universalScope}).`
  if (pinned) return 'It would be pinned.'
  return subtype === 'instruction' ? 'It would be a standing instruction.' : null
}
