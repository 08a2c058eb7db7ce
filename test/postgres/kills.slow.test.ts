import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { openAt, postgresPrograms, sharedCluster } from '../../src/store/postgres/cluster.contract.ts'
import { chance } from '../durability/durable-store.ts'
import { count } from '../full-counts.ts'
import { beliefCommit, expectExactly, startWriter } from './acknowledged-writes.ts'

const seed = 1_710
const writerKills = count(200)
const serverKills = count(50)
const timeout = 600_000 + serverKills * 30_000

/** Waits for a condition until the test times out. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await pause(20)
}

describe.skipIf(postgresPrograms === null)('A PostgreSQL store', () => {
  const cluster = sharedCluster()

  it('stores 250 writes of each of 8 processes, none lost and none twice', { timeout }, async () => {
    const address = await (await cluster()).newDatabase()

    const writers = Array.from({ length: 8 }, (_, at) => startWriter(address, `w${at}`, 250))

    expect(await Promise.all(writers.map(({ ended }) => ended))).toEqual(Array(8).fill(0))
    const store = openAt(address)
    await expectExactly(
      store,
      'ada',
      writers.flatMap(({ acknowledged }) => acknowledged),
    )
    expect(await store.idsStartingWith('ada', '', 3_000)).toHaveLength(2_000)
    await store.close()
  })

  it('loses nothing if a writing process is killed, and a repeated request has one effect', { timeout }, async () => {
    const address = await (await cluster()).newDatabase()
    const random = chance(seed)
    const acknowledged = new Set<string>()
    const names = Array.from({ length: Math.ceil(writerKills / 5) }, (_, at) => `w${at}`)
    let kills = 0
    for (let round = 0; round < writerKills; round += 1) {
      const writer = startWriter(address, names[round % names.length] as string, 60)
      const target = Math.floor(50 * random())
      await until(() => writer.acknowledged.length >= target || writer.child.exitCode !== null)
      await pause(20 * random())
      writer.child.kill('SIGKILL')
      if ((await writer.ended) === null) kills += 1
      for (const id of writer.acknowledged) acknowledged.add(id)
    }
    const before = acknowledged.size
    for (const name of names) {
      const last = startWriter(address, name, 60)
      expect(await last.ended).toBe(0)
      for (const id of last.acknowledged) acknowledged.add(id)
    }

    console.log(`killed writers: seed ${seed}, ${kills} kills, ${before} changes acknowledged before the last of them`)
    expect(kills).toBeGreaterThan(writerKills / 2)
    expect(before).toBeGreaterThan(writerKills)
    const store = openAt(address)
    await expectExactly(store, 'ada', [...acknowledged])
    await store.close()
  })

  it('loses nothing if PostgreSQL is killed, and continues when it is back', { timeout }, async () => {
    const server = await cluster()
    const address = await server.newDatabase()
    const store = openAt(address, { patienceMs: 300_000 })
    const random = chance(seed)
    const acknowledged: string[] = []
    let isOver = false
    // Without idempotency keys, so only the store prevents duplicate writes.
    const writing = Array.from({ length: 4 }, async (_, writer) => {
      for (let number = 0; !isOver; number += 1) {
        const id = `w${writer}-${number}`
        expect(await store.commit(beliefCommit(`user ${writer % 2}`, id, false))).toMatchObject({
          outcome: 'committed',
        })
        acknowledged.push(id)
      }
    })
    const moreWritten = async (more: number): Promise<void> => {
      const target = acknowledged.length + more
      await Promise.race([until(() => acknowledged.length >= target), ...writing])
    }
    for (let round = 0; round < serverKills; round += 1) {
      await moreWritten(5 + Math.floor(20 * random()))
      if (round % 2 === 0) {
        await server.kill()
        await server.startServer()
      } else {
        // Kills one process: PostgreSQL then ends the others and recovers by itself.
        const backends = await server.query<{ pid: number }>(
          `SELECT pid FROM pg_stat_activity WHERE application_name = 'credence'`,
        )
        const { pid } = backends[Math.floor(random() * backends.length)] as { pid: number }
        process.kill(pid, 'SIGKILL')
      }
    }
    await moreWritten(20)
    isOver = true
    await Promise.all(writing)

    console.log(`killed PostgreSQL: seed ${seed}, ${serverKills} kills, ${acknowledged.length} changes acknowledged`)
    for (const user of [0, 1]) {
      const own = acknowledged.filter((id) => Number(id.slice(1, 2)) % 2 === user)
      await expectExactly(store, `user ${user}`, own)
    }
    await store.close()
  })
})
