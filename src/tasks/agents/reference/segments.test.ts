import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { segmentsOf, sentencesOf } from './segments.ts'

describe('sentences', () => {
  it.each<[string, readonly string[]]>([
    ['My mentor is Dr. Elena Vasquez. She is nice!', ['My mentor is Dr. Elena Vasquez.', 'She is nice!']],
    ['He said "Stop. Now." and left. Why?', ['He said "Stop. Now." and left.', 'Why?']],
    ['It is 3.5 km. See a.md. Fine', ['It is 3.5 km.', 'See a.md.', 'Fine']],
    ['我的猫叫汤圆。我住在杭州。', ['我的猫叫汤圆。', '我住在杭州。']],
  ])('%s', (text, expected) => {
    expect(sentencesOf(text)).toEqual(expected)
  })

  it('lose no letter of any text', () => {
    const letters = (text: string): string => text.replace(/\s/gu, '')
    fc.assert(
      fc.property(fc.lorem({ mode: 'sentences', maxCount: 5 }), (text) => {
        expect(letters(sentencesOf(text).join(''))).toBe(letters(text))
      }),
    )
  })
})

describe('segments', () => {
  it('are sentences and items, each with what stands before its list', () => {
    expect(segmentsOf('Hello there. Keep these:\n- one thing\n2) two. More\n\nThanks.')).toEqual([
      { text: 'Hello there.', isItem: false, whole: 'Hello there.', leadIn: null, label: null },
      { text: 'Keep these:', isItem: false, whole: 'Keep these:', leadIn: null, label: null },
      { text: 'one thing', isItem: true, whole: 'one thing', leadIn: 'Keep these:', label: null },
      { text: 'two.', isItem: true, whole: 'two. More', leadIn: 'Keep these:', label: '2' },
      { text: 'More', isItem: true, whole: 'two. More', leadIn: 'Keep these:', label: '2' },
      { text: 'Thanks.', isItem: false, whole: 'Thanks.', leadIn: null, label: null },
    ])
  })

  it('count items within a line', () => {
    expect(segmentsOf('Tell me: 1. who 2. when').map(({ text }) => text)).toEqual(['Tell me:', 'who', 'when'])
    expect(segmentsOf('It was 5. 7 came.').map(({ text }) => text)).toEqual(['It was 5.', '7 came.'])
  })

  it('are lines where lines were ended on purpose, and not where they were broken to fit', () => {
    expect(segmentsOf('where is the key\nwho has the van today\nwhen').map(({ text }) => text)).toEqual([
      'where is the key',
      'who has the van today',
      'when',
    ])
    expect(
      segmentsOf('Our vet is Anders Lund, and he can be reached at any hour\nof the day or night.').map(
        ({ text }) => text,
      ),
    ).toEqual(['Our vet is Anders Lund, and he can be reached at any hour of the day or night.'])
  })
})
