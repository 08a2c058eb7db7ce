import { describe, expect, it } from 'vitest'
import { cacheEmbedder, type Embedder } from './embedder.ts'

/** An embedder that records its inputs. The vector of a text is its length. */
function countingEmbedder(): Embedder & { readonly asked: string[] } {
  const asked: string[] = []
  return {
    model: 'length',
    dimensions: 1,
    asked,
    embed: async (texts) => {
      asked.push(...texts)
      if (texts.includes('bad')) throw new Error('no vector')
      return texts.map((text) => Float32Array.of(text.length))
    },
  }
}

describe('cacheEmbedder', () => {
  it('computes every text once and answers in the order asked', async () => {
    const inner = countingEmbedder()
    const embedder = cacheEmbedder(inner)

    await embedder.embed(['a', 'bb'])
    const vectors = await embedder.embed(['bb', 'ccc', 'bb', 'a'])

    expect(vectors.map((vector) => vector[0])).toEqual([2, 3, 2, 1])
    expect(inner.asked).toEqual(['a', 'bb', 'ccc'])
  })

  it('shares the work of callers that ask at the same time', async () => {
    const inner = countingEmbedder()
    const embedder = cacheEmbedder(inner)

    await Promise.all([embedder.embed(['a']), embedder.embed(['a', 'b'])])

    expect(inner.asked).toEqual(['a', 'b'])
  })

  it('does not remember a failure', async () => {
    const inner = countingEmbedder()
    const embedder = cacheEmbedder(inner)

    await expect(embedder.embed(['bad'])).rejects.toThrow('no vector')
    await expect(embedder.embed(['bad'])).rejects.toThrow('no vector')

    expect(inner.asked).toEqual(['bad', 'bad'])
  })

  it('keeps at most the given number of texts', async () => {
    const inner = countingEmbedder()
    const embedder = cacheEmbedder(inner, 2)

    await embedder.embed(['a', 'b', 'c'])
    await embedder.embed(['c'])
    await embedder.embed(['a'])

    expect(inner.asked).toEqual(['a', 'b', 'c', 'a'])
  })
})
