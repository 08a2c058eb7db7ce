import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nameStatement } from '../learn/name-of.ts'
import { isOtherValue } from './other-value.ts'

const named = (content: string) => ({ name: nameStatement(content).name, content })

describe('two values of one thing', () => {
  it.each([
    ['The build server is larch.', 'The build server is birch.'],
    ['I take 5 mg of cetirizine.', 'I take 10 mg of cetirizine now.'],
    ['We use Node 22.', 'We use Node 24 now.'],
    ['The gym code is 4471.', 'the gym code is 9026'],
    ['Rehearsal starts at 18:30 on Mondays.', 'On Mondays rehearsal starts at 19:00.'],
    ['payment terms: 14 days', 'payment terms: 30 days'],
  ])('%s / %s', (a, b) => {
    expect(isOtherValue(named(a), named(b))).toBe(true)
  })

  it.each([
    ['The build server is larch.', 'The build server is larch'],
    ['The spare key is at Tom’s.', 'The front door is red.'],
    ['I take 5 mg of cetirizine.', 'My cat takes 10 mg of cetirizine.'],
    ['Room 214 is for samples.', 'Room 215 is for samples.'],
    ['Batch 17 of the antibody is bad.', 'Batch 18 of the antibody is bad.'],
    ['I am 34.', 'It is 35.'],
    ['My sister lives in Ghent.', 'My brother lives in Ghent.'],
    ['Dinner is at 7.', 'Lunch is at 12.'],
    ['The rent is paid.', 'The rent is 900.'],
  ])('not %s / %s', (a, b) => {
    expect(isOtherValue(named(a), named(b))).toBe(false)
  })

  it('uses the given name, and ignores the number that distinguishes two statements', () => {
    const one = { name: 'editor', content: 'Helix' }

    expect(isOtherValue(one, { name: 'Editor (2)', content: 'Zed' })).toBe(true)
    expect(isOtherValue(one, { name: 'shell', content: 'Zed' })).toBe(false)
    expect(isOtherValue(one, named('Editor: Zed'))).toBe(true)
    expect(
      isOtherValue({ name: 'ci', content: 'The build server is larch.' }, named('The build server is birch.')),
    ).toBe(true)
  })

  it('is symmetric, and false for the same statement', () => {
    const word = fc.constantFrom(
      'the',
      'port',
      'is',
      'now',
      'staging',
      '5433',
      '5434',
      'not',
      'Redis',
      'larch',
      'I',
      '.',
    )
    const statement = fc
      .tuple(fc.constantFrom('port', 'port (2)', 'Redis'), fc.array(word, { minLength: 1, maxLength: 6 }))
      .map(([name, words]) => ({ name, content: words.join(' ') }))
    fc.assert(
      fc.property(statement, statement, (a, b) => {
        expect(isOtherValue(a, b)).toBe(isOtherValue(b, a))
        expect(isOtherValue(a, { ...b, content: a.content })).toBe(false)
      }),
    )
  })
})
