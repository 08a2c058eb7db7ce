import { describe, expect, it } from 'vitest'
import { bestPointWithin, pushCurve } from './figure-tables.ts'

const needed = (confidence: number, missed: number) => ({
  scores: { missed, falseFire: null },
  explanation: { confidence },
})
const unneeded = (confidence: number, falseFire: number) => ({
  scores: { missed: null, falseFire },
  explanation: { confidence },
})
const records = [needed(0.9, 0), needed(0.6, 0), needed(0.3, 1), unneeded(0.7, 1), unneeded(0.2, 1), unneeded(0, 0)]

describe('the curve over thresholds', () => {
  it('begins with a system that never shows a quote', () => {
    expect(pushCurve(records)[0]).toEqual({ threshold: Number.POSITIVE_INFINITY, missed: 1, falseFire: 0 })
  })

  it('never misses more or fires less at a lower threshold, and ends with the unchanged system', () => {
    const curve = pushCurve(records)

    expect(curve.map(({ missed }) => missed)).toEqual(curve.map(({ missed }) => missed).toSorted((a, b) => b - a))
    expect(curve.map(({ falseFire }) => falseFire)).toEqual(curve.map((one) => one.falseFire).toSorted((a, b) => a - b))
    expect(curve.at(-1)).toEqual({ threshold: 0, missed: 1 / 3, falseFire: 2 / 3 })
  })

  it('returns the minimum of misses for a maximum rate of false fires', () => {
    expect(bestPointWithin(pushCurve(records), 0)).toMatchObject({ threshold: 0.9, missed: 2 / 3 })
    expect(bestPointWithin(pushCurve(records), 0.4)).toMatchObject({ missed: 1 / 3, falseFire: 1 / 3 })
  })

  it('has no points without confidences, or without messages that need no memory', () => {
    expect(pushCurve([{ scores: { missed: 0, falseFire: null } }])).toEqual([])
    expect(pushCurve([needed(0.9, 0)])).toEqual([])
  })
})
