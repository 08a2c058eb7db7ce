import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { unavailable } from '../../errors.ts'
import { writeAtomically } from '../../files/atomic-write.ts'
import { prepareOwnPath } from '../../files/own-files.ts'
import type { TextKeys } from './fingerprints.ts'

/** The memory directory of one of a person's devices. */
export type SyncDevice = {
  /** A random id. It changes after the memory was restored or copied. */
  readonly device: string
  /** The device's name for people: the name of the machine. */
  readonly name: string
  /** The group of devices that exchange events. Null before the first sync. */
  readonly group: string | null
  readonly keys: TextKeys
  /** Scopes that are neither sent nor accepted. */
  readonly excluded: readonly string[]
  /** The other devices, by their id. */
  readonly others: Readonly<Record<string, { readonly name: string; readonly lastSeenAt: string }>>
  /** The addresses that a person has confirmed. */
  readonly targets: Readonly<Record<string, SyncTarget>>
}

export type SyncTarget = {
  readonly lastSyncAt: string
  /** The number of the newest event in the journal at the time of that sync. */
  readonly head: number
  /** The secret: the identity (private key, as in the `age` format) of a synced folder, or the token of a server. */
  readonly secret?: string
}

/** The file that stores the state of the device. */
export type DeviceFile = { read(): Promise<SyncDevice>; write(device: SyncDevice): Promise<void> }

export const newDeviceId = (): string => `d-${randomBytes(8).toString('hex')}`

export function newDevice(name: string): SyncDevice {
  const device = newDeviceId()
  const keys = { own: device, all: { [device]: randomBytes(32).toString('hex') } }
  return { device, name, group: null, keys, excluded: [], others: {}, targets: {} }
}

/** Each user of the memory directory has a file, because the devices of each user form a separate group. */
export const syncFile = (dir: string, user: string): string =>
  join(dir, 'state', 'sync', `${encodeURIComponent(user)}.json`)

/** Opens the file with the state of a device in its memory directory. It is outside the store, so that backups of the store do not contain the keys. */
export function openDeviceFile(dir: string, user: string, name = hostname()): DeviceFile {
  const file = syncFile(dir, user)
  const write = async (device: SyncDevice): Promise<void> => {
    await writeAtomically(prepareOwnPath(dir, file), `${JSON.stringify(device, null, 2)}\n`, { existing: 'replace' })
  }
  return {
    read: async () => {
      if (!existsSync(file)) {
        const made = newDevice(name)
        // If two processes create the file, only one succeeds.
        await writeAtomically(prepareOwnPath(dir, file), `${JSON.stringify(made, null, 2)}\n`, { existing: 'keep' })
      }
      return parseDevice(readFileSync(file, 'utf8'), file)
    },
    write,
  }
}

function parseDevice(text: string, file: string): SyncDevice {
  try {
    const found = JSON.parse(text) as SyncDevice
    if (typeof found.device === 'string' && typeof found.keys.all[found.keys.own] === 'string') return found
  } catch {
    // Reported below.
  }
  throw unavailable(
    `${file} is damaged.`,
    'Restore it from a backup, or remove it: the next sync then treats this memory as a new device.',
  )
}
