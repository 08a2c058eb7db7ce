import { hash } from 'node:crypto'
import { type Belief, isCurrent } from '../../beliefs/belief.ts'
import { compareStrings, hasName, isSameStatement, numberedName, unnumberedName } from '../../beliefs/identity.ts'
import type { BeliefChange, Commit, EventStamp, Seen } from '../../beliefs/journal.ts'
import { withAncestors } from '../../beliefs/scope.ts'
import type { BeliefHead, SyncEvent, SyncStore } from '../../beliefs/sync-store.ts'
import type { NewTurn } from '../../beliefs/turn.ts'
import type { Store } from '../ports.ts'
import { fingerprintStatement, fingerprintTurn, type TextKeys } from './fingerprints.ts'

/** The author of events that settle conflicts. */
export const settler = { actor: 'tool', origin: 'sync' } as const

export type MergePorts = {
  readonly store: Pick<Store, 'holders' | 'knownTurns' | 'supersededBy' | 'proposalsFor'>
  readonly sync: SyncStore
  readonly keys: TextKeys
}

export type MergeRequest = {
  readonly user: string
  /** The device that merges. */
  readonly device: string
  /** The events that the device had seen before `events`. */
  readonly seen: Seen
  /** Scopes that the device does not accept. */
  readonly excluded: readonly string[]
  /** Fingerprints of forgotten texts that are not stored yet, with the stamp of the forgetting event. */
  readonly forgotten: ReadonlyMap<string, EventStamp>
  /** Events in an order that keeps the order of each device. */
  readonly events: readonly SyncEvent[]
}

/** Whether the device that made an event had seen another event. */
export const hasSeen = ({ device, number, seen }: EventStamp, other: EventStamp): boolean =>
  device === other.device ? number >= other.number : (seen[other.device] ?? 0) >= other.number

/** Whether `a` comes after `b` in the total order of events: by logical time, then by device and number. */
const isLater = (a: EventStamp, b: EventStamp): boolean =>
  (a.time - b.time || compareStrings(a.device, b.device) || a.number - b.number) > 0

export const isExcluded = (scope: string, excluded: readonly string[]): boolean =>
  withAncestors(scope).some((ancestor) => excluded.includes(ancestor))

/** The event without the texts of some scopes. */
export const leaveOut = (event: SyncEvent, excluded: readonly string[]): SyncEvent =>
  excluded.length === 0
    ? event
    : {
        ...event,
        changes: event.changes.filter(
          ({ after }) => after === null || !after.scopes.some((scope) => isExcluded(scope, excluded)),
        ),
        turns: event.turns.filter(({ scope }) => !isExcluded(scope, excluded)),
      }

/** Returns the commits that store the events of other devices, in order, and those that settle conflicts. Changes nothing. */
export async function planMerge(given: MergePorts, request: MergeRequest): Promise<readonly Commit[]> {
  const { user, events, excluded, forgotten } = request
  // Most people have forgotten nothing. Then the keys are left out, so that no fingerprints are computed.
  const mayBeForgotten = forgotten.size > 0 || (await given.sync.hasForgottenTexts(user))
  const ports = mayBeForgotten ? given : { ...given, keys: { own: '', all: {} } }
  const merge = await openMerge(ports, request)
  const wanted = events.map((event) => leaveOut(event, excluded))
  const turns = await newTurns(ports, request, wanted)
  for (const [index, event] of wanted.entries()) await merge.add(event, turns[index] ?? [])
  return merge.commits
}

/** The turns of each event that are neither known nor forgotten. */
async function newTurns(
  { store, sync, keys }: MergePorts,
  { user, forgotten: pending }: MergeRequest,
  events: readonly SyncEvent[],
): Promise<readonly (readonly NewTurn[])[]> {
  const all = events.flatMap(({ turns, stamp }) => turns.map((turn) => ({ turn: { ...turn, user }, stamp })))
  if (all.length === 0) return []
  const ids = await sync.turnIds(
    user,
    all.map(({ turn }) => turn.id),
  )
  const candidates = all.map(({ turn }) => fingerprintTurn(keys, turn))
  const forgotten = new Map([...pending, ...(await sync.forgottenTexts(user, candidates.flat()))])
  const wanted = all.filter(
    ({ turn, stamp }, index) => !ids.has(turn.id) && !isForgotten(forgotten, candidates[index] ?? [], stamp),
  )
  const known = await store.knownTurns(
    user,
    wanted.map(({ turn }) => turn),
  )
  const taken = new Set<string>()
  const messages = new Set<string>()
  for (const [index, { turn }] of wanted.entries()) {
    const { messageId } = turn
    if ((known[index] ?? null) !== null || (messageId !== null && messages.has(messageId))) continue
    if (messageId !== null) messages.add(messageId)
    taken.add(turn.id)
  }
  return events.map(({ turns }) => turns.filter(({ id }) => taken.delete(id)).map((turn) => ({ ...turn, user })))
}

/** Whether an event forgot a text that was stored by a device that had not seen that event. */
const isForgotten = (
  forgotten: ReadonlyMap<string, EventStamp | null>,
  fingerprints: readonly string[],
  stamp: EventStamp,
): boolean =>
  fingerprints.some((fingerprint) => {
    const by = forgotten.get(fingerprint)
    return by === null || (by !== undefined && !hasSeen(stamp, by))
  })

/** The fields in which a person can see a difference, as text for comparison. */
const visibleFields = (belief: Belief): string => {
  const {
    version: _v,
    updatedAt: _u,
    reinforcement: _r,
    confidence: _c,
    provenance: _p,
    user: _user,
    ...fields
  } = belief
  return JSON.stringify({ ...fields, resolvedAt: fields.resolvedAt !== null, editedByPerson: false, createdAt: '' })
}

const isSameForPerson = (a: Belief | null, b: Belief | null): boolean =>
  a === null || b === null ? a === b : visibleFields(a) === visibleFields(b)

/** Whether two beliefs with the same name make the same statement. */
const isDuplicate = (a: Belief, b: Belief): boolean =>
  isSameStatement(a.content, b.content) &&
  a.pinned === b.pinned &&
  a.type === b.type &&
  JSON.stringify(a.scopes) === JSON.stringify(b.scopes)

const isCreatedBefore = (a: Belief, b: Belief): boolean =>
  (compareStrings(a.createdAt, b.createdAt) || compareStrings(a.id, b.id)) < 0

const supersede = (belief: Belief, { id }: Belief): Belief => ({ ...belief, status: 'superseded', supersededBy: id })

/** Derives an id that is the same on every device. */
const derivedId = (...parts: readonly (string | number)[]): string =>
  `b-${hash('sha256', JSON.stringify(parts)).slice(0, 16)}`

/** A notice that a change was lost because its belief was forgotten. It omits the text, and is the same on every device. */
export const noticeOf = (user: string, id: string, at: string): Belief => ({
  id: derivedId('forgotten', id),
  user,
  agent: null,
  type: 'open_question',
  subtype: null,
  name: `forgotten belief ${id}`,
  content: 'A belief was changed on one device and forgotten on another. The change is gone too.',
  aliases: [],
  why: '',
  scopes: ['user:universal'],
  status: 'exploratory',
  confidence: 1,
  pinned: false,
  editedByPerson: false,
  supersededBy: null,
  proposedFor: null,
  candidate: true,
  resolvedAt: null,
  resolvedBy: null,
  participants: [],
  relation: null,
  expertise: null,
  provenance: { ...settler, sourceId: null, model: null, at },
  reinforcement: { count: 1, at },
  createdAt: at,
  updatedAt: at,
  version: 1,
})

async function openMerge({ store, sync, keys }: MergePorts, request: MergeRequest) {
  const { user, device, seen: seenBefore, events } = request
  const commits: Commit[] = []
  const seen: Record<string, number> = { ...seenBefore }
  const touched = events.flatMap(({ changes }) =>
    changes.flatMap(({ beliefId, after }) => [beliefId, ...(after?.proposedFor ? [after.proposedFor] : [])]),
  )
  const heads = new Map(await sync.heads(user, [...new Set(touched)]))
  const statements = events.flatMap(({ changes }) => changes.flatMap(({ after }) => after?.content ?? []))
  const candidates = statements.flatMap((content) => fingerprintStatement(keys, content))
  const forgotten = new Map([...request.forgotten, ...(await sync.forgottenTexts(user, candidates))])

  async function headOf(id: string): Promise<BeliefHead | undefined> {
    if (!heads.has(id)) for (const [found, head] of await sync.heads(user, [id])) heads.set(found, head)
    return heads.get(id)
  }

  /** The change that gives a belief a new state, at the next version. */
  function changeTo(id: string, after: Belief | null, outcome: BeliefChange['outcome']): BeliefChange {
    const version = heads.get(id)?.version ?? 0
    return {
      beliefId: id,
      expectedVersion: version,
      outcome,
      after: after === null ? null : { ...after, user, version: version + 1 },
    }
  }

  function commit(made: Omit<Commit, 'user' | 'stamp'> & { readonly stamp: NonNullable<Commit['stamp']> }): void {
    const { stamp, changes } = made
    commits.push({ user, ...made })
    for (const { beliefId, expectedVersion, outcome, after } of changes)
      heads.set(beliefId, {
        version: after?.version ?? expectedVersion + 1,
        outcome,
        belief: after,
        // An event of this device gets its number in the commit. Until then it has the highest, so that no event counts as having seen it.
        stamp: { ...stamp, number: stamp.number ?? Number.MAX_SAFE_INTEGER, hash: stamp.hash ?? '' },
        isSettling: stamp.number === null,
      })
  }

  /** Adds an event of this device that settles a conflict, after the conflicting changes. A belief given as an id is withdrawn. */
  async function settle({ at, stamp: settled }: SyncEvent, changed: readonly (Belief | string)[]): Promise<void> {
    let { time } = settled
    const changes: BeliefChange[] = []
    for (const belief of changed) {
      const id = typeof belief === 'string' ? belief : belief.id
      time = Math.max(time, (await headOf(id))?.stamp.time ?? 0)
      changes.push(typeof belief === 'string' ? changeTo(id, null, 'absent') : changeTo(id, belief, 'present'))
    }
    const stamp = { device, number: null, hash: null, time: time + 1, seen: { ...seen } }
    commit({ kind: 'review', ...settler, at, key: null, undoes: null, changes, stamp })
  }

  /** Current beliefs other than `belief` that have its name in one of its scopes. */
  async function holdersOf(belief: Belief): Promise<readonly Belief[]> {
    const stored = (await store.holders(user, belief.name, belief.scopes)).filter(({ id }) => !heads.has(id))
    const changed = [...heads.values()].flatMap(({ belief: one }) =>
      one !== null && isCurrent(one) && hasName(one, belief.name, belief.scopes) ? [one] : [],
    )
    return [...stored, ...changed].filter(({ id }) => id !== belief.id)
  }

  /** The belief with a number after its name: the first name that is free and that none of the `wanted` beliefs has. */
  async function renumber(belief: Belief, wanted: readonly Belief[] = []): Promise<Belief> {
    const said = unnumberedName(belief.name)
    for (let number = 2; ; number += 1) {
      const named = { ...belief, name: numberedName(said, number) }
      if (wanted.some((one) => hasName(one, named.name, named.scopes))) continue
      if ((await holdersOf(named)).length === 0) return named
    }
  }

  /** A proposal with the text that lost, so that a person sees both texts. Null if this proposal already exists. */
  async function proposalOf(id: string, loser: Belief, by: EventStamp): Promise<Belief | null> {
    if (loser.supersededBy !== null) {
      const successor = (await headOf(loser.supersededBy))?.belief ?? null
      return successor !== null && isCurrent(successor) ? { ...successor, proposedFor: id } : null
    }
    if (!isCurrent(loser)) return null
    const proposal = derivedId('conflict', id, by.device, by.number)
    if ((await headOf(proposal)) !== undefined) return null
    const provenance = { ...loser.provenance, sourceId: `sync:${by.device}:${by.number}` }
    return { ...loser, id: proposal, proposedFor: id, pinned: false, provenance }
  }

  async function add(event: SyncEvent, turns: readonly NewTurn[]): Promise<void> {
    const { stamp, kind, actor, origin, at, fingerprints } = event
    const isSettling = actor === settler.actor && origin === settler.origin
    const changes: BeliefChange[] = []
    /** The steps that settle the event afterwards. They are functions, because each reads the state that the earlier ones left. */
    const afterwards: (() => Promise<void>)[] = []
    for (const { beliefId, outcome, after } of event.changes) {
      const head = await headOf(beliefId)
      const isConflict = head !== undefined && !hasSeen(stamp, head.stamp) && !hasSeen(head.stamp, stamp)
      const notify = async (): Promise<void> => {
        const notice = noticeOf(user, beliefId, at)
        if ((await headOf(notice.id)) === undefined) await settle(event, [notice])
      }
      if (head?.outcome === 'erased') {
        if (outcome === 'present' && !isSettling && isConflict && isCurrent(after as Belief)) afterwards.push(notify)
        continue
      }
      if (outcome === 'erased') {
        changes.push(changeTo(beliefId, null, 'erased'))
        if (isConflict && head.belief !== null && !head.isSettling && isCurrent(head.belief)) afterwards.push(notify)
        continue
      }
      if (after !== null) {
        const target = after.proposedFor === null ? undefined : await headOf(after.proposedFor)
        const isOfForgotten = target?.outcome === 'erased' && !hasSeen(stamp, target.stamp)
        if (isOfForgotten || isForgotten(forgotten, fingerprintStatement(keys, after.content), stamp)) continue
      }
      if (head === undefined) {
        if (after !== null) changes.push(changeTo(beliefId, after, 'present'))
        continue
      }
      const wins = isLater(stamp, head.stamp)
      const differs = isConflict && !isSameForPerson(after, head.belief)
      if (wins) {
        if (after !== null || head.outcome === 'present') changes.push(changeTo(beliefId, after, outcome))
      } else if (differs && after !== null && (!isCurrent(after) || (await holdersOf(after)).length === 0)) {
        // The losing state is recorded in the history; then the belief returns to its previous state.
        changes.push(changeTo(beliefId, after, 'present'))
        const { belief } = head
        afterwards.push(() => settle(event, [belief ?? beliefId]))
      }
      const loser = wins ? head.belief : after
      const isMade = wins ? head.isSettling : isSettling
      if (differs && loser !== null && !isMade)
        afterwards.push(async () => {
          const proposal = await proposalOf(beliefId, { ...loser, user }, wins ? head.stamp : stamp)
          if (proposal !== null) await settle(event, [proposal])
        })
    }
    const later = await makeRoom(changes, event)
    const key = { value: `sync:${stamp.device}:${stamp.number}`, fingerprint: '' }
    const undone = event.undoes === null ? null : await sync.findEvent(user, event.undoes)
    const undoes = undone === null || undone.isUndone ? null : undone.number
    commit({ kind, actor, origin, at, key, undoes, changes, turns, fingerprints, stamp })
    seen[stamp.device] = Math.max(seen[stamp.device] ?? 0, stamp.number)
    for (const step of afterwards) await step()
    for (const giveBack of later) await giveBack()
    for (const { beliefId } of changes) await restoreReplaced(beliefId, event)
  }

  /**
   * Frees the names that the changes need. Returns the steps that settle each clash of names after the event: the newer belief
   * keeps the name; if both make the same statement, the older one supersedes the newer.
   */
  async function makeRoom(
    changes: readonly BeliefChange[],
    event: SyncEvent,
  ): Promise<readonly (() => Promise<void>)[]> {
    const own = new Set(changes.map(({ beliefId }) => beliefId))
    const wanted = changes.flatMap(({ after }) => (after !== null && isCurrent(after) ? [after] : []))
    const later: (() => Promise<void>)[] = []
    for (const arriving of wanted)
      for (const holder of await holdersOf(arriving)) {
        if (own.has(holder.id)) continue
        const isSame = isDuplicate(arriving, holder)
        if (isSame === isCreatedBefore(arriving, holder)) {
          await settle(event, [isSame ? supersede(holder, arriving) : await renumber(holder, wanted)])
          continue
        }
        await settle(event, [{ ...holder, name: `${unnumberedName(holder.name)} (${holder.id})` }])
        later.push(async () => {
          const now = heads.get(arriving.id)?.belief ?? null
          if (now === null || !isCurrent(now)) return settle(event, [holder])
          await settle(event, [isSame ? supersede(now, holder) : await renumber(now), holder])
        })
      }
    return later
  }

  /** Makes a belief current again if its successor was withdrawn on another device. */
  async function restoreReplaced(id: string, event: SyncEvent): Promise<void> {
    const changed = heads.get(id)
    const waiting =
      changed?.outcome === 'absent'
        ? [...(await store.supersededBy(user, id)).map(({ id: replaced }) => replaced), ...replacedIn(id)]
        : changed?.belief?.supersededBy
          ? [id]
          : []
    for (const replaced of new Set(waiting)) {
      const belief = (await headOf(replaced))?.belief ?? null
      if (belief?.supersededBy == null || (await headOf(belief.supersededBy))?.outcome !== 'absent') continue
      const restored = { ...belief, status: 'active', supersededBy: null } as const
      await settle(event, [(await holdersOf(restored)).length === 0 ? restored : await renumber(restored)])
    }
  }

  const replacedIn = (id: string): readonly string[] =>
    [...heads].flatMap(([replaced, { belief }]) => (belief?.supersededBy === id ? [replaced] : []))

  return { add, commits }
}
