import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { count } from '../full-counts.ts'
import { chance, complaintsOf, lostOrDuplicated, openStore, temporaryDirectory } from './durable-store.ts'
import { isTracerHere, tracing } from './tracer.ts'
import type { WriterOptions } from './writer.ts'
import { WriterProcess } from './writer-process.ts'

const kills = count(1_000)
const lanes = 2

/** Starts a writer, kills it at some moment of its work, and returns its acknowledged writes. */
async function killedWriter(options: WriterOptions, random: () => number): Promise<readonly string[]> {
  const writer = new WriterProcess(options)
  // Waits for a number of beliefs rather than for a time, because the rate depends on the disk. The exact moment is
  // random within the next one or two beliefs.
  await writer.hasAcknowledged(Math.floor(5 * random()))
  await after(5 * random())
  await writer.kill()
  return writer.acknowledged
}

describe('a killed writer', () => {
  it(`loses nothing it acknowledged, ${kills} times`, { timeout: 1_800_000 }, async () => {
    using directory = temporaryDirectory()
    const file = join(directory.path, 'credence.db')
    const acknowledged: string[] = []
    const lane = async (number: number): Promise<void> => {
      const random = chance(number)
      for (let kill = 0; kill < kills / lanes; kill += 1) {
        const written = await killedWriter({ file, prefix: `w${number}-${kill}`, count: 1e9 }, random)
        expect(await lostOrDuplicated(file, written)).toEqual([])
        acknowledged.push(...written)
      }
    }

    await Promise.all(Array.from({ length: lanes }, (_, number) => lane(number)))

    expect(acknowledged.length).toBeGreaterThan(kills)
    expect(await lostOrDuplicated(file, acknowledged)).toEqual([])
    const store = openStore(file)
    const { total } = await store.list({ user: 'ada' }, { limit: 1, offset: 0 })
    await store.close()
    // Each writer may have committed one belief that it could not acknowledge before it was killed.
    expect(total).toBeGreaterThanOrEqual(acknowledged.length)
    expect(total).toBeLessThanOrEqual(acknowledged.length + kills)
    expect(await complaintsOf(file)).toEqual([])
  })

  it('is detected if it acknowledges too early', { timeout: 120_000 }, async () => {
    using directory = temporaryDirectory()
    const file = join(directory.path, 'credence.db')
    const random = chance(7)
    let lost: readonly string[] = []

    for (let kill = 0; kill < 40 && lost.length === 0; kill += 1) {
      const options = { file, prefix: `w${kill}`, count: 1e9, fault: 'early' } as const
      lost = await lostOrDuplicated(file, await killedWriter(options, random))
    }

    expect(lost).not.toEqual([])
  })
})

/** The calls that change a file or make a change durable, and those that report it to the test. */
const calls = 'write,pwrite64,fsync,fdatasync,rename,ftruncate,unlink,link,mkdir,chmod'
const changes = 20

describe.skipIf(!isTracerHere)(`a writer of ${changes} changes that is killed at each of its calls`, () => {
  it('keeps every acknowledged change, and at most one more', { timeout: 1_800_000 }, async () => {
    // A full run kills at every call, other runs at every tenth.
    const step = count(10) === 10 ? 1 : 10
    let acknowledged = 0
    let kills = 0
    for (let point = 1, isKilled = true; isKilled; point += step) {
      using directory = temporaryDirectory()
      const file = join(directory.path, 'credence.db')
      const tracer = tracing(calls, '/dev/null', `${calls}:signal=KILL:when=${point}`)
      const writer = new WriterProcess({ file, prefix: 'w', count: changes }, tracer)
      await writer.ended
      isKilled = writer.report === null
      kills += Number(isKilled)
      acknowledged += writer.acknowledged.length
      if (!existsSync(file)) {
        expect([point, writer.acknowledged]).toEqual([point, []])
        continue
      }
      expect([point, await lostOrDuplicated(file, writer.acknowledged)]).toEqual([point, []])
      const store = openStore(file)
      const { total } = await store.list({ user: 'ada' }, { limit: 1, offset: 0 })
      await store.close()
      expect(total - writer.acknowledged.length).toBeOneOf([0, 1])
      expect([point, await complaintsOf(file)]).toEqual([point, []])
    }
    console.log(`${kills} kills, one at each ${step === 1 ? '' : '10th '}call; ${acknowledged} acknowledged, 0 lost.`)
    expect(kills).toBeGreaterThan(20)
  })
})
