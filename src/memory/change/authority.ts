import { authorityOf, type Belief, explainWait, isCurrent } from '../../beliefs/belief.ts'
import type { BeliefChange, EventKind, JournalEntry } from '../../beliefs/journal.ts'
import { conflict, forbidden } from '../../errors.ts'
import type { Author, Ports } from '../ports.ts'

/** Why a belief has to wait until a person accepts it; null if its author may state it. */
export async function reasonToWait({ actor }: Author, belief: Belief): Promise<string | null> {
  if (actor === 'person') return null
  const reason = explainWait(belief)
  if (reason !== null) return reason
  // A preference always belongs to a person, so an agent may only propose one, however it is worded.
  if (actor !== 'document' && belief.type === 'preference') return 'It would be a preference of the person.'
  const { isGeneralCommand, isInFirstPerson, isStandingInstruction, isStatementOfPerson } = await import(
    '../learn/rules.ts'
  )
  const { name, content, why } = belief
  const isInstruction = (text: string): boolean => isStandingInstruction(text) || isGeneralCommand(text)
  if ([name, content, why].some(isInstruction)) return 'It reads as a standing instruction.'
  if (isStatementOfPerson(content)) return 'It speaks for the person.'
  // A document may be in the first person: imported notes often are, and usually the person who imports them wrote them.
  if (actor !== 'document')
    return isInFirstPerson(content) ? 'It is in the first person, so it would read as the words of the person.' : null
  // An agent gets an error that asks for a different name. A document cannot react to an error, so its belief waits.
  const { genericNameReason } = await import('./aliases.ts')
  return genericNameReason(name) === null ? null : 'Its name occurs in conversations about anything.'
}

/**
 * Only a person may create a belief with a person's authority, or one that is pinned, universal or a standing instruction. This
 * is checked before every commit, even if the use case has already checked it.
 */
export function requireAuthority({ actor, origin }: Author, changes: readonly BeliefChange[]): void {
  if (actor === 'person') return
  for (const { expectedVersion, after } of changes) {
    if (expectedVersion > 0 || after === null || !isCurrent(after)) continue
    const reason = authorityOf(after) === 'person' ? 'It would count as a statement of the person.' : explainWait(after)
    if (reason !== null)
      throw forbidden(`The ${actor} ${origin} may not store "${after.name}". ${reason}`, 'Propose it to a person.')
  }
}

/** Max proposals that may wait for one belief. */
export const maxForBelief = 5
/** Max proposals per hour by one agent, tool or model; also the max items for review per hour from a person's messages. */
const maxInHour = 20
/** Max proposals per hour by all agents, tools and models together, because an agent can easily change its name. */
const maxTogether = 30
const hourMs = 3_600_000
/** Max beliefs from documents that may wait for review at a time. */
const maxFromDocuments = 20

/** Throws if too many proposals wait, so that a flood of proposals cannot hide one from the person. */
export async function requireRoom(
  { store, now }: Ports,
  { user, provenance: { actor, origin } }: Belief,
  waiting: readonly Belief[],
): Promise<void> {
  // If a person proposes, only proposals by people are counted, so that agents cannot use up the limit.
  const counted = actor === 'person' ? waiting.filter(({ provenance }) => provenance.actor === actor) : waiting
  if (counted.length >= maxForBelief)
    throw conflict(`${waiting.length} proposals wait for this belief already.`, decideFirst)
  if (actor === 'person') return
  if (actor === 'document') return requireRoomForDocuments({ store }, user, 1)
  const since = new Date(now().getTime() - hourMs).toISOString()
  let own = 0
  let together = 0
  for await (const event of eventsSince(store, user, since)) {
    if (event.kind !== 'propose' || event.actor === 'document') continue
    own += event.actor === actor && event.origin === origin ? 1 : 0
    together += 1
    if (own >= maxInHour || together >= maxTogether) {
      const who = own >= maxInHour ? `The ${actor} ${origin}` : 'Agents'
      const limit = own >= maxInHour ? maxInHour : maxTogether
      throw conflict(`${who} made ${limit} proposals within an hour; more are refused.`, decideFirst)
    }
  }
}

/** Max beliefs that one agent or tool may store in an hour, and max beliefs that all of them may store together. */
const maxBeliefsInHour = { ofOne: 200, together: 500 }

/** Throws if an agent stores too many beliefs, so that it can neither fill the disk nor bury the person's beliefs. */
export async function requireRoomForBeliefs(
  { store, now }: Pick<Ports, 'store' | 'now'>,
  { user, actor, origin }: Author & { readonly user: string },
  { kind, changes }: { readonly kind: EventKind; readonly changes: readonly BeliefChange[] },
): Promise<void> {
  if (!isLimited(actor) || !addingKinds.has(kind)) return
  const since = new Date(now().getTime() - hourMs).toISOString()
  let together = changes.filter(({ expectedVersion }) => expectedVersion === 0).length
  let own = together
  for await (const event of eventsSince(store, user, since)) {
    if (!isLimited(event.actor) || !addingKinds.has(event.kind)) continue
    // A correction counts as one, because its `beliefCount` includes the belief that it replaces.
    const count = event.kind === 'import' ? event.beliefCount : 1
    own += event.actor === actor && event.origin === origin ? count : 0
    together += count
  }
  const { ofOne, together: ofAll } = maxBeliefsInHour
  if (own <= ofOne && together <= ofAll) return
  const who = own > ofOne ? `The ${actor} ${origin} may store ${ofOne}` : `All agents and tools may store ${ofAll}`
  throw conflict(
    `${who} beliefs in an hour; more are refused.`,
    'Try again later, or let a person import them from a file with `credence import`.',
  )
}

const isLimited = (actor: Author['actor']): boolean => actor === 'agent' || actor === 'tool'
const addingKinds: ReadonlySet<EventKind> = new Set(['remember', 'correct', 'import'])

/** The events after a time, newest first. */
async function* eventsSince(store: Ports['store'], user: string, since: string): AsyncGenerator<JournalEntry> {
  for (let before: number | undefined; ; ) {
    const events = await store.events(user, { limit: 100, ...(before === undefined ? {} : { before }) })
    const recent = events.filter(({ at }) => at > since)
    yield* recent
    before = events.at(-1)?.number
    if (before === undefined || recent.length < events.length) return
  }
}

/** Throws if more beliefs from documents would wait than a person can review. */
export async function requireRoomForDocuments(ports: Pick<Ports, 'store'>, user: string, added: number): Promise<void> {
  const room = await roomForDocuments(ports, user)
  if (added === 0 || added <= room) return
  throw conflict(
    `The document would add ${added} beliefs for review, and ${maxFromDocuments - room} already wait; at most ${maxFromDocuments} may wait.`,
    'First accept or reject those with `credence review`, or vouch for your own file with `credence import --trusted`.',
  )
}

/** How many more beliefs from documents may wait for review. */
export async function roomForDocuments({ store }: Pick<Ports, 'store'>, user: string): Promise<number> {
  const page = { limit: Number.MAX_SAFE_INTEGER, offset: 0 }
  const lists = [await store.list({ user, candidates: true }, page), await store.list({ user, proposals: true }, page)]
  const waiting = lists.flatMap(({ items }) => items).filter(({ provenance }) => provenance.actor === 'document')
  return maxFromDocuments - waiting.length
}

/** Whether messages may add `planned` items for review, given the number that they added in the last hour. */
export async function hasRoomForMessages(
  { store }: Pick<Ports, 'store'>,
  { user, at, planned }: { readonly user: string; readonly at: string; readonly planned: number },
): Promise<boolean> {
  const since = new Date(Date.parse(at) - hourMs).toISOString()
  const page = { limit: Number.MAX_SAFE_INTEGER, offset: 0 }
  const lists = [await store.list({ user, candidates: true }, page), await store.list({ user, proposals: true }, page)]
  const recent = lists
    .flatMap(({ items }) => items)
    .filter(({ provenance: { actor }, createdAt }) => (actor === 'person' || actor === 'model') && createdAt > since)
  return recent.length + planned < maxInHour
}

const decideFirst = 'A person decides on them first: `credence review`.'
