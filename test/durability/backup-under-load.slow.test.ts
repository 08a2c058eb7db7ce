import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { restoreStore } from '../../src/store/sqlite/care/backup.ts'
import { count } from '../full-counts.ts'
import { complaintsOf, lostOrDuplicated, openStore, temporaryDirectory } from './durable-store.ts'
import { WriterProcess } from './writer-process.ts'

const backups = count(100)

/** Restores a backup into a new file and returns the last acknowledged beliefs that it lacks. */
async function missingIn(backup: string, file: string, acknowledged: readonly string[]): Promise<readonly string[]> {
  await restoreStore({ from: backup, file, random: randomBytes, confirm: async () => true })
  expect(await complaintsOf(file)).toEqual([])
  return lostOrDuplicated(file, acknowledged.slice(-50))
}

describe('a backup that is made while another process writes', () => {
  it(`contains every write acknowledged before it began, ${backups} times`, {
    timeout: 3_600_000,
  }, async () => {
    using directory = temporaryDirectory()
    const file = join(directory.path, 'credence.db')
    const writer = new WriterProcess({ file, prefix: 'w', count: 1e9 })
    const store = openStore(file)
    for (let number = 1; number <= backups; number += 1) {
      await writer.hasAcknowledged(writer.acknowledged.length + 20)
      const before = [...writer.acknowledged]

      const backup = join(directory.path, `backup-${number}.db`)
      await store.backup(backup)

      const restored = join(directory.path, `restored-${number}`, 'credence.db')
      expect(await missingIn(backup, restored, before)).toEqual([])
    }
    await store.close()
    await writer.kill()
    expect(await lostOrDuplicated(file, writer.acknowledged.slice(-200))).toEqual([])
    expect(await complaintsOf(file)).toEqual([])
  })

  it('guards the test: a backup lacks beliefs that were written after it', { timeout: 120_000 }, async () => {
    using directory = temporaryDirectory()
    const file = join(directory.path, 'credence.db')
    const writer = new WriterProcess({ file, prefix: 'w', count: 1e9 })
    await writer.hasAcknowledged(5)
    const store = openStore(file)
    const backup = join(directory.path, 'backup.db')
    await store.backup(backup)
    await store.close()
    await writer.hasAcknowledged(writer.acknowledged.length + 60)
    await writer.kill()

    expect(await missingIn(backup, join(directory.path, 'restored.db'), writer.acknowledged)).not.toEqual([])
  })

  it('of a missing file is refused', async () => {
    using directory = temporaryDirectory()
    const from = join(directory.path, 'empty.db')
    writeFileSync(from, '')

    const restoring = restoreStore({
      from,
      file: join(directory.path, 'a.db'),
      random: randomBytes,
      confirm: async () => true,
    })

    await expect(restoring).rejects.toMatchObject({ code: 'invalid' })
  })
})
