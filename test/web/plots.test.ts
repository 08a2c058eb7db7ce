import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { plottedDays } from '../../web/src/format/time.ts'
import { axis, axisRange, scale, spread } from '../../web/src/plots/scale.ts'

describe('the scale of a plot', () => {
  const values = fc.array(fc.double({ min: 0, max: 1e6, noNaN: true }), { maxLength: 20 })

  it('includes every value, is never empty, and has round marks from end to end', () => {
    fc.assert(
      fc.property(values, (known) => {
        const range = spread(known)
        const marks = axis(range)
        const [least, most] = axisRange(marks, range)

        expect(most).toBeGreaterThan(least)
        for (const value of known) expect(value >= least && value <= most).toBe(true)
        expect(marks.length).toBeGreaterThan(1)
        expect(marks.length).toBeLessThan(8)
        expect(marks[0]).toBeLessThanOrEqual(range[0] + 1e-6 * most)
        expect(marks.at(-1)).toBeGreaterThanOrEqual(range[1] - 1e-6 * most)
        expect(marks).toEqual(marks.toSorted((a, b) => a - b))
      }),
    )
  })

  it('has no mark outside the possible values', () => {
    const share = fc.double({ min: 0, max: 1, noNaN: true })
    fc.assert(
      fc.property(fc.array(share, { maxLength: 20 }), (known) => {
        const limits = [0, 1] as const
        for (const mark of axis(spread(known, limits), { limits })) expect(mark >= 0 && mark <= 1).toBe(true)
      }),
    )
  })

  it('has whole steps if required', () => {
    expect(axis([0, 1], { minStep: 1 })).toEqual([0, 1])
    expect(axis([0, 2], { minStep: 1 })).toEqual([0, 1, 2])
    expect(axis([0, 56], { minStep: 1 })).toEqual([0, 20, 40, 60])
  })

  it('covers the full range if all values are equal, and zooms in if they differ', () => {
    expect(spread([1, 1], [0, 1])).toEqual([0, 1])
    expect(spread([0, 0], [0, 1])).toEqual([0, 1])
    expect(spread([0.9, 1], [0, 1])).toEqual([0.888, 1])
    expect(scale([0, 1], [100, 0])(0.25)).toBe(75)
  })
})

describe('days on a plot', () => {
  it('include every day in between', () => {
    expect(plottedDays(['2026-02-27', '2026-03-02'])).toEqual(['2026-02-27', '2026-02-28', '2026-03-01', '2026-03-02'])
  })

  it('are the latest if there are too many, and an unreadable day is unchanged', () => {
    const long = plottedDays(['2020-01-01', '2026-01-01'])
    expect(long).toHaveLength(90)
    expect(long.at(-1)).toBe('2026-01-01')
    expect(plottedDays(['some day'])).toEqual(['some day'])
  })
})
