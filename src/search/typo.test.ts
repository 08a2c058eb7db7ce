import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isForgivable, isOneEditApart, isTypoTarget, typoKeys, typoProbes } from './typo.ts'

it.each([
  [4, false],
  [5, true],
  [40, true],
  [41, false],
])('a word of %i letters may be the correction of a typo: %s', (length, expected) => {
  expect(isTypoTarget('a'.repeat(length))).toBe(expected)
})

describe('a typo', () => {
  it.each([
    ['eror', 'error'],
    ['reedis', 'redis'],
    ['typsecript', 'typescript'],
    ['typscript', 'typescript'],
    ['mongod', 'mongo'],
    ['mongoose', 'moongoose'],
    ['kuberentes', 'kubernetes'],
  ])('%s is one edit from %s', (written, meant) => {
    expect(isOneEditApart(written, meant)).toBe(true)
    expect(isOneEditApart(meant, written)).toBe(true)
  })

  it.each([
    ['mango', 'mongo'],
    ['erdis', 'redis'],
    ['redis', 'redis'],
    ['rdeis', 'redis'],
    ['reddiss', 'redis'],
    ['helo', 'hell o'],
  ])('%s is not one edit from %s with the first two letters right', (written, meant) => {
    expect(isOneEditApart(written, meant)).toBe(false)
  })

  it.each([
    'help',
    'but',
    'next',
    'note',
    'auto',
    'reach',
    'demo',
    'reaches',
    'notes',
    'helped',
    'k9s',
    'v2',
    '1040',
    'the',
  ])('is not searched for in "%s"', (word) => {
    expect(isForgivable(word)).toBe(false)
  })

  it.each(['eror', 'reedis', 'typscript', 'mongoose'])('may be searched for in "%s"', (word) => {
    expect(isForgivable(word)).toBe(true)
  })
})

describe('typo keys', () => {
  const word = fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'd'), minLength: 4, maxLength: 9 })

  it('find every word one edit apart', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 2, maxLength: 5 }),
        fc.string({ unit: fc.constantFrom('a', 'b'), minLength: 2, maxLength: 5 }),
        (a, b) => {
          fc.pre(isOneEditApart(a, b))

          const shared = typoProbes(a).filter((probe) => typoKeys(b).includes(probe))

          expect(shared).not.toEqual([])
        },
      ),
    )
  })

  it('agree with a reference: every insertion, deletion, substitution and swap is one edit apart', () => {
    fc.assert(
      fc.property(word, fc.nat(), fc.constantFrom('a', 'b', 'c', 'd'), (original, seed, letter) => {
        fc.pre(original.length > 3)
        const at = 2 + (seed % (original.length - 2))
        const edits = [
          original.slice(0, at) + letter + original.slice(at),
          original.slice(0, at) + original.slice(at + 1),
          original.slice(0, at) + letter + original.slice(at + 1),
          ...(at + 1 < original.length
            ? [`${original.slice(0, at)}${original[at + 1]}${original[at]}${original.slice(at + 2)}`]
            : []),
        ]

        for (const edited of edits) expect(edited === original || isOneEditApart(original, edited)).toBe(true)
      }),
    )
  })
})
