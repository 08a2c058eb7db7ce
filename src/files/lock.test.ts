import { spawnSync } from 'node:child_process'
import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryDirectory } from '../../test/temporary-directory.ts'
import { takeLock } from './lock.ts'

describe('a lock', () => {
  it('is held by one at a time, and free again afterwards', async () => {
    using directory = temporaryDirectory()
    const path = join(directory.path, 'lock')

    const release = await takeLock(path, 'The run "a"')

    await expect(takeLock(path, 'The run "a"')).rejects.toMatchObject({
      code: 'conflict',
      message: `The run "a" is in use by process ${process.pid}.`,
    })
    await release()
    await (await takeLock(path, 'The run "a"'))()
    expect(readdirSync(directory.path)).toEqual([])
  })

  it('is taken over from a process that is gone', async () => {
    using directory = temporaryDirectory()
    const path = join(directory.path, 'lock')
    const { pid } = spawnSync(process.execPath, ['--eval', '0'])
    writeFileSync(path, `${pid}\n`)

    const outcomes = await Promise.allSettled([takeLock(path, 'It'), takeLock(path, 'It'), takeLock(path, 'It')])

    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })
})
