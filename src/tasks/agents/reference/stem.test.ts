import { describe, expect, it } from 'vitest'
import { stem } from './stem.ts'

describe('the stem of a word', () => {
  it.each([
    ['started', 'starting', 'starts', 'start'],
    ['began', 'begun', 'begins', 'begin'],
    ['studied', 'studies', 'studying', 'study'],
    ['planned', 'planning', 'plans', 'plan'],
    ['using', 'used', 'uses', 'use'],
    ['favourite', 'favourites', 'favorite', 'favorites'],
    ['organise', 'organised', 'organize', 'organizing'],
    ['children', 'child'],
  ])('is the same for %s, %s', (first, ...others) => {
    expect(new Set(others.map(stem))).toEqual(new Set([stem(first)]))
  })

  it.each([
    ['string', 'str'],
    ['red', 'r'],
    ['need', 'ne'],
    ['thing', 'th'],
  ])('of %s is not %s', (word, wrong) => {
    expect(stem(word)).not.toBe(wrong)
  })

  it('leaves alone what is no plain word', () => {
    expect(['c++', '2024-01-15', '汤'].map(stem)).toEqual(['c++', '2024-01-15', '汤'])
  })
})
