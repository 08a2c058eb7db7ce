import type { ActorKind, Belief } from './belief.ts'

const rank: Record<ActorKind, number> = { person: 3, import: 2, agent: 1, tool: 1 }

/** The highest authority that ever wrote or edited a belief. */
export const authorityOf = (belief: Belief): ActorKind => (belief.editedByPerson ? 'person' : belief.provenance.actor)

/** Whether `actor` may change what `belief` says. If not, the change can only be proposed. */
export const mayChange = (actor: ActorKind, belief: Belief): boolean => rank[actor] >= rank[authorityOf(belief)]
