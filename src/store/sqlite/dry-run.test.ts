import { chmodSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { commitOf, nextVersion, presentChange, sample } from '../sample-beliefs.contract.ts'
import { inMemory } from './database.ts'
import type { SqliteStore } from './sqlite-store.ts'
import { newFile, openAt } from './temporary-store.contract.ts'

const redis = sample({ id: 'b1', name: 'Redis' })
const renamed = commitOf([presentChange(nextVersion(redis, { name: 'Valkey' }))])
const nameOf = async (store: Pick<SqliteStore, 'get'>) => (await store.get('ada', 'b1'))?.name

async function holdingRedis(file: string): Promise<SqliteStore> {
  const store = openAt(file)
  await store.commit(commitOf([presentChange(redis)]))
  return store
}

describe.each(['on disk', 'in memory'])('a dry run of a change in a store %s', (place) => {
  const open = () => holdingRedis(place === 'in memory' ? inMemory : newFile())

  it('shows the change to its caller only, and stores nothing', async () => {
    const store = await open()
    const before = await store.fingerprint()

    const seen = await store.tryOut(renamed, async (tried) => [await nameOf(tried), await nameOf(store)])

    expect(seen).toEqual(['Valkey', 'Redis'])
    expect(await nameOf(store)).toBe('Redis')
    expect(await store.fingerprint()).toBe(before)
    expect(await store.head()).toMatchObject({ number: 1 })
    await store.close()
  })

  it('makes concurrent changes and other dry runs wait', async () => {
    const store = await open()
    const order: string[] = []
    const trial = store.tryOut(renamed, async (tried) => {
      await new Promise((resume) => setImmediate(resume))
      order.push(`trial ${await nameOf(tried)}`)
    })
    const second = store.tryOut(renamed, async () => void order.push('second'))
    const change = store
      .commit(commitOf([presentChange(nextVersion(redis, { name: 'KeyDB' }))]))
      .then(() => order.push('change'))

    await Promise.all([trial, second, change])

    expect(order).toEqual(['trial Valkey', 'second', 'change'])
    expect(await nameOf(store)).toBe('KeyDB')
    await store.close()
  })

  it('refuses a change that the store would refuse, and one that fails leaves it usable', async () => {
    const store = await open()
    const stale = commitOf([presentChange({ ...redis, version: 9 }, 8)])

    await expect(store.tryOut(stale, nameOf)).rejects.toMatchObject({ name: 'MemoryError', code: 'conflict' })
    await expect(store.tryOut(renamed, async () => Promise.reject(new Error('broken')))).rejects.toThrow('broken')

    expect(await store.tryOut(renamed, nameOf)).toBe('Valkey')
    expect((await store.commit(renamed)).outcome).toBe('committed')
    await store.close()
  })
})

describe('a dry run of a change', () => {
  it('sees the writes of other connections since the last dry run', async () => {
    const file = newFile()
    const store = await holdingRedis(file)
    const other = openAt(file)
    await store.tryOut(renamed, nameOf)
    await other.commit(commitOf([presentChange(sample({ id: 'b2', name: 'Postgres' }))]))

    expect(await store.tryOut(renamed, async (tried) => (await tried.get('ada', 'b2'))?.name)).toBe('Postgres')
    await store.close()
    await other.close()
  })

  it('does not change the journal head next to the store', async () => {
    const file = newFile()
    const store = await holdingRedis(file)
    const head = readFileSync(`${file}-head`, 'utf8')

    await store.tryOut(renamed, nameOf)

    expect(readFileSync(`${file}-head`, 'utf8')).toBe(head)
    await store.close()
  })

  it('waits for another writing process, without blocking reads', async () => {
    const file = newFile()
    const store = await holdingRedis(file)
    const other = new DatabaseSync(file)
    other.exec('BEGIN IMMEDIATE')

    const trial = store.tryOut(renamed, nameOf)
    await new Promise((resume) => setImmediate(resume))
    expect(await nameOf(store)).toBe('Redis')
    other.exec('ROLLBACK')
    other.close()

    expect(await trial).toBe('Valkey')
    await store.close()
  })

  it.skipIf(process.getuid?.() === 0)('works on a store without write permission', async () => {
    const file = newFile()
    await (await holdingRedis(file)).close()
    chmodSync(file, 0o400)
    chmodSync(dirname(file), 0o500)
    const store = openAt(file)

    expect(await store.tryOut(renamed, nameOf)).toBe('Valkey')

    await store.close()
    chmodSync(dirname(file), 0o700)
  })

  it('works on a store that was opened read-only', async () => {
    const file = newFile()
    await (await holdingRedis(file)).close()
    const store = openAt(file, { readonly: true })

    expect(await store.tryOut(renamed, nameOf)).toBe('Valkey')
    await store.close()
  })
})
