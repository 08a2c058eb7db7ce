import { type Belief, isCurrent } from '../../beliefs/belief.ts'
import { parseScopes, visibleScopes } from '../../beliefs/scope.ts'
import { type Linked, linkMessage } from '../../search/link.ts'
import { parseBudget } from '../recall/budget.ts'
import { assemble } from '../recall/recall.ts'
import { aliasCandidates } from './alias-candidates.ts'
import { isMentioned } from './near-misses.ts'
import { type Candidate, isShown, type Situation } from './remedy-candidate.ts'

/** What would bring a belief into the context that is not in it. */
export async function remediesForPresence(situation: Situation): Promise<readonly Candidate[]> {
  const { ports, request, belief } = situation
  if (!isCurrent(belief)) return retired(situation)
  const scopes = parseScopes(request.scopes)
  const view = { user: request.user, agent: request.agent ?? null, scopes: visibleScopes(scopes) }
  const linked = await linkMessage(request.message, view, ports.store)
  const isNamed = isNamedIn(linked, belief)
  const places = await placesFor(situation, view.scopes)
  const aliases = isNamed ? [] : await aliasCandidates(situation)
  return [
    ...places.flatMap(({ scopes: moved, words }) => aliases.map((alias) => joined(alias, moved, words))),
    ...places.flatMap(({ scopes: moved, words }): readonly Candidate[] =>
      moved === null ? [] : [{ kind: 'scopes', summary: `Let it hold in ${words} too.`, change: { scopes: moved } }],
    ),
    ...(await roomier(situation)),
    ...wider(situation, view.scopes),
    ...places.slice(0, 1).map(({ scopes: moved, words }): Candidate => {
      const where = moved === null ? '' : `, and let it hold in ${words} too`
      return {
        kind: 'pin',
        summary: `Pin it${where}: it is then recalled whatever the message says.`,
        change: { pinned: true, ...(moved === null ? {} : { scopes: moved }) },
      }
    }),
  ]
}

/** What is no longer recalled has something else to be looked at. */
async function retired({ ports, belief }: Situation): Promise<readonly Candidate[]> {
  if (belief.proposedFor !== null) {
    const supposed: Belief = { ...belief, proposedFor: null, status: 'active', editedByPerson: true }
    return [
      { kind: 'accept', summary: 'It is only proposed; accept it.', see: belief.id, supposed },
      { kind: 'see', summary: 'It is only proposed for another belief, which still holds.', see: belief.proposedFor },
    ]
  }
  if (belief.candidate) {
    const supposed: Belief = { ...belief, candidate: false, status: 'active', editedByPerson: true }
    return [{ kind: 'accept', summary: 'It is a candidate; accept it.', see: belief.id, supposed }]
  }
  const heir = await newest(ports.store, belief)
  if (heir !== null) {
    return [{ kind: 'see', summary: `It was replaced by "${heir.name}", which says what holds now.`, see: heir.id }]
  }
  if (belief.resolvedBy !== null) {
    return [{ kind: 'see', summary: 'The question was settled by another belief.', see: belief.resolvedBy }]
  }
  return []
}

async function newest(store: Situation['ports']['store'], belief: Belief): Promise<Belief | null> {
  const seen = new Set([belief.id])
  let heir: Belief | null = null
  for (let next = belief.supersededBy; next !== null && !seen.has(next); next = heir?.supersededBy ?? null) {
    seen.add(next)
    heir = (await store.get(belief.user, next)) ?? heir
  }
  return heir
}

const isNamedIn = (linked: Linked, belief: Belief): boolean =>
  linked.links.some(({ posting }) => posting.beliefId === belief.id) || isMentioned(belief, linked)

/** Where it would have to hold: where it does, or in one of the active scopes too. */
type Place = { readonly scopes: readonly string[] | null; readonly words: string }

async function placesFor({ ports, request, belief }: Situation, visible: readonly string[]): Promise<readonly Place[]> {
  if (belief.scopes.some((scope) => visible.includes(scope))) return [{ scopes: null, words: '' }]
  const places: Place[] = []
  for (const scope of parseScopes(request.scopes)) {
    const taken = await ports.store.holders(request.user, belief.name, [scope])
    if (taken.length === 0) places.push({ scopes: [...belief.scopes, scope].sort(), words: scope })
  }
  return places
}

function joined(alias: Candidate, scopes: readonly string[] | null, words: string): Candidate {
  if (scopes === null) return alias
  return {
    ...alias,
    summary: `${alias.summary.replace(/\.$/u, '')}, and let it hold in ${words} too.`,
    change: { ...alias.change, scopes },
  }
}

/** The same question with the scopes active that the belief holds in. */
function wider({ request, belief }: Situation, visible: readonly string[]): readonly Candidate[] {
  if (belief.scopes.some((scope) => visible.includes(scope))) return []
  const [first] = belief.scopes
  if (first === undefined) return []
  return [
    {
      kind: 'ask',
      summary: `Ask with ${first} active too.`,
      ask: { scopes: [...new Set([...request.scopes, first])] },
    },
  ]
}

/** The smallest of a few larger budgets that holds it, when it was the budget that kept it out. */
async function roomier({ ports, request, belief }: Situation): Promise<readonly Candidate[]> {
  const { misses } = await assemble(ports, request)
  const miss = (await misses()).find((near) => near.belief.id === belief.id)
  if (miss?.reason.kind !== 'over-budget') return []
  const { limit } = miss.reason
  const now = parseBudget(request.budget)[limit]
  const most = limit === 'maxCharacters' ? 1_000_000 : 200
  for (let room = Math.max(1, now) * 2; room <= most; room *= 2) {
    const budget = { [limit]: room }
    const { context } = await assemble(ports, { ...request, budget: { ...request.budget, ...budget } })
    if (isShown(context, belief.id)) {
      return [
        { kind: 'ask', summary: `There was no room; ask with ${limit} ${room} instead of ${now}.`, ask: { budget } },
      ]
    }
  }
  return []
}
