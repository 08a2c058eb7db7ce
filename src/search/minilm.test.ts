import { describe, expect, it } from 'vitest'
import { cosine } from './embedder.ts'
import { openMiniLm } from './minilm.ts'

describe('minilm', () => {
  it('puts texts of like meaning nearer than others, alone or together', async () => {
    const embedder = await openMiniLm()

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
})
