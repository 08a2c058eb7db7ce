import { type Belief, isVisibleTo } from '../../beliefs/belief.ts'
import type { Viewpoint } from '../../beliefs/belief-store.ts'
import { breaksIn } from '../../search/candidate-spans.ts'
import { beliefFormKeys } from '../../search/forms.ts'
import type { Linked } from '../../search/link.ts'
import type { Store } from '../ports.ts'
import type { LeftOut } from '../recall/budget.ts'
import { type Context, idsIn, type NearMiss, type NearMissReason } from '../recall/context.ts'

/** Beliefs that the message mentions, or that are pinned here, but which the context does not hold. */
export async function nearMissesOf(
  store: Store,
  {
    view,
    linked,
    context,
    leftOut,
  }: { view: Viewpoint; linked: Linked; context: Context; leftOut: readonly LeftOut[] },
): Promise<readonly NearMiss[]> {
  const shown = idsIn(context)
  const misses = new Map<string, NearMiss>()
  for (const { belief, limit, score } of leftOut)
    misses.set(belief.id, { belief, reason: { kind: 'over-budget', limit }, score })

  const linkedIds = linked.links.map(({ posting }) => posting.beliefId)
  const holders = await store.everyHolder(view.user, [...new Set(linked.spans.map(({ key }) => key))])
  const mentioned = [...new Set([...linkedIds, ...[...holders.values()].flat()])].filter(
    (id) => !shown.has(id) && !misses.has(id),
  )
  for (const belief of await store.getMany(view.user, mentioned)) {
    if (!linkedIds.includes(belief.id) && !isMentioned(belief, linked)) continue
    misses.set(belief.id, { belief, reason: reasonFor(belief, view), score: null })
  }
  return [...misses.values()]
}

/** Whether the message contains one of the belief's forms. The end of a phrase may not divide the form. */
export function isMentioned(belief: Belief, { tokens, spans }: Linked): boolean {
  const breaks = new Map(beliefFormKeys(belief).map((form) => [form.key, form.breaks]))
  return spans.some((span) => {
    const allowed = breaks.get(span.key)
    return allowed !== undefined && (breaksIn(tokens, span) & ~allowed) === 0
  })
}

/** The first reason that applies: what no request recalls, then what this one cannot see; last, that it ranked too low. */
function reasonFor(belief: Belief, view: Viewpoint): NearMissReason {
  if (belief.proposedFor !== null) return { kind: 'proposed', for: belief.proposedFor }
  if (belief.candidate) return { kind: 'candidate' }
  if (belief.supersededBy !== null || belief.status === 'superseded')
    return { kind: 'superseded', by: belief.supersededBy }
  if (belief.resolvedAt !== null) return { kind: 'resolved', at: belief.resolvedAt }
  if (!belief.scopes.some((scope) => view.scopes.includes(scope))) return { kind: 'other-scope', scopes: belief.scopes }
  if (!isVisibleTo(belief.agent, view.agent)) return { kind: 'other-agent', agent: belief.agent as string }
  if (belief.type === 'open_question') return { kind: 'open-question' }
  if (belief.subtype === 'expertise') return { kind: 'expertise' }
  return { kind: 'over-budget', limit: 'maxBeliefs' }
}
