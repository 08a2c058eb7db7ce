import { statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { storeFile } from '../../src/open-memory.ts'
import { commitOf, presentChange, sample } from '../../src/store/sample-beliefs.contract.ts'
import { createSandbox } from '../cli/sandbox.ts'
import { count } from '../full-counts.ts'
import { serving } from '../http/serving.ts'
import { complaintsOf, openStore, temporaryDirectory } from './durable-store.ts'

const limit = 64 * 1024 * 1024
const timeout = 600_000

it('a reader that never ends makes the log grow, which doctor reports; when it ends, the log shrinks to its limit', {
  timeout,
}, async () => {
  using place = createSandbox()
  const dir = join(place.work, 'memory')
  await place.run('init', dir)
  const file = storeFile(dir)
  const store = openStore(file)
  await store.commit(commitOf([presentChange(sample({ id: 'b0' }))]))
  const reader = new DatabaseSync(file, { readOnly: true })
  reader.exec('BEGIN')
  reader.prepare('SELECT count(*) FROM events').get()
  const logSize = (): number => statSync(`${file}-wal`).size
  let written = 0
  const write = async (): Promise<void> => {
    written += 1
    const beliefs = Array.from({ length: 100 }, (_, at) =>
      sample({ id: `b${written}-${at}`, name: `Name ${written} ${at}`, content: 'x'.repeat(9_600) }),
    )
    expect((await store.commit(commitOf(beliefs.map((belief) => presentChange(belief))))).outcome).toBe('committed')
  }

  while (logSize() <= limit) await write()
  for (let more = 0; more < count(100); more += 1) await write()
  const complaints = await complaintsOf(file)
  const doctor = await place.run('doctor', '--dir', dir)
  const setAside = await place.run('doctor', '--set-aside', '--dir', dir)
  reader.close()
  // The first write moves the log into the file; the second restarts the log.
  await write()
  await write()

  console.log(`${written} commits with a reader; log ${logSize()} bytes after it`)
  expect(complaints).toEqual([expect.stringMatching(/^log: .* goes on reading/u)])
  expect(doctor).toMatchObject({ exitCode: 5, stdout: expect.stringContaining('End that process') })
  expect(doctor.stderr).not.toContain('--rebuild')
  expect(setAside).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('is not damaged') })
  expect(logSize()).toBeLessThanOrEqual(limit)
  expect(await complaintsOf(file)).toEqual([])
  await store.close()
})

/** Max bytes that a small change adds to the log, whatever the size of the store, while a reader keeps it from shrinking. */
const maxPerChange = 128 * 1024

it.each([0, count(10_000)])(
  'a small change adds little to the log during a long read, with %i beliefs',
  { timeout },
  async (size) => {
    using directory = temporaryDirectory()
    const file = join(directory.path, 'credence.db')
    const store = openStore(file)
    for (let from = 0; from < size; from += 500) {
      const batch = Array.from({ length: 500 }, (_, at) => sample({ id: `old${from + at}`, name: `Old ${from + at}` }))
      await store.commit(commitOf(batch.map((belief) => presentChange(belief))))
    }
    await store.commit(commitOf([presentChange(sample({ id: 'first' }))]))
    const reader = new DatabaseSync(file, { readOnly: true })
    reader.exec('BEGIN')
    reader.prepare('SELECT count(*) FROM events').get()
    const before = statSync(`${file}-wal`).size

    const changes = count(1_000)
    for (let number = 0; number < changes; number += 1)
      await store.commit(commitOf([presentChange(sample({ id: `b${number}`, name: `Name ${number}` }))]))

    const perChange = (statSync(`${file}-wal`).size - before) / changes
    console.log(`a reader that stays: ${Math.round(perChange)} bytes of log for a change, over ${size} beliefs`)
    expect(perChange).toBeLessThan(maxPerChange)
    reader.close()
    await store.close()
  },
)

it('an idle server does not count as a long reader', { timeout }, async () => {
  using place = createSandbox()
  const dir = join(place.work, 'memory')
  await place.run('init', '--dir', dir)
  await using server = await serving(place, '--dir', dir)
  expect(server.dir).toBe(dir)
  const file = storeFile(dir)
  const ask = async (path: string, body?: object): Promise<number> =>
    (await server.ask(path, body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) })).status
  expect(await ask('/beliefs', { name: 'Redis', content: 'For sessions.', scopes: ['user:universal'] })).toBe(201)
  expect(await ask('/recall', { message: 'What about Redis?', scopes: ['user:universal'] })).toBe(200)

  const store = openStore(file)
  for (let number = 0; number < count(2_000); number += 1) {
    await store.commit(commitOf([presentChange(sample({ id: `b${number}`, name: `Name ${number}` }))]))
    // Without a turn of the event loop, the client would not notice that the server has closed an idle connection.
    await nextTurn()
  }

  expect(await ask('/health')).toBe(200)
  expect(statSync(`${file}-wal`).size).toBeLessThan(8 * 1024 * 1024)
  await store.close()
})

it('a reader that ends in time has no lasting effect', { timeout }, async () => {
  using directory = temporaryDirectory()
  const file = join(directory.path, 'credence.db')
  const store = openStore(file)
  for (let number = 0; number < count(2_000); number += 1)
    await store.commit(commitOf([presentChange(sample({ id: `b${number}`, name: `Name ${number}` }))]))

  expect(statSync(`${file}-wal`).size).toBeLessThan(8 * 1024 * 1024)
  expect(await complaintsOf(file)).toEqual([])
  await store.close()
})
