import { hash, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { Decrypter, Encrypter, generateX25519Identity, identityToRecipient } from 'age-encryption'
import type { Seen } from '../../beliefs/journal.ts'
import type { SyncEvent } from '../../beliefs/sync-store.ts'
import { forbidden, unavailable } from '../../errors.ts'
import { writeAtomically } from '../../files/atomic-write.ts'
import { codeOf, sweepLeftovers } from '../../files/leftovers.ts'
import { makeDirectory } from '../../files/make-directory.ts'
import type { SyncDevice } from './device.ts'
import {
  type Hello,
  helloOf,
  meetDevice,
  readEventsFor,
  readForgetting,
  requireSameFormat,
  type SyncContext,
  type SyncReport,
  seenIn,
  takeEvents,
  takeForgetting,
  withEvents,
} from './exchange.ts'

/** A file of the folder: a batch of events from one device. */
type Batch = {
  readonly hello: Hello
  /** The events that must be known before these. */
  readonly after: Seen
  readonly events: readonly SyncEvent[]
  /** Whether the batch only announces forgetting events; a later batch contains them again. */
  readonly isForgetting: boolean
}

const keyFile = 'key.age'
const ending = '.sync.age'
/** Max files of one device. A device with more replaces them with fewer. */
const maxOwnFiles = 50
/** 2^16 rounds of scrypt take about a second, once per device. */
const scryptWorkFactor = 16

const compress = promisify(gzip)
const decompress = promisify(gunzip)

/** Returns the identity (private key) of a folder: decrypts the key file with the passphrase, or creates a new one. */
export async function openFolderIdentity(folder: string, passphrase: string): Promise<string> {
  makeDirectory(folder, 0o777)
  const file = join(folder, keyFile)
  if (!existsSync(file)) {
    const identity = await generateX25519Identity()
    const encrypter = new Encrypter()
    encrypter.setScryptWorkFactor(scryptWorkFactor)
    encrypter.setPassphrase(passphrase)
    // If another device was first, its key becomes that of the folder.
    if (await writeAtomically(file, await encrypter.encrypt(identity), { existing: 'keep' })) return identity
  }
  const decrypter = new Decrypter()
  decrypter.addPassphrase(passphrase)
  try {
    return await decrypter.decrypt(await readFile(file), 'text')
  } catch (cause) {
    throw forbidden(
      'The passphrase does not open this folder.',
      'Type the one that was chosen on the first device.',
      cause,
    )
  }
}

/** Exchanges events through a folder that another program copies between devices. */
export async function syncFolder(
  context: SyncContext,
  folder: string,
  identity: string,
  onProgress: (label: string, done: number, total: number) => void = () => {},
): Promise<SyncReport> {
  await sweepLeftovers(folder)
  const { ports, user } = context
  const store = await ports.sync()
  const skipped: string[] = []
  const files = await readBatches(folder, identity, skipped)
  let device = await context.file.read()
  for (const { hello } of files.values()) requireSameFormat(hello.format)
  for (const { hello } of files.values()) if (hello.device !== device.device) device = await meetDevice(context, hello)
  device = await withGroup(context, device, identity)
  await store.stampEvents(user, device.device)

  const forgetting = [...files.values()].flatMap((batch) => (batch.isForgetting ? batch.events : []))
  const seen = seenIn(await store.known(user))
  const unknown = ({ stamp }: SyncEvent): boolean => stamp.number > (seen[stamp.device] ?? 0)
  await takeForgetting(context, device, forgetting.filter(unknown))

  let received = 0
  const waiting = new Map([...files].filter(([, { isForgetting }]) => !isForgetting))
  for (let isStuck = false; waiting.size > 0 && !isStuck; ) {
    isStuck = true
    for (const [name, { after, events }] of waiting) {
      const known = seenIn(await store.known(user))
      if (!isWithin(after, known, events)) continue
      const before = received
      received += events.filter(({ stamp }) => stamp.number > (known[stamp.device] ?? 0)).length
      if (received > before) await takeEvents(context, device, events, forgetting)
      waiting.delete(name)
      onProgress('receiving', received, received)
      isStuck = false
    }
  }
  skipped.push(...waiting.keys())

  const own = [...files].filter(([, { hello }]) => hello.device === device.device)
  const mustReplace =
    own.length > maxOwnFiles ||
    (await isForgottenIn(
      context,
      own.map(([, batch]) => batch),
    ))
  // A device that replaces its files writes all events that the files of other devices lack.
  const covered = eventsIn(
    mustReplace ? [...files.values()].filter(({ hello }) => hello.device !== device.device) : [...files.values()],
  )
  const announces = own.length === 0 || mustReplace
  const present = eventsIn([...files.values()])
  const sent = await writeBatches(context, device, { folder, identity, covered, present, announces, onProgress })
  // Removed last, so that a sync that is killed leaves too many files, never too few.
  if (mustReplace) for (const [name] of own) await rm(join(folder, name), { force: true })
  return { received, sent, skipped }
}

/** Gives the device a group if it has none. The group is derived from the folder's identity, so that all devices get the same one. */
async function withGroup({ file }: SyncContext, device: SyncDevice, identity: string): Promise<SyncDevice> {
  if (device.group !== null) return device
  const grouped = { ...device, group: hash('sha256', `group of ${identity}`).slice(0, 32) }
  await file.write(grouped)
  return grouped
}

/** The events in batches, except for batches that only announce forgetting. */
const eventsIn = (batches: readonly Batch[]): Seen =>
  batches.reduce<Seen>((sum, { events, isForgetting }) => (isForgetting ? sum : withEvents(sum, events)), {})

/** Whether the events that must precede a batch are known. Only devices with events in the batch count. */
const isWithin = (after: Seen, known: Seen, events: readonly SyncEvent[]): boolean =>
  [...new Set(events.map(({ stamp }) => stamp.device))].every((device) => (known[device] ?? 0) >= (after[device] ?? 0))

/** Whether files contain a text that this device has forgotten since. */
async function isForgottenIn({ ports, user }: SyncContext, batches: readonly Batch[]): Promise<boolean> {
  const sync = await ports.sync()
  const events = batches.flatMap((batch) => batch.events)
  const ids = events.flatMap(({ changes }) =>
    changes.flatMap(({ beliefId, after }) => (after === null ? [] : [beliefId])),
  )
  const heads = await sync.heads(user, [...new Set(ids)])
  if ([...heads.values()].some(({ outcome }) => outcome === 'erased')) return true
  for (const { id } of events.flatMap(({ turns }) => turns))
    if ((await ports.store.getTurn(user, id)) === null && (await sync.turnIds(user, [id])).size > 0) return true
  return false
}

async function writeBatches(
  context: SyncContext,
  device: SyncDevice,
  target: {
    readonly folder: string
    readonly identity: string
    readonly covered: Seen
    /** The events that the folder already contains. They do not count as sent. */
    readonly present: Seen
    /** Whether to write a file even without events, so that other devices learn the group and keys of this one. */
    readonly announces: boolean
    readonly onProgress: (label: string, done: number, total: number) => void
  },
): Promise<number> {
  const { folder, identity, onProgress } = target
  const hello = await helloOf(context, device)
  const write = async (batch: Batch): Promise<void> => {
    const encrypter = new Encrypter()
    encrypter.addRecipient(await identityToRecipient(identity))
    const bytes = await encrypter.encrypt(await compress(JSON.stringify(batch)))
    await writeAtomically(join(folder, `${randomBytes(8).toString('hex')}${ending}`), bytes, { existing: 'keep' })
  }
  for await (const events of readForgetting(context, device, target.covered))
    await write({ hello, after: {}, events, isForgetting: true })
  let { covered } = target
  let isEmpty = true
  let sent = 0
  for (;;) {
    const events = await readEventsFor(context, device, covered, false)
    if (events.length === 0) break
    await write({ hello, after: covered, events, isForgetting: false })
    covered = withEvents(covered, events)
    isEmpty = false
    sent += events.filter(({ stamp }) => stamp.number > (target.present[stamp.device] ?? 0)).length
    onProgress('writing', sent, sent)
  }
  if (isEmpty && target.announces) await write({ hello, after: {}, events: [], isForgetting: false })
  return sent
}

/** The files that can be read. Incomplete and foreign files are skipped. */
async function readBatches(folder: string, identity: string, skipped: string[]): Promise<ReadonlyMap<string, Batch>> {
  const batches = new Map<string, Batch>()
  for (const name of (await readdir(folder).catch(folderProblem)).sort()) {
    if (!name.endsWith(ending) || name.startsWith('.')) continue
    try {
      const decrypter = new Decrypter()
      decrypter.addIdentity(identity)
      const bytes = await decrypter.decrypt(await readFile(join(folder, name)), 'uint8array')
      batches.set(name, JSON.parse((await decompress(bytes)).toString('utf8')) as Batch)
    } catch (error) {
      if (codeOf(error) === 'EACCES') throw folderProblem(error)
      skipped.push(name)
    }
  }
  return batches
}

function folderProblem(cause: unknown): never {
  throw unavailable('The folder cannot be read.', 'Check that it exists and that you may read it.', cause)
}
