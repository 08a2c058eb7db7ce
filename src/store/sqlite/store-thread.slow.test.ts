import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterEach, describe, expect, it } from 'vitest'
import { temporaryDirectory } from '../../../test/temporary-directory.ts'
import { DamagedStore } from '../../errors.ts'
import { commitOf, gone, present, sample } from '../sample-beliefs.contract.ts'
import { describeStore } from '../store.contract.ts'
import type { SqliteStore } from './sqlite-store.ts'
import { withThread } from './sqlite-store.ts'
import { newFile, openAt } from './temporary-store.contract.ts'

const opened: SqliteStore[] = []
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close()
})

const openThreaded = (file: string, patience: { readonly busyTimeoutMs?: number } = {}): SqliteStore =>
  withThread(openAt(file, patience), { file, ...patience })

function threaded(file = newFile(), patience: { readonly busyTimeoutMs?: number } = {}): SqliteStore {
  const store = openThreaded(file, patience)
  opened.push(store)
  return store
}

describeStore('The SQLite store with a thread', () => openThreaded(newFile()))

describe('A store with a thread', () => {
  it('answers reads while a change waits for another process', async () => {
    const file = newFile()
    const store = threaded(file)
    await store.commit(commitOf([present(sample({ id: 'b1' }))]))
    const other = new Database(file)
    other.exec('BEGIN IMMEDIATE')
    let isDone = false

    const change = store.commit(commitOf([present(sample({ id: 'b2', name: 'second' }))])).then((result) => {
      isDone = true
      return result
    })
    const readMeanwhile = await store.get('ada', 'b1')
    const isDoneMeanwhile = isDone
    other.exec('ROLLBACK')
    other.close()

    expect(readMeanwhile?.id).toBe('b1')
    expect(isDoneMeanwhile).toBe(false)
    expect((await change).outcome).toBe('committed')
    expect((await store.get('ada', 'b2'))?.name).toBe('second')
  })

  it('shows a change to who has been reading before it', async () => {
    const store = threaded()

    const [before, after] = await store.withSnapshot(async () => {
      const seen = await store.get('ada', 'b1')
      await store.commit(commitOf([present(sample({ id: 'b1' }))]))
      return [seen, await store.get('ada', 'b1')]
    })

    expect(before).toBeNull()
    expect(after?.id).toBe('b1')
  })

  it('makes changes that are asked for at once one after the other', async () => {
    const store = threaded()
    const asked = Array.from({ length: 50 }, (_, index) =>
      store.commit(commitOf([present(sample({ id: `b${index}`, name: `thing ${index}` }))])),
    )

    const outcomes = (await Promise.all(asked)).map(({ outcome }) => outcome)

    expect(new Set(outcomes)).toEqual(new Set(['committed']))
    expect((await store.list({ user: 'ada' }, { limit: 100, offset: 0 })).total).toBe(50)
  })

  it('passes a refusal on as it was meant', async () => {
    const file = newFile()
    const store = threaded(file, { busyTimeoutMs: 0 })
    const other = new Database(file)
    other.exec('BEGIN IMMEDIATE')

    const refusal = await store.commit(commitOf([present(sample({ id: 'b1' }))])).catch((error: unknown) => error)
    other.exec('ROLLBACK')
    other.close()

    expect(refusal).toMatchObject({ name: 'MemoryError', code: 'unavailable' })
    expect(await store.get('ada', 'b1')).toBeNull()
  })

  it('passes on which file the system refused, and that the store is damaged', async () => {
    const file = newFile()
    const store = threaded(file)
    await store.commit(commitOf([present(sample({ id: 'b1' }))]))

    const refusal = await store.backup(join(file, 'copy.db')).catch((error: unknown) => error)
    const other = new Database(file)
    other.exec('DROP TABLE forms')
    other.close()
    const damage = await store.commit(commitOf([present(sample({ id: 'b2' }))])).catch((error: unknown) => error)

    expect(refusal).toMatchObject({ name: 'MemoryError', code: 'unavailable' })
    expect(damage).toBeInstanceOf(DamagedStore)
  })

  it('is looked after there too, and leaves nothing behind of what was forgotten', async () => {
    using directory = temporaryDirectory()
    const store = threaded()
    const belief = sample({ id: 'b1', content: 'unmistakable' })
    await store.commit(commitOf([present(belief)]))
    const before = await store.fingerprint()
    await store.rebuild()

    expect(await store.fingerprint()).toBe(before)
    expect((await store.verify()).filter(({ ok }) => !ok)).toEqual([])

    await store.commit(commitOf([gone(belief, 'erased')]))
    await store.scrub()
    await store.backup(join(directory.path, 'copy.db'))
    const copy = threaded(join(directory.path, 'copy.db'))

    expect(await copy.get('ada', 'b1')).toBeNull()
    expect((await copy.list({ user: 'ada' }, { limit: 1, offset: 0 })).total).toBe(0)
  })

  it('starts no thread for who only reads, and closes', async () => {
    const store = openThreaded(newFile())

    expect(await store.get('ada', 'b1')).toBeNull()
    await expect(store.close()).resolves.toBeUndefined()
  })
})
