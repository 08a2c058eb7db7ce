import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { openTestDevice, stateOf, type TestDevice } from './devices.contract.ts'
import { openFolderIdentity, syncFolder } from './folder.ts'

let folder = ''
let identity = ''
// Only once for all tests, because deriving a key from a passphrase is slow on purpose.
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'credence-sync-'))
  identity = await openFolderIdentity(folder, 'four blue herons')
})
afterEach(() => {
  for (const name of batches()) rmSync(join(folder, name))
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const through = (device: TestDevice) => syncFolder(device.context, folder, identity)
const batches = (): readonly string[] => readdirSync(folder).filter((name) => name.endsWith('.sync.age'))

describe('a folder', () => {
  it('syncs devices that are never online together, and shows neither names nor texts', async () => {
    const laptop = openTestDevice('laptop')
    const desktop = openTestDevice('desktop')
    await laptop.memory.remember({ name: 'db', content: 'Postgres on zeppelins' })
    await desktop.memory.hear({ text: 'The zeppelins are late.', session: 's1', at: '2026-01-05T10:00:00Z' })

    for (const device of [laptop, desktop, laptop, desktop]) await through(device)

    expect(await stateOf(desktop)).toEqual(await stateOf(laptop))
    expect((await stateOf(laptop)).said).toHaveLength(1)
    for (const name of readdirSync(folder)) {
      expect(`${name}${readFileSync(join(folder, name), 'latin1')}`).not.toMatch(/zeppelin|laptop|desktop/u)
      expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600)
    }
    expect(await through(laptop)).toEqual({ received: 0, sent: 0, skipped: [] })
  })

  it('syncs devices of which the first had nothing to share, or which joined at the same time', async () => {
    const laptop = openTestDevice('laptop')
    const desktop = openTestDevice('desktop')
    await through(laptop)
    await desktop.memory.remember({ name: 'db', content: 'Postgres' })
    await through(desktop)
    const early = batches().map((name) => [name, readFileSync(join(folder, name))] as const)
    for (const [name] of early) rmSync(join(folder, name))
    // The cloud drive has not brought the files of the other devices yet.
    const phone = openTestDevice('phone')
    await phone.memory.remember({ name: 'editor', content: 'Helix' })
    await through(phone)
    for (const [name, bytes] of early) writeFileSync(join(folder, name), bytes)

    for (const device of [laptop, desktop, phone, laptop]) await through(device)

    expect((await stateOf(laptop)).beliefs).toHaveLength(2)
    for (const device of [desktop, phone]) expect(await stateOf(device)).toEqual(await stateOf(laptop))
  })

  it('reads a file later if it was truncated, or arrived before an earlier one', async () => {
    const laptop = openTestDevice('laptop')
    const desktop = openTestDevice('desktop')
    await laptop.memory.remember({ name: 'db', content: 'Postgres' })
    await through(laptop)
    const [first] = batches() as [string]
    await laptop.memory.remember({ name: 'editor', content: 'Helix' })
    await through(laptop)
    const [second] = batches().filter((name) => name !== first) as [string]
    const whole = readFileSync(join(folder, first))
    renameSync(join(folder, first), join(folder, 'elsewhere'))

    expect(await through(desktop)).toMatchObject({ received: 0, skipped: [second] })
    renameSync(join(folder, 'elsewhere'), join(folder, first))
    truncateSync(join(folder, first), whole.length - 20)
    expect((await through(desktop)).skipped.toSorted()).toEqual([first, second].toSorted())
    writeFileSync(join(folder, first), whole)
    expect(await through(desktop)).toEqual({ received: 2, sent: 0, skipped: [] })

    expect(await stateOf(desktop)).toEqual(await stateOf(laptop))
  })

  it('keeps no forgotten text, and an old copy of it restores none', async () => {
    const laptop = openTestDevice('laptop')
    const desktop = openTestDevice('desktop')
    const { belief } = await laptop.memory.remember({ name: 'plan', content: 'Sell the zeppelin' })
    await laptop.memory.remember({ name: 'db', content: 'Postgres' })
    await through(laptop)
    const old = batches().map((name) => [name, readFileSync(join(folder, name))] as const)
    await through(desktop)
    await desktop.memory.forget(belief.id)

    for (const device of [desktop, laptop, desktop]) await through(device)

    expect(batches().filter((name) => old.some(([one]) => one === name))).toEqual([])
    for (const [name, bytes] of old) writeFileSync(join(folder, name), bytes)
    for (const device of [laptop, desktop, laptop]) await through(device)
    for (const device of [laptop, desktop]) {
      const state = await stateOf(device)
      expect(JSON.stringify(state)).not.toContain('zeppelin')
      expect(state.beliefs.map(({ name }) => name)).toEqual(['db'])
    }
  })

  it('counts a forgetting as sent, although all files are replaced', async () => {
    const laptop = openTestDevice('laptop')
    const { belief } = await laptop.memory.remember({ name: 'plan', content: 'Sell the zeppelin' })
    await laptop.memory.remember({ name: 'db', content: 'Postgres' })
    await through(laptop)
    await laptop.memory.forget(belief.id)

    expect(await through(laptop)).toMatchObject({ sent: 1 })
    expect(await through(laptop)).toMatchObject({ sent: 0 })
  })

  it('is refused with another passphrase', async () => {
    await expect(openFolderIdentity(folder, 'five blue herons')).rejects.toMatchObject({ code: 'forbidden' })
  })

  it('has few files after many syncs, and about the size of the memory', async () => {
    const laptop = openTestDevice('laptop')
    for (let count = 0; count < 60; count += 1) {
      await laptop.memory.hear({ text: `Message ${count}`, session: 's1', messageId: `m${count}` })
      await through(laptop)
    }

    expect(batches().length).toBeLessThan(52)
  })
})
