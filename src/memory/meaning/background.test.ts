import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { unavailable } from '../../errors.ts'
import { takeLock } from '../../files/lock.ts'
import { openPorts } from '../../open-memory.ts'
import type { Embedder } from '../../search/embedder.ts'
import { memoryFrom } from '../memory.ts'
import { indexInBackground } from './background.ts'

/** Two dimensions: the length and the number of vowels. */
const vectorOf = (text: string) => Float32Array.of(text.length, text.replace(/[^aeiou]/gu, '').length)
const embedder = (embed: Embedder['embed'] = async (texts) => texts.map(vectorOf)): Embedder => ({
  model: 'fake',
  dimensions: 2,
  embed,
})

function place(model: Embedder) {
  const dir = mkdtempSync(join(tmpdir(), 'credence-index-'))
  const { store, ...ports } = openPorts(dir)
  const standpoint = { user: 'ada', scopes: ['user:universal'], agent: null }
  const memory = memoryFrom({ ...ports, store }, { ...standpoint, author: { actor: 'person', origin: 'test' } })
  const lock = join(dir, 'state', 'vectors.lock')
  const owners = async () => ['ada']
  const indexer = indexInBackground({ store, embedder: async () => model, owners, lock })
  return {
    store,
    memory,
    indexer,
    lock,
    waiting: async () => (await store.vectorCounts('ada', 'fake')).waiting,
    [Symbol.asyncDispose]: async () => {
      indexer.stop()
      await store.close()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

describe('indexing in the background', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] }))
  afterEach(() => void vi.useRealTimers())

  it('computes the vectors of turns and beliefs, and of later ones', async () => {
    await using own = place(embedder())
    await own.memory.hear({ text: 'The kayak is red.', session: 'a' }, { learn: 'nothing' })
    await own.memory.remember({ content: 'Tea is kept in the blue tin.' })
    expect(await own.waiting()).toBe(2)

    await vi.advanceTimersByTimeAsync(3_000)
    await vi.waitFor(async () => expect(await own.waiting()).toBe(0))
    await own.memory.hear({ text: 'The kayak is blue.', session: 'b' }, { learn: 'nothing' })
    await vi.waitFor(async () => {
      await vi.advanceTimersByTimeAsync(3_000)
      expect(await own.waiting()).toBe(0)
    })

    expect(await own.store.vectorCounts('ada', 'fake')).toEqual({ indexed: 3, waiting: 0 })
  })

  it('is left to the process with the lock', async () => {
    const embed = vi.fn(async (texts: readonly string[]) => texts.map(vectorOf))
    await using own = place(embedder(embed))
    await own.memory.hear({ text: 'The kayak is red.', session: 'a' }, { learn: 'nothing' })
    const release = await takeLock(own.lock, 'The index')
    await vi.advanceTimersByTimeAsync(6_000)
    expect(embed).not.toHaveBeenCalled()

    release()
    await vi.waitFor(async () => {
      await vi.advanceTimersByTimeAsync(3_000)
      expect(await own.waiting()).toBe(0)
    })
  })

  it('reports the reason for a failure, and continues when possible', async () => {
    let isAway = true
    const model = embedder(async (texts) => {
      if (isAway) throw unavailable('The endpoint is away.', 'Start it.')
      return texts.map(vectorOf)
    })
    await using own = place(model)
    await own.memory.hear({ text: 'The kayak is red.', session: 'a' }, { learn: 'nothing' })
    await vi.waitFor(async () => {
      await vi.advanceTimersByTimeAsync(3_000)
      expect(own.indexer.problem()).toBe('The endpoint is away.')
    })

    isAway = false
    await vi.waitFor(async () => {
      await vi.advanceTimersByTimeAsync(3_000)
      expect(await own.waiting()).toBe(0)
    })
    await vi.waitFor(() => expect(own.indexer.problem()).toBeNull())
  })

  it('writes nothing after it is stopped', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const { promise: isAsked, resolve: ask } = Promise.withResolvers<void>()
    await using own = place(
      embedder(async (texts) => {
        ask()
        await promise
        return texts.map(vectorOf)
      }),
    )
    await own.memory.hear({ text: 'The kayak is red.', session: 'a' }, { learn: 'nothing' })
    await vi.advanceTimersByTimeAsync(3_000)
    await isAsked
    own.indexer.stop()
    resolve()
    await new Promise(setImmediate)

    expect(await own.waiting()).toBe(1)
    expect(own.indexer.problem()).toBeNull()
  })
})
