import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { editsBetween, findNearestName } from './did-you-mean.ts'

const known = ['remember', 'recall', 'search', 'why', 'resolve']

describe('nearest', () => {
  it('finds the name after a typo, a swap or the wrong case', () => {
    expect(findNearestName('recal', known)).toBe('recall')
    expect(findNearestName('serach', known)).toBe('search')
    expect(findNearestName('REMEMBR', known)).toBe('remember')
  })

  it('finds the only name with this beginning, however short the beginning is', () => {
    expect(findNearestName('rem', known)).toBe('remember')
    expect(findNearestName('re', known)).toBeUndefined()
  })

  it('does not guess when nothing is close', () => {
    expect(findNearestName('teleport', known)).toBeUndefined()
    expect(findNearestName('x', ['a'])).toBeUndefined()
    expect(findNearestName('', known)).toBeUndefined()
  })
})

describe('editsBetween', () => {
  it('is symmetric, and zero only for equal words', () => {
    const word = fc.string({ maxLength: 12 })
    fc.assert(
      fc.property(word, word, (a, b) => {
        const edits = editsBetween(a, b)

        expect(edits).toBe(editsBetween(b, a))
        expect(edits === 0).toBe(a === b)
        expect(edits).toBeLessThanOrEqual(Math.max(a.length, b.length))
      }),
    )
  })

  it('counts a swap of adjacent letters as one edit', () => {
    expect(editsBetween('redsi', 'redis')).toBe(1)
  })
})
