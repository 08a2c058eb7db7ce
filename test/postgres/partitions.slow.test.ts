import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { openModelStore } from '../../src/store/model-store.contract.ts'
import {
  emptyStores,
  openAt,
  postgresPrograms,
  sharedCluster,
  undurable,
} from '../../src/store/postgres/cluster.contract.ts'
import { fixedRandom } from '../../src/store/sample-beliefs.contract.ts'
import { describeAgreement } from '../../src/store/store-agreement.contract.ts'
import { beliefCommit, expectExactly } from './acknowledged-writes.ts'

/** The statements that docs/postgres.md shows. */
const [, partitioning = ''] =
  /```sql\n(DO [\s\S]*?)```/u.exec(readFileSync(new URL('../../docs/postgres.md', import.meta.url), 'utf8')) ?? []

describe.skipIf(postgresPrograms === null)('PostgreSQL in partitions', () => {
  const cluster = sharedCluster(undurable)

  it('keeps the existing rows, and the triggers that guard the journal', { timeout: 300_000 }, async () => {
    const server = await cluster()
    const address = await server.newDatabase()
    const database = new URL(address).pathname.slice(1)
    const owners = Array.from({ length: 12 }, (_, at) => `owner ${at}`)
    const before = openAt(address)
    for (const owner of owners) await before.commit(beliefCommit(owner, 'b1'))
    await before.close()

    await server.query(partitioning, database)

    const after = openAt(address)
    for (const owner of owners) {
      await after.commit(beliefCommit(owner, 'b2'))
      await expectExactly(after, owner, ['b1', 'b2'])
    }
    // This server is never killed, so it can trade durability for speed.
    expect((await after.verify()).filter(({ check, ok }) => !ok && check !== 'settings')).toEqual([])
    await expect(server.query('DELETE FROM credence.changes', database)).rejects.toThrow('append-only')
    const parts = await server.query<{ rows: string }>(
      `SELECT tableoid::regclass AS part, count(*) AS rows FROM credence.changes GROUP BY 1`,
      database,
    )
    expect(parts.length).toBeGreaterThan(1)
    await after.close()
  })

  describeAgreement(
    'The memory store and the PostgreSQL store in partitions',
    () => openModelStore({ random: fixedRandom, journals: 'per user' }),
    emptyStores(cluster, { altered: partitioning }),
    { runs: 6, timeoutMs: 600_000 },
  )
})
