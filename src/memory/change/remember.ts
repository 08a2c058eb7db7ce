import { type Belief, mayChange, type Provenance } from '../../beliefs/belief.ts'
import { isSameStatement, mergeAliases, nameKey } from '../../beliefs/identity.ts'
import type { JournalEvent } from '../../beliefs/journal.ts'
import type { Author, Ports } from '../ports.ts'
import { type BeliefDraft, limits, parseDraft, parseText, refuseSecrets, type Statement } from './draft.ts'
import { type ChangeRequest, change, created, type Decision, revised, stateAfter, type Write } from './transaction.ts'

export type RememberRequest = ChangeRequest & {
  /** Without a name, one is derived from the content, as for a line of an imported file. */
  readonly draft: Omit<BeliefDraft, 'name'> & { readonly name?: string }
  readonly sourceId?: string
  readonly model?: string
}

/**
 * `remembered`: new. `reinforced`: it was known, in these words. `corrected`: it was known in other words, which are
 * now superseded. `proposed`: it contradicts an author with more authority, so a person has to decide.
 */
export type Remembered = {
  readonly outcome: 'remembered' | 'reinforced' | 'corrected' | 'proposed'
  readonly belief: Belief
  /** What it replaced, or would replace. */
  readonly replaced: readonly Belief[]
  readonly event: number
}

/** Stores a statement. The same name in the same scope is the same belief: said again, or corrected. */
export async function remember(ports: Ports, request: RememberRequest): Promise<Remembered> {
  const { user, author, draft, sourceId = null, model = null } = request
  const { isGiven, ...named } = await withName(draft)
  const parsed = parseDraft(named)
  await refuseSecrets(author, parsed)
  return change(
    ports,
    { ...request, operation: 'remember' },
    async (at) => {
      const statement = isGiven ? parsed : await withFreeName(ports, user, parsed)
      const holders = await ports.store.holders(user, statement.name, statement.scopes)
      const belief = newBelief(ports, { user, statement, provenance: { ...author, sourceId, model, at } })
      const [holder] = holders
      const typed = draft.type === undefined && holder !== undefined ? withTypeOf(holder, belief) : belief
      return decide(ports, { author, holders, belief: typed, at })
    },
    async (event) => {
      const belief = await stateAfter(ports, event)
      const replaced = await replacedBy(ports, event, belief)
      return { outcome: outcomes[event.kind] ?? 'remembered', belief, replaced, event: event.number }
    },
  )
}

type NamedDraft = BeliefDraft & { readonly isGiven: boolean }

async function withName({ name, ...draft }: RememberRequest['draft']): Promise<NamedDraft> {
  if (name !== undefined) return { ...draft, name, isGiven: true }
  const { nameStatement } = await import('../markdown/name-statement.ts')
  const { nameOf } = await import('../learn/name-of.ts')
  const derived = nameStatement(parseText('content', draft.content, limits.content))
  // The name is what the sentence is about; the phrases and rare words in it are what people will ask with.
  const { name: phrase, aliases } = nameOf(derived.content)
  return {
    ...draft,
    ...derived,
    aliases: mergeAliases(derived.name, draft.aliases ?? [], [...derived.aliases, phrase, ...aliases]),
  }
}

/**
 * A derived name never replaces another belief: the same statement keeps the name it is known by, and a name that
 * belongs to another statement gets a number.
 */
async function withFreeName(ports: Ports, user: string, statement: Statement): Promise<Statement> {
  const { content, scopes } = statement
  const { sameStatement } = await import('../markdown/same-statement.ts')
  const same = await sameStatement(ports, { user, scopes, content })
  if (same !== null) return { ...statement, name: same.name }
  for (let attempt = 1; ; attempt += 1) {
    const name = attempt === 1 ? statement.name : `${statement.name} ${attempt}`
    const holders = await ports.store.holders(user, name, scopes)
    if (holders.every((holder) => isSameStatement(holder.content, content))) return { ...statement, name }
  }
}

const outcomes: Partial<Record<JournalEvent['kind'], Remembered['outcome']>> = {
  reinforce: 'reinforced',
  correct: 'corrected',
  propose: 'proposed',
}

/** A draft without a type keeps the type that the belief had, except that an answered question is no question any more. */
function withTypeOf({ type, subtype, participants, relation, expertise }: Belief, belief: Belief): Belief {
  if (type === 'open_question') return belief
  return { ...belief, type, subtype, participants, relation, expertise: belief.expertise ?? expertise }
}

type Situation = { author: Author; holders: readonly Belief[]; belief: Belief; at: string }

async function decide(ports: Ports, { author, holders, belief, at }: Situation): Promise<Decision<Remembered>> {
  const [holder] = holders
  if (holder === undefined) {
    const candidate = await sameCandidate(ports, belief)
    if (candidate !== null) return sayAgain(ports, author, candidate, belief, at)
    return { kind: 'remember', changes: [created(belief)] }
  }
  if (holders.length === 1 && isSameStatement(holder.content, belief.content))
    return sayAgain(ports, author, holder, belief, at)
  const heir = inherit(belief, holders)
  const isProtected = (held: Belief): boolean => !mayChange(author.actor, held)
  const target = holders.find(isProtected)
  if (target !== undefined) {
    const write = await proposal(ports, target, heir, at)
    const replaced = [...holders.filter(isProtected), ...holders.filter((held) => !isProtected(held))]
    const proposed = write.changes[0]?.after as Belief
    return { ...write, result: ({ number }) => ({ outcome: 'proposed', belief: proposed, replaced, event: number }) }
  }
  return {
    kind: 'correct',
    changes: [created(heir), ...holders.map((held) => superseded(held, heir, at))],
    result: (event) => ({ outcome: 'corrected', belief: heir, replaced: holders, event: event.number }),
  }
}

/** A candidate of this name, in these scopes, that says the same. */
async function sameCandidate({ store }: Ports, belief: Belief): Promise<Belief | null> {
  const named = await store.named(belief.user, belief.name)
  const isSame = ({ candidate, scopes, content }: Belief): boolean =>
    candidate && scopes.some((scope) => belief.scopes.includes(scope)) && isSameStatement(content, belief.content)
  return named.find(isSame) ?? null
}

/** The same words again: reinforces the belief and adds what the draft adds, if the author may. */
async function sayAgain(ports: Ports, author: Author, holder: Belief, belief: Belief, at: string): Promise<Write> {
  const merged = enriched(holder, belief)
  if (adds(holder, merged) && !mayChange(author.actor, holder)) {
    const { type, subtype } = holder
    return proposal(ports, holder, { ...belief, type, subtype, ...merged }, at)
  }
  const isPerson = author.actor === 'person'
  const revision = revised(holder, at, {
    ...merged,
    reinforcement: { count: holder.reinforcement.count + 1, at },
    status: isPerson && belief.status === 'active' ? 'active' : holder.status,
    editedByPerson: holder.editedByPerson || isPerson,
    // A candidate that a person repeats becomes a belief. No other belief holds its name, or that one would be `holder`.
    candidate: holder.candidate && !isPerson,
  })
  return { kind: 'reinforce', changes: [revision] }
}

/** The fields of a belief together with what another statement of it adds. */
export const enriched = (holder: Belief, said: Belief) => ({
  aliases: mergeAliases(holder.name, holder.aliases, said.aliases),
  why: said.why === '' ? holder.why : said.why,
  pinned: holder.pinned || said.pinned,
  scopes: [...new Set([...holder.scopes, ...said.scopes])].sort(),
  // A belief that two agents state is shared by all agents.
  agent: holder.agent === said.agent ? holder.agent : null,
  participants:
    holder.type === 'relation' ? [...new Set([...holder.participants, ...said.participants])] : holder.participants,
  relation: holder.relation ?? said.relation,
  expertise: holder.expertise ?? said.expertise,
})

/** Whether the belief would change by more than being said once more. */
export const adds = (belief: Belief, merged: ReturnType<typeof enriched>): boolean =>
  (Object.keys(merged) as (keyof typeof merged)[]).some(
    (field) => JSON.stringify(belief[field]) !== JSON.stringify(merged[field]),
  )

/** Stores a belief as a proposal for `target`, which is not recalled until a person accepts it. */
export async function proposal(ports: Ports, target: Belief, belief: Belief, at: string): Promise<Write> {
  const earlier = (await ports.store.proposalsFor(belief.user, target.id)).find((known) => isSameWish(known, belief))
  const change = earlier
    ? revised(earlier, at, { reinforcement: { count: earlier.reinforcement.count + 1, at } })
    : created({ ...belief, status: 'exploratory', proposedFor: target.id })
  return { kind: 'propose', changes: [change] }
}

const wished = [
  ...(['aliases', 'why', 'pinned', 'scopes', 'type', 'subtype', 'agent'] as const),
  ...(['participants', 'relation', 'expertise'] as const),
]

/** Whether accepting either of two proposals would have the same effect. */
export function isSameWish(one: Belief, other: Belief): boolean {
  const wish = (belief: Belief): string =>
    JSON.stringify([nameKey(belief.name), ...wished.map((field) => belief[field])])
  return isSameStatement(one.content, other.content) && wish(one) === wish(other)
}

export const superseded = (belief: Belief, heir: Belief, at: string) =>
  revised(belief, at, { status: 'superseded', supersededBy: heir.id })

/** A successor can be found by everything its predecessors could, stays pinned, and keeps all their scopes. */
export function inherit(belief: Belief, predecessors: readonly Belief[]): Belief {
  const forms = predecessors.flatMap(({ name, aliases }) => [name, ...aliases])
  return {
    ...belief,
    aliases: mergeAliases(belief.name, belief.aliases, forms),
    pinned: belief.pinned || predecessors.some(({ pinned }) => pinned),
    scopes: [...new Set([...belief.scopes, ...predecessors.flatMap(({ scopes }) => scopes)])].sort(),
  }
}

/** The first version of a belief. */
export function newBelief(
  ports: Pick<Ports, 'newId'>,
  { user, statement, provenance }: { user: string; statement: Statement; provenance: Provenance },
): Belief {
  return {
    id: ports.newId(),
    user,
    ...statement,
    editedByPerson: provenance.actor === 'person',
    supersededBy: null,
    proposedFor: null,
    candidate: false,
    resolvedAt: null,
    resolvedBy: null,
    provenance,
    reinforcement: { count: 0, at: provenance.at },
    createdAt: provenance.at,
    updatedAt: provenance.at,
    version: 1,
  }
}

/** What an event replaced, or would replace if its proposal were accepted. */
export const replacedBy = ({ store }: Ports, event: JournalEvent, belief: Belief): Promise<readonly Belief[]> =>
  store.getMany(event.user, belief.proposedFor === null ? event.beliefIds.slice(1) : [belief.proposedFor])
