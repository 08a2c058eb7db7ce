import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import pg from 'pg'
import { describe, expect, it, vi } from 'vitest'
import { recall } from '../../src/memory/recall/recall.ts'
import type { CaredStore } from '../../src/search/store-port.ts'
import {
  Cluster,
  newCache,
  openAt,
  postgresPrograms,
  sharedCluster,
  undurable,
} from '../../src/store/postgres/cluster.contract.ts'
import {
  commitOf,
  erasedChange,
  nextVersion,
  presentChange,
  sample,
  sampleTurn,
} from '../../src/store/sample-beliefs.contract.ts'
import { beliefCommit, expectExactly } from './acknowledged-writes.ts'

const timeout = 300_000

async function query<Row extends pg.QueryResultRow>(address: string, sql: string): Promise<readonly Row[]> {
  const client = new pg.Client({ connectionString: address })
  await client.connect()
  try {
    return (await client.query<Row>(sql)).rows
  } finally {
    await client.end()
  }
}

const filesIn = (directory: string): readonly string[] =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .map((name) => join(directory, name))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true)

/** The files that contain a text, in any row, index or unused space, below these directories. */
const filesWith = (text: string, ...directories: readonly string[]): readonly string[] =>
  directories.flatMap(filesIn).filter((file) => readFileSync(file).includes(text))

const projectionsIn = (directory: string): readonly string[] =>
  filesIn(directory).filter((file) => /[\da-f]{32}\/projection\.db$/u.test(file))

const waitFor = (check: () => void | Promise<void>) => vi.waitFor(check, { timeout: 60_000, interval: 20 })

describe.skipIf(postgresPrograms === null)('The local copies of a PostgreSQL store', () => {
  const cluster = sharedCluster(undurable)

  it('are private, and can be made from the journal of a store that version 0.2.0 wrote', { timeout }, async () => {
    const address = await (await cluster()).newDatabase()
    const cacheDir = newCache()
    await query(address, gunzipSync(readFileSync(new URL('./store-0.2.0.sql.gz', import.meta.url))).toString())
    const store = openAt(address, { cacheDir })

    expect((await store.list({ user: 'ada' }, { limit: 9, offset: 0 })).items).toMatchObject([{ id: 'b1', version: 3 }])
    expect((await store.history('ada', 'b2')).map(({ outcome }) => outcome)).toEqual(['present', 'erased'])
    const { items } = await store.listTurns({ user: 'ada', session: 's1' }, { limit: 9, offset: 0 })
    expect(items.map(({ text, index, utcOffset }) => [text, index, utcOffset])).toEqual([
      ['Earlier.', 0, null],
      ['The kayak is red.', 1, -240],
    ])
    expect(await store.knownTurns('ada', [sampleTurn('x', { messageId: 'm-1' })])).toEqual(['forgotten'])
    expect(await store.commit(commitOf([], { key: { value: 'k1', fingerprint: 'f1' } }))).toMatchObject({
      outcome: 'replayed',
      event: { number: 1 },
    })
    expect(await (await store.access()).people()).toMatchObject([{ name: 'ana' }])
    expect(await store.commit(beliefCommit('bob', 'b9'))).toMatchObject({ outcome: 'committed', event: { number: 2 } })
    expect((await store.verify()).filter(({ ok, check }) => !ok && check !== 'settings')).toEqual([])
    const modes = new Set(filesIn(cacheDir).map((file) => statSync(file).mode & 0o777))
    expect([...modes]).toEqual([0o600])
    await store.close()
  })

  it('start with a snapshot for an owner that a server has not seen before', { timeout }, async () => {
    const address = await (await cluster()).newDatabase()
    const writer = openAt(address)
    const ids = Array.from({ length: 303 }, (_, at) => `b${at}`)
    for (const id of ids) await writer.commit(beliefCommit('ada', id))
    await waitFor(async () => {
      const rows = await query<{ head: string }>(address, 'SELECT head FROM credence.snapshots')
      expect(Number(rows[0]?.head)).toBeGreaterThanOrEqual(250)
    })
    // Deletes an event, so that a new copy cannot be built from the journal alone.
    const unguarded = 'SET session_replication_role = replica'
    await query(address, `${unguarded}; DELETE FROM credence.events WHERE number = 7`)

    const reader = openAt(address)

    expect(await reader.idsStartingWith('ada', '', 1_000)).toHaveLength(ids.length)
    expect(await reader.get('ada', 'b302')).toMatchObject({ id: 'b302' })
    expect(await reader.commit(beliefCommit('ada', 'last'))).toMatchObject({ event: { number: 304 } })
    await query(address, `UPDATE credence.snapshots SET file = 'broken'`)
    const another = openAt(address)
    await expect(another.get('ada', 'b1')).rejects.toMatchObject({ message: expect.stringContaining('event 7') })
    for (const store of [writer, reader, another]) await store.close()
  })

  it('are few open at a time, and use limited space', { timeout }, async () => {
    const address = await (await cluster()).newDatabase()
    const cacheDir = newCache()
    const store = openAt(address, { cacheDir, maxOpen: 2, maxBytes: 1_000_000 })
    const owners = Array.from({ length: 8 }, (_, at) => `owner ${at}`)
    for (const owner of owners) {
      await store.commit(beliefCommit(owner, 'b1'))
      expect(await store.get(owner, 'b1')).toMatchObject({ user: owner })
    }

    const bytes = projectionsIn(cacheDir).reduce((sum, file) => sum + statSync(file).size, 0)
    expect(bytes).toBeLessThan(1_500_000)
    expect(projectionsIn(cacheDir).length).toBeLessThan(owners.length)
    for (const owner of owners) expect(await store.get(owner, 'b1')).toMatchObject({ user: owner })
    await store.close()
  })

  it('lose a forgotten text on every server, and a stopped server loses it before it answers', {
    timeout,
  }, async () => {
    const address = await (await cluster()).newDatabase()
    const one = newCache()
    const other = newCache()
    const stopped = newCache()
    const first = openAt(address, { cacheDir: one })
    const second = openAt(address, { cacheDir: other, sweepEveryMs: 50 })
    const secret = sample({ id: 'b1', name: 'Quagmire', content: 'The zanzibarian code.' })
    const turn = sampleTurn('The kerguelenian plan is secret.', { id: 't-secret' })
    await first.commit(commitOf([presentChange(secret)]))
    await first.commit(commitOf([presentChange(nextVersion(secret, { content: 'The zanzibarian code, again.' }))]))
    await first.commit(commitOf([], { kind: 'hear', turns: [turn, sampleTurn('Something else.', { id: 't-other' })] }))
    for (let at = 0; at < 300; at += 1) await first.commit(beliefCommit('ada', `c${at}`))
    await first.commit(beliefCommit('bob', 'b1'))
    const last = openAt(address, { cacheDir: stopped })
    for (const store of [first, second, last] as readonly CaredStore[])
      expect(await store.get('ada', 'b1')).toMatchObject({ version: 2 })
    await last.close()
    const words = ['Quagmire', 'zanzibarian', 'kerguelenian']
    for (const word of words.slice(1)) expect(filesWith(word, one, other, stopped).length).toBeGreaterThanOrEqual(3)
    const snapshots = async () => {
      const rows = await query<{ file: Buffer }>(address, 'SELECT file FROM credence.snapshots')
      return rows.map(({ file }) => gunzipSync(file))
    }
    await waitFor(async () => expect(await snapshots()).toHaveLength(1))
    expect((await snapshots())[0]?.includes('zanzibarian')).toBe(true)

    const forgetting = commitOf([erasedChange(nextVersion(secret, {}), 'erased')], {
      kind: 'forget',
      forgottenTurns: ['t-secret'],
    })
    expect(await first.commit(forgetting)).toMatchObject({ outcome: 'committed' })

    // The second server must erase the words too, although it gets no request.
    await waitFor(() => expect(words.flatMap((word) => filesWith(word, one, other))).toEqual([]))
    for (const snapshot of await snapshots()) for (const word of words) expect(snapshot.includes(word)).toBe(false)
    for (const [table, column] of [
      ['changes', 'body'],
      ['turns', 'text'],
    ] as const)
      for (const word of words)
        expect(await query(address, `SELECT 1 FROM credence.${table} WHERE ${column} LIKE '%${word}%'`)).toEqual([])
    const again = openAt(address, { cacheDir: stopped })
    expect(await again.get('bob', 'b1')).not.toBeNull()
    expect(words.flatMap((word) => filesWith(word, stopped))).toEqual([])
    expect(await again.get('ada', 'b1')).toBeNull()
    for (const store of [first, second, again]) await store.close()
  })

  it('are changed and read at the same time with fewer connections than calls', { timeout }, async () => {
    const address = await (await cluster()).newDatabase()
    const one = openAt(address, { connections: 2 })
    const other = openAt(address, { connections: 2 })
    await one.commit(beliefCommit('ada', 'first'))
    const ids = Array.from({ length: 60 }, (_, at) => `b${at}`)

    await Promise.all(
      ids.flatMap((id, at) => [
        (at % 2 === 0 ? one : other).commit(beliefCommit('ada', id)),
        one.get('ada', 'first'),
        other.scopes('ada'),
      ]),
    )

    await expectExactly(one, 'ada', ['first', ...ids])
    for (const store of [one, other]) await store.close()
  })

  it('can be changed during a dry run on them', { timeout }, async () => {
    const address = await (await cluster()).newDatabase()
    const store = openAt(address)
    await store.commit(beliefCommit('ada', 'first'))
    const begun = Promise.withResolvers<void>()

    const trying = store.tryOut(beliefCommit('ada', 'tried'), async (tried) => {
      begun.resolve()
      // Waits until the commit below has locked the row of the owner.
      const isLocked = () =>
        query(address, 'SELECT FROM credence.owners FOR UPDATE NOWAIT').then(
          () => false,
          () => true,
        )
      for (let looks = 0; looks < 5; ) if (await isLocked()) looks += 1
      return tried.get('ada', 'tried')
    })
    await begun.promise

    expect(await store.commit(beliefCommit('ada', 'second'))).toMatchObject({ outcome: 'committed' })
    expect(await trying).toMatchObject({ id: 'tried' })
    await expectExactly(store, 'ada', ['first', 'second'])
    await store.close()
  })

  it('of two servers and of a new one have turns in the same places, even after late and forgotten ones', {
    timeout,
  }, async () => {
    const address = await (await cluster()).newDatabase()
    const one = openAt(address)
    const other = openAt(address)
    const at = (hour: number) => ({ at: new Date(Date.UTC(2026, 5, 1, hour)).toISOString() })
    const hear = (store: CaredStore, ...turns: readonly ReturnType<typeof sampleTurn>[]) =>
      store.commit(commitOf([], { kind: 'hear', turns }))
    const placesIn = async (store: CaredStore, session: string) =>
      (await store.listTurns({ user: 'ada', session }, { limit: 50, offset: 0 })).items.map(({ id, index }) => [
        id,
        index,
      ])
    const places = async (store: CaredStore) => [...(await placesIn(store, 's1')), ...(await placesIn(store, 's2'))]
    // The index of the third turn in its session depends on the second turn, which a new copy never sees.
    const session = { session: 's2' }
    await hear(
      one,
      sampleTurn('x', { id: 'x', ...session, ...at(10) }),
      sampleTurn('y', { id: 'y', ...session, ...at(20) }),
    )
    await hear(one, sampleTurn('z', { id: 'z', ...session, index: 1, ...at(5) }))
    await one.commit(commitOf([], { kind: 'forget', forgottenTurns: ['y'] }))
    await hear(one, sampleTurn('a', { id: 'a', ...at(5) }), sampleTurn('b', { id: 'b', ...at(9) }))
    await hear(
      other,
      sampleTurn('c', { id: 'c', ...at(7) }),
      sampleTurn('d', { id: 'd', ...at(6) }),
      sampleTurn('e', { id: 'e', ...at(20) }),
    )
    await hear(one, sampleTurn('f', { id: 'f', index: 1, ...at(30) }), sampleTurn('g', { id: 'g', index: 0, ...at(3) }))
    await one.commit(commitOf([], { kind: 'forget', forgottenTurns: ['f', 'a'] }))
    await hear(other, sampleTurn('h', { id: 'h', index: 2, ...at(1) }), sampleTurn('i', { id: 'i', ...at(8) }))
    const anew = openAt(address)

    const expected = await places(one)

    expect(expected.map(([, index]) => index)).toEqual([0, 1, 2, 3, 4, 5, 6, 0, 1])
    expect(expected.slice(-2).map(([id]) => id)).toEqual(['x', 'z'])
    expect(await places(other)).toEqual(expected)
    expect(await places(anew)).toEqual(expected)
    const rows = await query(
      address,
      'SELECT id, place FROM credence.turns WHERE place IS NOT NULL ORDER BY session, place',
    )
    expect(rows.map(({ id, place }) => [id, place])).toEqual(expected)
    for (const store of [one, other, anew]) await store.close()
  })

  it('answer while PostgreSQL cannot be reached and report how old they are; changes need it', {
    timeout,
  }, async () => {
    const server = await Cluster.start()
    const address = server.address()
    const cacheDir = newCache()
    const before = openAt(address, { cacheDir })
    for (const id of ['b1', 'b2']) await before.commit(beliefCommit('ada', id))
    await before.close()
    await server.kill()
    const since: Date[] = []
    const offline = openAt(address, { cacheDir, onOffline: (date) => since.push(date) })
    const ports = { store: offline, now: () => new Date(0), newId: () => 'unused' }

    const { relevant } = await recall(ports, {
      user: 'ada',
      scopes: ['project:ledger'],
      message: 'What is the alias b1?',
    })

    expect(relevant).toHaveLength(1)
    expect(await offline.memberships('ada')).toEqual([])
    expect(Date.now() - (since[0]?.getTime() ?? 0)).toBeLessThan(timeout)
    const cannotConnect = { code: 'unavailable', message: expect.stringContaining('Cannot connect to PostgreSQL') }
    await expect(offline.commit(beliefCommit('ada', 'b3'))).rejects.toMatchObject(cannotConnect)
    await expect(offline.get('bob', 'b1')).rejects.toMatchObject(cannotConnect)
    const strict = openAt(address, { cacheDir })
    await expect(strict.get('ada', 'b1')).rejects.toMatchObject(cannotConnect)
    await strict.close()
    await server.startServer()
    expect(await offline.commit(beliefCommit('ada', 'b3'))).toMatchObject({ outcome: 'committed' })
    await expectExactly(offline, 'ada', ['b1', 'b2', 'b3'])
    await offline.close()
    await server.stop()
  })
})
