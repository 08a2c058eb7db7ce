import type { Belief } from '../../beliefs/belief.ts'
import type { EventPage } from '../../beliefs/belief-store.ts'
import { compareStrings } from '../../beliefs/identity.ts'
import type { BeliefRevision, JournalEntry } from '../../beliefs/journal.ts'
import { type BeliefReference, findBelief } from '../find-belief.ts'
import type { Ports } from '../ports.ts'

export type History = {
  readonly belief: Belief
  /** Every change of this belief, oldest first. */
  readonly revisions: readonly BeliefRevision[]
  /** Everything in its line of supersession, oldest first, this belief among them. */
  readonly chain: readonly Belief[]
}

export async function history(ports: Ports, reference: BeliefReference): Promise<History> {
  const belief = await findBelief(ports, reference)
  const revisions = await ports.store.history(belief.user, belief.id)
  return { belief, revisions, chain: await chainOf(ports, belief) }
}

/** Newest first. */
export const recentEvents = ({ store }: Ports, user: string, page: EventPage): Promise<readonly JournalEntry[]> =>
  store.events(user, page)

/** All beliefs connected to this one by supersession, oldest first. */
export async function chainOf({ store }: Ports, belief: Belief): Promise<readonly Belief[]> {
  const known = new Map([[belief.id, belief]])
  const queue = [belief]
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const heir = next.supersededBy === null ? null : await store.get(next.user, next.supersededBy)
    for (const found of [...(heir ? [heir] : []), ...(await store.supersededBy(next.user, next.id))]) {
      if (known.has(found.id)) continue
      known.set(found.id, found)
      queue.push(found)
    }
  }
  return [...known.values()].sort(
    (one, other) => depth(one, known) - depth(other, known) || compareStrings(one.createdAt, other.createdAt),
  )
}

/** How many steps lead from the belief to the newest of its line, negated so that older sorts first. */
function depth(belief: Belief, known: ReadonlyMap<string, Belief>): number {
  let steps = 0
  for (let at = belief.supersededBy; at !== null && steps <= known.size; at = known.get(at)?.supersededBy ?? null)
    steps += 1
  return -steps
}
