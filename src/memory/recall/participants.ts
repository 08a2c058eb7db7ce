import { type Belief, isCurrent, isVisibleTo } from '../../beliefs/belief.ts'
import type { Viewpoint } from '../../beliefs/belief-store.ts'
import { nameKey } from '../../beliefs/identity.ts'
import { leaf } from '../../search/explanation.ts'
import { formKeys } from '../../search/forms.ts'
import type { Store } from '../store.ts'
import type { RelevantBelief } from './context.ts'

/** One hop from every relation that was named: its participants in view, after everything named directly. */
export async function participantsOf(
  store: Store,
  view: Viewpoint,
  named: readonly RelevantBelief[],
  pinnedIds: ReadonlySet<string>,
): Promise<readonly RelevantBelief[]> {
  const present = new Set([...named.map(({ belief }) => belief.id), ...pinnedIds])
  const pulled: RelevantBelief[] = []
  for (const { belief: relation } of named.filter(({ belief }) => belief.type === 'relation')) {
    for (const participant of await participants(store, view, relation)) {
      const isWelcome = isCurrent(participant) && participant.type !== 'open_question' && isInView(participant, view)
      if (!isWelcome || present.has(participant.id)) continue
      present.add(participant.id)
      const explanation = leaf(`part of the relation "${relation.name}"`, 0)
      pulled.push({ belief: participant, score: 0, explanation, matches: [], through: relation.id })
    }
  }
  return pulled
}

/** A participant is an id, or else the name or alias of beliefs in view. */
async function participants(store: Store, view: Viewpoint, relation: Belief): Promise<readonly Belief[]> {
  const byId = new Map((await store.getMany(view.user, relation.participants)).map((belief) => [belief.id, belief]))
  const found: Belief[] = []
  for (const participant of relation.participants) {
    const belief = byId.get(participant)
    if (belief !== undefined) {
      found.push(await heirByName(store, belief))
      continue
    }
    const postings = await store.postings(
      view,
      formKeys(participant).map(({ key }) => key),
    )
    const ids = new Set([...postings.values()].flat().map(({ beliefId }) => beliefId))
    found.push(...(await store.getMany(view.user, [...ids])))
  }
  return found
}

/** A participant that was corrected is still the same thing while what replaced it answers to its name. */
async function heirByName(store: Store, belief: Belief): Promise<Belief> {
  const called = nameKey(belief.name)
  let heir = belief
  const seen = new Set<string>()
  while (heir.supersededBy !== null && !seen.has(heir.id)) {
    seen.add(heir.id)
    const next = await store.get(heir.user, heir.supersededBy)
    if (next === null || ![next.name, ...next.aliases].some((form) => nameKey(form) === called)) return heir
    heir = next
  }
  return heir
}

const isInView = (belief: Belief, view: Viewpoint): boolean =>
  isVisibleTo(belief.agent, view.agent) && belief.scopes.some((scope) => view.scopes.includes(scope))
