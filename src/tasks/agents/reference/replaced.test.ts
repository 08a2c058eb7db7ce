import { describe, expect, it } from 'vitest'
import { parseStatements } from './statement.ts'

/** The later text that takes the place of the first, and what of the first lasts. */
function replacement(...texts: readonly string[]): readonly (string | undefined)[] {
  const [first] = parseStatements(
    texts.map((text, order) => ({ id: `s${order}`, text, handles: [], file: null, order })),
  )
  return first?.replacedBy == null ? [] : [first.replacedBy.text, first.lasting]
}

describe('a value', () => {
  it('is replaced by a later one for the same', () => {
    expect(replacement('Ramipril 5 mg, at breakfast', 'The clinic has changed my ramipril to 10 mg.')).toEqual([
      'The clinic has changed my ramipril to 10 mg.',
      'Ramipril […], at breakfast',
    ])
    expect(replacement('The plum cake sells for €18.50', 'The plum cake is €21.00 from today.')[0]).toContain('21')
    expect(replacement('Otto is six and hates beans.', 'Otto turned seven yesterday.')[1]).toBe(
      'Otto […] and hates beans.',
    )
  })

  it.each([
    ['Ramipril 5 mg, at breakfast', 'The clinic has changed my insulin to 10 mg.'],
    ['The plum cake sells for €18.50', 'The nut cake sells for €21.00'],
    ['My locker fee is $20', 'My locker fee is $20'],
    ['The rent is now $700', 'The train leaves at 7:00'],
  ])('is not: %s / %s', (first, later) => {
    expect(replacement(first, later)).toEqual([])
  })
})
