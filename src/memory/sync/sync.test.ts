import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openTestDevice, stateOf, sync, syncAll, type TestDevice } from './devices.contract.ts'
import { answerMessage, type SendMessage, type SyncMessage, syncFormat, syncWith } from './exchange.ts'
import { openFolderIdentity, syncFolder } from './folder.ts'
import { answerPacked, packedSender } from './messages.ts'

describe('two devices', () => {
  it('have the same beliefs and turns after a sync, with author, origin and time', async () => {
    const laptop = openTestDevice('laptop')
    const desktop = openTestDevice('desktop')
    await laptop.memory.remember({ name: 'db', content: 'Postgres 17' })
    await laptop.memory.hear({ text: 'The build is red again.', session: 's1', at: '2026-01-05T10:00:00Z' })
    await desktop.memory.remember({ name: 'editor', content: 'Helix' })

    await sync(laptop, desktop)

    expect(await stateOf(desktop)).toEqual(await stateOf(laptop))
    const [event] = await desktop.memory.events({ hearing: true })
    expect(event).toMatchObject({ actor: 'person', origin: 'cli', key: `sync:${laptop.device().device}:2` })
    expect((await desktop.store.verify()).filter(({ ok }) => !ok)).toEqual([])
    expect(await sync(laptop, desktop)).toEqual({ received: 0, sent: 0, skipped: [] })
  })

  it('keep the newer of two changes, and show the older one as a proposal', async () => {
    const laptop = openTestDevice('laptop', { clockMs: () => Date.parse('2026-01-01T12:00:00Z') })
    const desktop = openTestDevice('desktop', { clockMs: () => Date.parse('2026-01-01T13:00:00Z') })
    const { belief } = await laptop.memory.remember({ name: 'db', content: 'Postgres' })
    await sync(laptop, desktop)
    await laptop.memory.setWhy(belief.id, 'Older.')
    await desktop.memory.setWhy(belief.id, 'Newer.')

    await syncAll([laptop, desktop])

    for (const device of [laptop, desktop]) {
      expect((await device.memory.get(belief.id)).why).toBe('Newer.')
      const { items } = await device.memory.review()
      expect(items.map((item) => [item.kind, item.belief.why, item.target?.why])).toEqual([
        ['correction', 'Older.', 'Newer.'],
      ])
      const { revisions } = await device.memory.history(belief.id)
      expect(revisions.map((revision) => revision.belief?.why)).toContain('Older.')
    }
  })

  it('do not restore a forgotten belief that the other one changed, and report it without its text', async () => {
    const laptop = openTestDevice('laptop')
    const desktop = openTestDevice('desktop')
    const { belief } = await laptop.memory.remember({ name: 'secret plan', content: 'Sell the zeppelin' })
    await sync(laptop, desktop)
    await laptop.memory.forget(belief.id)
    await desktop.memory.setWhy(belief.id, 'The zeppelin is too slow.')

    await syncAll([desktop, laptop])

    for (const device of [laptop, desktop]) {
      expect(JSON.stringify(await stateOf(device))).not.toContain('zeppelin')
      const { items } = await device.memory.review()
      expect(items.map((item) => item.belief.content)).toEqual([
        'A belief was changed on one device and forgotten on another. The change is gone too.',
      ])
    }
    expect(await stateOf(desktop)).toEqual(await stateOf(laptop))
  })

  it('do not restore a forgotten turn under another id, or by a second import of the chat', async () => {
    const laptop = openTestDevice('laptop')
    const desktop = openTestDevice('desktop')
    const turn = { text: 'My locker code is four blue herons.', session: 'chat-1', at: '2026-01-05T10:00:00Z' }
    await laptop.memory.hear(turn)
    await desktop.memory.hear(turn)
    await sync(laptop, desktop)
    await laptop.memory.forgetTurns({ session: 'chat-1' })

    await syncAll([laptop, desktop])

    for (const device of [laptop, desktop]) {
      expect((await stateOf(device)).said).toEqual([])
      const heard = await device.memory.hear(turn)
      expect(heard.turns.map(({ outcome }) => outcome)).toEqual(['forgotten'])
    }
  })

  it('leave no forgotten text in the files of a device when a sync ends, so that it can be closed', async () => {
    const laptop = openTestDevice('laptop')
    await laptop.memory.remember({ name: 'plan', content: 'Sell the zeppelin' })
    const place = mkdtempSync(join(folder, 'phone-'))
    const phone = openTestDevice('phone', { file: join(place, 'credence.db') })
    await laptop.memory.forget('plan')

    await sync(phone, laptop)

    const checks = await phone.store.verify()
    await phone.store.close()
    expect(checks.find(({ check }) => check === 'forgotten')).toMatchObject({ ok: true })
  })

  it('are refused if they belong to different groups', async () => {
    const laptop = openTestDevice('laptop')
    const desktop = openTestDevice('desktop')
    const other = openTestDevice('other')
    const another = openTestDevice('another')
    await sync(laptop, desktop)
    await sync(other, another)
    await other.memory.remember({ name: 'diary', content: 'The diary is blue.' })
    const before = [laptop.device(), other.device(), await stateOf(laptop)]

    await expect(sync(laptop, other)).rejects.toMatchObject({ code: 'forbidden' })
    // Not even names and keys were exchanged.
    expect([laptop.device(), other.device(), await stateOf(laptop)]).toEqual(before)
  })

  it('keep both beliefs with one name, and one belief of the same statement', async () => {
    const laptop = openTestDevice('laptop', { clockMs: () => Date.parse('2026-01-01T12:00:00Z') })
    const desktop = openTestDevice('desktop', { clockMs: () => Date.parse('2026-01-01T13:00:00Z') })
    await laptop.memory.remember({ name: 'db', content: 'Postgres' })
    await desktop.memory.remember({ name: 'db', content: 'SQLite' })
    await laptop.memory.remember({ name: 'editor', content: 'Helix' })
    await desktop.memory.remember({ name: 'editor', content: 'Helix.' })

    await syncAll([laptop, desktop])

    const { beliefs } = await stateOf(laptop)
    expect((await stateOf(desktop)).beliefs).toEqual(beliefs)
    const current = beliefs
      .filter(({ supersededBy }) => supersededBy === null)
      .map(({ name, content }) => [name, content])
    expect(new Map(current as [string, string][])).toEqual(
      new Map([
        ['db', 'SQLite'],
        ['db (2)', 'Postgres'],
        ['editor', 'Helix'],
      ]),
    )
  })

  it('accept a belief that was created again after a restored backup', async () => {
    const laptop = openTestDevice('laptop')
    const desktop = openTestDevice('desktop')
    await laptop.memory.remember({ name: 'db', content: 'Postgres' })
    const old = openTestDevice('laptop')
    await sync(laptop, desktop)
    await laptop.memory.remember({ name: 'editor', content: 'Helix' })
    await sync(laptop, desktop)
    old.setDevice(laptop.device())
    await old.memory.remember({ name: 'shell', content: 'fish' })
    await old.memory.remember({ name: 'font', content: 'Iosevka' })

    await syncAll([old, desktop])

    expect(old.device().device).not.toBe(laptop.device().device)
    expect(await stateOf(desktop)).toEqual(await stateOf(old))
    expect((await stateOf(old)).beliefs.map(({ name }) => name).sort()).toEqual(['db', 'editor', 'font', 'shell'])
  })
})

describe('a sync that is interrupted', () => {
  /** Two devices with changes, conflicts and forgetting on both sides. */
  async function openPair(): Promise<readonly [TestDevice, TestDevice]> {
    const pair = [openTestDevice('laptop'), openTestDevice('desktop')] as const
    const [laptop, desktop] = pair
    const { belief } = await laptop.memory.remember({ name: 'db', content: 'Postgres' })
    const { belief: plan } = await laptop.memory.remember({ name: 'plan', content: 'Sell the zeppelin' })
    await sync(laptop, desktop)
    await laptop.memory.setWhy(belief.id, 'Older.')
    await desktop.memory.setWhy(belief.id, 'Newer.')
    await desktop.memory.forget(plan.id)
    await laptop.memory.hear({ text: 'The build is red.', session: 's1', at: '2026-01-05T10:00:00Z' })
    await desktop.memory.remember({ name: 'editor', content: 'Helix' })
    return pair
  }
  const messagesOf = async (): Promise<number> => {
    const [laptop, desktop] = await openPair()
    let messages = 0
    await syncWith(laptop.context, (message) => {
      messages += 1
      return answerMessage(desktop.context, message)
    })
    return messages
  }

  it('before or after any message is completed by the next one', async () => {
    const messages = await messagesOf()
    expect(messages).toBeGreaterThan(5)
    for (let last = 0; last < messages; last += 1)
      for (const isDelivered of [false, true]) {
        const [laptop, desktop] = await openPair()
        let count = 0
        const cut: SendMessage = async (message) => {
          count += 1
          if (count <= last) return answerMessage(desktop.context, message)
          if (isDelivered) await answerMessage(desktop.context, message)
          throw new Error('killed')
        }
        await expect(syncWith(laptop.context, cut)).rejects.toThrow('killed')

        await syncAll([laptop, desktop])

        const state = await stateOf(laptop)
        expect(await stateOf(desktop)).toEqual(state)
        expect(state.said).toHaveLength(1)
        expect(JSON.stringify(state)).not.toContain('zeppelin')
        expect(await problemsOf(laptop)).toEqual([])
      }
  })
})

describe('a device of a newer version', () => {
  it('is refused before any data is exchanged, with the next step', async () => {
    const laptop = openTestDevice('laptop')
    const desktop = openTestDevice('desktop')
    await laptop.memory.remember({ name: 'db', content: 'Postgres' })
    const newer = (message: SyncMessage): SyncMessage =>
      message.type === 'hello' ? { ...message, hello: { ...message.hello, format: syncFormat + 1 } } : message

    const older = syncWith(laptop.context, async (message) => answerMessage(desktop.context, newer(message)))

    await expect(older).rejects.toMatchObject({ code: 'conflict', hint: expect.stringContaining('Update it') })
  })
})

const names = ['db', 'editor', 'shell']
const contents = ['Postgres', 'SQLite', 'Helix', 'fish', 'Iosevka']
const step = fc.record({
  device: fc.nat(4),
  other: fc.nat(4),
  act: fc.constantFrom(
    'remember',
    'remember',
    'correct',
    'forget',
    'undo',
    'hear',
    'pin',
    'why',
    'propose',
    'accept',
    'reject',
    'sync',
    'sync',
    'sync',
    'forgetTurns',
  ),
  name: fc.constantFrom(...names),
  content: fc.constantFrom(...contents),
  transport: fc.constantFrom('messages', 'text', 'folder'),
})

let folder = ''
let identity = ''
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'credence-sync-'))
  identity = await openFolderIdentity(folder, 'four blue herons')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** A sync over one of the transports. In a folder, each device leaves its changes for the other. */
async function syncOver(transport: 'messages' | 'text' | 'folder', a: TestDevice, b: TestDevice, run: string) {
  if (transport === 'messages') return sync(a, b)
  if (transport === 'text')
    return syncWith(
      a.context,
      packedSender((text) => answerPacked(b.context, text)),
    )
  for (const device of [a, b]) await syncFolder(device.context, join(folder, run), identity)
}

async function act(device: TestDevice, { act: what, name, content }: { act: string; name: string; content: string }) {
  const { memory, agent } = device
  switch (what) {
    case 'remember':
      return memory.remember({ name, content })
    case 'correct':
      return memory.correct(name, { content })
    case 'forget':
      return memory.forget(name)
    case 'undo':
      return memory.undo()
    case 'hear':
      return memory.hear({ text: `About ${name}: ${content}`, session: name, at: '2026-01-05T10:00:00Z' })
    case 'pin':
      return memory.pin(name)
    case 'why':
      return memory.setWhy(name, content)
    case 'propose':
      return agent.correct(name, { content })
    case 'accept':
    case 'reject': {
      const { items } = await memory.review()
      const [first] = items
      return first === undefined
        ? null
        : what === 'accept'
          ? memory.accept(first.belief.id)
          : memory.reject(first.belief.id)
    }
    case 'forgetTurns':
      return memory.forgetTurns({ session: name })
  }
  return null
}

/** One clock is a year ahead, another some hours behind. */
const clockErrorsMs = [0, 365 * 86_400_000, -3 * 3_600_000]

/** The failed checks of a store in process memory, except `forgotten`, because its file is not rewritten after forgetting. */
const problemsOf = async ({ store }: TestDevice) =>
  (await store.verify()).filter(({ ok, check }) => !ok && check !== 'forgotten')

describe('any number of devices', () => {
  it('agree after all have synced with each other, and every journal verifies', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 2, max: 5 }), fc.array(step, { maxLength: 40 }), async (count, steps) => {
        let clock = Date.parse('2026-01-01T00:00:00Z')
        const devices = Array.from({ length: count }, (_, index) =>
          openTestDevice(`d${index}`, { clockMs: () => clock + (clockErrorsMs[index] ?? 0) }),
        )
        for (const device of devices) device.setDevice({ ...device.device(), group: 'group' })
        const run = mkdtempSync(join(folder, 'run-')).slice(folder.length + 1)
        const at = (index: number): TestDevice => devices[index % count] as TestDevice
        for (const one of steps) {
          clock += 60_000
          if (one.act === 'sync') {
            if (at(one.device) !== at(one.other)) await syncOver(one.transport, at(one.device), at(one.other), run)
          }
          // Many actions refer to a missing belief and fail.
          else await act(at(one.device), one).catch((error: unknown) => expect(error).toHaveProperty('code'))
        }

        await syncAll(devices)

        const [first, ...others] = await Promise.all(devices.map(stateOf))
        for (const other of others) expect(other).toEqual(first)
        for (const device of devices) {
          expect(await problemsOf(device)).toEqual([])
          await device.store.close()
        }
      }),
      { numRuns: 60 },
    )
  })
})
