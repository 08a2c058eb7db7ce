import { type Belief, isVisibleTo } from '../../beliefs/belief.ts'
import type { Viewpoint } from '../../beliefs/belief-store.ts'
import { beliefFormKeys } from '../../search/forms.ts'
import type { Linked } from '../../search/link.ts'
import { breaksIn } from '../../search/readings.ts'
import type { Store } from '../ports.ts'
import type { LeftOut } from '../recall/budget.ts'
import type { Context, NearMiss, NearMissReason } from '../recall/context.ts'

/** Beliefs that the message mentions, or that are pinned here, but which were left out. */
export async function nearMissesOf(
  store: Store,
  {
    view,
    linked,
    context,
    leftOut,
  }: { view: Viewpoint; linked: Linked; context: Context; leftOut: readonly LeftOut[] },
): Promise<readonly NearMiss[]> {
  const relevant = new Set(context.relevant.map(({ belief }) => belief.id))
  const misses = new Map<string, NearMiss>()
  for (const { belief, limit, score } of leftOut)
    misses.set(belief.id, { belief, reason: { kind: 'over-budget', limit }, score })

  const linkedIds = linked.links.map(({ posting }) => posting.beliefId)
  const holders = await store.everyHolder(view.user, [...new Set(linked.readings.map(({ key }) => key))])
  const mentioned = [...new Set([...linkedIds, ...[...holders.values()].flat()])].filter(
    (id) => !relevant.has(id) && !misses.has(id),
  )
  for (const belief of await store.getMany(view.user, mentioned)) {
    if (!linkedIds.includes(belief.id) && !isMentioned(belief, linked)) continue
    misses.set(belief.id, { belief, reason: reasonFor(belief, view, context), score: null })
  }
  return [...misses.values()]
}

/** Whether the message contains one of the belief's forms. The end of a phrase may not divide the form. */
export function isMentioned(belief: Belief, { atoms, readings }: Linked): boolean {
  const breaks = new Map(beliefFormKeys(belief).map((form) => [form.key, form.breaks]))
  return readings.some((reading) => {
    const allowed = breaks.get(reading.key)
    return allowed !== undefined && (breaksIn(atoms, reading) & ~allowed) === 0
  })
}

/** The first reason that applies, from the hardest boundary to the softest; the last is that it ranked too low. */
function reasonFor(belief: Belief, view: Viewpoint, context: Context): NearMissReason {
  if (!belief.scopes.some((scope) => view.scopes.includes(scope))) return { kind: 'other-scope', scopes: belief.scopes }
  if (!isVisibleTo(belief.agent, view.agent)) return { kind: 'other-agent', agent: belief.agent as string }
  if (belief.supersededBy !== null || belief.status === 'superseded')
    return { kind: 'superseded', by: belief.supersededBy }
  if (belief.resolvedAt !== null) return { kind: 'resolved', at: belief.resolvedAt }
  if (belief.proposedFor !== null) return { kind: 'proposed', for: belief.proposedFor }
  if (belief.candidate) return { kind: 'candidate' }
  if (belief.type === 'open_question') return { kind: 'open-question' }
  if (context.pinned.some(({ id }) => id === belief.id)) return { kind: 'pinned-already' }
  if (belief.subtype === 'expertise') return { kind: 'expertise' }
  return { kind: 'over-budget', limit: 'maxBeliefs' }
}
