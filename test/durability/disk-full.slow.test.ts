import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { count } from '../full-counts.ts'
import { complaintsOf, expectWritable, lostOrDuplicated, openStore, temporaryDirectory } from './durable-store.ts'
import type { WriterOptions } from './writer.ts'
import { WriterProcess } from './writer-process.ts'

const workload = { prefix: 'w', count: 600, contentLength: 3000, maxRefusals: 5 }

/** A full run fills a disk of every size with every workload. */
const sizes = ['3m', '5m', '8m']
const workloads: readonly (readonly [name: string, options: Partial<WriterOptions>])[] = [
  ['long beliefs', {}],
  ['short beliefs', { contentLength: 100, count: 8_000 }],
  ['beliefs of medium length', { contentLength: 800, count: 3_000 }],
  ['the longest beliefs', { contentLength: 9_000 }],
  ['beliefs that are forgotten', { forgetsEvery: 10 }],
]
const disks = sizes.flatMap((size) => workloads.map(([name, options]) => [size, name, options] as const))
const tried = disks.filter((_, at) => count(disks.length) === disks.length || at === 0 || at === 9)

describe('a full disk', () => {
  it.for(tried)(
    'of %s, filled by %s, refuses writes with a clear error, loses nothing, and still answers reads',
    {
      timeout: 600_000,
    },
    async ([size, , options], { skip }) => {
      using directory = temporaryDirectory()
      const disk = join(directory.path, 'disk')
      mkdirSync(disk)
      const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', disk], { encoding: 'utf8' })
      if (mounted.status !== 0) skip(`A small disk cannot be mounted here: ${mounted.error?.message ?? mounted.stderr}`)
      try {
        const file = join(disk, 'credence.db')
        const ballast = join(disk, 'ballast')
        writeFileSync(ballast, Buffer.alloc(1_000_000))

        const writer = new WriterProcess({ file, ...workload, ...options })
        const report = await writer.finished()

        expect(writer.refusals.length).toBe(5)
        for (const { code, message, hint } of writer.refusals) {
          expect([code, message]).toEqual(['unavailable', expect.stringContaining(file)])
          expect(message).toContain('full')
          expect(hint).toContain('space')
        }
        expect(report?.acknowledged).toBeGreaterThan(3)
        expect(report?.readable).toBe(report?.acknowledged)
        console.log(
          `${size}, ${workloads.find(([, one]) => one === options)?.[0]}: ${report?.acknowledged} written, 0 lost`,
        )
        rmSync(ballast)
        expect(await lostOrDuplicated(file, writer.acknowledged)).toEqual([])
        await expectWritable(file)
        const store = openStore(file)
        // Finishes the clean-up that a forget postponed until there was space.
        await store.scrub()
        await store.close()
        expect(await complaintsOf(file)).toEqual([])
      } finally {
        spawnSync('umount', ['--lazy', disk])
      }
    },
  )

  it('with a limit on file sizes does the same', { timeout: 120_000 }, async ({ skip }) => {
    if (spawnSync('prlimit', ['--version']).status !== 0) skip('prlimit is not installed.')
    using directory = temporaryDirectory()
    const file = join(directory.path, 'credence.db')

    // Without the trap, the system would end the process instead of failing the write.
    const limited = ['sh', '-c', 'trap "" XFSZ; exec prlimit --fsize=2000000 "$@"', 'limited']
    const writer = new WriterProcess({ file, ...workload }, limited)
    const report = await writer.finished()

    expect(writer.refusals.length).toBe(5)
    for (const { code, message } of writer.refusals) {
      expect([code, message]).toEqual(['unavailable', expect.stringContaining(file)])
    }
    expect(report?.acknowledged).toBeGreaterThan(10)
    expect(report?.readable).toBe(report?.acknowledged)
    expect(await lostOrDuplicated(file, writer.acknowledged)).toEqual([])
    await expectWritable(file)
    expect(await complaintsOf(file)).toEqual([])
  })

  it('caused the refusals: with enough space the same work succeeds', { timeout: 120_000 }, async () => {
    using directory = temporaryDirectory()
    const file = join(directory.path, 'credence.db')

    const writer = new WriterProcess({ file, ...workload })
    await writer.finished()

    expect(writer.refusals).toEqual([])
    expect(writer.acknowledged).toHaveLength(workload.count)
  })
})
