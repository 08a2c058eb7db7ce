import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { describe, expect, it } from 'vitest'
import {
  Cluster,
  newCache,
  openAt,
  postgresPrograms,
  sharedCluster,
  undurable,
} from '../../src/store/postgres/cluster.contract.ts'
import { beliefCommit, expectExactly } from './acknowledged-writes.ts'

async function query(address: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: address })
  await client.connect()
  try {
    await client.query(sql)
  } finally {
    await client.end()
  }
}

describe.skipIf(postgresPrograms === null)('A PostgreSQL store', () => {
  const cluster = sharedCluster(undurable)

  it('is created once by programs that start at the same time', async () => {
    const address = await (await cluster()).newDatabase()
    const stores = Array.from({ length: 6 }, () => openAt(address, { connections: 1 }))

    await Promise.all(stores.map((store, at) => store.commit(beliefCommit('ada', `b${at}`))))

    await expectExactly(stores[0] as (typeof stores)[number], 'ada', ['b0', 'b1', 'b2', 'b3', 'b4', 'b5'])
    for (const store of stores) await store.close()
  })

  it('of a newer schema is refused', async () => {
    const address = await (await cluster()).newDatabase()
    const first = openAt(address)
    await first.commit(beliefCommit('ada', 'b1'))
    await first.close()
    await query(address, `INSERT INTO credence.migrations VALUES (99, 'of the future')`)

    const store = openAt(address)

    await expect(store.get('ada', 'b1')).rejects.toMatchObject({
      code: 'invalid',
      message: expect.stringContaining('99'),
    })
    await store.close()
  })

  it('that a newer version migrates is refused by programs that have it open, and contains none of their writes', async () => {
    const address = await (await cluster()).newDatabase()
    const open = async () => {
      const store = openAt(address)
      await store.commit(beliefCommit('ada', 'b1'))
      return store
    }
    const writer = await open()
    const counter = await open()
    const inviter = await open()
    const access = await inviter.access()
    const tally = { at: '2026-03-01T12:00:00.000Z', beliefIds: ['b1'], isSilent: false, durationMs: 1 }
    await query(address, `INSERT INTO credence.migrations VALUES (99, 'of the future')`)

    const isRefused = { code: 'invalid', message: expect.stringContaining('has schema 99') }
    await expect(writer.commit(beliefCommit('ada', 'b2'))).rejects.toMatchObject(isRefused)
    await expect(writer.get('ada', 'b1')).rejects.toMatchObject(isRefused)
    await expect(counter.countRecalls('ada', [tally])).rejects.toMatchObject(isRefused)
    await expect(access.addPerson({ name: 'ana', createdAt: tally.at })).rejects.toMatchObject(isRefused)
    for (const store of [writer, counter, inviter]) await store.close()

    await query(address, `DELETE FROM credence.migrations WHERE number = 99`)
    const after = openAt(address)
    await expectExactly(after, 'ada', ['b1'])
    expect(await after.recallDays('ada')).toEqual([])
    expect(await (await after.access()).people()).toEqual([])
    await after.close()
  })

  it('is used by two versions at once, each with its own local copies', async () => {
    const address = await (await cluster()).newDatabase()
    const cacheDir = newCache()
    const older = openAt(address, { analysis: 'older', cacheDir })
    const newer = openAt(address, { analysis: 'newer', cacheDir })

    for (const [at, store] of [older, newer, older, newer].entries())
      expect(await store.commit(beliefCommit('ada', `b${at}`))).toMatchObject({ outcome: 'committed' })

    for (const store of [older, newer]) {
      const view = { user: 'ada', agent: null, scopes: ['project:ledger'] }
      expect((await store.postings(view, ['alias b0', 'alias b1'])).size).toBe(2)
      await expectExactly(store, 'ada', ['b0', 'b1', 'b2', 'b3'])
    }
    expect(readdirSync(cacheDir)).toHaveLength(2)
    await older.close()
    await newer.close()
  })

  it('detects an altered text and a removed event', async () => {
    const address = await (await cluster()).newDatabase()
    const store = openAt(address)
    for (const id of ['b1', 'b2', 'b3']) await store.commit(beliefCommit('ada', id))
    const failing = async () => (await store.verify()).filter(({ ok, check }) => !ok && check !== 'settings')
    expect(await failing()).toEqual([])

    const unguarded = 'SET session_replication_role = replica'
    await query(
      address,
      `${unguarded}; UPDATE credence.changes SET body = replace(body, 'true', 'tree') WHERE belief = 'b1'`,
    )
    expect((await failing())[0]).toMatchObject({ check: 'journal', detail: expect.stringContaining('b1') })
    await query(address, `${unguarded}; DELETE FROM credence.events WHERE number = 3`)
    expect((await failing())[0]?.detail).toContain('the newest event is 2, not 3')
    await expect(query(address, 'DELETE FROM credence.events')).rejects.toThrow('append-only')
    await store.close()
  })

  it('creates a local copy again if it was damaged, or belongs to another journal', async () => {
    const address = await (await cluster()).newDatabase()
    const other = await (await cluster()).newDatabase()
    const cacheDir = newCache()
    const folders = () => readdirSync(cacheDir, { recursive: true, encoding: 'utf8' })
    const files = () => folders().filter((name) => /[\da-f]{32}\/projection\.db$/u.test(name))
    const written = async (at: string, id: string) => {
      const store = openAt(at, { cacheDir })
      await store.commit(beliefCommit('ada', id))
      await store.commit(beliefCommit('ada', `${id}-2`))
      await store.close()
    }
    await written(other, 'foreign')
    const [foreign = ''] = files()
    await written(address, 'b1')
    const [own = ''] = files().filter((name) => name !== foreign)

    for (const bytes of [readFileSync(join(cacheDir, foreign)), Buffer.from('no database')]) {
      writeFileSync(join(cacheDir, own), bytes)
      const store = openAt(address, { cacheDir })
      expect(await store.get('ada', 'b1')).toMatchObject({ id: 'b1' })
      expect(await store.get('ada', 'foreign')).toBeNull()
      await store.close()
    }
  })
})

/** Mounts a small separate file system; null if that is not allowed. */
function smallDisk(): string | null {
  const place = mkdtempSync(join(tmpdir(), 'credence-small-disk-'))
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=110m,mode=777', 'tmpfs', place], { stdio: 'ignore' })
    return place
  } catch {
    console.log('A small file system cannot be mounted here, so the test of a full disk is skipped.')
    rmSync(place, { recursive: true, force: true })
    return null
  }
}

describe.skipIf(postgresPrograms === null)('a PostgreSQL store on a full disk', () => {
  const place = postgresPrograms === null ? null : smallDisk()

  it.skipIf(place === null)(
    'refuses changes completely, loses none, and continues when there is space',
    { timeout: 600_000 },
    async () => {
      const disk = place as string
      const small = await Cluster.start(
        ['wal_recycle=off', 'max_wal_size=32MB', 'min_wal_size=32MB', 'shared_buffers=16MB'],
        disk,
      )
      const store = openAt(small.address(), { patienceMs: 60_000 })
      const acknowledged: string[] = []
      const write = async (number: number): Promise<void> => {
        await store.commit(beliefCommit('ada', `b${number}`))
        acknowledged.push(`b${number}`)
      }
      for (let number = 0; number < 20; number += 1) await write(number)
      const filler = join(disk, 'filler')
      execFileSync('sh', ['-c', `dd if=/dev/zero of='${filler}' bs=64k 2>/dev/null || true`])
      let refused: unknown = null
      for (let number = 20; refused === null && number < 3_000; number += 1)
        await write(number).catch((error: unknown) => {
          refused = error
        })

      expect(refused).toMatchObject({ code: 'unavailable' })
      rmSync(filler)
      // If the server stopped because its log could not grow, it is started again, as an operator would do.
      await small.query('SELECT 1').catch(async () => {
        await small.kill()
        await small.startServer()
      })
      const stored = await store.idsStartingWith('ada', '', 10_000)
      expect(acknowledged.filter((id) => !stored.includes(id))).toEqual([])
      await write(10_000)
      await expectExactly(store, 'ada', [...stored, 'b10000'])
      await store.close()
      await small.stop()
      execFileSync('umount', [disk])
      rmSync(disk, { recursive: true, force: true })
    },
  )
})
