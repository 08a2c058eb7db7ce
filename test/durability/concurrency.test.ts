import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { complaintsOf, lostOrDoubled, openStore, temporaryDirectory } from './durable-store.ts'
import { WriterProcess } from './writer-process.ts'

const processes = 8
const writes = 250

/** Opens one new store from many processes at once, and has them all write at the same time. */
async function allAtOnce(
  file: string,
  settings: { readonly busyTimeoutMs?: number },
): Promise<readonly WriterProcess[]> {
  const writers = Array.from(
    { length: processes },
    (_, number) => new WriterProcess({ file, prefix: `p${number}`, count: writes, waits: true, ...settings }),
  )
  await Promise.all(writers.map(({ ready }) => ready))
  for (const writer of writers) writer.start()
  await Promise.all(writers.map((writer) => writer.finished()))
  return writers
}

describe(`${processes} processes that write ${writes} beliefs each at once`, () => {
  it('all succeed, and every belief is there once', { timeout: 120_000 }, async () => {
    using directory = temporaryDirectory()
    const file = join(directory.path, 'credence.db')

    const writers = await allAtOnce(file, {})

    expect(writers.flatMap(({ refusals }) => refusals)).toEqual([])
    const acknowledged = writers.flatMap((writer) => writer.acknowledged)
    expect(acknowledged).toHaveLength(processes * writes)
    expect(await lostOrDoubled(file, acknowledged)).toEqual([])
    const store = openStore(file)
    expect(await store.sizes()).toMatchObject({
      events: processes * writes,
      beliefs: processes * writes,
      turns: processes * writes,
    })
    await store.close()
    expect(await complaintsOf(file)).toEqual([])
  })

  it('are refused when they do not wait for each other', { timeout: 120_000 }, async () => {
    using directory = temporaryDirectory()
    const file = join(directory.path, 'credence.db')
    // Made beforehand, so that only writing is without patience.
    await openStore(file).close()

    const writers = await allAtOnce(file, { busyTimeoutMs: 0 })

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
