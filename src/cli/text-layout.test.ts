import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { columns, counted, indented, wrap } from './text-layout.ts'

describe('wrap', () => {
  it('breaks at spaces and keeps line breaks', () => {
    expect(wrap('one two three\nfour', 8)).toEqual(['one two', 'three', 'four'])
  })

  it('keeps the indent of a line it breaks', () => {
    expect(wrap('  one two three', 9)).toEqual(['  one two', '  three'])
  })

  it('loses nothing, and makes a line too long only for one long word', () => {
    const prose = fc.array(fc.stringMatching(/^[a-z]{1,12}$/), { minLength: 1 }).map((words) => words.join(' '))
    fc.assert(
      fc.property(prose, fc.integer({ min: 1, max: 40 }), (text, width) => {
        const lines = wrap(text, width)

        expect(lines.join(' ')).toBe(text)
        for (const line of lines) expect(line.length <= width || !line.includes(' ')).toBe(true)
      }),
    )
  })
})

describe('columns', () => {
  it('aligns cells and wraps the last one under itself', () => {
    const text = columns(
      [
        ['a', 'one two three four five'],
        ['long', 'six'],
      ],
      { width: 30 },
    )

    expect(text).toBe('  a     one two three four\n        five\n  long  six')
  })

  it('makes nothing of no rows', () => {
    expect(columns([])).toBe('')
  })
})

it('indents every line but empty ones', () => {
  expect(indented('a\n\nb', 2)).toBe('  a\n\n  b')
})

it('counts in English', () => {
  expect([counted(0, 'belief'), counted(1, 'belief'), counted(2, 'belief')]).toEqual([
    '0 beliefs',
    '1 belief',
    '2 beliefs',
  ])
})
