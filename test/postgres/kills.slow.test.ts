import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { openAt, postgresPrograms, sharedCluster } from '../../src/store/postgres/cluster.contract.ts'
import { beliefCommit, expectExactly, startWriter } from './written.ts'

const timeout = 600_000

/** Waits until a condition holds, as long as the test may take. */
async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await pause(20)
}

describe.skipIf(postgresPrograms === null)('A PostgreSQL store', () => {
  const cluster = sharedCluster()

  it('takes 250 writes of each of 8 processes, none lost and none twice', { timeout }, async () => {
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

  it('loses nothing when a writing process is killed, and a repeated request has one effect', { timeout }, async () => {
    const address = await (await cluster()).newDatabase()
    const acknowledged = new Set<string>()
    for (const target of [3, 7, 12, 20, 33]) {
      const writer = startWriter(address, 'w', 60)
      await until(() => writer.acknowledged.length >= target || writer.child.exitCode !== null)
      writer.child.kill('SIGKILL')
      await writer.ended
      for (const id of writer.acknowledged) acknowledged.add(id)
    }
    const last = startWriter(address, 'w', 60)

    expect(await last.ended).toBe(0)
    expect(acknowledged.size).toBeGreaterThan(30)
    const store = openAt(address)
    await expectExactly(store, 'ada', [...acknowledged, ...last.acknowledged])
    await store.close()
  })

  it('loses nothing when PostgreSQL is killed, and goes on when it is back', { timeout }, async () => {
    const server = await cluster()
    const address = await server.newDatabase()
    const store = openAt(address, { patienceMs: 300_000 })
    const acknowledged: string[] = []
    let isOver = false
    // Without keys: the store alone sees to it that nothing is written twice.
    const writing = Array.from({ length: 4 }, async (_, writer) => {
      for (let number = 0; !isOver; number += 1) {
        const id = `w${writer}-${number}`
        expect(await store.commit(beliefCommit(`user ${writer % 2}`, id, false))).toMatchObject({
          outcome: 'committed',
        })
        acknowledged.push(id)
      }
    })
    for (let round = 1; round <= 3; round += 1) {
      await until(() => acknowledged.length >= round * 25)
      await server.kill()
      await server.startServer()
    }
    const before = acknowledged.length
    await until(() => acknowledged.length >= before + 20)
    isOver = true
    await Promise.all(writing)

    for (const user of [0, 1]) {
      const own = acknowledged.filter((id) => Number(id.slice(1, 2)) % 2 === user)
      await expectExactly(store, `user ${user}`, own)
    }
    await store.close()
  })
})
