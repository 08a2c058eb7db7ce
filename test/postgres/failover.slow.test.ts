import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { Cluster, openAt, password, postgresPrograms } from '../../src/store/postgres/cluster.contract.ts'
import { beliefCommit, expectExactly } from './written.ts'

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await pause(50)
}

describe.skipIf(postgresPrograms === null)('A primary and a synchronous standby', () => {
  it('change places under load: every acknowledged write is there', { timeout: 600_000 }, async () => {
    const primary = await Cluster.start(['synchronous_standby_names=follower'])
    await primary.query('ALTER SYSTEM SET synchronous_standby_names = follower')
    const standby = await Cluster.follow(primary, 'follower')
    await until(async () => {
      const [row] = await primary.query<{ state: string }>('SELECT sync_state AS state FROM pg_stat_replication')
      return row?.state === 'sync'
    })
    const hosts = `127.0.0.1:${standby.port},127.0.0.1:${primary.port}`
    const store = openAt(`postgres://credence:${password}@${hosts}/postgres`, { patienceMs: 300_000 })
    const acknowledged: { readonly id: string; readonly at: number }[] = []
    let isOver = false
    const writing = Array.from({ length: 4 }, async (_, writer) => {
      for (let number = 0; !isOver; number += 1) {
        const id = `w${writer}-${number}`
        expect(await store.commit(beliefCommit('ada', id, false))).toMatchObject({ outcome: 'committed' })
        acknowledged.push({ id, at: performance.now() })
      }
    })
    await until(() => acknowledged.length >= 40)

    await primary.kill()
    const killed = acknowledged.length
    await standby.query(`SELECT pg_promote()`)
    // The new primary has no standby, and would wait for one.
    await standby.query(`ALTER SYSTEM SET synchronous_standby_names = ''`)
    await standby.query('SELECT pg_reload_conf()')
    await until(() => acknowledged.length >= killed + 40)
    isOver = true
    await Promise.all(writing)

    const pauses = acknowledged.slice(1).map(({ at }, place) => at - (acknowledged[place]?.at ?? at))
    console.log(`The longest pause of the writes was ${Math.round(Math.max(...pauses))} ms.`)
    await expectExactly(
      store,
      'ada',
      acknowledged.map(({ id }) => id),
    )
    await store.close()
    await standby.stop()
    await primary.stop()
  })

  it('of which the standby alone says that it takes no writes', { timeout: 600_000 }, async () => {
    const primary = await Cluster.start()
    const standby = await Cluster.follow(primary, 'follower')
    const store = openAt(standby.address())

    await expect(store.commit(beliefCommit('ada', 'b1'))).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringContaining('read-only standby'),
    })

    await store.close()
    await standby.stop()
    await primary.stop()
  })
})
