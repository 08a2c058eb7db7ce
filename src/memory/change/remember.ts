import { mayChange } from '../../beliefs/authority.ts'
import type { Belief, Provenance } from '../../beliefs/belief.ts'
import { isSameStatement, mergeAliases, nameKey } from '../../beliefs/identity.ts'
import type { JournalEvent } from '../../beliefs/journal.ts'
import { type BeliefDraft, parseDraft, type Statement } from './draft.ts'
import { refuseSecrets } from './refuse-secrets.ts'
import {
  type Author,
  type ChangeRequest,
  change,
  created,
  type Decision,
  type Ports,
  revised,
  stateAfter,
} from './transaction.ts'

export type RememberRequest = ChangeRequest & {
  readonly draft: BeliefDraft
  readonly sourceId?: string
  readonly model?: string
}

/**
 * `remembered`: new. `reinforced`: it was known, in these words. `corrected`: it was known in other words, which are
 * now superseded. `proposed`: it contradicts someone with more authority, who has to decide.
 */
export type Remembered = {
  readonly outcome: 'remembered' | 'reinforced' | 'corrected' | 'proposed'
  readonly belief: Belief
  /** What it replaced, or would replace. */
  readonly replaced: readonly Belief[]
  readonly event: number
}

/** Takes in a statement. The same name in the same scope is the same belief: said again, or corrected. */
export async function remember(ports: Ports, request: RememberRequest): Promise<Remembered> {
  const statement = parseDraft(request.draft)
  await refuseSecrets(request.author, statement)
  const origin = { sourceId: request.sourceId ?? null, model: request.model ?? null }
  return change(
    ports,
    { ...request, operation: 'remember' },
    async (at) => {
      const holders = await ports.store.holders(request.user, statement.name, statement.scopes)
      const belief = newBelief(ports, {
        user: request.user,
        statement,
        provenance: { ...request.author, ...origin, at },
      })
      const [holder] = holders
      const said = request.draft.type === undefined && holder !== undefined ? likewise(belief, holder) : belief
      return decide(ports, { author: request.author, holders, belief: said, at })
    },
    (event) => replay(ports, event),
  )
}

/** Who does not say what kind of thing it is means the kind it was. Only a question that is answered is none any more. */
function likewise(belief: Belief, holder: Belief): Belief {
  const { type, subtype, participants, relation } = holder
  if (type === 'open_question') return belief
  return { ...belief, type, subtype, participants, relation, expertise: belief.expertise ?? holder.expertise }
}

type Situation = { author: Author; holders: readonly Belief[]; belief: Belief; at: string }

async function decide(ports: Ports, { author, holders, belief, at }: Situation): Promise<Decision<Remembered>> {
  const [holder] = holders
  if (holder === undefined) {
    const known = await candidateSaying(ports.store, belief)
    return known === null ? only('remembered', 'remember', belief) : again(ports, author, known, belief, at)
  }
  if (holders.length === 1 && isSameStatement(holder.content, belief.content))
    return again(ports, author, holder, belief, at)
  const heir = inherit(belief, holders)
  if (holders.some((held) => !mayChange(author.actor, held))) {
    const protectedFirst = [...holders].sort(
      (one, other) => Number(mayChange(author.actor, one)) - Number(mayChange(author.actor, other)),
    )
    return proposal(ports, protectedFirst, heir, at, (proposed) => proposed)
  }
  return {
    kind: 'correct',
    changes: [created(heir), ...holders.map((held) => superseded(held, heir, at))],
    result: (event) => ({ outcome: 'corrected', belief: heir, replaced: holders, event: event.number }),
  }
}

/** A candidate of this name, in these scopes, that says the same. */
async function candidateSaying(store: Ports['store'], belief: Belief): Promise<Belief | null> {
  const named = await store.named(belief.user, belief.name)
  const isSame = ({ candidate, scopes, content }: Belief): boolean =>
    candidate && scopes.some((scope) => belief.scopes.includes(scope)) && isSameStatement(content, belief.content)
  return named.find(isSame) ?? null
}

/** The same words again: reinforce, and take in what the draft adds, if the author may. */
async function again(
  ports: Ports,
  author: Author,
  holder: Belief,
  belief: Belief,
  at: string,
): Promise<Decision<Remembered>> {
  const more = enriched(holder, belief)
  if (adds(holder, more) && !mayChange(author.actor, holder)) {
    const { type, subtype } = holder
    return proposal(ports, [holder], { ...belief, type, subtype, ...more }, at, (proposed) => proposed)
  }
  const reinforcement = { count: holder.reinforcement.count + 1, at }
  const isSettled = author.actor === 'person' && belief.status === 'active'
  const status = isSettled ? ('active' as const) : holder.status
  const editedByPerson = holder.editedByPerson || author.actor === 'person'
  // What a person says again is no candidate any more. Its name is free, or it would not have been looked at.
  const candidate = holder.candidate && author.actor !== 'person'
  const revision = revised(holder, at, { ...more, reinforcement, status, editedByPerson, candidate })
  return {
    kind: 'reinforce',
    changes: [revision],
    result: (event) => ({ outcome: 'reinforced', belief: revision.after, replaced: [], event: event.number }),
  }
}

/** A belief with what another way of saying it adds: where it holds, what it is found by, and what was left open. */
export const enriched = (holder: Belief, said: Belief) => ({
  aliases: mergeAliases(holder.name, holder.aliases, said.aliases),
  why: said.why === '' ? holder.why : said.why,
  pinned: holder.pinned || said.pinned,
  scopes: [...new Set([...holder.scopes, ...said.scopes])].sort(),
  // Said by or for another as well, it is nobody's own any more.
  agent: holder.agent === said.agent ? holder.agent : null,
  participants:
    holder.type === 'relation' ? [...new Set([...holder.participants, ...said.participants])] : holder.participants,
  relation: holder.relation ?? said.relation,
  expertise: holder.expertise ?? said.expertise,
})

/** Whether the belief would change by more than being said once more. */
export const adds = (belief: Belief, more: ReturnType<typeof enriched>): boolean =>
  (Object.keys(more) as (keyof typeof more)[]).some(
    (field) => JSON.stringify(belief[field]) !== JSON.stringify(more[field]),
  )

/** Kept beside what it contradicts, out of every recall, until someone with the authority decides. */
export async function proposal<Result>(
  ports: Ports,
  holders: readonly Belief[],
  belief: Belief,
  at: string,
  answer: (proposed: Remembered) => Result,
): Promise<Decision<Result>> {
  const target = holders[0] as Belief
  const earlier = (await ports.store.proposalsFor(belief.user, target.id)).find((known) => isSameWish(known, belief))
  const change = earlier
    ? revised(earlier, at, { reinforcement: { count: earlier.reinforcement.count + 1, at } })
    : created({ ...belief, status: 'exploratory', proposedFor: target.id })
  const after = change.after as Belief
  return {
    kind: 'propose',
    changes: [change],
    result: (event) => answer({ outcome: 'proposed', belief: after, replaced: holders, event: event.number }),
  }
}

const wished = [
  'aliases',
  'why',
  'pinned',
  'scopes',
  'type',
  'subtype',
  'agent',
  'participants',
  'relation',
  'expertise',
] as const satisfies readonly (keyof Belief)[]

/** Whether accepting either of two proposals would come to the same. */
export function isSameWish(one: Belief, other: Belief): boolean {
  const wish = (belief: Belief) => JSON.stringify([nameKey(belief.name), ...wished.map((field) => belief[field])])
  return isSameStatement(one.content, other.content) && wish(one) === wish(other)
}

const only = (outcome: Remembered['outcome'], kind: 'remember', belief: Belief): Decision<Remembered> => ({
  kind,
  changes: [created(belief)],
  result: (event) => ({ outcome, belief, replaced: [], event: event.number }),
})

export const superseded = (belief: Belief, heir: Belief, at: string) =>
  revised(belief, at, { status: 'superseded', supersededBy: heir.id })

/** A successor can be found by everything its predecessors could, stays pinned, and keeps all their scopes. */
export function inherit(belief: Belief, predecessors: readonly Belief[]): Belief {
  const forms = predecessors.flatMap((predecessor) => [predecessor.name, ...predecessor.aliases])
  return {
    ...belief,
    aliases: mergeAliases(belief.name, belief.aliases, forms),
    pinned: belief.pinned || predecessors.some((predecessor) => predecessor.pinned),
    scopes: [...new Set([...belief.scopes, ...predecessors.flatMap((predecessor) => predecessor.scopes)])].sort(),
  }
}

/** A belief as it is at birth. */
export function newBelief(
  ports: Ports,
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

const outcomes: Partial<Record<JournalEvent['kind'], Remembered['outcome']>> = {
  remember: 'remembered',
  reinforce: 'reinforced',
  correct: 'corrected',
  propose: 'proposed',
}

async function replay(ports: Ports, event: JournalEvent): Promise<Remembered> {
  const belief = await stateAfter(ports, event, event.beliefIds[0] as string)
  const replaced = await replacedBy(ports, event, belief)
  return { outcome: outcomes[event.kind] ?? 'remembered', belief, replaced, event: event.number }
}

/** What an event replaced, or would if it only proposed it. */
export const replacedBy = ({ store }: Ports, event: JournalEvent, belief: Belief): Promise<readonly Belief[]> =>
  store.getMany(event.user, belief.proposedFor === null ? event.beliefIds.slice(1) : [belief.proposedFor])
