import type { Belief } from '../../beliefs/belief.ts'
import type { EventPage } from '../../beliefs/belief-store.ts'
import { compareStrings } from '../../beliefs/identity.ts'
import type { BeliefRevision, JournalEntry } from '../../beliefs/journal.ts'
import { type BeliefReference, findBelief } from '../find-belief.ts'
import type { Ports } from '../ports.ts'

export type History = {
  readonly belief: Belief
  /** Every change to this belief, oldest first. */
  readonly revisions: readonly BeliefRevision[]
  /** All beliefs in its chain of supersession, oldest first, including this one. */
  readonly chain: readonly Belief[]
}

export async function history(ports: Ports, reference: BeliefReference): Promise<History> {
  const belief = await findBelief(ports, reference)
  const revisions = await ports.store.history(belief.user, belief.id)
  return { belief, revisions, chain: await readChain(ports, belief) }
}

/** Newest first. */
export const listEvents = ({ store }: Ports, user: string, page: EventPage): Promise<readonly JournalEntry[]> =>
  store.events(user, page)

/** How a belief was removed: an undo withdrew it, a person rejected it, or its text was erased. */
export const removals = ['withdrawn', 'rejected', 'forgotten'] as const
export type Removal = (typeof removals)[number]

/** How a belief that is no longer in the store was removed. */
export async function findRemoval({ store }: Ports, user: string, id: string): Promise<Removal> {
  const last = (await store.history(user, id)).at(-1)
  if (last === undefined || last.outcome === 'erased') return 'forgotten'
  return last.event.kind === 'reject' ? 'rejected' : 'withdrawn'
}

/** The change that one event made to a belief. */
type Changed = {
  readonly beliefId: string
  readonly before: Belief | null
  readonly after: Belief | null
  /** For a proposal: the belief that it would change, as it was then. */
  readonly target: Belief | null
}

/** The changes of an event, one per belief, at most `limit`. A forgotten text is null in both `before` and `after`. */
export async function readChanges(
  { store }: Ports,
  user: string,
  event: number,
  limit: number,
): Promise<readonly Changed[]> {
  const done = (await store.revisions(user, event)).slice(0, limit)
  const changes: Changed[] = []
  const findBefore = async (id: string | null): Promise<Belief | null> => {
    const revisions = id === null ? [] : await store.history(user, id)
    return revisions.findLast((revision) => revision.event.number < event)?.belief ?? null
  }
  for (const { beliefId, belief: after } of done) {
    const before = await findBefore(beliefId)
    const target = await findBefore(after?.proposedFor ?? null)
    changes.push({ beliefId, before, after, target })
  }
  return changes
}

/** Only events of some kinds or authors, newest first. Reads at most `maxRead` events. */
export async function filterEvents(
  { store }: Ports,
  user: string,
  { kinds, actors, ...page }: EventPage & { readonly kinds?: readonly string[]; readonly actors?: readonly string[] },
): Promise<{ readonly entries: readonly JournalEntry[]; readonly nextBefore: number | null }> {
  const entries: JournalEntry[] = []
  let before = page.before
  for (let read = 0; read < maxRead; read += readAtOnce) {
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

const maxRead = 5_000
const readAtOnce = 200

/** All beliefs connected to this one by supersession, oldest first. Sorted by the number of supersessions that lead to the newest belief (most first), then by time. */
export async function readChain({ store }: Ports, belief: Belief): Promise<readonly Belief[]> {
  // Visits each belief once, even if the chain is a circle.
  const above = new Map<string, Belief>()
  for (let next: Belief | null = belief; next !== null && !above.has(next.id); ) {
    above.set(next.id, next)
    next = next.supersededBy === null ? null : await store.get(next.user, next.supersededBy)
  }
  const newest = [...above.values()].at(-1) ?? belief
  const known = new Set([newest.id])
  const line: { readonly belief: Belief; readonly steps: number }[] = [{ belief: newest, steps: 0 }]
  // The loop also visits the beliefs that it adds.
  for (const { belief: one, steps } of line)
    for (const older of await store.supersededBy(one.user, one.id)) {
      if (known.has(older.id)) continue
      known.add(older.id)
      line.push({ belief: older, steps: steps + 1 })
    }
  return line
    .sort((a, b) => b.steps - a.steps || compareStrings(a.belief.createdAt, b.belief.createdAt))
    .map((revision) => revision.belief)
}
