import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { describe, expect, it, vi } from 'vitest'
import { recall } from '../../src/memory/recall/recall.ts'
import {
  newCache,
  openAt,
  postgresPrograms,
  sharedCluster,
  undurable,
} from '../../src/store/postgres/cluster.contract.ts'
import { count } from '../full-counts.ts'
import { beliefCommit, expectExactly } from './acknowledged-writes.ts'
import { CuttingProxy } from './cutting-proxy.ts'

/** The number of points at which each commit and each recall is cut, evenly spread over its bytes. */
const steps = count(200)
const timeout = 600_000 + steps * 30_000

describe.skipIf(postgresPrograms === null)('a PostgreSQL store whose connection is cut', () => {
  const cluster = sharedCluster(undurable)

  it('commits once, at whatever step it is cut, even without a key', { timeout }, async () => {
    const server = await cluster()
    const address = await server.newDatabase()
    const proxy = await CuttingProxy.start(server.port)
    const store = openAt(server.address(address.split('/').at(-1), proxy.port), { patienceMs: 300_000 })
    const ids = ['first', 'prepared']
    // The first two commits prepare the statements.
    for (const id of ids) await store.commit(beliefCommit('ada', id, false))
    // A commit without a cut, to count its bytes.
    const before = proxy.passed
    await store.commit(beliefCommit('ada', 'second', false))
    ids.push('second')
    const bytes = proxy.passed - before
    for (let step = 0; step < steps; step += 1)
      for (let round = 0; round < 3; round += 1) {
        proxy.cutAfter(Math.floor((bytes * step) / steps))
        const id = `b-${step}-${round}`
        expect(await store.commit(beliefCommit('ada', id, round === 0))).toMatchObject({ outcome: 'committed' })
        ids.push(id)
      }

    expect(proxy.cuts).toBe(3 * steps)
    await expectExactly(store, 'ada', ids)
    await store.close()
    await proxy.stop()
  })

  it('commits once and answers if its connections stop responding', { timeout }, async () => {
    const server = await cluster()
    const address = await server.newDatabase()
    const proxy = await CuttingProxy.start(server.port)
    const store = openAt(server.address(address.split('/').at(-1), proxy.port), { patienceMs: 300_000, answerMs: 500 })
    const ids = Array.from({ length: 12 }, (_, at) => `b${at}`)
    for (const id of ids) {
      expect(await store.commit(beliefCommit('ada', id, false))).toMatchObject({ outcome: 'committed' })
      if (ids.indexOf(id) % 3 === 0) proxy.silence()
      expect(await store.get('ada', id)).toMatchObject({ id })
      if (ids.indexOf(id) % 3 === 1) proxy.silence()
    }

    await expectExactly(store, 'ada', ids)
    await store.close()
    await proxy.stop()
  })

  it('writes and reads with one connection each, even if both were closed between two statements', {
    timeout,
  }, async () => {
    const server = await cluster()
    const address = await server.newDatabase()
    const store = openAt(address, { connections: 1 })
    const ended = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${address.split('/').at(-1)}'
      AND application_name = 'credence'`

    for (const id of ['b1', 'b2']) {
      expect(await store.memberships('ada')).toEqual([])
      expect(await store.commit(beliefCommit('ada', id, false))).toMatchObject({ outcome: 'committed' })
      await Promise.all([store.memberships('ada'), store.get('ada', id), store.memberships('ada')])
      expect(await server.query(ended)).toHaveLength(2)
    }

    expect(await store.memberships('ada')).toEqual([])
    await expectExactly(store, 'ada', ['b1', 'b2'])
    await store.close()
  })

  it('returns every connection, in any order of reads and changes', { timeout }, async () => {
    const server = await cluster()
    const address = await server.newDatabase()
    const store = openAt(address, { connections: 2 })
    const ids = Array.from({ length: 40 }, (_, at) => `b${at}`)
    await store.commit(beliefCommit('ada', 'first', false))

    // The pool has two connections. If one were not returned, later calls would wait for it, and it would stay open at
    // the end.
    for (const id of ids)
      await Promise.all([
        store.memberships('ada'),
        store.commit(beliefCommit('ada', id, false)),
        store.memberships('bob'),
        store.get('ada', 'first'),
      ])

    await expectExactly(store, 'ada', ['first', ...ids])
    await store.close()
    const open = `SELECT pid FROM pg_stat_activity WHERE datname = '${address.split('/').at(-1)}'`
    await vi.waitFor(async () => expect(await server.query(open)).toEqual([]), { timeout: 60_000 })
  })

  it('does not keep a program alive that has not closed it', { timeout }, async () => {
    const address = await (await cluster()).newDatabase()
    const module = new URL('../../src/store/postgres/postgres-store.ts', import.meta.url)
    const program = `const { openPostgresStore } = await import('${module}')
      const store = openPostgresStore({ address: '${address}', random: (bytes) => new Uint8Array(bytes), cacheDir: '${newCache()}' })
      console.log(JSON.stringify([await store.memberships('ada'), await store.memberships('bob')]))`

    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', program])

    expect(stdout).toBe('[[],[]]\n')
  })

  it('reports that people and teams were added and removed, at whatever step it is cut', { timeout }, async () => {
    const server = await cluster()
    const address = await server.newDatabase()
    const proxy = await CuttingProxy.start(server.port)
    const store = openAt(server.address(address.split('/').at(-1), proxy.port), { patienceMs: 300_000 })
    const access = await store.access()
    const createdAt = '2026-03-01T12:00:00.000Z'
    const changes: readonly (() => Promise<boolean>)[] = [
      () => access.addPerson({ name: 'ana', createdAt }),
      () => access.addTeam({ name: 'platform', createdAt }),
      () => access.setMember('platform', 'ana', 'owner'),
      () => access.removeMember('platform', 'ana'),
      () => access.removeTeam('platform'),
      () => access.removePerson('ana'),
    ]
    for (const change of changes) await change()
    const bytes: number[] = []
    for (const change of changes) {
      const before = proxy.passed
      await change()
      bytes.push(proxy.passed - before)
    }

    for (let step = 0; step < steps; step += 1)
      // Commits without a cut prepare their statements on the new connection.
      for (const cut of changes)
        for (const [at, change] of changes.entries()) {
          if (change === cut) proxy.cutAfter(Math.floor(((bytes[at] ?? 0) * step) / steps))
          expect(await change()).toBe(true)
        }

    expect(proxy.cuts).toBeGreaterThan(steps * (changes.length - 1))
    await store.close()
    await proxy.stop()
  })

  it.each([
    { kind: 'one recall after the other', atOnce: 1 },
    { kind: 'recalls at the same time', atOnce: 8 },
  ])('answers $kind the same, at whatever step it is cut', { timeout }, async ({ atOnce }) => {
    const server = await cluster()
    const address = await server.newDatabase()
    const proxy = await CuttingProxy.start(server.port)
    const store = openAt(server.address(address.split('/').at(-1), proxy.port), { patienceMs: 300_000 })
    await store.commit(beliefCommit('ada', 'b1', false))
    const ports = { store, now: () => new Date(0), newId: () => 'unused' }
    const request = { user: 'ada', scopes: ['project:ledger'], message: 'What is the alias b1?' }
    const expected = await recall(ports, request)
    // The first recall prepared its statements; the second transfers as many bytes as the ones to cut.
    const before = proxy.passed
    const recalls = () => Promise.all(Array.from({ length: atOnce }, () => recall(ports, request)))
    await recalls()
    const bytes = proxy.passed - before

    for (let round = 0; round < 3; round += 1)
      for (let step = 0; step < steps; step += 1) {
        const { cuts } = proxy
        proxy.cutAfter(Math.floor((bytes * step) / steps))
        // Not every recall transfers the same number of bytes. If the cut is near the end, a shorter recall finishes,
        // and the next one is cut.
        while (proxy.cuts === cuts) expect(await recalls()).toEqual(Array.from({ length: atOnce }, () => expected))
      }

    expect(expected.relevant).toHaveLength(1)
    expect(proxy.cuts).toBe(3 * steps)
    await store.close()
    await proxy.stop()
  })
})
