import { join } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { chance, complaintsOf, lostOrDoubled, openStore, temporaryDirectory } from './durable-store.ts'
import type { WriterOptions } from './writer.ts'
import { WriterProcess } from './writer-process.ts'

const kills = 200
const lanes = 2

/** Starts a writer, kills it at some moment of its work, and returns what it had acknowledged by then. */
async function killedWriter(options: WriterOptions, random: () => number): Promise<readonly string[]> {
  const writer = new WriterProcess(options)
  // Counted in beliefs, since a slow disk writes few in any time; the moment after it is anywhere in the next one or two.
  await writer.hasAcknowledged(Math.floor(5 * random()))
  await after(5 * random())
  await writer.kill()
  return writer.acknowledged
}

describe('a writer that is killed', () => {
  it(`loses nothing it acknowledged, ${kills} times`, { timeout: 240_000 }, async () => {
    using directory = temporaryDirectory()
    const file = join(directory.path, 'credence.db')
    const acknowledged: string[] = []
    const lane = async (number: number): Promise<void> => {
      const random = chance(number)
      for (let kill = 0; kill < kills / lanes; kill += 1) {
        const written = await killedWriter({ file, prefix: `w${number}-${kill}`, count: 1e9 }, random)
        expect(await lostOrDoubled(file, written)).toEqual([])
        acknowledged.push(...written)
      }
    }

    await Promise.all(Array.from({ length: lanes }, (_, number) => lane(number)))

    expect(acknowledged.length).toBeGreaterThan(kills)
    expect(await lostOrDoubled(file, acknowledged)).toEqual([])
    const store = openStore(file)
    const { total } = await store.list({ user: 'ada' }, { limit: 1, offset: 0 })
    await store.close()
    // Each may have committed one more belief than it lived to acknowledge.
    expect(total).toBeGreaterThanOrEqual(acknowledged.length)
    expect(total).toBeLessThanOrEqual(acknowledged.length + kills)
    expect(await complaintsOf(file)).toEqual([])
  })

  it('is caught when it acknowledges too early', { timeout: 120_000 }, async () => {
    using directory = temporaryDirectory()
    const file = join(directory.path, 'credence.db')
    const random = chance(7)
    let lost: readonly string[] = []

    for (let kill = 0; kill < 40 && lost.length === 0; kill += 1) {
      const options = { file, prefix: `w${kill}`, count: 1e9, fault: 'early' } as const
      lost = await lostOrDoubled(file, await killedWriter(options, random))
    }

    expect(lost).not.toEqual([])
  })
})
