import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { endOf } from '../cli/sandbox.ts'
import { chance } from '../durability/durable-store.ts'
import { count } from '../full-counts.ts'
import { serving, servingWith } from '../http/serving.ts'
import { filesWith, type Machines, machines, noSshd, sharedState, startSshd } from './machines.ts'

if (noSshd !== null) console.log(`Syncs over ssh are not tested: ${noSshd}`)

/**
 * A laptop and a desktop that share two beliefs. While offline, both correct the first, the desktop forgets the second,
 * and the laptop hears a turn.
 */
async function openPair(place: Machines, sync: () => Promise<unknown>) {
  const laptop = place.memory('laptop')
  const desktop = place.memory('desktop')
  const at = ['--scope', 'user:universal'] as const
  await place.run('remember', 'The database is Postgres.', '--name', 'db', ...at, '--dir', laptop)
  await place.run('remember', 'We sell the zeppelin.', '--name', 'plan', ...at, '--dir', laptop)
  await place.run('hear', 'The zeppelins are late.', '--session', 's1', '--dir', desktop)
  await sync()
  await place.run('correct', 'db', 'The database is SQLite.', '--dir', laptop)
  await place.run('correct', 'db', 'The database is MySQL.', '--dir', desktop)
  await place.run('forget', '--containing', 'zeppelin', '--yes', '--dir', desktop)
  await place.run('hear', 'The build is red.', '--session', 's2', '--dir', laptop)
  return { laptop, desktop }
}

async function expectSame(place: Machines, laptop: string, desktop: string) {
  const state = await sharedState(place, laptop)
  expect(await sharedState(place, desktop)).toEqual(state)
  expect(state.turns).toEqual(['The build is red.'])
  expect(state.inbox).toBeGreaterThan(0)
  for (const dir of [laptop, desktop]) expect((await place.run('doctor', '--dir', dir)).ok).toBe(true)
  expect(filesWith('zeppelin', laptop, desktop)).toEqual([])
}

describe.skipIf(noSshd !== null)('two machines over ssh', () => {
  it('agree, with no byte of a forgotten text on either; of two concurrent syncs one waits', async () => {
    using place = machines()
    const host = await startSshd(place)
    const target = `${host}${place.memory('desktop')}`
    const sync = () => place.sync(place.memory('laptop'), target)

    const { laptop, desktop } = await openPair(place, sync)
    await Promise.all([sync(), sync()])
    await sync()

    await expectSame(place, laptop, desktop)
    const [report] = (await sync()).targets
    expect(report).toMatchObject({ received: 0, sent: 0 })
    expect((await place.run('sync', '--status', '--dir', laptop)).targets).toMatchObject([{ waiting: 0 }])
  })

  it(`are completed by the next sync if one is killed, ${count(50)} times`, async () => {
    using place = machines()
    const host = await startSshd(place)
    const target = `${host}${place.memory('desktop')}`
    const { laptop, desktop } = await openPair(place, () => place.sync(place.memory('laptop'), target))
    const random = chance(34)

    for (let kill = 0; kill < count(50); kill += 1) {
      await place.run('remember', `Fact ${kill}.`, '--scope', 'user:universal', '--dir', kill % 2 ? laptop : desktop)
      const child = place.start('sync', target, '--dir', laptop)
      const timer = setTimeout(() => child.kill('SIGKILL'), 1_500 * random())
      await endOf(child)
      clearTimeout(timer)
    }
    await place.sync(laptop, target)

    await expectSame(place, laptop, desktop)
  })
})

describe('two machines through a folder', () => {
  it('agree, with no byte of a forgotten text on either or in the folder, and exclude a scope', async () => {
    using place = machines()
    const laptop = place.memory('laptop')
    const desktop = place.memory('desktop')
    const folder = place.memory('shared')
    const sync = async () => {
      for (const dir of [laptop, desktop, laptop, desktop]) await place.sync(dir, folder)
    }
    await place.run('sync', '--exclude', 'project:secret', '--dir', laptop)
    await place.run('remember', 'The key is under the heron.', '--scope', 'project:secret', '--dir', laptop)

    await openPair(place, sync)
    await sync()

    expect(filesWith('heron.', desktop)).toEqual([])
    expect(filesWith('zeppelin', folder)).toEqual([])
    expect(filesWith('zeppelin', laptop, desktop)).toEqual([])
    expect((await sharedState(place, desktop)).turns).toEqual(['The build is red.'])
    const wrong = join(place.path, 'wrong')
    writeFileSync(wrong, 'five blue herons')
    const refused = place.start('sync', folder, '--dir', place.memory('other'), '--secret-file', wrong, '--yes')
    expect(await endOf(refused)).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('passphrase') })
  })
})

describe('a served Credence with syncEvery', () => {
  it('syncs in the background with the targets of earlier syncs', async () => {
    using place = machines()
    const laptop = place.memory('laptop')
    const desktop = place.memory('desktop')
    const folder = place.memory('shared')
    await place.run('init', '--dir', desktop)
    await place.sync(desktop, folder)
    await place.run('remember', 'The heron is grey.', '--scope', 'user:universal', '--dir', laptop)
    await place.sync(laptop, folder)
    const env = { CREDENCE_SYNC_EVERY: '1', CREDENCE_SEMANTIC: 'off' }

    await using server = await servingWith(env, place.place, '--dir', desktop)

    const heron = async () => JSON.stringify(await (await server.ask('/beliefs')).json())
    await expect.poll(heron, { timeout: 60_000 }).toContain('The heron is grey.')
  })
})

describe('a machine and a served Credence', () => {
  it('agree with the token of a person; the token of an agent and devices of another person are refused', async () => {
    using place = machines()
    const laptop = place.memory('laptop')
    const desktop = place.memory('desktop')
    await place.run('init', '--dir', desktop)
    const server = await serving(place.place, '--dir', desktop)
    const token = join(place.path, 'token')
    writeFileSync(token, server.token)
    const sync = () => place.run('sync', server.url, '--dir', laptop, '--secret-file', token, '--yes')

    await openPair(place, sync)
    await sync()
    writeFileSync(token, readFileSync(join(desktop, 'state', 'agent-token')))
    const agent = place.start('sync', server.url, '--dir', place.memory('new'), '--secret-file', token, '--yes')
    expect(await endOf(agent)).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('that of a person') })
    // A separate group of devices, like that of another person.
    await place.sync(place.memory('theirs'), place.memory('their-folder'))
    writeFileSync(token, server.token)
    const other = place.start('sync', server.url, '--dir', place.memory('theirs'), '--secret-file', token, '--yes')
    expect(await endOf(other)).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('another person') })
    await server.stop()

    await expectSame(place, laptop, desktop)
  })
})
