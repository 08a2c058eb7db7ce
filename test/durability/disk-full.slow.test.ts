import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { commitOf, present, sample } from '../../src/store/sample-beliefs.contract.ts'
import { complaintsOf, lostOrDoubled, openStore, temporaryDirectory } from './durable-store.ts'
import { WriterProcess } from './writer-process.ts'

const workload = { prefix: 'w', count: 600, contentLength: 3000, mostRefusals: 5 }

describe('a full disk', () => {
  it('refuses writes clearly, loses nothing, and lets reading go on', { timeout: 120_000 }, async ({ skip }) => {
    using directory = temporaryDirectory()
    const disk = join(directory.path, 'disk')
    mkdirSync(disk)
    const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=3m', 'tmpfs', disk], { encoding: 'utf8' })
    if (mounted.status !== 0) skip(`A small disk cannot be mounted here: ${mounted.error?.message ?? mounted.stderr}`)
    try {
      const file = join(disk, 'credence.db')
      const ballast = join(disk, 'ballast')
      writeFileSync(ballast, Buffer.alloc(600_000))

      const writer = new WriterProcess({ file, ...workload })
      const report = await writer.finished()

      expect(writer.refusals.length).toBe(5)
      for (const { code, message, hint } of writer.refusals) {
        expect([code, message]).toEqual(['unavailable', expect.stringContaining(file)])
        expect(message).toContain('full')
        expect(hint).toContain('space')
      }
      expect(report?.acknowledged).toBeGreaterThan(10)
      expect(report?.readable).toBe(report?.acknowledged)
      rmSync(ballast)
      expect(await lostOrDoubled(file, writer.acknowledged)).toEqual([])
      await expectWritable(file)
      expect(await complaintsOf(file)).toEqual([])
    } finally {
      spawnSync('umount', [disk])
    }
  })

  it('of the kind that forbids big files does the same', { timeout: 120_000 }, async ({ skip }) => {
    if (spawnSync('prlimit', ['--version']).status !== 0) skip('prlimit is not installed.')
    using directory = temporaryDirectory()
    const file = join(directory.path, 'credence.db')

    // Without the trap the system ends the process instead of refusing the write.
    const limited = ['sh', '-c', 'trap "" XFSZ; exec prlimit --fsize=2000000 "$@"', 'limited']
    const writer = new WriterProcess({ file, ...workload }, limited)
    const report = await writer.finished()

    expect(writer.refusals.length).toBe(5)
    for (const { code, message } of writer.refusals) {
      expect([code, message]).toEqual(['unavailable', expect.stringContaining(file)])
    }
    expect(report?.acknowledged).toBeGreaterThan(10)
    expect(report?.readable).toBe(report?.acknowledged)
    expect(await lostOrDoubled(file, writer.acknowledged)).toEqual([])
    await expectWritable(file)
    expect(await complaintsOf(file)).toEqual([])
  })

  it('is what refused them: with room enough the same work is done', { timeout: 120_000 }, async () => {
    using directory = temporaryDirectory()
    const file = join(directory.path, 'credence.db')

    const writer = new WriterProcess({ file, ...workload })
    await writer.finished()

    expect(writer.refusals).toEqual([])
    expect(writer.acknowledged).toHaveLength(workload.count)
  })
})

async function expectWritable(file: string): Promise<void> {
  const store = openStore(file)
  const result = await store.commit(commitOf([present(sample({ id: 'afterwards' }))]))
  expect(result.outcome).toBe('committed')
  await store.close()
}
