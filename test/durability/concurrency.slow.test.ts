import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { count } from '../full-counts.ts'
import { complaintsOf, lostOrDuplicated, openStore, temporaryDirectory } from './durable-store.ts'
import type { WriterOptions } from './writer.ts'
import { WriterProcess } from './writer-process.ts'

const processes = 8
const writes = count(500)
/**
 * More processes with the same total number of writes. A process needs some 100 MB, so only a full run starts 32 and then 50.
 */
const crowds: readonly (readonly [crowd: number, each: number])[] = [
  [16, count(250)],
  ...(count(10) === 10
    ? ([
        [32, 200],
        [50, 100],
      ] as const)
    : []),
]

/** Opens one store from many processes that all write at the same time. */
async function allAtOnce(
  file: string,
  options: (number: number) => Partial<WriterOptions> = () => ({}),
  length = processes,
): Promise<readonly WriterProcess[]> {
  const writers = Array.from(
    { length },
    (_, number) => new WriterProcess({ file, prefix: `p${number}`, count: writes, waits: true, ...options(number) }),
  )
  await Promise.all(writers.map(({ ready }) => ready))
  for (const writer of writers) writer.start()
  await Promise.all(writers.map((writer) => writer.finished()))
  return writers
}

/** Asserts that every write was accepted, and that the store contains each of `count` beliefs once. */
async function expectAllWritten(file: string, writers: readonly WriterProcess[], count: number): Promise<void> {
  expect(writers.flatMap(({ refusals }) => refusals)).toEqual([])
  const acknowledged = writers.flatMap((writer) => writer.acknowledged)
  expect(acknowledged).toHaveLength(count)
  expect(await lostOrDuplicated(file, acknowledged)).toEqual([])
  const store = openStore(file)
  expect((await store.list({ user: 'ada' }, { limit: 1, offset: 0 })).total).toBe(count)
  expect((await store.listTurns({ user: 'ada' }, { limit: 1, offset: 0 })).total).toBe(count)
  // Finishes the clean-up that a forget postpones while other processes are busy.
  await store.scrub()
  await store.close()
  expect(await complaintsOf(file)).toEqual([])
}

describe(`${processes} processes that concurrently write ${writes} beliefs each`, () => {
  it('all succeed, and every belief is stored once', { timeout: 1_200_000 }, async () => {
    using directory = temporaryDirectory()
    const file = join(directory.path, 'credence.db')

    const writers = await allAtOnce(file)

    await expectAllWritten(file, writers, processes * writes)
  })

  it.each(crowds)('all succeed with %i processes and %i beliefs each', { timeout: 1_200_000 }, async (crowd, each) => {
    using directory = temporaryDirectory()
    const file = join(directory.path, 'credence.db')

    const writers = await allAtOnce(file, () => ({ count: each }), crowd)

    await expectAllWritten(file, writers, crowd * each)
  })

  it('all succeed while two of them also forget', { timeout: 1_200_000 }, async () => {
    using directory = temporaryDirectory()
    const file = join(directory.path, 'credence.db')

    const writers = await allAtOnce(file, (number) => (number < 2 ? { forgetsEvery: writes / 10 } : {}))

    await expectAllWritten(file, writers, processes * writes - 2 * 10)
  })

  it('all succeed in a store that they must migrate first', { timeout: 1_200_000 }, async () => {
    using directory = temporaryDirectory()
    const file = join(directory.path, 'credence.db')
    const old = new URL('../../src/store/sqlite/migrations/store-schema-1.db.gz', import.meta.url)
    writeFileSync(file, gunzipSync(readFileSync(old)), { mode: 0o600 })
    const oldBeliefs = 6

    const writers = await allAtOnce(file, () => ({ count: 20 }))

    expect(writers.flatMap(({ refusals }) => refusals)).toEqual([])
    const store = openStore(file)
    expect((await store.list({ user: 'ada' }, { limit: 1, offset: 0 })).total).toBe(oldBeliefs + processes * 20)
    await store.close()
    expect(await complaintsOf(file)).toEqual([])
  })

  it('are refused if they do not wait for each other', { timeout: 120_000 }, async () => {
    using directory = temporaryDirectory()
    const file = join(directory.path, 'credence.db')
    // Created beforehand, so that the writes alone run concurrently.
    await openStore(file).close()

    const writers = await allAtOnce(file, () => ({ busyTimeoutMs: 0 }))

    const refusals = writers.flatMap((writer) => writer.refusals)
    expect(refusals.length).toBeGreaterThan(0)
    for (const { code, message } of refusals)
      expect([code, message]).toEqual(['unavailable', expect.stringContaining(file)])
    expect(
      await lostOrDuplicated(
        file,
        writers.flatMap((writer) => writer.acknowledged),
      ),
    ).toEqual([])
  })
})
