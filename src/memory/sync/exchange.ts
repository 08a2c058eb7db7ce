import { randomBytes } from 'node:crypto'
import type { Belief } from '../../beliefs/belief.ts'
import { isCurrent } from '../../beliefs/belief.ts'
import type { BeliefChange, EventStamp, Seen } from '../../beliefs/journal.ts'
import type { KnownEvents, SyncEvent, SyncStore } from '../../beliefs/sync-store.ts'
import { conflict, forbidden, invalid, unavailable } from '../../errors.ts'
import { omitUndefined } from '../../omit-undefined.ts'
import { commitThrough, createChange, eraseChange } from '../change/transaction.ts'
import type { Ports } from '../ports.ts'
import { type DeviceFile, newDeviceId, type SyncDevice } from './device.ts'
import { fingerprintStatement, fingerprintTurn } from './fingerprints.ts'
import { hasSeen, leaveOut, noticeOf, planMerge } from './merge.ts'

/** The format of messages and files. Devices with an older format refuse newer ones. */
export const syncFormat = 1

/** The first message between two devices. */
export type Hello = Pick<SyncDevice, 'device' | 'name' | 'group'> & {
  readonly format: number
  readonly known: KnownEvents
  readonly keys: SyncDevice['keys']['all']
}

export type SyncMessage =
  | { readonly type: 'hello'; readonly hello: Hello }
  | { readonly type: 'pull'; readonly group: string; readonly seen: Seen; readonly forgetting: boolean }
  | {
      readonly type: 'push'
      readonly group: string
      readonly events: readonly SyncEvent[]
      readonly forgetting: boolean
    }

export type SyncReply =
  | { readonly type: 'hello'; readonly hello: Hello; readonly waiting: number }
  | { readonly type: 'events'; readonly events: readonly SyncEvent[] }
  | { readonly type: 'taken' }

/** Sends a message to another device. */
export type SendMessage = (message: SyncMessage) => Promise<SyncReply>

export type SyncContext = {
  readonly ports: Ports & { readonly sync: () => Promise<SyncStore> }
  readonly user: string
  readonly file: DeviceFile
}

export type SyncReport = {
  readonly received: number
  readonly sent: number
  /** Files of a folder that are incomplete or depend on missing files. A later sync reads them. */
  readonly skipped: readonly string[]
}

export async function openSyncContext(ports: Ports, user: string): Promise<SyncContext> {
  const { sync, syncDevice } = ports
  if (sync !== undefined && syncDevice !== undefined)
    return { ports: { ...ports, sync }, user, file: await syncDevice(user) }
  throw invalid('A memory on PostgreSQL is not synced.', 'Use the same `--store` on every machine.')
}

const newestEvent = async ({ ports, user }: SyncContext): Promise<number> =>
  (await ports.store.events(user, { limit: 1, hearing: true }))[0]?.number ?? 0

/** Records that a target was synced with, and its secret, so that the person is not asked for them again. */
export async function noteSync(context: SyncContext, target: string, secret: string | undefined): Promise<void> {
  const device = await context.file.read()
  const lastSyncAt = context.ports.now().toISOString()
  const noted = { lastSyncAt, head: await newestEvent(context), ...omitUndefined({ secret }) }
  await context.file.write({ ...device, targets: { ...device.targets, [target]: noted } })
}

/** The devices, and when each was last seen. For each target, the number of events since the last sync with it. */
export async function syncStatus(context: SyncContext) {
  const { device, name, excluded, others, targets } = await context.file.read()
  const head = await newestEvent(context)
  return {
    device,
    name,
    excluded,
    others: Object.values(others),
    targets: Object.entries(targets).map(([address, { lastSyncAt, head: then }]) => {
      return { address, lastSyncAt, waiting: Math.max(0, head - then) }
    }),
  }
}

const pageEvents = 500
const pageCharacters = 2_000_000

export const seenIn = (known: KnownEvents): Seen =>
  Object.fromEntries(Object.entries(known).map(([device, { number }]) => [device, number]))

/** As many events as fit in one message, but at least one. */
export function pageOf(events: readonly SyncEvent[]): readonly SyncEvent[] {
  let size = 0
  const end = events.findIndex((event) => {
    size += JSON.stringify(event).length
    return size > pageCharacters
  })
  return end === -1 ? events : events.slice(0, Math.max(1, end))
}

export async function helloOf({ ports, user }: SyncContext, device: SyncDevice): Promise<Hello> {
  const { device: id, name, group, keys } = device
  return { format: syncFormat, device: id, name, group, keys: keys.all, known: await (await ports.sync()).known(user) }
}

/**
 * Takes over the group and keys of the other side, and stamps the events of this device. If the other side has the id of
 * this device, or knows events of it that its journal lacks, the device was restored or copied, and gets a new id.
 */
export async function meetDevice(context: SyncContext, hello: Hello): Promise<SyncDevice> {
  const { ports, user, file } = context
  const before = await file.read()
  requireSameFormat(hello.format)
  if (before.group !== null && hello.group !== null && before.group !== hello.group)
    throw forbidden(
      `"${hello.name.slice(0, 80)}" belongs to another group of devices, or to another person.`,
      'Nothing was exchanged. A memory has one group; to join another one, remove its file in state/sync.',
    )
  const sync = await ports.sync()
  const mine = hello.known[before.device]
  const isCopy =
    hello.device === before.device || (mine !== undefined && !(await sync.hasEvent(mine.number, mine.hash)))
  const device: SyncDevice = {
    ...before,
    device: isCopy ? newDeviceId() : before.device,
    group: before.group ?? hello.group ?? randomBytes(16).toString('hex'),
    keys: { own: before.keys.own, all: { ...hello.keys, ...before.keys.all } },
    others: { ...before.others, [hello.device]: { name: hello.name, lastSeenAt: ports.now().toISOString() } },
  }
  await file.write(device)
  await sync.stampEvents(user, device.device)
  return device
}

export function requireSameFormat(format: number): void {
  if (format === syncFormat) return
  const [older, newer] = format < syncFormat ? ['The other device', 'this one'] : ['This device', 'the other one']
  throw conflict(
    `${older} has an older version of Credence than ${newer} (sync format ${Math.min(format, syncFormat)}, not ${Math.max(format, syncFormat)}).`,
    'Nothing was exchanged. Update it with `npm install -g credence`, and sync again.',
  )
}

/**
 * The events that another device lacks. A device that excludes scopes has complete copies of its own events only, so it
 * sends only those.
 */
export async function readEventsFor(
  { ports, user }: SyncContext,
  { device, excluded }: SyncDevice,
  seen: Seen,
  forgetting: boolean,
): Promise<readonly SyncEvent[]> {
  const only = excluded.length === 0 ? {} : { device }
  const events = await (await ports.sync()).eventsAfter(user, seen, { limit: pageEvents, forgetting, ...only })
  return pageOf(events.map((event) => leaveOut(event, excluded)))
}

/** The forgetting events that another device lacks, page by page. */
export async function* readForgetting(
  context: SyncContext,
  device: SyncDevice,
  seen: Seen,
): AsyncGenerator<readonly SyncEvent[]> {
  for (let known = seen; ; ) {
    const events = await readEventsFor(context, device, known, true)
    if (events.length === 0) return
    yield events
    known = withEvents(known, events)
  }
}

/** Answers a message from another device. Any message may be sent again. */
export async function answerMessage(context: SyncContext, message: SyncMessage): Promise<SyncReply> {
  if (message.type === 'hello') {
    const device = await meetDevice(context, message.hello)
    const waiting = await (await context.ports.sync()).countAfter(context.user, seenIn(message.hello.known))
    return { type: 'hello', hello: await helloOf(context, device), waiting }
  }
  const device = await context.file.read()
  if (message.group !== device.group)
    throw forbidden('The message is from another group of devices.', 'Begin the sync again.')
  if (message.type === 'pull')
    return { type: 'events', events: await readEventsFor(context, device, message.seen, message.forgetting) }
  if (message.forgetting) await takeForgetting(context, device, message.events)
  else await takeEvents(context, device, message.events, [])
  return { type: 'taken' }
}

/** Exchanges events in both directions. */
export async function syncWith(
  context: SyncContext,
  send: SendMessage,
  onProgress: (label: string, done: number, total: number) => void = () => {},
): Promise<SyncReport> {
  const { ports, user } = context
  const sync = await ports.sync()
  const answer = await send({ type: 'hello', hello: await helloOf(context, await context.file.read()) })
  if (answer.type !== 'hello') throw badAnswer()
  const { hello: theirs, waiting } = answer
  const device = await meetDevice(context, theirs)
  if (device.group === null || theirs.group === null) throw badAnswer()
  const { group } = device
  const pull = async (seen: Seen, forgetting: boolean): Promise<readonly SyncEvent[]> => {
    const reply = await send({ type: 'pull', group, seen, forgetting })
    if (reply.type !== 'events') throw badAnswer()
    return reply.events
  }
  const known = seenIn(await sync.known(user))
  const forgetting: SyncEvent[] = []
  for (let page = await pull(known, true); page.length > 0; page = await pull(withEvents(known, forgetting), true))
    forgetting.push(...page)
  await takeForgetting(context, device, forgetting)
  let their = seenIn(theirs.known)
  for await (const events of readForgetting(context, device, their))
    await send({ type: 'push', group, events, forgetting: true })
  // Both sides work at once: one prepares the next page while the other stores a page.
  let received = 0
  let seen = seenIn(await sync.known(user))
  for (let events = await pull(seen, false); events.length > 0; ) {
    seen = withEvents(seen, events)
    const next = pull(seen, false)
    next.catch(() => {})
    await takeEvents(context, device, events, forgetting)
    their = withEvents(their, events)
    received += events.length
    onProgress('receiving', received, Math.max(received, waiting))
    events = await next
  }
  const total = await sync.countAfter(user, their)
  let sent = 0
  let sending: Promise<unknown> = Promise.resolve()
  for (;;) {
    const events = await readEventsFor(context, device, their, false)
    await sending
    if (events.length === 0) break
    sending = send({ type: 'push', group, events, forgetting: false })
    sending.catch(() => {})
    their = withEvents(their, events)
    sent += events.length
    onProgress('sending', sent, Math.max(sent, total))
  }
  return { received, sent, skipped: [] }
}

const badAnswer = () =>
  unavailable('The other side did not answer as a Credence device does.', 'Check the address, and its version.')

export function withEvents(seen: Seen, events: readonly SyncEvent[]): Seen {
  const more: Record<string, number> = { ...seen }
  for (const { stamp } of events) more[stamp.device] = Math.max(more[stamp.device] ?? 0, stamp.number)
  return more
}

const maxAttempts = 50

/** Stores events from other devices in one transaction. */
export async function takeEvents(
  { ports, user }: SyncContext,
  { device, excluded, keys }: SyncDevice,
  events: readonly SyncEvent[],
  forgetting: readonly SyncEvent[],
): Promise<void> {
  const { store } = ports
  const sync = await ports.sync()
  const forgotten = new Map<string, EventStamp>()
  for (const { fingerprints, stamp } of [...forgetting, ...events])
    for (const fingerprint of fingerprints) forgotten.set(fingerprint, stamp)
  for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
    const head = await sync.stampEvents(user, device)
    const seen = seenIn(await sync.known(user))
    const fresh = events.filter(({ stamp }) => stamp.number > (seen[stamp.device] ?? 0))
    if (fresh.length === 0) return
    const { [device]: _own, ...others } = seen
    const request = { user, device, seen: others, excluded, forgotten, events: fresh }
    const commits = await planMerge({ store, sync, keys }, request)
    if ((await sync.commitAll(user, commits, head)) === 'stale') continue
    const last = commits.at(-1)
    if (last !== undefined) await ports.afterCommit?.(last)
    return
  }
  throw conflict(
    `The memory of "${user}" kept changing during the sync.`,
    'Sync again when fewer programs write to it.',
  )
}

/** Erases texts that other devices forgot. Must run before any other events from these devices are stored. */
export async function takeForgetting(
  context: SyncContext,
  device: SyncDevice,
  events: readonly SyncEvent[],
): Promise<void> {
  if (events.length === 0) return
  const { ports, user } = context
  // Makes no new fingerprints: those of the forgetting device are stored with its event.
  const { store, syncDevice: _device, ...others } = ports
  const sync = await ports.sync()
  await sync.stampEvents(user, device.device)
  const matching = await findMatchingTexts(
    ports,
    user,
    device.keys,
    new Set(events.flatMap(({ fingerprints }) => fingerprints)),
  )
  const ids = events.flatMap(({ changes }) =>
    changes.flatMap(({ beliefId, outcome }) => (outcome === 'erased' ? [beliefId] : [])),
  )
  const beliefs = new Map<string, Belief>()
  const notices: Belief[] = []
  for (const id of new Set([...ids, ...matching.beliefIds])) {
    const head = (await sync.heads(user, [id])).get(id)
    if (head === undefined || head.outcome === 'erased') continue
    const by = events.find(({ changes }) => changes.some((change) => change.beliefId === id))
    beliefs.set(id, head.belief ?? ({ id, version: head.version } as Belief))
    for (const proposal of await store.proposalsFor(user, id)) beliefs.set(proposal.id, proposal)
    const isLost = by !== undefined && !hasSeen(by.stamp, head.stamp) && !head.isSettling
    if (!isLost || head.belief === null || !isCurrent(head.belief)) continue
    const notice = noticeOf(user, id, by.at)
    if (!(await sync.heads(user, [notice.id])).has(notice.id)) notices.push(notice)
  }
  const turns = new Set(matching.turnIds)
  for (const id of events.flatMap(({ forgottenTurns }) => forgottenTurns))
    if ((await store.getTurn(user, id)) !== null) turns.add(id)
  const [first] = events
  if (first === undefined || beliefs.size + turns.size === 0) return
  const changes: BeliefChange[] = [...[...beliefs.values()].map(eraseChange), ...notices.map(createChange)]
  const { actor, origin } = first
  const commit = {
    user,
    kind: 'forget',
    actor,
    origin,
    at: ports.now().toISOString(),
    key: null,
    undoes: null,
  } as const
  const result = await commitThrough({ ...others, store }, { ...commit, changes, forgottenTurns: [...turns] })
  if (result.outcome === 'stale') await takeForgetting(context, device, events)
}

/** Forgets every text that has one of the fingerprints, and stores the fingerprints. Used after a backup was restored, because it may contain texts that were forgotten later. */
export async function forgetAgain(
  ports: Pick<Ports, 'store' | 'now'>,
  user: string,
  keys: SyncDevice['keys'],
  fingerprints: readonly string[],
): Promise<void> {
  const { beliefIds, turnIds } = await findMatchingTexts(ports, user, keys, new Set(fingerprints))
  const changes: BeliefChange[] = []
  for (const id of beliefIds) {
    const belief = await ports.store.get(user, id)
    if (belief !== null) changes.push(eraseChange(belief))
  }
  const by = { user, kind: 'forget', actor: 'tool', origin: 'restore', key: null, undoes: null } as const
  const at = ports.now().toISOString()
  await ports.store.commit({ ...by, at, changes, forgottenTurns: turnIds, fingerprints })
}

/** The beliefs and turns whose texts have one of the fingerprints. If there are any fingerprints, reads the whole memory. */
async function findMatchingTexts(
  { store }: Pick<Ports, 'store'>,
  user: string,
  keys: SyncDevice['keys'],
  fingerprints: ReadonlySet<string>,
): Promise<{ readonly beliefIds: readonly string[]; readonly turnIds: readonly string[] }> {
  const beliefIds: string[] = []
  const turnIds: string[] = []
  if (fingerprints.size === 0) return { beliefIds, turnIds }
  const isForgotten = (candidates: readonly string[]): boolean => candidates.some((one) => fingerprints.has(one))
  for (let offset = 0; ; offset += pageEvents) {
    const { items } = await store.list({ user }, { limit: pageEvents, offset })
    for (const { id, content } of items) if (isForgotten(fingerprintStatement(keys, content))) beliefIds.push(id)
    if (items.length < pageEvents) break
  }
  for (let after: number | null = null; ; ) {
    const { turns, next }: Awaited<ReturnType<typeof store.exportTurns>> = await store.exportTurns(user, {
      after,
      limit: pageEvents,
    })
    for (const turn of turns) if (isForgotten(fingerprintTurn(keys, turn))) turnIds.push(turn.id)
    if (next === null) break
    after = next
  }
  return { beliefIds, turnIds }
}
