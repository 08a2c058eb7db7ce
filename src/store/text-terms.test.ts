import fc from 'fast-check'
import { expect, it } from 'vitest'
import { rankText, textTerm } from './text-terms.ts'

it('keeps words unchanged, unless an index would split them', () => {
  for (const word of ['redis', 'c++', '.net', "o'neil", '10:30', '数', 'हिन्दी', 'a/b-c,d#'])
    expect(textTerm(word)).toBe(word)
  expect(textTerm('(1)')).toBe('_1_')
  expect(textTerm('two words')).toBe('two_words')
})

it('cuts very long words to the same length, without splitting a character', () => {
  expect(textTerm('x'.repeat(500))).toHaveLength(100)
  expect(textTerm('\u{1f600}'.repeat(500)).isWellFormed()).toBe(true)
  expect(textTerm(`x${'\u{1f600}'.repeat(500)}`).isWellFormed()).toBe(true)
})

it('never ranks one more occurrence lower, and never ranks a name below other fields', () => {
  const counts = fc.record({ content: fc.integer({ min: 1, max: 50 }), why: fc.nat(50) })
  fc.assert(
    fc.property(counts, fc.integer({ min: 1, max: 500 }), (fewer, length) => {
      const match = (beliefId: string, more: object) => ({ beliefId, length, counts: { ...fewer, ...more } })
      const scoreOf = (more: object): number =>
        rankText([{ docFreq: 1, holders: [match('b1', more)] }], { beliefs: 10, words: 10 * length }, { limit: 1 })[0]
          ?.score ?? Number.NaN

      expect(scoreOf({ content: fewer.content + 1 })).toBeGreaterThan(scoreOf({}))
      expect(scoreOf({ name: 1 })).toBeGreaterThanOrEqual(scoreOf({ content: fewer.content + 1 }))
    }),
  )
})
