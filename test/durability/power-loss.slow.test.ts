import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { columnOf } from '../column-of.ts'
import { count } from '../full-counts.ts'
import { chance, complaintsOf, expectWritable, lostOrDuplicated, temporaryDirectory } from './durable-store.ts'
import { ReplayedDisk, recordingChanges } from './replayed-disk.ts'
import { isTracerHere } from './tracer.ts'
import type { WriterOptions } from './writer.ts'
import { WriterProcess } from './writer-process.ts'

const seed = 11
type Check = (file: string, acknowledged: readonly string[]) => Promise<readonly string[]>

/**
 * Records a writer and simulates power cuts: right after every acknowledgement, with all unsynced data lost, and at random
 * moments, with a random part of it lost. Returns the losses that `check` finds.
 */
async function cutPower(options: Omit<WriterOptions, 'file' | 'prefix'>, moments: number, check: Check) {
  using directory = temporaryDirectory()
  const memory = join(directory.path, 'memory')
  const record = join(directory.path, 'record')
  mkdirSync(memory)
  const writer = new WriterProcess(
    { file: join(memory, 'credence.db'), prefix: 'w', ...options },
    recordingChanges(record),
  )
  await writer.finished()

  const changes = [...new ReplayedDisk(memory).replay(record)].filter(({ printed }) => printed === null).length
  const random = chance(seed)
  const acknowledged: string[] = []
  const lost: string[] = []
  let cuts = 0
  const disk = new ReplayedDisk(memory)
  for (const { printed } of disk.replay(record)) {
    const isAcknowledged = printed?.startsWith('ack ') ?? false
    if (isAcknowledged) acknowledged.push(printed?.slice('ack '.length) ?? '')
    if (!isAcknowledged && random() >= moments / changes) continue
    using left = temporaryDirectory()
    disk.writeTo(left.path, () => (isAcknowledged ? 0 : ([0, 1, random()][Math.floor(3 * random())] ?? 0)))
    lost.push(...(await check(join(left.path, 'credence.db'), acknowledged)))
    cuts += 1
  }
  return { changes, cuts, acknowledged: acknowledged.length, lost }
}

describe.skipIf(!isTracerHere)('a power cut', () => {
  it('loses no acknowledged write, and leaves a sound store', { timeout: 1_800_000 }, async () => {
    const options = { count: count(100), forgetsEvery: 9 }

    const { lost, ...counts } = await cutPower(options, count(400), async (file, acknowledged) => {
      const missing = await lostOrDuplicated(file, acknowledged)
      await expectWritable(file)
      // An interrupted forget has recorded that the file must be scrubbed, so that complaint is ignored.
      const complaints = (await complaintsOf(file)).filter((complaint) => !complaint.startsWith('forgotten'))
      return [...missing, ...complaints]
    })

    expect(lost).toEqual([])
    expect(counts.cuts).toBeGreaterThan(counts.acknowledged)
    console.log(`Power cuts, seed ${seed}: ${JSON.stringify(counts)}, 0 lost.`)
  })

  it('exposes a writer that acknowledges without waiting for the disk', { timeout: 120_000 }, async () => {
    const { lost, acknowledged } = await cutPower({ count: 20, fault: 'unsynced' }, 0, async (file, expected) => {
      const db = new DatabaseSync(file)
      const isThere = db.prepare(`SELECT 1 FROM sqlite_schema WHERE name = 'notes'`).get() !== undefined
      const found = new Set(isThere ? columnOf(db, 'SELECT id FROM notes') : [])
      db.close()
      return expected.filter((id) => !found.has(id))
    })

    expect(acknowledged).toBe(20)
    expect(lost.length).toBeGreaterThanOrEqual(acknowledged)
  })
})
