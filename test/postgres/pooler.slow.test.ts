import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import { afterAll, describe, expect, it } from 'vitest'
import { openModelStore } from '../../src/store/model-store.contract.ts'
import { emptyStores, openAt, sharedCluster } from '../../src/store/postgres/cluster.contract.ts'
import { fixedRandom } from '../../src/store/sample-beliefs.contract.ts'
import { describeStore } from '../../src/store/store.contract.ts'
import { describeAgreement } from '../../src/store/store-agreement.contract.ts'
import { beliefCommit, expectExactly, startWriter } from './acknowledged-writes.ts'
import { CuttingProxy } from './cutting-proxy.ts'
import { hasPooler, Pooler } from './pooler.ts'

const timeout = 300_000

/** The settings that docs/postgres.md shows. */
const [, settings = ''] =
  /```ini\n([\s\S]*?)```/u.exec(readFileSync(new URL('../../docs/postgres.md', import.meta.url), 'utf8')) ?? []

describe.skipIf(!hasPooler)('Behind PgBouncer in statement mode, a PostgreSQL store', () => {
  const cluster = sharedCluster(['fsync=off'])

  it('is refused, with the setting that it needs', { timeout }, async () => {
    const pooler = await Pooler.start(await cluster(), settings.replace('= transaction', '= statement'))
    const store = openAt(pooler.reached(await (await cluster()).newDatabase()))

    await expect(store.get('ada', 'b1')).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('allows no transactions'),
      hint: expect.stringContaining('pool_mode = transaction'),
    })
    await store.close()
    await pooler.stop()
  })
})

/** In session mode every program keeps its connections while it runs, so the pool is larger. */
const sessionSettings = settings.replace('= transaction', '= session').replace('size = 4', 'size = 40')

describe.skipIf(!hasPooler).each([
  { mode: 'transaction', pooling: settings },
  { mode: 'session', pooling: sessionSettings },
])('Behind PgBouncer in $mode mode, a PostgreSQL store', ({ mode, pooling }) => {
  // Killing a process does not lose data that was written to the operating system.
  const cluster = sharedCluster(['fsync=off'])
  let started: Promise<Pooler> | null = null
  const pooler = async (): Promise<Pooler> => {
    started ??= Pooler.start(await cluster(), pooling)
    return started
  }
  afterAll(async () => (await started)?.stop())
  const newDatabase = async (): Promise<string> => (await pooler()).reached(await (await cluster()).newDatabase())

  const open = emptyStores(cluster, { reached: async (address) => (await pooler()).reached(address) })
  describeStore(`The PostgreSQL store behind PgBouncer (${mode})`, open, { journals: 'per user' })
  describeAgreement(
    `The memory store and the PostgreSQL store behind PgBouncer (${mode})`,
    () => openModelStore({ random: fixedRandom, journals: 'per user' }),
    open,
    { runs: 6, timeoutMs: timeout },
  )

  it('is created once by processes that start at the same time, and accepts the writes of each', {
    timeout,
  }, async () => {
    const address = await newDatabase()

    const writers = Array.from({ length: 8 }, (_, at) => startWriter(address, `w${at}`, 25))

    expect(await Promise.all(writers.map(({ ended }) => ended))).toEqual(Array(8).fill(0))
    const store = openAt(address)
    const written = writers.flatMap(({ acknowledged }) => acknowledged)
    expect(written).toHaveLength(200)
    await expectExactly(store, 'ada', written)
    await store.close()
  })

  it('commits once and answers if its connections stop responding', { timeout }, async () => {
    const proxy = await CuttingProxy.start((await pooler()).port)
    const address = (await newDatabase()).replace(/:\d+\//u, `:${proxy.port}/`)
    const store = openAt(address, { patienceMs: timeout, answerMs: 500 })
    const ids = Array.from({ length: 6 }, (_, at) => `b${at}`)
    for (const id of ids) {
      expect(await store.commit(beliefCommit('ada', id, false))).toMatchObject({ outcome: 'committed' })
      proxy.silence()
      expect(await store.get('ada', id)).toMatchObject({ id })
      if (ids.indexOf(id) % 2 === 1) proxy.silence()
    }

    await expectExactly(store, 'ada', ids)
    await store.close()
    await proxy.stop()
  })

  it('leaves no setting and no prepared statement in connections that others use later', {
    timeout,
  }, async () => {
    const address = await newDatabase()
    const store = openAt(address, { connections: 1 })
    await store.commit(beliefCommit('ada', 'b1'))
    await store.list({ user: 'ada' }, { limit: 10, offset: 0 })
    await store.close()

    const client = new pg.Client({ connectionString: address })
    await client.connect()
    const { rows: planning } = await client.query('SHOW plan_cache_mode')
    const { rows: prepared } = await client.query('SELECT name FROM pg_prepared_statements')
    await client.end()

    expect(planning).toEqual([{ plan_cache_mode: 'auto' }])
    expect(prepared).toEqual([])
  })

  it('loses nothing if PgBouncer or PostgreSQL is killed, and continues when it is back', { timeout }, async () => {
    const server = await cluster()
    const front = await pooler()
    const store = openAt(await newDatabase(), { patienceMs: 120_000 })
    const acknowledged: string[] = []
    let isOver = false
    const writing = Array.from({ length: 4 }, async (_, writer) => {
      for (let number = 0; !isOver; number += 1) {
        const id = `w${writer}-${number}`
        expect(await store.commit(beliefCommit('ada', id, false))).toMatchObject({ outcome: 'committed' })
        acknowledged.push(id)
      }
    })
    const moreWritten = async (): Promise<void> => {
      const target = acknowledged.length + 20
      while (acknowledged.length < target) await Promise.race([pause(20), ...writing])
    }

    for (let round = 0; round < 4; round += 1) {
      await moreWritten()
      const killed = round % 2 === 0 ? front : server
      await killed.kill()
      await (killed === front ? front.startProgram() : server.startServer())
    }
    await moreWritten()
    isOver = true
    await Promise.all(writing)

    await expectExactly(store, 'ada', acknowledged)
    await store.close()
  })
})
