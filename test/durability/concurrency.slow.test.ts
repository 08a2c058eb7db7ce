import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { complaintsOf, lostOrDoubled, openStore, temporaryDirectory } from './durable-store.ts'
import type { WriterOptions } from './writer.ts'
import { WriterProcess } from './writer-process.ts'

const processes = 8
const writes = 250

/** Opens one store from many processes at once, and has them all write at the same time. */
async function allAtOnce(
  file: string,
  options: (number: number) => Partial<WriterOptions> = () => ({}),
): Promise<readonly WriterProcess[]> {
  const writers = Array.from(
    { length: processes },
    (_, number) => new WriterProcess({ file, prefix: `p${number}`, count: writes, waits: true, ...options(number) }),
  )
  await Promise.all(writers.map(({ ready }) => ready))
  for (const writer of writers) writer.start()
  await Promise.all(writers.map((writer) => writer.finished()))
  return writers
}

/** Asserts that every write was accepted, and that the store holds each of `count` beliefs once. */
async function expectAllWritten(file: string, writers: readonly WriterProcess[], count: number): Promise<void> {
  expect(writers.flatMap(({ refusals }) => refusals)).toEqual([])
  const acknowledged = writers.flatMap((writer) => writer.acknowledged)
  expect(acknowledged).toHaveLength(count)
  expect(await lostOrDoubled(file, acknowledged)).toEqual([])
  const store = openStore(file)
  expect((await store.list({ user: 'ada' }, { limit: 1, offset: 0 })).total).toBe(count)
  expect((await store.listTurns({ user: 'ada' }, { limit: 1, offset: 0 })).total).toBe(count)
  // A forget leaves its last clean-up for later when other processes are busy.
  await store.scrub()
  await store.close()
  expect(await complaintsOf(file)).toEqual([])
}

describe(`${processes} processes that write ${writes} beliefs each at once`, () => {
  it('all succeed, and every belief is there once', { timeout: 300_000 }, async () => {
    using directory = temporaryDirectory()
    const file = join(directory.path, 'credence.db')

    const writers = await allAtOnce(file)

    await expectAllWritten(file, writers, processes * writes)
  })

  it('all succeed while two of them also forget', { timeout: 300_000 }, async () => {
    using directory = temporaryDirectory()
    const file = join(directory.path, 'credence.db')

    const writers = await allAtOnce(file, (number) => (number < 2 ? { forgetsEvery: 25 } : {}))

    await expectAllWritten(file, writers, processes * writes - 2 * (writes / 25))
  })

  it('all succeed in a store that they have to migrate first', { timeout: 300_000 }, async () => {
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

  it('are refused when they do not wait for each other', { timeout: 120_000 }, async () => {
    using directory = temporaryDirectory()
    const file = join(directory.path, 'credence.db')
    // Created beforehand, so that only the writes do not wait.
    await openStore(file).close()

    const writers = await allAtOnce(file, () => ({ busyTimeoutMs: 0 }))

    const refusals = writers.flatMap((writer) => writer.refusals)
    expect(refusals.length).toBeGreaterThan(0)
    for (const { code, message } of refusals)
      expect([code, message]).toEqual(['unavailable', expect.stringContaining(file)])
    expect(
      await lostOrDoubled(
        file,
        writers.flatMap((writer) => writer.acknowledged),
      ),
    ).toEqual([])
  })
})
