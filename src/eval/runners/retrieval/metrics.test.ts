import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { driftScore, type Expectations, measureAnswer, type Outcome, passTypeOf } from './expectations.ts'

const outcome = (given: Partial<Outcome>): Outcome => ({
  prelude: null,
  pinned: [],
  relevant: [],
  questions: [],
  ...given,
})
const only = (...ids: string[]): Expectations => ({ relevantBeliefs: { shouldOnlyInclude: ids } })
const none = new Set<string>()

describe('retrieval precision and recall', () => {
  it('are 1 if exactly the expected beliefs are returned', () => {
    expect(measureAnswer(only('a', 'b'), outcome({ relevant: ['b', 'a'] }), none)).toMatchObject({
      retrievalPrecision: 1,
      retrievalRecall: 1,
    })
  })

  it('differ for a run that returns too many beliefs', () => {
    expect(measureAnswer(only('a'), outcome({ relevant: ['a', 'x', 'y', 'z'] }), none)).toMatchObject({
      retrievalPrecision: 0.25,
      retrievalRecall: 1,
    })
  })

  it('are 0 if beliefs were expected and none was returned', () => {
    expect(measureAnswer(only('a'), outcome({}), none)).toMatchObject({ retrievalPrecision: 0, retrievalRecall: 0 })
  })

  it('are 0 and unmeasured if an empty result was expected and noise was returned', () => {
    expect(measureAnswer(only(), outcome({ relevant: ['x'] }), none)).toMatchObject({
      retrievalPrecision: 0,
      retrievalRecall: null,
    })
  })

  it('are not measured if an empty result was expected and returned', () => {
    expect(measureAnswer(only(), outcome({}), none)).toMatchObject({ retrievalPrecision: null, retrievalRecall: null })
  })

  it('are not measured if the case declares no relevant beliefs', () => {
    expect(measureAnswer({ personaPrelude: { nonEmpty: true } }, outcome({ relevant: ['x'] }), none)).toMatchObject({
      retrievalPrecision: null,
      retrievalRecall: null,
    })
  })

  it('use mustInclude without the pinned beliefs if there is no shouldOnlyInclude', () => {
    const expectations: Expectations = { relevantBeliefs: { mustInclude: ['p', 'a', 'b'] } }

    expect(measureAnswer(expectations, outcome({ pinned: ['p'], relevant: ['a', 'x'] }), new Set(['p']))).toMatchObject(
      {
        retrievalPrecision: 0.5,
        retrievalRecall: 0.5,
      },
    )
  })
})

describe('the other tiers', () => {
  it('pinnedCoverage is the share of expected pinned beliefs that were returned', () => {
    const expectations: Expectations = { pinnedFacts: { mustInclude: ['a', 'b'] } }

    expect(measureAnswer(expectations, outcome({ pinned: ['b', 'x'] }), none).pinnedCoverage).toBe(0.5)
    expect(measureAnswer({}, outcome({ pinned: ['b'] }), none).pinnedCoverage).toBeNull()
  })

  it('questions have a precision and a recall, and no value if either side is empty', () => {
    const expectations: Expectations = { openQuestions: { mustInclude: ['a', 'b'] } }

    expect(measureAnswer(expectations, outcome({ questions: ['a', 'x', 'y', 'z'] }), none)).toMatchObject({
      questionPrecision: 0.25,
      questionRecall: 0.5,
    })
    expect(measureAnswer(expectations, outcome({}), none)).toMatchObject({ questionPrecision: null, questionRecall: 0 })
    expect(measureAnswer({}, outcome({ questions: ['a'] }), none)).toMatchObject({
      questionPrecision: null,
      questionRecall: null,
    })
  })
})

describe('driftScore', () => {
  const noisy: Expectations = { noiseCheck: { mustNotSurface: ['n', 'm'] } }

  it('counts pinned beliefs in the denominator', () => {
    expect(driftScore(noisy, outcome({ relevant: ['n'], pinned: ['a', 'b', 'c'] }))).toBe(0.25)
  })

  it('is 1 for a run that shows only noise, and 0 for a run without noise', () => {
    expect(driftScore(noisy, outcome({ relevant: ['n', 'm'] }))).toBe(1)
    expect(driftScore(noisy, outcome({ relevant: ['a'] }))).toBe(0)
  })

  it('is 0 for an empty result', () => {
    expect(driftScore(noisy, outcome({}))).toBe(0)
  })
})

describe('passTypeOf', () => {
  const metrics = (retrievalPrecision: number | null) => ({
    ...measureAnswer({}, outcome({}), none),
    retrievalPrecision,
  })

  it('is active only if an expected belief was found', () => {
    expect(passTypeOf('Alias resolution', metrics(1))).toBe('activeRetrieval')
    expect(passTypeOf('Alias resolution', metrics(null))).toBe('triviallyEmpty')
    expect(passTypeOf('Alias resolution', metrics(0))).toBe('triviallyEmpty')
  })

  it('is structural if the case checks a boundary and no expected belief was found', () => {
    expect(passTypeOf('Supersession chain exclusion', metrics(null))).toBe('structural')
    expect(passTypeOf('Type routing and open questions', metrics(null))).toBe('structural')
    expect(passTypeOf('Cold start', metrics(null))).toBe('triviallyEmpty')
    expect(passTypeOf(null, metrics(null))).toBe('triviallyEmpty')
  })
})

it('every metric of any answer is null or between 0 and 1', () => {
  const ids = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e'))
  fc.assert(
    fc.property(ids, ids, ids, ids, ids, (expected, relevant, pinned, questions, noise) => {
      const expectations: Expectations = {
        relevantBeliefs: { shouldOnlyInclude: expected },
        pinnedFacts: { mustInclude: expected },
        openQuestions: { mustInclude: expected },
        noiseCheck: { mustNotSurface: noise },
      }
      const given = outcome({ relevant, pinned, questions })

      const values = [...Object.values(measureAnswer(expectations, given, none)), driftScore(expectations, given)]

      for (const value of values) expect(value === null || (value >= 0 && value <= 1)).toBe(true)
    }),
  )
})
