import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryDirectory } from './durable-store.ts'
import { isTracerHere } from './tracer.ts'
import type { WriterOptions } from './writer.ts'
import { WriterProcess } from './writer-process.ts'

/** For every acknowledgement, the number of syncs of the log since the previous one. */
async function syncsBeforeEachAck(directory: string, fault: Pick<WriterOptions, 'fault'>): Promise<readonly number[]> {
  const trace = join(directory, 'trace')
  const tracer = ['strace', '-f', '-y', '-s', '64', '-e', 'trace=fsync,fdatasync,write', '-o', trace]
  const writer = new WriterProcess({ file: join(directory, 'credence.db'), prefix: 'w', count: 20, ...fault }, tracer)
  await writer.finished()

  const counts: number[] = []
  let syncs = 0
  for (const line of readFileSync(trace, 'utf8').split('\n')) {
    if (/\bf(?:data)?sync\(\d+<[^>]*-wal>/.test(line)) syncs += 1
    if (/\bwrite\(1<[^>]*>, "ack /.test(line)) {
      counts.push(syncs)
      syncs = 0
    }
  }
  return counts
}

describe.skipIf(!isTracerHere)('an acknowledged belief', () => {
  it('is on the disk before it is acknowledged', { timeout: 60_000 }, async () => {
    using directory = temporaryDirectory()

    const counts = await syncsBeforeEachAck(directory.path, {})

    expect(counts).toHaveLength(20)
    expect(counts.filter((count) => count === 0)).toEqual([])
  })

  it('is proven by a trace that would show the opposite', { timeout: 60_000 }, async () => {
    using directory = temporaryDirectory()

    const counts = await syncsBeforeEachAck(directory.path, { fault: 'unsynced' })

    expect(counts).toHaveLength(20)
    expect(counts.filter((count) => count > 0)).toEqual([])
  })
})
