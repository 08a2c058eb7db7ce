import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { numberedItems } from './numbered-items.ts'

const read = (text: string) => [...numberedItems(text)]

describe('the numbered items of a text', () => {
  it.each([
    ['lines', 'Here:\n1. Rust\n2. NeonDB\n   a store\n'],
    ['brackets', '1) Rust\n\n2) NeonDB\n   a store'],
    ['one line', 'So: 1. Rust 2. NeonDB a store'],
    ['marks of Markdown', '**1.** Rust\n**2.** NeonDB\na store'],
    ['headings', '### 1. Rust\n\n### 2. NeonDB\n\na store'],
  ])('are read from %s', (_, text) => {
    const items = numberedItems(text)

    expect([...items.keys()]).toEqual([1, 2])
    expect(items.get(1)).toContain('Rust')
    expect(items.get(1)).not.toContain('NeonDB')
    expect(items.get(2)).toMatch(/NeonDB.*a store/su)
  })

  it('may leave numbers out', () => {
    expect(read('1. Rust\n3. Elena').map(([number]) => number)).toEqual([1, 3])
  })

  it.each([
    ['a single one', '1. Rust'],
    ['a number that comes twice', '1. Rust\n2. Zig\n\n1. Noted\n2. Done'],
    ['numbers in a sentence', 'It began on May 1. 2 of us were there, version 1.2 of it.'],
    ['no number', 'Rust and NeonDB'],
    ['years', '2023. It began.\n2024. It ended.'],
  ])('are not taken from %s', (_, text) => {
    expect(read(text)).toEqual([])
  })

  it('are what was written, in any number', () => {
    const item = fc.stringMatching(/^[a-z]{1,9}( [a-z]{1,9}){0,3}$/)

    fc.assert(
      fc.property(fc.array(item, { minLength: 2, maxLength: 20 }), fc.boolean(), (items, inLines) => {
        const text = items.map((one, index) => `${index + 1}. ${one}`).join(inLines ? '\n' : ' ')
        expect([...numberedItems(text).values()].map((one) => one.trim())).toEqual(items)
      }),
    )
  })
})
