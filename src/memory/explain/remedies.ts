import { type Belief, isCurrent } from '../../beliefs/belief.ts'
import { parseScopes, visibleScopes } from '../../beliefs/scope.ts'
import { MemoryError } from '../../errors.ts'
import { linkMessage } from '../../search/link.ts'
import { cutMessage } from '../../search/message.ts'
import { changeFields, type Edits } from '../change/edit.ts'
import { type BeliefReference, findBelief, findLastSuccessor } from '../find-belief.ts'
import type { Ports } from '../ports.ts'
import { parseBudget } from '../recall/budget.ts'
import { type Budget, type Context, idsIn, isShown } from '../recall/context.ts'
import { assemble, type RecallRequest } from '../recall/recall.ts'
import { aliasCandidates } from './alias-candidates.ts'
import { withChanged } from './dry-run.ts'
import { isMentioned } from './near-misses.ts'
import { type Effects, type KeptCase, prepareTrials } from './trials.ts'

/** Whether a belief should be in the context of a message or not. */
type Wish = 'absent' | 'present'

export type RemedyRequest = RecallRequest &
  BeliefReference & {
    readonly wish: Wish
    /** Further aliases to try. */
    readonly aliases?: readonly string[]
    /** The person's saved cases, which a remedy must not break. */
    readonly cases?: readonly KeptCase[]
  }

export type Remedy = {
  readonly kind: 'add-alias' | 'drop-alias' | 'scopes' | 'pin' | 'unpin' | 'accept' | 'correct' | 'ask' | 'see'
  /** One sentence for a person. */
  readonly summary: string
  /** An edit to the belief. */
  readonly change: Edits | null
  /** Other scopes or another budget to recall with. */
  readonly ask: { readonly scopes?: readonly string[]; readonly budget?: Partial<Budget> } | null
  /** The belief to look at. */
  readonly see: string | null
  /** Whether the remedy fulfilled the wish in a dry run. */
  readonly achieves: boolean
  /** Other beliefs that would enter or leave the context. */
  readonly appearing: readonly string[]
  readonly disappearing: readonly string[]
  readonly caution: string | null
  /** Its effects on other messages; null if it writes nothing. */
  readonly effects: Effects | null
}

/** A remedy before its dry run. `changed`: the beliefs after the change, if the change is more than an edit. */
export type Candidate = Pick<Remedy, 'kind' | 'summary'> &
  Partial<Pick<Remedy, 'change' | 'ask' | 'see' | 'caution'>> & {
    readonly changed?: readonly [Belief, ...(readonly Belief[])]
  }

/** A change that would fulfil the wish but do harm elsewhere. */
type WithheldRemedy = { readonly summary: string; readonly reason: string }

export type Remedies = {
  readonly belief: Belief
  readonly isFulfilled: boolean
  readonly remedies: readonly Remedy[]
  readonly withheld: readonly WithheldRemedy[]
}

/** The request, its belief and its context, from which candidates are derived. */
export type RemedyContext = {
  readonly ports: Ports
  readonly request: RemedyRequest
  readonly belief: Belief
  readonly context: Context
}

/**
 * Changes that would make a belief appear for a message, or disappear. Each change is tried in a dry run on this message, on the
 * person's saved cases and on the last prompts. It is not offered if it does not fulfil the wish, or does harm elsewhere.
 */
export async function remedies(ports: Ports, request: RemedyRequest): Promise<Remedies> {
  const belief = await findBelief(ports, request)
  const { context } = await assemble(ports, request)
  const isWanted = request.wish === 'present'
  if (isShown(context, belief.id) === isWanted) return { belief, isFulfilled: true, remedies: [], withheld: [] }
  const situation = { ports, request, belief, context }
  const tried: Remedy[] = []
  const withheld: WithheldRemedy[] = []
  const { user, cases = [] } = request
  const effectsOf = await prepareTrials(ports, { user, belief, cases })
  for (const candidate of isWanted ? await additionCandidates(situation) : await removalCandidates(situation)) {
    const remedy = await attempt(situation, candidate)
    if (remedy === null) continue
    const effects = remedy.change === null ? null : await effectsOf(editedBelief(belief, remedy.change))
    const isOwn = (request.aliases ?? []).some((alias) => remedy.change?.addAliases?.includes(alias))
    const reason = effects === null ? null : harmOf(remedy, effects, isOwn)
    if (reason === null) tried.push({ ...remedy, effects })
    else withheld.push({ summary: remedy.summary, reason })
  }
  tried.sort((a, b) => Number(b.achieves) - Number(a.achieves))
  return { belief, isFulfilled: false, remedies: tried, withheld }
}

/**
 * An alias is harmful if the belief would newly appear for more than `maxOthers` of the last prompts, and for more than
 * `maxShare` of them. This limit does not apply to a pin, because it is meant to show the belief for all prompts.
 */
const maxShare = 0.05
const maxOthers = 2

function harmOf({ kind }: Pick<Remedy, 'kind'>, effects: Effects, isOwn: boolean): string | null {
  const { breaks, appearsIn, prompts } = effects
  if (breaks.length > 0) return `It would break the saved case ${breaks.join(', ')}.`
  const tooMany = Math.max(maxOthers, prompts * maxShare)
  if (kind === 'add-alias' && !isOwn && appearsIn.length > tooMany)
    return `It would also bring the belief to ${appearsIn.length} of your last ${prompts} prompts.`
  return null
}

async function attempt(situation: RemedyContext, candidate: Candidate): Promise<Omit<Remedy, 'effects'> | null> {
  const { belief, context, request, ports } = situation
  const { kind, summary, change = null, ask = null, see = null, caution = null, changed } = candidate
  const remedy = { kind, summary, change, ask, see, caution, achieves: kind === 'correct' }
  if (change === null && ask === null && changed === undefined) return { ...remedy, appearing: [], disappearing: [] }
  try {
    const budget = { ...request.budget, ...ask?.budget }
    const after = change === null ? changed : ([editedBelief(belief, change)] as const)
    const recallIn = (store: Ports) => assemble(store, { ...request, ...ask, budget })
    const { context: tried } = await (after === undefined ? recallIn(ports) : withChanged(ports, after, recallIn))
    if (isShown(tried, belief.id) !== (request.wish === 'present')) return null
    const now = idsIn(context)
    const then = idsIn(tried)
    const others = (ids: ReadonlySet<string>, without: ReadonlySet<string>): readonly string[] =>
      [...ids].filter((id) => id !== belief.id && !without.has(id))
    return { ...remedy, achieves: true, appearing: others(then, now), disappearing: others(now, then) }
  } catch (error) {
    // If the edit is not allowed, such as an alias that is only a comma, it is not a remedy.
    if (error instanceof MemoryError && (error.code === 'invalid' || error.code === 'conflict')) return null
    throw error
  }
}

/** The belief after a person has made an edit. */
const editedBelief = (belief: Belief, change: Edits): Belief => ({
  ...belief,
  ...changeFields(belief, change),
  editedByPerson: true,
})

const recallAfter = ({ ports, request, belief }: RemedyContext, change: Edits): Promise<Context> =>
  withChanged(ports, [editedBelief(belief, change)], async (tried) => (await assemble(tried, request)).context)

/** Changes that would keep a belief out of the context. */
async function removalCandidates(situation: RemedyContext): Promise<readonly Candidate[]> {
  const { request, belief, context } = situation
  const through = context.relevant.find((relevant) => relevant.belief.id === belief.id)?.through ?? null
  const isSeenFrom = (scope: string): boolean => belief.scopes.some((its) => visibleScopes([scope]).includes(its))
  const otherScopes = request.scopes.filter((scope) => !isSeenFrom(scope))
  const ways: Candidate[] = []
  if (through !== null)
    ways.push({ kind: 'see', summary: 'It is part of a relation that the message names.', see: through })
  ways.push(...(await formCandidates(situation)), ...scopeCandidates(situation))
  if (otherScopes.length > 0 && otherScopes.length < request.scopes.length) {
    const summary = `Ask with only ${otherScopes.join(' and ')} active.`
    ways.push({ kind: 'ask', summary, ask: { scopes: otherScopes } })
  }
  const correct = 'If it is no longer true, replace it with a new statement.'
  return [...ways, { kind: 'correct', summary: correct, see: belief.id }]
}

/** Unpins the belief, and removes its aliases until the message no longer finds it by one. */
async function formCandidates(situation: RemedyContext): Promise<readonly Candidate[]> {
  const { belief, context } = situation
  const unpinned: Edits = belief.pinned ? { pinned: false } : {}
  const dropped: string[] = []
  let seen = belief.pinned ? await recallAfter(situation, unpinned) : context
  for (let found = matchedAliases(seen, belief.id); found.length > 0; found = matchedAliases(seen, belief.id)) {
    dropped.push(...found)
    seen = await recallAfter(situation, { ...unpinned, removeAliases: dropped })
  }
  if (dropped.length === 0) return belief.pinned ? [{ kind: 'unpin', summary: 'Unpin it.', change: unpinned }] : []
  const drop = `remove the alias ${dropped.map((alias) => `"${alias}"`).join(' and ')}`
  const summary = sentence(belief.pinned ? `unpin it and ${drop}` : drop)
  return [{ kind: 'drop-alias', summary, change: { ...unpinned, removeAliases: dropped } }]
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`

function matchedAliases({ relevant }: Context, id: string): readonly string[] {
  const matches = relevant.find(({ belief }) => belief.id === id)?.matches ?? []
  return [...new Set(matches.flatMap(({ field, form }) => (field === 'alias' ? [form] : [])))]
}

/** Removes the belief from the visible scopes, if it has others. Never moves it to another scope. */
function scopeCandidates({ request, belief }: RemedyContext): readonly Candidate[] {
  const visible = visibleScopes(request.scopes)
  const own = belief.scopes.filter((scope) => !visible.includes(scope))
  return own.length === 0
    ? []
    : [{ kind: 'scopes', summary: `Limit it to ${own.join(' and ')}.`, change: { scopes: own } }]
}

const isNameFree = async ({ store }: Ports, { user, name }: Belief, scope: string): Promise<boolean> =>
  (await store.holders(user, name, [scope])).length === 0

/** Changes that would bring a belief into the context. */
async function additionCandidates(situation: RemedyContext): Promise<readonly Candidate[]> {
  const { ports, request, belief } = situation
  if (!isCurrent(belief)) return retiredCandidates(situation)
  const { user, message, agent = null } = request
  const active = parseScopes(request.scopes)
  const scopes = visibleScopes(active)
  const linked = await linkMessage(cutMessage(message), { user, agent, scopes }, ports.store)
  const isNamed = linked.links.some(({ posting }) => posting.beliefId === belief.id) || isMentioned(belief, linked)
  const aliases = isNamed ? [] : await aliasCandidates(situation)
  const larger = await budgetCandidates(situation)

  const pin = (where: string, moved: Edits): Candidate => ({
    kind: 'pin',
    summary: `Pin it${where}: it is then recalled whatever the message says.`,
    change: { pinned: true, ...moved },
  })
  if (belief.scopes.some((scope) => scopes.includes(scope))) return [...aliases, ...larger, pin('', {})]

  const places: { readonly where: string; readonly moved: Edits & { readonly scopes: readonly string[] } }[] = []
  for (const scope of active)
    if (await isNameFree(ports, belief, scope))
      places.push({ where: `add it to ${scope}`, moved: { scopes: [...belief.scopes, scope].sort() } })
  const wider = belief.scopes.slice(0, 1).map((home): Candidate => {
    return { kind: 'ask', summary: `Ask with ${home} active too.`, ask: { scopes: [...request.scopes, home] } }
  })
  return [
    ...places.flatMap(({ where, moved }) =>
      aliases.map((alias) => ({
        ...alias,
        summary: `${alias.summary.replace(/\.$/u, '')}, and ${where}.`,
        change: { ...alias.change, ...moved },
      })),
    ),
    ...places.map(({ where, moved }): Candidate => ({ kind: 'scopes', summary: sentence(where), change: moved })),
    ...larger,
    ...wider,
    ...places.slice(0, 1).map(({ where, moved }) => pin(`, and ${where}`, moved)),
  ]
}

/** For a belief that recall never returns: accept it, or look at the belief that replaced it. */
async function retiredCandidates({ ports, belief }: RemedyContext): Promise<readonly Candidate[]> {
  const accepted: Belief = { ...belief, proposedFor: null, candidate: false, status: 'active', editedByPerson: true }
  if (belief.proposedFor !== null) {
    const target = await ports.store.get(belief.user, belief.proposedFor)
    const replaced = target && ({ ...target, status: 'superseded', supersededBy: belief.id } as const)
    const changed = [accepted, ...(replaced === null ? [] : [replaced])] as const
    return [
      { kind: 'accept', summary: 'It is only proposed; accept it.', see: belief.id, changed },
      {
        kind: 'see',
        summary: 'It is only a proposal for another belief, which is still current.',
        see: belief.proposedFor,
      },
    ]
  }
  if (belief.candidate)
    return [{ kind: 'accept', summary: 'It is a candidate; accept it.', see: belief.id, changed: [accepted] }]
  const newest = await findLastSuccessor(ports.store, belief)
  if (newest !== null && newest.id !== belief.id)
    return [{ kind: 'see', summary: `It was replaced by "${newest.name}", the current version.`, see: newest.id }]
  if (belief.resolvedBy !== null)
    return [{ kind: 'see', summary: 'The question was settled by another belief.', see: belief.resolvedBy }]
  return []
}

/** If the belief did not fit the budget, doubles the exceeded limit until it fits. */
async function budgetCandidates({ ports, request, belief }: RemedyContext): Promise<readonly Candidate[]> {
  const { misses } = await assemble(ports, request)
  const miss = (await misses()).find((near) => near.belief.id === belief.id)
  if (miss?.reason.kind !== 'over-budget') return []
  const { limit } = miss.reason
  const now = parseBudget(request.budget)[limit]
  const maxLimit = limit === 'maxCharacters' ? 1_000_000 : 200
  for (let larger = Math.max(1, now) * 2; larger <= maxLimit; larger *= 2) {
    const budget = { [limit]: larger }
    const { context } = await assemble(ports, { ...request, budget: { ...request.budget, ...budget } })
    const summary = `The budget was full; ask with ${limit} ${larger} instead of ${now}.`
    if (isShown(context, belief.id)) return [{ kind: 'ask', summary, ask: { budget } }]
  }
  return []
}
