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

/** The change of a belief by one event. */
type Changed = {
  readonly beliefId: string
  readonly before: Belief | null
  readonly after: Belief | null
  /** For a proposal: the belief that it would change, as it was then. */
  readonly target: Belief | null
}

/** The changes of an event, belief by belief, the first `limit`. Forgotten texts are gone on both sides. */
export async function changesOf(
  { store }: Ports,
  user: string,
  event: number,
  limit: number,
): Promise<readonly Changed[]> {
  const done = (await store.revisions(user, event)).slice(0, limit)
  const changes: Changed[] = []
  const beforehand = async (id: string | null): Promise<Belief | null> => {
    const revisions = id === null ? [] : await store.history(user, id)
    return revisions.findLast((revision) => revision.event.number < event)?.belief ?? null
  }
  for (const { beliefId, belief: after } of done) {
    const [before, target] = [await beforehand(beliefId), await beforehand(after?.proposedFor ?? null)]
    changes.push({ beliefId, before, after, target })
  }
  return changes
}

/** Events of some kinds or authors only, newest first. Not more than `mostRead` are looked through. */
export async function filteredEvents(
  { store }: Ports,
  user: string,
  { kinds, actors, ...page }: EventPage & { readonly kinds?: readonly string[]; readonly actors?: readonly string[] },
): Promise<{ readonly entries: readonly JournalEntry[]; readonly nextBefore: number | null }> {
  const entries: JournalEntry[] = []
  let before = page.before
  for (let read = 0; read < mostRead; read += readAtOnce) {
    const found = await store.events(user, { ...page, limit: readAtOnce, ...(before === undefined ? {} : { before }) })
    for (const entry of found) {
      before = entry.number
      const isWanted = (kinds?.includes(entry.kind) ?? true) && (actors?.includes(entry.actor) ?? true)
      if (isWanted) entries.push(entry)
      if (entries.length === page.limit) return { entries, nextBefore: entry.number }
    }
    if (found.length < readAtOnce) return { entries, nextBefore: null }
  }
  return { entries, nextBefore: before ?? null }
}

const mostRead = 5_000
const readAtOnce = 200

/** All beliefs connected to this one by supersession, oldest first. */
export async function chainOf({ store }: Ports, belief: Belief): Promise<readonly Belief[]> {
  const known = new Map([[belief.id, belief]])
  const queue = [belief]
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    const successor = next.supersededBy === null ? null : await store.get(next.user, next.supersededBy)
    for (const found of [...(successor ? [successor] : []), ...(await store.supersededBy(next.user, next.id))]) {
      if (known.has(found.id)) continue
      known.set(found.id, found)
      queue.push(found)
    }
  }
  const steps = stepsToNewest(known)
  return [...known.values()].sort(
    (one, other) =>
      (steps.get(other.id) ?? 0) - (steps.get(one.id) ?? 0) || compareStrings(one.createdAt, other.createdAt),
  )
}

/** How many steps lead from each belief to the newest of its line. Each belief is visited once, also in a circle. */
function stepsToNewest(known: ReadonlyMap<string, Belief>): ReadonlyMap<string, number> {
  const steps = new Map<string, number>()
  for (const start of known.values()) {
    const path: string[] = []
    const onPath = new Set<string>()
    let at: Belief | undefined = start
    for (; at !== undefined && !steps.has(at.id) && !onPath.has(at.id); at = known.get(at.supersededBy ?? '')) {
      path.push(at.id)
      onPath.add(at.id)
    }
    let above = at === undefined ? -1 : (steps.get(at.id) ?? -1)
    for (const id of path.reverse()) {
      above += 1
      steps.set(id, above)
    }
  }
  return steps
}
