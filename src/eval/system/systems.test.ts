import { describe, expect, it } from 'vitest'
import { openStore } from '../../../test/eval/sample-corpus.ts'
import { readRecords } from '../../memory/transfer/belief-record.ts'
import { cacheEmbedder } from '../../search/embedder.ts'
import { openMiniLm } from '../../search/minilm/minilm.ts'
import { bm25System } from './bm25.ts'
import { everythingSystem, exactSystem, noneSystem } from './controls.ts'
import { describeSystem } from './system.contract.ts'
import type { System } from './system.ts'
import { vectorSystem } from './vector.ts'

const embedder = openMiniLm().then((model) => cacheEmbedder(model))
const bm25 = () => bm25System({ openStore, version: 'test' })
const vector = async (threshold: number | null = null, k = 20): Promise<System> =>
  vectorSystem({
    name: 'vector',
    description: 'cosine',
    embedder: await embedder,
    k,
    threshold,
    notes: [],
  })

describeSystem('bm25', async () => bm25())
describeSystem('vector', vector)
describeSystem('none', async () => noneSystem())
describeSystem('everything', async () => everythingSystem())
describeSystem('exact', async () => exactSystem())

const beliefs = (...fields: object[]) =>
  readRecords(
    { now: () => new Date(0), newId: () => 'unused' },
    {
      text: JSON.stringify(fields.map((own) => ({ content: 'x', scopes: ['domain:boats'], ...own }))),
      source: 'beliefs',
      user: 'ann',
      scopes: [],
    },
  ).records.map(({ record }) => record)
const ask = async (system: System, message: string) => {
  const { relevant } = await system.recall({ user: 'ann', scopes: ['domain:boats'], message, budget: {}, recall: {} })
  return relevant.map(({ id }) => id)
}

describe('exact', () => {
  it('finds surface forms as they are written, and nothing else', async () => {
    const system = exactSystem()
    await system.ingest(beliefs({ id: 'a', name: 'bow_thruster', aliases: ['C++'] }, { id: 'b', name: 'sail' }))

    expect(await ask(system, 'Is the BOW THRUSTER on?')).toEqual(['a'])
    expect(await ask(system, 'written in c++ long ago')).toEqual(['a'])
    expect(await ask(system, 'sails')).toEqual([])
    expect(await ask(system, 'sial')).toEqual([])
    expect(await ask(system, 'assail, then sail.')).toEqual(['b'])
  })
})

describe('vector', () => {
  const corpus = beliefs(
    { id: 'cat', name: 'cat', content: 'The cat sleeps all day.' },
    { id: 'tax', name: 'tax return', content: 'The tax return is due in May.' },
    { id: 'dog', name: 'dog', content: 'The dog barks at night.' },
  )

  it('ranks by meaning, not by words', async () => {
    const system = await vector()
    await system.ingest(corpus)

    expect((await ask(system, 'my kitten keeps napping'))[0]).toBe('cat')
    expect(await ask(system, 'my kitten keeps napping')).toHaveLength(3)
  })

  it('respects its threshold and its k', async () => {
    const strict = await vector(0.5)
    const one = await vector(null, 1)
    await strict.ingest(corpus)
    await one.ingest(corpus)

    expect(await ask(strict, 'the stock market fell')).toEqual([])
    expect(await ask(one, 'when must I file my taxes?')).toEqual(['tax'])
  })
})

describe('bm25', () => {
  it('returns explanations on request', async () => {
    const system = bm25()
    await system.ingest(
      beliefs({ id: 'a', name: 'anchor' }, { id: 'b', name: 'anchor chain', scopes: ['domain:cars'] }),
    )

    const plain = await system.recall({
      user: 'ann',
      scopes: ['domain:boats'],
      message: 'anchor chain',
      budget: {},
      recall: {},
    })
    const explained = await system.recall({
      user: 'ann',
      scopes: ['domain:boats'],
      message: 'anchor chain',
      budget: {},
      recall: {},
      explain: true,
    })

    expect(plain.nearMisses).toBeUndefined()
    expect(explained.nearMisses).toEqual([{ id: 'b', reason: 'other scope: domain:cars' }])
    expect(explained.relevant[0]?.matches?.[0]).toMatchObject({
      form: 'anchor',
      words: [{ text: 'anchor', start: 0, end: 6 }],
    })
  })

  it('reports a duplicate name in a corpus', async () => {
    const system = bm25()

    const notices = await system.ingest(
      beliefs({ id: 'a', name: 'anchor', content: 'one' }, { id: 'b', name: 'anchor', content: 'two' }),
    )

    expect(notices).toEqual([expect.stringContaining('1 of 2 beliefs')])
  })
})
