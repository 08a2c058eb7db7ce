import { type Belief, isVisibleTo } from '../../beliefs/belief.ts'
import type { Viewpoint } from '../../beliefs/belief-store.ts'
import { breaksIn, type CandidateSpan } from '../../search/candidate-spans.ts'
import { beliefFormKeys } from '../../search/forms.ts'
import type { Linked } from '../../search/link.ts'
import { forEachInSlices, splitIntoParts } from '../../search/slices.ts'
import type { Store } from '../ports.ts'
import type { LeftOut } from '../recall/budget.ts'
import { type Context, idsIn, type NearMiss, type NearMissReason } from '../recall/context.ts'

/** Beliefs that are not in the context, although the message mentions them or they are pinned in a scope in view. */
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

  const linkedIds = new Set(linked.links.map(({ posting }) => posting.beliefId))
  const mentioned = new Set(linkedIds)
  await forEachInSlices(splitIntoParts([...new Set(linked.spans.map(({ key }) => key))]), async (keys) => {
    for (const holders of (await store.everyHolder(view.user, keys)).values())
      for (const id of holders) mentioned.add(id)
  })
  const others = [...mentioned].filter((id) => !shown.has(id) && !misses.has(id))
  await forEachInSlices(splitIntoParts(others, 100), async (ids) => {
    for (const belief of await store.getMany(view.user, ids))
      if (linkedIds.has(belief.id) || isMentioned(belief, linked))
        misses.set(belief.id, { belief, reason: reasonFor(belief, view), score: null })
  })
  return [...misses.values()]
}

/** Whether the message contains one of the belief's forms. A match may cross the end of a phrase only where the form does too. */
export function isMentioned(belief: Belief, linked: Linked): boolean {
  const spans = spansByKey(linked)
  return beliefFormKeys(belief).some(({ key, breaks }) =>
    spans.get(key)?.some((span) => (breaksIn(linked.tokens, span) & ~breaks) === 0),
  )
}

const byKey = new WeakMap<Linked, ReadonlyMap<string, readonly CandidateSpan[]>>()

/** The spans of a message by their keys, computed once per message. */
function spansByKey(linked: Linked): ReadonlyMap<string, readonly CandidateSpan[]> {
  const known = byKey.get(linked) ?? Map.groupBy(linked.spans, ({ key }) => key)
  byKey.set(linked, known)
  return known
}

/** Why recall left a belief out: no request recalls it, it is out of this request's view, or it ranked too low. Returns the first reason that applies. */
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
