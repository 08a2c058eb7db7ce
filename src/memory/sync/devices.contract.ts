import { randomBytes } from 'node:crypto'
import { inMemory } from '../../store/sqlite/database.ts'
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts'
import { memoryFrom } from '../memory.ts'
import { type DeviceFile, newDevice, type SyncDevice } from './device.ts'
import { answerMessage, type SyncContext, syncWith } from './exchange.ts'

/** A device of a person, in process memory or in a file, with a separate clock. */
export function openTestDevice(
  name: string,
  options: { readonly clockMs?: () => number; readonly file?: string } = {},
) {
  const { clockMs = Date.now, file: storeFile = inMemory } = options
  const store = openSqliteStore({ file: storeFile, random: randomBytes })
  let state: SyncDevice = newDevice(name)
  const file: DeviceFile = {
    read: async () => state,
    write: async (written) => {
      state = written
    },
  }
  let ids = 0
  const newId = (): string => {
    ids += 1
    return `b-${name}-${ids}`
  }
  const ports = { store, now: () => new Date(clockMs()), newId, sync: store.sync, syncDevice: async () => file }
  const user = `user-of-${name}`
  const context: SyncContext = { ports, user, file }
  const standpoint = { user, scopes: ['project:ledger'], agent: null }
  const memory = memoryFrom(ports, { ...standpoint, author: { actor: 'person', origin: 'cli' } })
  const agent = memoryFrom(ports, { ...standpoint, author: { actor: 'agent', origin: 'claude-code' } })
  return {
    name,
    store,
    context,
    memory,
    agent,
    device: () => state,
    setDevice: (next: SyncDevice): void => {
      state = next
    },
  }
}
export type TestDevice = ReturnType<typeof openTestDevice>

/** Copies a message as JSON, as it is sent between two devices. */
const overTheWire = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value)) as Value

export const sync = (a: TestDevice, b: TestDevice) =>
  syncWith(a.context, async (message) => overTheWire(await answerMessage(b.context, overTheWire(message))))

/** The state of a device that must be the same on all devices. */
export async function stateOf({ memory, context }: TestDevice) {
  const { store } = context.ports
  const { items } = await store.list({ user: context.user }, { limit: 10_000, offset: 0 })
  const beliefs = items.map(({ version: _version, user: _user, ...belief }) => belief)
  const { turns } = await store.exportTurns(context.user, { after: null, limit: 10_000 })
  // The id of a turn is left out, because each device that heard the message chose its own.
  const said = turns.map(({ id: _id, user: _user, index: _index, ...turn }) => JSON.stringify(turn)).sort()
  const { items: inbox } = await memory.review({ limit: 1_000 })
  return {
    beliefs: beliefs.sort((a, b) => (a.id < b.id ? -1 : 1)),
    said,
    inbox: inbox.map(({ belief, kind, target }) => `${kind} ${belief.id} ${target?.id}`).sort(),
  }
}

/** Syncs every pair until nothing is exchanged. */
export async function syncAll(devices: readonly TestDevice[]): Promise<number> {
  for (let round = 1; round < 20; round += 1) {
    let exchanged = 0
    for (const one of devices)
      for (const other of devices)
        if (one !== other) {
          const { received, sent } = await sync(one, other)
          exchanged += received + sent
        }
    if (exchanged === 0) return round
  }
  throw new Error('The devices never agree.')
}
