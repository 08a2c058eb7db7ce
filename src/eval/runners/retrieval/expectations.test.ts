import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkExpectations, demandsSomething, type Expectations, noiseIn, type Outcome } from './expectations.ts'

const outcome = (given: Partial<Outcome>): Outcome => ({
  prelude: null,
  pinned: [],
  relevant: [],
  questions: [],
  ...given,
})
const failures = (expectations: Expectations, given: Partial<Outcome>) =>
  checkExpectations(expectations, outcome(given))

describe('relevantBeliefs', () => {
  it('shouldOnlyInclude is equality of sets: no belief missing, no belief extra', () => {
    const only: Expectations = { relevantBeliefs: { shouldOnlyInclude: ['a', 'b'] } }

    expect(failures(only, { relevant: ['b', 'a'] })).toEqual([])
    expect(failures(only, { relevant: ['a'] })).toEqual(['relevant beliefs: b is missing.'])
    expect(failures(only, { relevant: ['a', 'b', 'c'] })).toEqual(['relevant beliefs: c was not expected.'])
    expect(failures(only, { relevant: [] })).toHaveLength(1)
  })

  it('shouldOnlyInclude with an empty list requires an empty result', () => {
    const silence: Expectations = { relevantBeliefs: { shouldOnlyInclude: [] } }

    expect(failures(silence, { relevant: [] })).toEqual([])
    expect(failures(silence, { relevant: ['a'] })).toEqual(['relevant beliefs: a was not expected.'])
  })

  it('shouldOnlyInclude is not satisfied by a pinned belief', () => {
    expect(failures({ relevantBeliefs: { shouldOnlyInclude: ['a'] } }, { pinned: ['a'] })).toHaveLength(1)
  })

  it('mustInclude, shouldInclude and mustExclude check pinned and relevant beliefs together', () => {
    const shown = { pinned: ['p'], relevant: ['r'] }

    expect(failures({ relevantBeliefs: { mustInclude: ['p', 'r'] } }, shown)).toEqual([])
    expect(failures({ relevantBeliefs: { shouldInclude: ['p', 'x'] } }, shown)).toEqual([
      'relevant beliefs: x should be recalled.',
    ])
    expect(failures({ relevantBeliefs: { mustInclude: ['x'] } }, shown)).toEqual([
      'relevant beliefs: x was expected, but not recalled.',
    ])
    expect(failures({ relevantBeliefs: { mustExclude: ['p'] } }, shown)).toEqual([
      'relevant beliefs: p was recalled, but must not be.',
    ])
    expect(failures({ relevantBeliefs: { mustExclude: ['x'] } }, shown)).toEqual([])
  })

  it('orderedBefore requires both beliefs, in that order', () => {
    const ordered: Expectations = { relevantBeliefs: { orderedBefore: [['a', 'b']] } }

    expect(failures(ordered, { relevant: ['a', 'x', 'b'] })).toEqual([])
    expect(failures(ordered, { relevant: ['b', 'a'] })).toEqual(['order: a must come before b, but comes after it.'])
    expect(failures(ordered, { relevant: ['a'] })).toEqual(['order: a must come before b, but b is not there.'])
    expect(failures(ordered, { pinned: ['a'], relevant: ['b'] })).toHaveLength(1)
  })

  it('minCount and maxCount count relevant beliefs only', () => {
    const two = { pinned: ['p'], relevant: ['a', 'b'] }

    expect(failures({ relevantBeliefs: { minCount: 2, maxCount: 2 } }, two)).toEqual([])
    expect(failures({ relevantBeliefs: { minCount: 3 } }, two)).toEqual(['relevant beliefs: 2, at least 3 expected.'])
    expect(failures({ relevantBeliefs: { maxCount: 0 } }, two)).toEqual(['relevant beliefs: 2, at most 0 expected.'])
  })
})

describe('the other tiers', () => {
  it('pinnedFacts checks pinned beliefs only', () => {
    expect(failures({ pinnedFacts: { mustInclude: ['a'] } }, { relevant: ['a'] })).toEqual([
      'pinned facts: a was expected, but not recalled.',
    ])
    expect(failures({ pinnedFacts: { mustExclude: ['a'] } }, { relevant: ['a'] })).toEqual([])
    expect(failures({ pinnedFacts: { mustExclude: ['a'] } }, { pinned: ['a'] })).toHaveLength(1)
  })

  it('openQuestions checks open questions only', () => {
    expect(failures({ openQuestions: { mustInclude: ['q'] } }, { relevant: ['q'], pinned: ['q'] })).toHaveLength(1)
    expect(failures({ openQuestions: { mustInclude: ['q'] } }, { questions: ['q'] })).toEqual([])
    expect(failures({ openQuestions: { mustExclude: ['q'] } }, { questions: ['q'] })).toHaveLength(1)
  })

  it('noise is any unwanted belief among the pinned and relevant ones', () => {
    const noisy: Expectations = { noiseCheck: { mustNotSurface: ['a', 'b', 'c'] } }
    const shown = outcome({ relevant: ['a', 'x'], pinned: ['b'], questions: ['c'] })

    expect(noiseIn(noisy, shown)).toEqual(['a', 'b'])
    expect(checkExpectations(noisy, shown)).toEqual(['noise: a, b must not surface.'])
  })
})

describe('personaPrelude', () => {
  it('ignores upper and lower case', () => {
    const prelude = 'Prefers Direct answers.'

    expect(failures({ personaPrelude: { nonEmpty: true, contains: ['direct'] } }, { prelude })).toEqual([])
    expect(failures({ personaPrelude: { contains: ['terse'] } }, { prelude })).toEqual([
      'prelude: does not contain "terse".',
    ])
    expect(failures({ personaPrelude: { mustNotContain: ['DIRECT'] } }, { prelude })).toEqual([
      'prelude: contains "DIRECT".',
    ])
  })

  it('treats an empty prelude as none', () => {
    expect(failures({ personaPrelude: { isNull: true } }, { prelude: null })).toEqual([])
    expect(failures({ personaPrelude: { isNull: true } }, { prelude: '' })).toEqual([])
    expect(failures({ personaPrelude: { isNull: true } }, { prelude: 'x' })).toHaveLength(1)
    expect(failures({ personaPrelude: { nonEmpty: true } }, { prelude: '  ' })).toHaveLength(1)
  })

  it('treats false as the opposite of true, not as a missing expectation', () => {
    expect(failures({ personaPrelude: { nonEmpty: false } }, { prelude: 'x' })).toHaveLength(1)
    expect(failures({ personaPrelude: { isNull: false } }, { prelude: null })).toHaveLength(1)
  })
})

describe('demandsSomething', () => {
  it('recognises nested empty lists', () => {
    expect(demandsSomething({})).toBe(false)
    expect(demandsSomething({ pinnedFacts: { mustInclude: [] }, relevantBeliefs: { minCount: 0 } })).toBe(false)
    expect(demandsSomething({ relevantBeliefs: { shouldOnlyInclude: [] } })).toBe(true)
    expect(demandsSomething({ relevantBeliefs: { maxCount: 0 } })).toBe(true)
  })

  const ids = fc.uniqueArray(fc.constantFrom('a', 'b', 'c'), { maxLength: 3 })
  const membership = fc.record({ mustInclude: ids, mustExclude: ids }, { requiredKeys: [] })
  const expectations: fc.Arbitrary<Expectations> = fc.record(
    {
      pinnedFacts: membership,
      relevantBeliefs: fc.record(
        {
          mustInclude: ids,
          mustExclude: ids,
          shouldInclude: ids,
          shouldOnlyInclude: ids,
          minCount: fc.integer({ min: 0, max: 2 }),
          maxCount: fc.integer({ min: 0, max: 2 }),
        },
        { requiredKeys: [] },
      ),
      openQuestions: membership,
      noiseCheck: fc.record({ mustNotSurface: ids }),
    },
    { requiredKeys: [] },
  )

  it('is true exactly when the empty answer or the fullest one fails', () => {
    const everything = ['a', 'b', 'c', 'd']
    fc.assert(
      fc.property(expectations, (given) => {
        const full = failures(given, { pinned: everything, relevant: everything, questions: everything })
        const isEverFailed = failures(given, {}).length > 0 || full.length > 0

        expect(demandsSomething(given)).toBe(isEverFailed)
      }),
    )
  })
})
