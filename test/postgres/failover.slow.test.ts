import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { Cluster, openAt, password, postgresPrograms } from '../../src/store/postgres/cluster.contract.ts'
import { count } from '../full-counts.ts'
import { beliefCommit, expectExactly } from './acknowledged-writes.ts'

const failovers = count(20)

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await pause(50)
}

describe.skipIf(postgresPrograms === null)('A primary and a synchronous standby', () => {
  it('change places under load without losing an acknowledged write', {
    timeout: 600_000 + failovers * 60_000,
  }, async () => {
    let primary = await Cluster.start()
    let standby = await Cluster.follow(primary, 'follower')
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
    const moreWritten = async (more: number): Promise<void> => {
      const target = acknowledged.length + more
      await Promise.race([until(() => acknowledged.length >= target), ...writing])
    }
    const pauses: number[] = []
    for (let failover = 0; failover < failovers; failover += 1) {
      // Set for this server only: after a failover, the new primary has no standby to wait for.
      await primary.query('ALTER SYSTEM SET synchronous_standby_names = follower')
      await primary.query('SELECT pg_reload_conf()')
      await until(async () => {
        const [row] = await primary.query<{ state: string }>('SELECT sync_state AS state FROM pg_stat_replication')
        return row?.state === 'sync'
      })
      await moreWritten(40)

      const from = acknowledged.length - 1
      await primary.kill()
      await standby.query(`SELECT pg_promote()`)
      await moreWritten(40)
      const times = acknowledged.slice(from).map(({ at }) => at)
      pauses.push(Math.max(...times.slice(1).map((at, place) => at - (times[place] ?? at))))
      // The killed server returns as the standby of the new primary.
      const { port } = primary
      await primary.stop()
      primary = standby
      standby = await Cluster.follow(primary, 'follower', port)
    }
    isOver = true
    await Promise.all(writing)

    const [median, longest] = [0.5, 1].map((share) => {
      const sorted = pauses.toSorted((a, b) => a - b)
      return Math.round(sorted[Math.ceil(share * sorted.length) - 1] ?? 0)
    })
    console.log(
      `failover: ${failovers} times, ${acknowledged.length} changes acknowledged, pause of the writes ${median} ms at the median, ${longest} ms at most`,
    )
    await expectExactly(
      store,
      'ada',
      acknowledged.map(({ id }) => id),
    )
    await store.close()
    await standby.stop()
    await primary.stop()
  })

  it('are distinguished: only the standby reports that it takes no writes', { timeout: 600_000 }, async () => {
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
