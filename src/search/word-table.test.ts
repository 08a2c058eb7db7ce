import fc from 'fast-check'
import { expect, it } from 'vitest'
import { WordTable } from './resident/word-index.ts'

it('numbers words as a map does, whatever they are made of', () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary', maxLength: 20 }), { maxLength: 300 }), (words) => {
      const table = new WordTable()
      const map = new Map<string, number>()
      for (const word of words) {
        expect(table.idOf(word)).toBe(map.get(word) ?? -1)
        if (!map.has(word)) map.set(word, map.size)
        expect(table.add(word)).toBe(map.get(word))
      }
      for (const [word, id] of map) expect([table.idOf(word), table.words[id]]).toEqual([id, word])
    }),
  )
})

it('keeps a word without its surrogate partner as it is', () => {
  const table = new WordTable()

  table.add('half \ud83d of a pair, longer than a short string')

  expect(table.words[0]).toBe('half \ud83d of a pair, longer than a short string')
})
