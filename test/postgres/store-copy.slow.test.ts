import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { copyAccess, copyJournals } from '../../src/store/copy/journal-transfer.ts'
import { openPostgresTransfer, openSqliteTransfer } from '../../src/store/copy/transfers.ts'
import { openAt, postgresPrograms, sharedCluster, undurable } from '../../src/store/postgres/cluster.contract.ts'
import {
  commitOf,
  erasedChange,
  fixedRandom,
  nextVersion,
  presentChange,
  sample,
  sampleTurn,
} from '../../src/store/sample-beliefs.contract.ts'
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts'

const directory = mkdtempSync(join(tmpdir(), 'credence-copy-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

let files = 0
const newFile = (): string => {
  files += 1
  return join(directory, String(files), 'credence.db')
}
const openFile = (file: string) => openSqliteStore({ file, random: fixedRandom })
type AnyStore = ReturnType<typeof openFile> | ReturnType<typeof openAt>

/** A memory of two users with corrections, undos, turns, and forgotten beliefs. */
async function fill(store: AnyStore): Promise<void> {
  const tea = sample({ id: 'b1', name: 'Tea' })
  const ink = sample({ id: 'b2', name: 'Ink' })
  const bob = sample({ id: 'b3', user: 'bob' })
  const first = sampleTurn('The kayak is red.', { speaker: 'Ana', utcOffset: -240 })
  const doomed = sampleTurn('Forget the zanzibar plan.', { messageId: 'm-1', utcOffset: 330 })
  await store.commit(commitOf([presentChange(tea)], { key: { value: 'k1', fingerprint: 'f1' } }))
  await store.commit(commitOf([presentChange(bob)], { user: 'bob' }))
  await store.commit(commitOf([presentChange(ink)], { key: { value: 'k2', fingerprint: 'f2' } }))
  await store.commit(commitOf([presentChange(nextVersion(tea, { content: 'Green.' }))]))
  const [newest] = await store.events('ada', { limit: 1 })
  await store.commit(commitOf([], { kind: 'hear', turns: [first, doomed] }))
  await store.commit(
    commitOf([presentChange({ ...nextVersion(tea, {}), version: 3 })], { kind: 'undo', undoes: newest?.number ?? 0 }),
  )
  await store.commit(commitOf([erasedChange(ink, 'erased')], { kind: 'forget', forgottenTurns: [doomed.id] }))
  await store.commit(
    commitOf([], { kind: 'hear', turns: [sampleTurn('Earlier.', { at: '2020-01-01T00:00:00.000Z' })] }),
  )
}

/** What a store answers, without event numbers, because one of the stores counts events per user. */
async function answers(store: AnyStore): Promise<unknown> {
  const view = { user: 'ada', agent: null, scopes: ['project:ledger'] }
  return {
    beliefs: await store.list({ user: 'ada' }, { limit: 10, offset: 0 }),
    bob: await store.list({ user: 'bob' }, { limit: 10, offset: 0 }),
    turns: await store.listTurns({ user: 'ada', session: 's1' }, { limit: 10, offset: 0 }),
    sessions: await store.listSessions({ user: 'ada' }, { limit: 10, offset: 0 }),
    events: (await store.events('ada', { limit: 20, hearing: true })).map(({ kind, key, at, beliefIds, turnCount }) => [
      kind,
      key,
      at,
      beliefIds,
      turnCount,
    ]),
    history: (await store.history('ada', 'b2')).map(({ outcome, belief, version }) => [outcome, belief, version]),
    tea: (await store.postings(view, ['tea'])).get('tea'),
    forgotten: await store.knownTurns('ada', [sampleTurn('x', { messageId: 'm-1' })]),
    retried: (await store.commit(commitOf([], { key: { value: 'k1', fingerprint: 'f1' } }))).outcome,
  }
}

describe.skipIf(postgresPrograms === null)('a copied memory', () => {
  const cluster = sharedCluster(undurable)

  it('from SQLite to PostgreSQL and back answers the same, and its chain verifies', async () => {
    const file = newFile()
    const back = newFile()
    const address = await (await cluster()).newDatabase()
    const original = openFile(file)
    await fill(original)
    const expected = await answers(original)
    await original.close()
    const copy = async (from: 'sqlite' | 'postgres') => {
      openFile(back).close()
      const one =
        from === 'sqlite'
          ? await openSqliteTransfer({ file: file, readonly: true, random: fixedRandom })
          : await openPostgresTransfer({ address })
      const other =
        from === 'sqlite'
          ? await openPostgresTransfer({ address })
          : await openSqliteTransfer({ file: back, readonly: false, random: fixedRandom })
      const copied = await copyJournals(one, other, () => {})
      await one.close()
      await other.close()
      return copied
    }

    expect(await copy('sqlite')).toMatchObject([
      { user: 'ada', before: 0 },
      { user: 'bob', events: 1 },
    ])
    await copy('postgres')

    for (const store of [openAt(address), openFile(back)]) {
      const checks = (await store.verify()).filter(({ check }) => check === 'journal' || check === 'index')
      expect(checks.map(({ ok }) => ok)).toEqual([true, true])
      expect(await answers(store)).toEqual(expected)
      await store.close()
    }
  })

  it('continues after an interruption, includes later forgetting, and refuses another history', async () => {
    const file = newFile()
    const address = await (await cluster()).newDatabase()
    const original = openFile(file)
    for (const id of ['b1', 'b2', 'b3'])
      await original.commit(commitOf([presentChange(sample({ id }))], { key: { value: id, fingerprint: id } }))
    await original.close()
    const to = await openPostgresTransfer({ address })
    const first = await openSqliteTransfer({ file: file, readonly: true, random: fixedRandom })
    await to.append('ada', await first.read('ada', 0, 2))
    await first.close()
    const again = openFile(file)
    await again.commit(commitOf([erasedChange(sample({ id: 'b1' }), 'erased')], { kind: 'forget' }))
    await again.close()

    const from = await openSqliteTransfer({ file: file, readonly: true, random: fixedRandom })
    expect(await copyJournals(from, to, () => {})).toEqual([{ user: 'ada', events: 4, before: 2 }])
    expect(await copyJournals(from, to, () => {})).toEqual([{ user: 'ada', events: 4, before: 4 }])
    await from.close()
    const copied = openAt(address)
    expect(await copied.get('ada', 'b1')).toBeNull()
    expect((await copied.history('ada', 'b1'))[0]?.belief).toBeNull()
    await copied.close()

    const other = newFile()
    const stranger = openFile(other)
    await stranger.commit(commitOf([presentChange(sample({ id: 'x1' }))]))
    await stranger.close()
    const wrong = await openSqliteTransfer({ file: other, readonly: true, random: fixedRandom })
    await expect(copyJournals(wrong, to, () => {})).rejects.toMatchObject({ code: 'conflict' })
    await wrong.close()
    await to.close()
  })

  it('continues even if turns of an earlier version were judged in one of the stores only', async () => {
    const file = newFile()
    const address = await (await cluster()).newDatabase()
    const original = openFile(file)
    await original.commit(commitOf([], { kind: 'hear', turns: [sampleTurn('The kayak is red.')] }))
    await original.close()
    const to = await openPostgresTransfer({ address })
    const from = await openSqliteTransfer({ file, random: fixedRandom })
    const [record] = await from.read('ada', 0, 1)
    await to.append('ada', [{ ...record, turns: record?.turns.map((turn) => ({ ...turn, doubtful: null })) } as never])

    expect(await copyJournals(from, to, () => {})).toEqual([{ user: 'ada', events: 1, before: 1 }])
    await Promise.all([from.close(), to.close()])
  })

  it('has the same people, tokens and teams, even after a token was revoked and a role changed', async () => {
    const file = newFile()
    const back = newFile()
    const address = await (await cluster()).newDatabase()
    const at = '2026-05-04T09:00:00.000Z'
    const original = openFile(file)
    const copy = openFile(back)
    const access = await original.access()
    for (const name of ['ana', 'ben']) await access.addPerson({ name, createdAt: at })
    const token = {
      kind: 'agent' as const,
      person: 'ana',
      scopes: ['team:platform'],
      label: 'laptop',
      createdAt: at,
      lastUsedAt: null,
      revokedAt: null,
    }
    await access.addToken({ ...token, id: 't-1' }, 'hash 1')
    await access.addToken({ ...token, id: 't-2', kind: 'admin', person: null, scopes: [] }, 'hash 2')
    await access.addTeam({ name: 'platform', createdAt: at })
    await access.setMember('platform', 'ana', 'owner')
    const toServer = [
      await openSqliteTransfer({ file: file, readonly: true, random: fixedRandom }),
      await openPostgresTransfer({ address }),
    ] as const
    const toFile = [
      await openPostgresTransfer({ address }),
      await openSqliteTransfer({ file: back, readonly: false, random: fixedRandom }),
    ] as const

    expect(await copyAccess(...toServer)).toEqual({ people: 2, tokens: 2, teams: 1 })
    await access.noteUse('t-1', at)
    await access.revokeToken('t-2', at)
    await access.setMember('platform', 'ana', 'reader')
    await copyAccess(...toServer)
    await copyAccess(...toFile)

    const copied = await copy.access()
    expect(await copied.findToken({ hash: 'hash 1' })).toEqual(await access.findToken({ hash: 'hash 1' }))
    expect(await copied.findToken({ hash: 'hash 2' })).toBeNull()
    expect(await copied.tokens()).toEqual(await access.tokens())
    expect(await copied.teams()).toEqual(await access.teams())
    // People of the target that the source does not know are never removed silently.
    await access.removePerson('ben')
    await expect(copyAccess(...toServer)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining('ben'),
    })
    await access.removePerson('ana')
    await access.removeTeam('platform')
    expect(await copyAccess(...toServer)).toEqual({ people: 0, tokens: 0, teams: 0 })
    for (const transfer of [...toServer, ...toFile]) await transfer.close()
    const served = openAt(address)
    expect((await (await served.access()).people()).map(({ name }) => name)).toEqual(['ana', 'ben'])
    for (const store of [served, original, copy]) await store.close()
  })
})
