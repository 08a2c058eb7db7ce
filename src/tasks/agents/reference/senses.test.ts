import { describe, expect, it } from 'vitest'
import { areOneFamily, shareSense } from './senses.ts'

describe('words that are asked with and told with', () => {
  it.each([
    ['teaches', 'teacher'],
    ['sings', 'singer'],
    ['drums', 'drummer'],
    ['bakes', 'baker'],
    ['settle', 'settlement'],
    ['pay', 'payment'],
    ['hour', 'hourly'],
    ['supplies', 'supplier'],
  ])('are of one family: %s and %s', (one, other) => {
    expect(areOneFamily(one, other)).toBe(true)
    expect(areOneFamily(other, one)).toBe(true)
  })

  it.each([
    ['let', 'letter'],
    ['win', 'winter'],
    ['tea', 'teacher'],
    ['budget', 'budgie'],
  ])('are of two: %s and %s', (one, other) => {
    expect(areOneFamily(one, other)).toBe(false)
  })

  it('share a sense of everyday English', () => {
    expect(shareSense('charge', 'rate')).toBe(true)
    expect(shareSense('reach', 'number')).toBe(true)
    expect(shareSense('guides', 'mentor')).toBe(true)
    expect(shareSense('charge', 'mentor')).toBe(false)
    expect(shareSense('zebra', 'zebra')).toBe(false)
  })
})
