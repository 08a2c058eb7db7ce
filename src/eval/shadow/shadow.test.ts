import { createHash, randomBytes } from 'node:crypto'
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { aShadow, plant } from '../../../test/harness/eval-store.ts'
import { temporaryDirectory } from '../../../test/temporary-directory.ts'
import { memoryFrom } from '../../memory/memory.ts'
import { inMemory } from '../../store/sqlite/database.ts'
import { openSqliteStore } from '../../store/sqlite/sqlite-store.ts'
import { storeStatus } from '../store/status.ts'
import { pruneShadows, type ShadowOptions, shadowKey, withShadow } from './shadow.ts'
import { summariseShadows } from './shadow-summary.ts'

const message = 'Shall we take the Albatross out on Sunday?'

async function aMemory() {
  let ids = 0
  const ports = {
    store: openSqliteStore({ file: inMemory, random: randomBytes }),
    now: () => new Date('2026-03-06T10:00:00Z'),
    newId: () => `b-${++ids}`,
  }
  const scopes = ['domain:sea']
  const memory = memoryFrom(ports, {
    user: 'local',
    scopes,
    agent: null,
    author: { actor: 'person', origin: 'test' },
  })
  await memory.remember({ name: 'Albatross', content: 'A wooden dinghy with a red hull.', type: 'entity' })
  return memory
}

const shadowed = (root: string, options: Partial<ShadowOptions> = {}): ShadowOptions => ({
  root,
  sessionKey: 'agent:main',
  now: () => new Date('2026-03-06T10:00:00Z'),
  clock: () => 0,
  onProblem: (error) => {
    throw error
  },
  ...options,
})

const files = (root: string): string[] =>
  readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.json'))

describe('a shadow record', () => {
  it('is stored for every recall, and does not change the answer', async () => {
    using store = temporaryDirectory()
    const memory = await aMemory()
    const times = [100, 122.25]
    const watched = withShadow(memory, shadowed(store.path, { clock: () => times.shift() ?? 0 }))

    const context = await watched.recall(message)

    expect(context).toEqual(await memory.recall(message))
    await watched.close()
    const { latestShadow, shadows } = await storeStatus(store.path)
    expect(shadows).toMatchObject({ total: 1, invalid: 0 })
    expect(latestShadow).toMatchObject({
      promptLength: message.length,
      retrievalQueryLength: message.length,
      recallMode: 'full',
      recallResultLimit: 20,
      source: 'bm25',
      recalledMemoryCount: 1,
      injected: true,
      memoryIds: ['b-1'],
      durationMs: 22.25,
      relevantCount: 1,
    })
    expect(latestShadow?.contextChars).toBeGreaterThan(0)
    expect(latestShadow?.retrievalQueryHash).toBe(latestShadow?.promptHash)
  })

  it('is not stored for `why` or for a recall as of an earlier time, which are not counted as recalls either', async () => {
    using store = temporaryDirectory()
    const watched = withShadow(await aMemory(), shadowed(store.path))

    await watched.recall(message, { nearMisses: true })
    await watched.recall(message)

    await watched.close()
    expect((await storeStatus(store.path)).shadows).toMatchObject({ total: 1 })
  })

  it('is stored for a recall that found nothing', async () => {
    using store = temporaryDirectory()
    const watched = withShadow(await aMemory(), shadowed(store.path))

    await watched.recall('What is the weather like?')
    await watched.close()

    expect((await storeStatus(store.path)).latestShadow).toMatchObject({
      source: 'none',
      injected: false,
      recalledMemoryCount: 0,
      memoryIds: [],
      contextChars: 0,
    })
  })

  it('contains no text of the message, the memory or the session', async () => {
    using store = temporaryDirectory()
    const watched = withShadow(await aMemory(), shadowed(store.path))

    await watched.recall(message)
    await watched.close()

    const [file] = files(store.path)
    const text = readFileSync(join(store.path, file ?? ''), 'utf8')
    for (const word of ['albatross', 'sunday', 'dinghy', 'red hull', 'agent:main']) {
      expect(text.toLowerCase()).not.toContain(word)
    }
  })

  it('has a salted prompt hash, so that a prompt cannot be found by hashing guesses without the secret of the store', async () => {
    using one = temporaryDirectory()
    using other = temporaryDirectory()
    for (const store of [one, other]) {
      const watched = withShadow(await aMemory(), shadowed(store.path))
      await watched.recall(message)
      await watched.close()
    }

    const hashes = [(await storeStatus(one.path)).latestShadow, (await storeStatus(other.path)).latestShadow]
    const plain = createHash('sha256').update(message).digest('hex')

    expect(hashes[0]?.promptHash).not.toBe(hashes[1]?.promptHash)
    expect(hashes.map((record) => record?.promptHash).join()).not.toContain(plain)
    if (process.platform !== 'win32') expect(statSync(join(one.path, 'shadow.key')).mode & 0o777).toBe(0o600)
  })

  it('has a salted session key, so that conversations can be distinguished but not recognised', async () => {
    using store = temporaryDirectory()
    for (const sessionKey of ['agent:main', 'agent:main', 'agent:other']) {
      const watched = withShadow(await aMemory(), shadowed(store.path, { sessionKey }))
      await watched.recall(message)
      await watched.close()
    }

    const keys = files(store.path).map((file) => JSON.parse(readFileSync(join(store.path, file), 'utf8')).sessionKey)

    expect(new Set(keys).size).toBe(2)
    expect(keys.join()).not.toContain('agent')
  })

  it('is made with a single secret, even if several recalls create it at once', async () => {
    using store = temporaryDirectory()

    const keys = await Promise.all(Array.from({ length: 8 }, () => shadowKey(store.path)))

    expect(new Set(keys.map((key) => key.toString('hex'))).size).toBe(1)
  })

  it.skipIf(process.getuid?.() === 0)('never makes recall fail if the disk fails', async () => {
    using store = temporaryDirectory()
    chmodSync(store.path, 0o500)
    const problems: unknown[] = []
    const watched = withShadow(await aMemory(), shadowed(store.path, { onProblem: (error) => problems.push(error) }))

    await expect(watched.recall(message)).resolves.toMatchObject({ relevant: [{ score: expect.any(Number) }] })
    await watched.close()

    expect(problems).toHaveLength(1)
  })

  it('never makes recall fail if the store is not a directory', async () => {
    using place = temporaryDirectory()
    writeFileSync(join(place.path, 'store'), 'a file')
    const problems: unknown[] = []
    const options = shadowed(join(place.path, 'store'), { onProblem: (error) => problems.push(error) })
    const watched = withShadow(await aMemory(), options)

    await expect(watched.recall(message)).resolves.toMatchObject({ relevant: [{ score: expect.any(Number) }] })
    await watched.close()

    expect(problems).toHaveLength(1)
  })
})

describe('retention of shadow records', () => {
  const now = new Date('2026-03-10T12:00:00Z')

  it('removes days that are too old, and only records', async () => {
    using store = temporaryDirectory()
    plant(store.path, {
      'shadow/2026-03-07/a.json': aShadow(),
      'shadow/2026-03-08/b.json': aShadow(),
      'shadow/2026-03-10/c.json': aShadow(),
      'shadow/2026-03-07/notes.txt': 'of a person',
      'shadow/archive/d.json': aShadow(),
    })

    expect(await pruneShadows(store.path, now, { days: 2, records: 100 })).toBe(1)

    expect(files(store.path).sort()).toEqual([
      'shadow/2026-03-08/b.json',
      'shadow/2026-03-10/c.json',
      'shadow/archive/d.json',
    ])
    expect(readdirSync(join(store.path, 'shadow'))).toContain('2026-03-07')
  })

  it('keeps the newest records when there are too many', async () => {
    using store = temporaryDirectory()
    for (const [index, day] of ['2026-03-08', '2026-03-09', '2026-03-10'].entries()) {
      for (const name of ['a', 'b', 'c']) {
        const file = `shadow/${day}/${name}.json`
        plant(store.path, { [file]: aShadow() })
        const at = new Date(Date.UTC(2026, 2, 8 + index, name.charCodeAt(0) - 96))
        utimesSync(join(store.path, file), at, at)
      }
    }

    expect(await pruneShadows(store.path, now, { days: 30, records: 5 })).toBe(4)

    expect(files(store.path).sort()).toEqual([
      'shadow/2026-03-09/b.json',
      'shadow/2026-03-09/c.json',
      'shadow/2026-03-10/a.json',
      'shadow/2026-03-10/b.json',
      'shadow/2026-03-10/c.json',
    ])
    expect(readdirSync(join(store.path, 'shadow'))).not.toContain('2026-03-08')
  })

  it('does nothing in a store without records', async () => {
    using store = temporaryDirectory()
    mkdirSync(join(store.path, 'shadow'))

    expect(await pruneShadows(store.path, now)).toBe(0)
    expect(await pruneShadows(join(store.path, 'nowhere'), now)).toBe(0)
  })
})

describe('the summary of shadow records', () => {
  it('counts by day and source, and describes the recalls', async () => {
    using store = temporaryDirectory()
    plant(store.path, {
      'shadow/2026-03-06/a.json': aShadow({ traceId: 'a', durationMs: 10, contextChars: 100 }),
      'shadow/2026-03-07/b.json': aShadow({ traceId: 'b', recordedAt: '2026-03-07T00:00:00Z', source: 'bm25' }),
      'shadow/2026-03-07/c.json': aShadow({ traceId: 'c', recordedAt: '2026-03-07T00:00:00Z', injected: false }),
      'shadow/2026-03-07/d.json': '{}',
    })

    expect(await summariseShadows(store.path)).toMatchObject({
      records: 3,
      invalid: 1,
      injectedShare: 2 / 3,
      byDay: { '2026-03-06': 1, '2026-03-07': 2 },
      bySource: { bm25: 1, hot_qmd: 2 },
      durationMs: { mean: 18, p50: 22, p95: 22 },
      days: [
        { day: '2026-03-06', records: 1, empty: 0, durationMs: { p50: 10 } },
        { day: '2026-03-07', records: 2, empty: 1, emptyRate: 0.5 },
      ],
    })
    expect(await summariseShadows(`${store.path}/nowhere`)).toMatchObject({ records: 0, durationMs: { p50: null } })
  })
})
