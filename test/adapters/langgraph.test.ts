import { type BaseStore, InMemoryStore } from '@langchain/langgraph-checkpoint'
import { describe, expect, it } from 'vitest'
import { CredenceStore } from '../../src/adapters/langgraph.ts'
import { openMemory } from '../../src/library.ts'
import { temporaryDirectory } from '../temporary-directory.ts'

const ana = ['users', 'ana']
const ben = ['users', 'ben at work']

describe('the LangGraph store', () => {
  it('answers like the store of LangGraph itself', async () => {
    using directory = temporaryDirectory()
    const stores: readonly BaseStore[] = [
      new InMemoryStore(),
      new CredenceStore({ dir: directory.path, agent: 'graph' }),
    ]
    const [expected, actual] = await Promise.all(
      stores.map(async (store) => {
        await store.put(ana, 'tea', { text: 'Ana drinks green tea.' })
        await store.put(ana, 'Tea', { text: 'Another key.' })
        await store.put(ana, 'profile', { age: 41, tags: ['a', 'b'], address: { city: 'Ghent' } })
        await store.put(ben, 'profile', { age: 29 })
        await store.put(ana, 'tea', { text: 'Ana drinks black tea.' })
        await store.put(ben, 'gone', { text: 'Soon gone.' })
        await store.delete(ben, 'gone')
        const plain = (
          items: readonly { readonly key: string; readonly value: object; readonly namespace: string[] }[],
        ) => items.map(({ key, value, namespace }) => JSON.stringify({ key, value, namespace })).sort()
        const answers = {
          found: await Promise.all(['tea', 'Tea', 'profile', 'none'].map((key) => store.get(ana, key))).then((items) =>
            items.map((item) => item?.value ?? null),
          ),
          gone: await store.get(ben, 'gone'),
          below: plain(await store.search(['users'])),
          other: plain(await store.search(['user'])),
          filtered: plain(await store.search(['users'], { filter: { age: { $gt: 30, $lte: 41 } } })),
          exact: plain(await store.search([], { filter: { tags: ['a', 'b'] } })),
          page: (await store.search(['users'], { limit: 2, offset: 3 })).length,
          namespaces: await store.listNamespaces({ prefix: ['users'] }),
          suffix: await store.listNamespaces({ suffix: ['ana'] }),
          depth: await store.listNamespaces({ maxDepth: 1 }),
          batch: await store.batch([
            { namespace: ana, key: 'new', value: { n: 1 } },
            { namespace: ana, key: 'new' },
          ]),
        }
        await store.stop()
        return answers
      }),
    )
    // These answers differ: LangGraph's own store compares arrays by identity, and treats "user" as a prefix of
    // "users".
    expect(actual).toEqual({ ...expected, exact: expect.any(Array), other: [], batch: [undefined, null] })
    expect(actual?.exact).toHaveLength(1)
  })

  it('finds items by words, best first, and keeps them for the next process with their history', async () => {
    using directory = temporaryDirectory()
    const first = new CredenceStore({ dir: directory.path, agent: 'graph' })
    await first.put(ana, 'drink', { text: 'Ana drinks green tea in the morning.' })
    await first.put(ana, 'pet', { text: 'Her dog is called Tamarind.' })
    await first.put(ana, 'drink', { text: 'Ana drinks black tea in the morning.' })
    await first.stop()

    const second = new CredenceStore({ dir: directory.path, agent: 'graph' })
    const [best] = await second.search(ana, { query: 'green or black tea' })
    expect(best?.value).toEqual({ text: 'Ana drinks black tea in the morning.' })
    await second.stop()

    const memory = openMemory({ dir: directory.path, scopes: ['langgraph:users/ana'] })
    const belief = await memory.get('drink')
    expect(belief.provenance).toMatchObject({ actor: 'agent', origin: 'graph' })
    expect((await memory.history(belief.id)).chain).toHaveLength(2)
    await memory.correct('drink', { content: 'Ana drinks water.' })
    await memory.close()
  })

  it('shows the sentence of a person who corrected an item', async () => {
    using directory = temporaryDirectory()
    const store = new CredenceStore({ dir: directory.path, agent: 'graph' })
    await store.put(ana, 'profile', { age: 41, city: 'Ghent' })
    const memory = openMemory({ dir: directory.path, scopes: ['langgraph:users/ana'] })
    const { id, provenance } = await memory.get('profile')
    await memory.correct(id, { content: 'Ana lives in Bruges.', sourceId: provenance.sourceId ?? '' })
    await memory.close()
    expect((await store.get(ana, 'profile'))?.value).toEqual({ text: 'Ana lives in Bruges.' })
    await expect(store.put(ana, 'profile', { age: 42 })).rejects.toThrow('waits for review')
    await store.stop()
  })

  it('refuses an unknown comparison', async () => {
    using directory = temporaryDirectory()
    const store = new CredenceStore({ dir: directory.path, agent: 'graph' })
    await store.put(ana, 'profile', { age: 41 })
    await expect(store.search(ana, { filter: { age: { $like: 4 } } })).rejects.toThrow('"$like" is not a comparison')
    await store.stop()
  })
})
