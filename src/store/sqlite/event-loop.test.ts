import { existsSync, readFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { commitOf, presentChange, sample, sampleTurn } from '../sample-beliefs.contract.ts'
import type { SqliteStore } from './sqlite-store.ts'
import { newFile, openAt } from './temporary-store.contract.ts'

const opened: SqliteStore[] = []
afterEach(async () => {
  for (const store of opened.splice(0)) await store.close()
})

function opening(...given: Parameters<typeof openAt>): SqliteStore {
  const store = openAt(...given)
  opened.push(store)
  return store
}

const many = 1_000
const manyBeliefs = (kind: string) =>
  Array.from({ length: many }, (_, at) =>
    presentChange(sample({ id: `${kind} ${at}`, name: `${kind} ${at}`, content: `${kind} thing ${at} `.repeat(50) })),
  )

/** The number of turns of the event loop while work runs. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let turns = 0
  let isOver = false
  const turn = (): void => {
    turns += 1
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  await work()
  isOver = true
  return turns
}

/** Takes the write lock of a store, as another process would. */
function lockHeld(file: string): { readonly release: () => void } {
  const other = new DatabaseSync(file)
  other.exec('BEGIN IMMEDIATE')
  return {
    release: () => {
      other.exec('ROLLBACK')
      other.close()
    },
  }
}

describe('A SQLite store', () => {
  it.each([':memory:', 'a file'])('yields to the event loop after every change, in %s', async (place) => {
    const store = opening(place === 'a file' ? newFile() : place)

    const turns = await turnsDuring(async () => {
      for (let index = 0; index < 10; index += 1)
        await store.commit(commitOf([presentChange(sample({ id: `b${index}`, name: `thing ${index}` }))]))
    })

    expect(turns).toBeGreaterThanOrEqual(10)
  })

  it('answers reads while a change waits for another process', async () => {
    const file = newFile()
    const store = opening(file)
    await store.commit(commitOf([presentChange(sample({ id: 'b1' }))]))
    const lock = lockHeld(file)
    let isDone = false

    const change = store.commit(commitOf([presentChange(sample({ id: 'b2', name: 'second' }))])).then((result) => {
      isDone = true
      return result
    })
    await nextTurn()
    const readMeanwhile = await store.get('ada', 'b1')
    const isDoneMeanwhile = isDone
    lock.release()

    expect(readMeanwhile?.id).toBe('b1')
    expect(isDoneMeanwhile).toBe(false)
    expect((await change).outcome).toBe('committed')
    expect((await store.get('ada', 'b2'))?.name).toBe('second')
  })

  it('shows a change to a caller who was reading before it', async () => {
    const store = opening(newFile())

    const [before, after] = await store.withSnapshot(async () => {
      const seen = await store.get('ada', 'b1')
      await store.commit(commitOf([presentChange(sample({ id: 'b1' }))]))
      return [seen, await store.get('ada', 'b1')]
    })

    expect(before).toBeNull()
    expect(after?.id).toBe('b1')
  })

  it('makes all concurrently requested changes, even while another process writes', async () => {
    const file = newFile()
    const store = opening(file)
    const lock = lockHeld(file)
    const asked = Array.from({ length: 50 }, (_, index) =>
      store.commit(commitOf([presentChange(sample({ id: `b${index}`, name: `thing ${index}` }))])),
    )
    await nextTurn()
    lock.release()

    const outcomes = (await Promise.all(asked)).map(({ outcome }) => outcome)

    expect(new Set(outcomes)).toEqual(new Set(['committed']))
    expect((await store.list({ user: 'ada' }, { limit: 100, offset: 0 })).total).toBe(50)
  })

  it('refuses a change if the other process keeps the lock too long', async () => {
    const file = newFile()
    const store = opening(file, { busyTimeoutMs: 0 })
    const lock = lockHeld(file)

    const refusal = await store.commit(commitOf([presentChange(sample({ id: 'b1' }))])).catch((error: unknown) => error)
    lock.release()

    expect(refusal).toMatchObject({ name: 'MemoryError', code: 'unavailable' })
    expect(await store.get('ada', 'b1')).toBeNull()
  })

  it('makes a large change in parts, and shows all of it or nothing', async () => {
    const store = opening(newFile())
    const first = manyBeliefs('first')
    const second = manyBeliefs('second')
    const seen = new Set<number>()
    let isOver = false
    const reading = (async () => {
      for (; !isOver; await nextTurn()) seen.add((await store.list({ user: 'ada' }, { limit: 1, offset: 0 })).total)
    })()

    const outcomes = await Promise.all([
      store.commit(commitOf(first)),
      store.commit(commitOf([presentChange(sample({ id: 'alone', name: 'alone' }))])),
      store.commit(commitOf(second)),
      store.commit(
        commitOf([...manyBeliefs('third'), presentChange(sample({ id: 'first 0', name: 'first 0', version: 9 }))]),
      ),
    ])
    isOver = true
    await reading

    expect(outcomes.map(({ outcome }) => outcome)).toEqual(['committed', 'committed', 'committed', 'stale'])
    const { total } = await store.list({ user: 'ada' }, { limit: 1, offset: 0 })
    expect(total).toBe(2 * many + 1)
    const states = new Set([0, 1, many, many + 1, 2 * many, total])
    expect([...seen].filter((count) => !states.has(count))).toEqual([])
    expect((await store.verify()).filter(({ ok }) => !ok)).toEqual([])
  })

  it('yields to the event loop during a large change', async () => {
    const store = opening(newFile())
    // The first change loads modules.
    await store.commit(commitOf([presentChange(sample({ id: 'b1' }))]))

    expect(await turnsDuring(() => store.commit(commitOf(manyBeliefs('large'))))).toBeGreaterThan(10)
  })

  it('yields to the event loop while storing a long turn', async () => {
    const store = opening(newFile())
    const text = Array.from({ length: 8_000 }, (_, at) => String.fromCodePoint(0x4e00 + at)).join('')
    const heard = (words: string) => store.commit(commitOf([], { kind: 'hear', turns: [sampleTurn(words)] }))
    // The first change loads modules.
    await heard('A short turn.')

    expect(await turnsDuring(() => heard(text))).toBeGreaterThan((await turnsDuring(() => heard('Another one.'))) + 2)
  })

  it('yields to the event loop while erasing a long turn', async () => {
    const file = newFile()
    const store = opening(file)
    const long = sampleTurn(Array.from({ length: 8_000 }, (_, at) => String.fromCodePoint(0x4e00 + at)).join(''))
    const short = sampleTurn('A short turn.')
    await store.commit(commitOf([], { kind: 'hear', turns: [long, short] }))
    const other = new DatabaseSync(file)
    const texts = other.prepare('SELECT count(*) AS count FROM turn_texts')
    /** The number of turns of the event loop before the transaction ends. */
    const turnsUntilErased = async (id: string): Promise<number> => {
      const before = texts.get()?.count
      let turns = 0
      const count = (): void => {
        if (texts.get()?.count !== before) return
        turns += 1
        setImmediate(count)
      }
      setImmediate(count)
      await store.commit(commitOf([], { kind: 'forget', forgottenTurns: [id] }))
      return turns
    }

    expect(await turnsUntilErased(long.id)).toBeGreaterThan((await turnsUntilErased(short.id)) + 2)
    other.close()
  })

  it('yields to the event loop while rewriting a large file, after which no byte of the forgotten text is left', async () => {
    const file = newFile()
    const store = opening(file)
    const secret = sample({ id: 'secret', name: 'quartzite', content: 'The quartzite is under the stairs.' })
    await store.commit(commitOf([...manyBeliefs('large'), presentChange(secret)]))
    const short = await turnsDuring(() => store.commit(commitOf([presentChange(sample({ id: 'b1' }))])))

    const forget = commitOf([{ beliefId: 'secret', expectedVersion: 1, outcome: 'erased', after: null }])
    const turns = await turnsDuring(() => store.commit(forget))
    await store.close()

    expect(turns).toBeGreaterThan(10 * short)
    for (const suffix of ['', '-wal'])
      if (existsSync(file + suffix)) expect(readFileSync(file + suffix).includes('quartzite')).toBe(false)
  })
})
