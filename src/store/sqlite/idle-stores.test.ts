import { randomBytes } from 'node:crypto'
import { existsSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryDirectory } from '../../../test/temporary-directory.ts'
import { keepStoresOpen, openKeptStore } from './idle-stores.ts'

const open = (file: string, busyTimeoutMs?: number) =>
  openKeptStore({ file, random: randomBytes, ...(busyTimeoutMs === undefined ? {} : { busyTimeoutMs }) })

/** SQLite removes the log when the last connection is closed. */
const isOpen = (file: string): boolean => existsSync(`${file}-wal`)

const fingerprintOf = async (file: string): Promise<string> => {
  const store = open(file)
  try {
    return await store.fingerprint()
  } finally {
    await store.close()
  }
}

describe('a closed store', () => {
  it('stays open for the next user only if stores are kept open', async () => {
    using directory = temporaryDirectory()
    const file = join(directory.path, 'one.db')
    await fingerprintOf(file)
    const before = isOpen(file)

    const end = keepStoresOpen()
    await fingerprintOf(file)
    const kept = isOpen(file)
    await end()

    expect([before, kept, isOpen(file)]).toEqual([false, true, false])
    await fingerprintOf(file)
    expect(isOpen(file)).toBe(false)
  })

  it('has one user at a time, and a second user opens it again', async () => {
    using directory = temporaryDirectory()
    const file = join(directory.path, 'one.db')
    const end = keepStoresOpen()
    const first = open(file)
    const second = open(file)

    await first.close()
    const third = open(file, 1)
    await second.close()
    await third.close()
    await end()

    expect(isOpen(file)).toBe(false)
  })

  it('is opened again if its file was replaced', async () => {
    using directory = temporaryDirectory()
    const file = join(directory.path, 'one.db')
    const moved = join(directory.path, 'moved.db')
    const end = keepStoresOpen()
    const store = open(file)
    await (await store.access()).addPerson({ name: 'ana', createdAt: new Date(0).toISOString() })
    await store.close()
    for (const suffix of ['', '-wal', '-shm']) renameSync(file + suffix, moved + suffix)

    const other = open(file)
    const people = await (await other.access()).people()
    await other.close()
    await end()

    expect(people).toEqual([])
    rmSync(moved)
  })
})
