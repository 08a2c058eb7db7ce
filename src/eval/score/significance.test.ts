import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { holm, mcNemarExact, pairedBootstrap, randomFrom, signFlipTest } from './statistics.ts'

const differences = fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 1, maxLength: 40 })

describe('the exact McNemar test', () => {
  it('agrees with the binomial distribution', () => {
    // 2 · P(X ≤ k) for X of n fair coins: 2 · 1/1024, 2 · 11/1024, 2 · 56/1024.
    expect(mcNemarExact({ broken: 0, fixed: 10 })).toBeCloseTo(2 / 1024, 12)
    expect(mcNemarExact({ broken: 9, fixed: 1 })).toBeCloseTo(22 / 1024, 12)
    expect(mcNemarExact({ broken: 2, fixed: 8 })).toBeCloseTo(112 / 1024, 12)
    expect(mcNemarExact({ broken: 0, fixed: 0 })).toBe(1)
    expect(mcNemarExact({ broken: 4, fixed: 4 })).toBe(1)
  })

  it('needs six cases in one direction, because five may be chance', () => {
    expect(mcNemarExact({ broken: 5, fixed: 0 })).toBeGreaterThan(0.05)
    expect(mcNemarExact({ broken: 6, fixed: 0 })).toBeLessThan(0.05)
  })

  it('is a probability, the same in both directions, for any number of cases', () => {
    fc.assert(
      fc.property(fc.nat(20_000), fc.nat(20_000), (broken, fixed) => {
        const probability = mcNemarExact({ broken, fixed })

        expect(probability).toBeGreaterThanOrEqual(0)
        expect(probability).toBeLessThanOrEqual(1)
        expect(mcNemarExact({ broken: fixed, fixed: broken })).toBe(probability)
      }),
      { numRuns: 30 },
    )
  })
})

describe('the sign-flip test', () => {
  it('tries every assignment of signs for few pairs', () => {
    expect(signFlipTest([0.1, 0.2, 0.3], 1)).toBe(2 / 8)
    expect(signFlipTest([1, 1, 1, 1, 1, 1], 1)).toBe(2 / 64)
    expect(signFlipTest([0, 0, 0], 1)).toBe(1)
    expect(signFlipTest([1, -1], 1)).toBe(1)
  })

  it('finds a clear shift among many pairs, and none in equal pairs', () => {
    const random = randomFrom(7)
    const noise = Array.from({ length: 200 }, () => random() - 0.5)
    const centre = noise.reduce((total, value) => total + value, 0) / noise.length

    expect(
      signFlipTest(
        noise.map((value) => value - centre + 0.1),
        1,
      ),
    ).toBeLessThan(0.01)
    expect(
      signFlipTest(
        noise.map((value) => value - centre),
        1,
      ),
    ).toBeGreaterThan(0.9)
  })

  it('reports false differences at most as often as its level allows', () => {
    const random = randomFrom(20_260_306)
    const rounds = 400
    const alarms = Array.from({ length: rounds }, (_, round) =>
      signFlipTest(
        Array.from({ length: 10 }, () => random() - random()),
        round,
      ),
    ).filter((probability) => probability < 0.05).length

    // The mean is 5 % of 400, which is 20; five standard deviations are 22 more.
    expect(alarms).toBeLessThan(42)
    expect(alarms).toBeGreaterThan(2)
  })

  it('is symmetric in its two sides', () => {
    fc.assert(
      fc.property(differences, fc.integer(), (values, seed) => {
        const few = values.slice(0, 10)

        expect(signFlipTest(few, seed)).toBeCloseTo(
          signFlipTest(
            few.map((value) => -value),
            seed,
          ),
          12,
        )
      }),
    )
  })
})

describe('the law of the sign-flip test', () => {
  it('a larger fall in one case is never easier to explain by chance, enumerated or sampled', () => {
    const steps = fc.array(fc.integer({ min: -1, max: 1 }), { minLength: 1, maxLength: 24 })
    fc.assert(
      fc.property(steps, fc.nat(), fc.constantFrom(0.01, 0.25, 1), (values, which, by) => {
        fc.pre(values.reduce((sum, value) => sum + value, 0) < 0)
        const index = which % values.length
        const deeper = values.with(index, (values[index] ?? 0) - by)

        expect(signFlipTest(deeper, 5)).toBeLessThanOrEqual(signFlipTest(values, 5))
      }),
      { numRuns: 60 },
    )
  })
})

describe('the paired bootstrap', () => {
  it('returns the same interval for the same seed, and the interval contains the mean', () => {
    fc.assert(
      fc.property(differences, fc.integer(), (values, seed) => {
        const mean = values.reduce((total, value) => total + value, 0) / values.length

        const interval = pairedBootstrap(values, seed)

        expect(interval).toEqual(pairedBootstrap(values, seed))
        expect(interval?.low).toBeLessThanOrEqual(Math.max(...values) + 1e-12)
        expect(interval?.high).toBeGreaterThanOrEqual(Math.min(...values) - 1e-12)
        // Percentiles of a few skewed values may miss their mean, but never by more than the spread.
        const width = (interval?.high ?? 0) - (interval?.low ?? 0)
        expect(Math.abs(mean - ((interval?.low ?? 0) + (interval?.high ?? 0)) / 2)).toBeLessThanOrEqual(width + 1e-9)
      }),
      { numRuns: 25 },
    )
  })

  it('is about two standard errors wide on each side', () => {
    const random = randomFrom(3)
    const values = Array.from({ length: 400 }, () => random())
    const error = Math.sqrt(1 / 12 / 400)

    const interval = pairedBootstrap(values, 1)

    expect((interval?.high ?? 0) - (interval?.low ?? 0)).toBeCloseTo(2 * 1.96 * error, 2)
    expect(pairedBootstrap([], 1)).toBeNull()
  })
})

describe("Holm's correction", () => {
  it('agrees with the published procedure', () => {
    const adjusted = holm([0.01, 0.04, 0.03, 0.005])

    expect(adjusted.map((value) => Math.round(value * 1e6) / 1e6)).toEqual([0.03, 0.06, 0.06, 0.02])
  })

  it('never lowers a p-value, never swaps two, and leaves a single one unchanged', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 1 }), (probabilities) => {
        const adjusted = holm(probabilities)

        for (const [index, probability] of probabilities.entries()) {
          expect(adjusted[index]).toBeGreaterThanOrEqual(probability)
          expect(adjusted[index]).toBeLessThanOrEqual(1)
          for (const [other, rival] of probabilities.entries()) {
            if (probability < rival) expect(adjusted[index]).toBeLessThanOrEqual(adjusted[other] ?? 0)
          }
        }
        expect(holm(probabilities.slice(0, 1))).toEqual(probabilities.slice(0, 1))
      }),
    )
  })
})
