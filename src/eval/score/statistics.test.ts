import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mean, percentile, wilsonInterval } from './statistics.ts'

describe('mean', () => {
  it('leaves nulls out instead of counting them as zero', () => {
    expect(mean([1, null, 0.5])).toBe(0.75)
  })

  it('is null without values', () => {
    expect(mean([null, null])).toBeNull()
    expect(mean([])).toBeNull()
  })
})

describe('percentile', () => {
  it('returns the value at the rank, rounded up', () => {
    const values = [50, 10, 40, 20, 30]

    expect(percentile(values, 50)).toBe(30)
    expect(percentile(values, 95)).toBe(50)
    expect(percentile(values, 20)).toBe(10)
    expect(percentile(values, 21)).toBe(20)
  })

  it('is always one of the values, or null without values', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ noNaN: true }), { minLength: 1 }),
        fc.integer({ min: 0, max: 100 }),
        (values, percent) => {
          expect(values).toContain(percentile(values, percent))
        },
      ),
    )
    expect(percentile([], 50)).toBeNull()
  })
})

describe('wilsonInterval', () => {
  it('agrees with published values', () => {
    // Newcombe (1998), Table I, method 3: 81 of 263 and 15 of 148, without continuity correction.
    expect(wilsonInterval(81, 263)?.low).toBeCloseTo(0.2553, 4)
    expect(wilsonInterval(81, 263)?.high).toBeCloseTo(0.3662, 4)
    expect(wilsonInterval(15, 148)?.low).toBeCloseTo(0.0624, 4)
    expect(wilsonInterval(15, 148)?.high).toBeCloseTo(0.1605, 4)
    // ibid.: 0 of 20 and 1 of 29.
    expect(wilsonInterval(0, 20)?.high).toBeCloseTo(0.1611, 4)
    expect(wilsonInterval(1, 29)?.low).toBeCloseTo(0.0061, 4)
  })

  it('does not claim certainty when all passed', () => {
    expect(wilsonInterval(12, 12)?.low).toBeLessThan(0.8)
    expect(wilsonInterval(12, 12)?.high).toBe(1)
  })

  it('contains the measured rate and stays between 0 and 1', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5_000 }), fc.double({ min: 0, max: 1, noNaN: true }), (trials, share) => {
        const passed = Math.round(share * trials)

        const interval = wilsonInterval(passed, trials)

        expect(interval?.low).toBeGreaterThanOrEqual(0)
        expect(interval?.high).toBeLessThanOrEqual(1)
        expect(interval?.low).toBeLessThanOrEqual(passed / trials)
        expect(interval?.high).toBeGreaterThanOrEqual(passed / trials)
      }),
    )
  })

  it('is null without values', () => {
    expect(wilsonInterval(0, 0)).toBeNull()
  })
})
