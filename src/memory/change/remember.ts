import { authorityOf, type Belief, isCurrent, mayChange, outranks, type Provenance } from '../../beliefs/belief.ts'
import { compareStrings, isSameStatement, mergeAliases, nameKey, unnumberedName } from '../../beliefs/identity.ts'
import type { JournalEvent } from '../../beliefs/journal.ts'
import { invalid } from '../../errors.ts'
import { isSurfaceForm } from '../../search/forms.ts'
import { informativeWords, questionWordsIn } from '../../search/searchable-text.ts'
import { findSecretsInSlices, redactSecrets } from '../learn/secrets.ts'
import type { Author, Ports } from '../ports.ts'
import type { RefusedAlias } from './aliases.ts'
import { reasonToWait, requireRoom } from './authority.ts'
import { type BeliefDraft, limits, parseDraft, parseText, refuseSecrets, type StatedFields } from './draft.ts'
import {
  type ChangeRequest,
  change,
  createChange,
  type Decision,
  reviseChange,
  stateAfter,
  type Write,
} from './transaction.ts'

export type RememberRequest = ChangeRequest & {
  /** Without a name, the name is derived from the content, as for a line of an imported file. */
  readonly draft: Omit<BeliefDraft, 'name'> & { readonly name?: string }
  readonly sourceId?: string
  readonly model?: string
  /** Whether to also replace beliefs that give a different value of the same thing. A function is called with them to decide. Default false. */
  readonly replace?: boolean | ((otherValues: readonly Belief[]) => Promise<boolean>)
}

/**
 * `remembered`: new. `reinforced`: known already, in the same words. `corrected`: known in other words, which are now superseded.
 * `proposed`: contradicts another author, or only a person may state it, so a person has to decide.
 */
export type RememberResult = {
  readonly outcome: 'remembered' | 'reinforced' | 'corrected' | 'proposed'
  readonly belief: Belief
  /** The beliefs that the statement replaced, or would replace. */
  readonly replaced: readonly Belief[]
  readonly event: number
  /** Current beliefs in the same scopes that give a different value of the same thing, newest first. */
  readonly otherValues: readonly Belief[]
  /** Aliases that were left out because their author may not give them. */
  readonly refusedAliases: readonly RefusedAlias[]
}

/** Stores a statement. A statement with the name of a belief in the same scope repeats or corrects that belief. */
export async function remember(ports: Ports, request: RememberRequest): Promise<RememberResult> {
  const { user, author, draft, sourceId = null, model = null, replace = false } = request
  const { isGiven, ...named } = await withName(draft)
  const drafted = parseDraft(named)
  await refuseSecrets(author, { ...drafted, domain: drafted.expertise?.domain, sourceId, model })
  const { parsed, refusedAliases } = await withAllowedForms(ports, author, { user, statement: drafted, isGiven })
  const made = await change(
    ports,
    { ...request, operation: 'remember' },
    async (at) => {
      const others = replace === false ? [] : await findReplaceable(ports, { user, ...parsed }, replace)
      const statement = isGiven ? parsed : await withFreeName(ports, user, parsed, others)
      const named = await ports.store.holders(user, statement.name, statement.scopes)
      const holders = [...named, ...others.filter(({ id }) => !named.some((holder) => holder.id === id))]
      if (author.actor === 'agent' && holders.length === 0) {
        const said = await findSaidByPerson(ports, user, statement)
        if (said !== null) return reinforceWrite(said, at)
      }
      const belief = newBelief(ports, { user, statement, provenance: { ...author, sourceId, model, at } })
      const [holder] = holders
      const isTyped = draft.type !== undefined || holder === undefined || outranks(author, holder)
      const typed = isTyped ? belief : withTypeOf(holder, belief)
      return decide(ports, { author, holders, belief: typed, at })
    },
    async (event, made) => {
      const belief = await stateAfter(ports, event, made)
      const replaced = await findReplaced(ports, event, belief)
      return { outcome: outcomes[event.kind] ?? 'remembered', belief, replaced, event: event.number }
    },
  )
  const isStored = made.outcome === 'remembered' || made.outcome === 'reinforced'
  return { ...made, otherValues: isStored ? await readOtherValues(ports, made.belief) : [], refusedAliases }
}

/** The beliefs that give a different value of the same thing. If there are any, adds the belief that already makes this statement. */
async function findReplaceable(
  ports: Ports,
  statement: OneStatement,
  replace: RememberRequest['replace'],
): Promise<readonly Belief[]> {
  const others = await readOtherValues(ports, statement)
  if (others.length === 0 || (typeof replace === 'function' && !(await replace(others)))) return []
  const { findSameStatement } = await import('../markdown/same-statement.ts')
  return [...others, (await findSameStatement(ports, statement)) ?? []].flat()
}

type OneStatement = Pick<Belief, 'user' | 'agent' | 'scopes' | 'name' | 'content'>

/** Max beliefs to compare with a statement, of those that share words with it. */
const maxCompared = 50

/** The current beliefs that give a different value of the same thing, newest first. */
async function readOtherValues({ store }: Ports, statement: OneStatement): Promise<readonly Belief[]> {
  const { user, agent, scopes, content } = statement
  const topic = informativeWords(content).filter((word) => !/\p{N}/u.test(word))
  const found: string[] = []
  for (const words of [questionWordsIn(unnumberedName(statement.name)), [...new Set(topic)]]) {
    const filter = { user, agent, scopes, words, atLeast: words.length, includeRetired: false, limit: maxCompared }
    if (words.length > 0) found.push(...(await store.matchText(filter)).map(({ beliefId }) => beliefId))
  }
  const compared = (await store.getMany(user, [...new Set(found)])).filter(
    (belief) =>
      isCurrent(belief) && belief.type !== 'open_question' && belief.agent === agent && belief.content !== content,
  )
  if (compared.length === 0) return []
  const { isOtherValue } = await import('./other-value.ts')
  return compared
    .filter((belief) => isOtherValue(belief, statement))
    .sort((a, b) => compareStrings(b.provenance.at, a.provenance.at))
}

/** Refuses a name whose everyday words would match any message, and drops such aliases. */
async function withAllowedForms(
  ports: Ports,
  author: Author,
  { user, statement, isGiven }: { user: string; statement: StatedFields; isGiven: boolean },
): Promise<{ readonly parsed: StatedFields; readonly refusedAliases: readonly RefusedAlias[] }> {
  if (author.actor === 'person') return { parsed: statement, refusedAliases: [] }
  const { filterAliases, explainRefusedName } = await import('./aliases.ts')
  const reason = isGiven ? explainRefusedName(statement.name, statement.content) : null
  // A name that is already in use is allowed, because it would not match any more messages than before.
  const isNew = isGiven && (await ports.store.holders(user, statement.name, statement.scopes)).length === 0
  if (reason !== null && isNew)
    throw invalid(
      `The name "${statement.name}" is refused. ${reason}`,
      'Use a more distinctive name, such as "release train".',
    )
  const { aliases, refused } = await filterAliases(ports, author, { user, ...statement }, { isNew })
  return { parsed: { ...statement, aliases }, refusedAliases: refused }
}

/** Max phrases of a statement that become its aliases, if no name was given. */
const maxForms = 7

type NamedDraft = BeliefDraft & { readonly isGiven: boolean }

async function withName({ name, ...draft }: RememberRequest['draft']): Promise<NamedDraft> {
  if (name !== undefined) return { ...draft, name, isGiven: true }
  const content = parseText('statement', draft.content, limits.content)
  // Even a person's secret must not become a name: lists show names, and the index contains names and aliases.
  const secrets = await findSecretsInSlices(content)
  const shown = redactSecrets(content, secrets)
  const { nameStatement, openingOf, phrasesOf } = await import('../learn/name-of.ts')
  const isSecret = shown !== content
  if (draft.type === undefined && draft.subtype === undefined) {
    const { isStandingInstruction } = await import('../learn/rules.ts')
    if (isStandingInstruction(content))
      return { ...draft, name: openingOf(shown), type: 'preference', subtype: 'instruction', isGiven: false }
  }
  const { name: subject, ...derived } = nameStatement(shown)
  // The subject of the sentence becomes the name. Its phrases and names become aliases, because people use them to ask.
  const forms = phrasesOf(derived.content)
  const derivedName = isSurfaceForm(subject) ? subject : (secrets[0]?.what ?? subject)
  return {
    ...draft,
    ...derived,
    ...(isSecret ? { content } : {}),
    name: derivedName,
    // Forms that consisted of a secret are empty now, and are dropped.
    aliases: mergeAliases(
      derivedName,
      draft.aliases ?? [],
      [...derived.aliases, ...forms.slice(0, maxForms)].filter(isSurfaceForm),
    ),
  }
}

/** Adds a number to a derived name if another belief has the name, unless that belief is one of `replaced`. */
async function withFreeName(
  ports: Ports,
  user: string,
  statement: StatedFields,
  replaced: readonly Belief[],
): Promise<StatedFields> {
  if (replaced.some(({ name }) => nameKey(name) === nameKey(statement.name))) return statement
  const { freeNameFor } = await import('../markdown/same-statement.ts')
  return { ...statement, name: (await freeNameFor(ports, { user, ...statement })).name }
}

/** The person's belief that an agent's statement repeats in other words. */
async function findSaidByPerson(ports: Ports, user: string, { scopes, content }: StatedFields): Promise<Belief | null> {
  const { findRestatements } = await import('./restatement.ts')
  const [said] = await findRestatements(ports, { user, scopes, content, by: 'person' })
  return said ?? null
}

const reinforceWrite = (belief: Belief, at: string): Write => ({
  kind: 'reinforce',
  changes: [reviseChange(belief, at, { reinforcement: { count: belief.reinforcement.count + 1, at } })],
})

const outcomes: Partial<Record<JournalEvent['kind'], RememberResult['outcome']>> = {
  reinforce: 'reinforced',
  correct: 'corrected',
  propose: 'proposed',
}

/** Without a type in the draft, a corrected belief keeps its type, except that an answered question is no longer a question. */
function withTypeOf({ type, subtype, participants, relation, expertise }: Belief, belief: Belief): Belief {
  if (type === 'open_question') return belief
  return { ...belief, type, subtype, participants, relation, expertise: belief.expertise ?? expertise }
}

type RememberContext = { author: Author; holders: readonly Belief[]; belief: Belief; at: string }

async function decide(
  ports: Ports,
  { author, holders, belief, at }: RememberContext,
): Promise<Decision<Omit<RememberResult, 'refusedAliases' | 'otherValues'>>> {
  const [holder] = holders
  const waiting = await findSameCandidates(ports, belief)
  const ownCandidate = waiting.find((candidate) => isByAuthor(author, candidate))
  if (holder === undefined) {
    if (ownCandidate !== undefined) return restate(ports, author, ownCandidate, belief, at)
    // A candidate that the author may not change is only counted as repeated.
    const [repeated] = waiting.filter((candidate) => !mayChange(author, candidate))
    if (repeated !== undefined) return reinforceWrite(repeated, at)
    if ((await reasonToWait(author, belief)) === null) {
      const settled = candidatesSettledBy(author, waiting).map((candidate) => supersedeBelief(candidate, belief, at))
      return { kind: 'remember', changes: [createChange(belief), ...settled] }
    }
    await requireRoom(ports, belief, [])
    return { kind: 'propose', changes: [createChange({ ...belief, status: 'exploratory', candidate: true })] }
  }
  // A statement of lower authority that a person repeats is replaced, so that its other fields do not become the person's.
  if (holders.length === 1 && isSameStatement(holder.content, belief.content) && !mayReplaceSame(author, holder))
    return restate(ports, author, holder, belief, at)
  const successor = inherit(belief, holders)
  const isProtected = (held: Belief): boolean => !mayChange(author, held)
  const target = holders.find(isProtected) ?? ((await reasonToWait(author, successor)) === null ? undefined : holder)
  if (target !== undefined) {
    const write = await proposeChange(ports, target, successor, at)
    const replaced = [target, ...holders.filter((held) => held !== target)]
    const proposed = write.changes[0]?.after as Belief
    return { ...write, result: ({ number }) => ({ outcome: 'proposed', belief: proposed, replaced, event: number }) }
  }
  return {
    kind: 'correct',
    changes: [
      createChange(successor),
      ...[...holders, ...candidatesSettledBy(author, waiting)].map((held) => supersedeBelief(held, successor, at)),
    ],
    result: (event) => ({ outcome: 'corrected', belief: successor, replaced: holders, event: event.number }),
  }
}

/** The candidates with the name and statement of a belief, in one of its scopes. */
export async function findSameCandidates({ store }: Ports, belief: Belief): Promise<readonly Belief[]> {
  const named = await store.named(belief.user, belief.name)
  return named.filter(
    ({ candidate, scopes, content }) =>
      candidate && scopes.some((scope) => belief.scopes.includes(scope)) && isSameStatement(content, belief.content),
  )
}

/** The candidates that are settled when a person makes the same statement. */
const candidatesSettledBy = ({ actor }: Author, candidates: readonly Belief[]): readonly Belief[] =>
  actor === 'person' ? candidates : []

/** Whether an author made a belief. The origin of a person is ignored, because a person uses several programs. */
const isByAuthor = ({ actor, origin }: Author, { provenance }: Belief): boolean =>
  provenance.actor === actor && (actor === 'person' || provenance.origin === origin)

const mayReplaceSame = (author: Author, holder: Belief): boolean =>
  author.actor === 'person' && outranks(author, holder)

/** Repeats a statement: reinforces the belief and adds the draft's new fields, if the author may. */
async function restate(ports: Ports, author: Author, holder: Belief, belief: Belief, at: string): Promise<Write> {
  const merged = mergeStatement(holder, belief)
  const { type, subtype } = holder
  const enrichedBelief = { ...belief, type, subtype, ...merged }
  const isAllowed = async () => mayChange(author, holder) && (await reasonToWait(author, enrichedBelief)) === null
  if (hasAdditions(holder, merged) && !holder.candidate && !(await isAllowed()))
    return proposeChange(ports, holder, enrichedBelief, at)
  const isPerson = author.actor === 'person'
  const place = isPerson && holder.candidate ? { scopes: belief.scopes, pinned: belief.pinned } : {}
  const revision = reviseChange(holder, at, {
    ...merged,
    ...place,
    reinforcement: { count: holder.reinforcement.count + 1, at },
    status: isPerson && belief.status === 'active' ? 'active' : holder.status,
    editedByPerson: holder.editedByPerson || isPerson,
    // A candidate that a person repeats becomes a belief. Its name is free: a belief with that name would be the `holder`.
    candidate: holder.candidate && !isPerson,
  })
  return { kind: 'reinforce', changes: [revision] }
}

/** The fields of a belief, with those that a repeated statement adds. */
export const mergeStatement = (holder: Belief, said: Belief) => ({
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

/** Whether a repetition would change more than the count of repetitions. */
export const hasAdditions = (belief: Belief, merged: ReturnType<typeof mergeStatement>): boolean =>
  (Object.keys(merged) as (keyof typeof merged)[]).some(
    (field) => JSON.stringify(belief[field]) !== JSON.stringify(merged[field]),
  )

/** Stores a belief as a proposal for `target`. It is not recalled until a person accepts it. */
export async function proposeChange(ports: Ports, target: Belief, belief: Belief, at: string): Promise<Write> {
  const waiting = await ports.store.proposalsFor(belief.user, target.id)
  const earlier = waiting.find((known) => isSameWish(known, belief))
  if (earlier === undefined) await requireRoom(ports, belief, waiting)
  const change = earlier
    ? reviseChange(earlier, at, { reinforcement: { count: earlier.reinforcement.count + 1, at } })
    : createChange({ ...belief, status: 'exploratory', proposedFor: target.id })
  return { kind: 'propose', changes: [change] }
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
] as const

/** Whether accepting either of two proposals would have the same effect. */
export function isSameWish(a: Belief, b: Belief): boolean {
  const wish = (belief: Belief): string =>
    JSON.stringify([nameKey(belief.name), belief.resolvedAt === null, ...wished.map((field) => belief[field])])
  return isSameStatement(a.content, b.content) && wish(a) === wish(b)
}

/** Marks a belief as superseded. A superseded candidate no longer waits for confirmation. */
export const supersedeBelief = (belief: Belief, successor: Belief, at: string) =>
  reviseChange(belief, at, { status: 'superseded', supersededBy: successor.id, candidate: false })

/**
 * Gives a successor the names and aliases of its predecessors, their pin and all their scopes. Predecessors of a lower authority
 * contribute nothing.
 */
export function inherit(belief: Belief, replaced: readonly Belief[]): Belief {
  const author = { actor: authorityOf(belief) }
  const predecessors = replaced.filter((predecessor) => !outranks(author, predecessor))
  // A name that adds only a number to the name of `belief` is no alias: it got the number because the name was taken.
  const isNumbered = (name: string): boolean => nameKey(unnumberedName(name)) === nameKey(belief.name)
  const forms = predecessors.flatMap(({ name, aliases }) => [name, ...aliases].filter((form) => !isNumbered(form)))
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
  { user, statement, provenance }: { user: string; statement: StatedFields; provenance: Provenance },
): Belief {
  return {
    ...statement,
    id: ports.newId(),
    user,
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

/** The beliefs that an event replaced, or would replace if its proposal were accepted. */
export const findReplaced = ({ store }: Ports, event: JournalEvent, belief: Belief): Promise<readonly Belief[]> =>
  store.getMany(event.user, belief.proposedFor === null ? event.beliefIds.slice(1) : [belief.proposedFor])
