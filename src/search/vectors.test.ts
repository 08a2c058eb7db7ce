import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cosine } from './embedder.ts'

const pair = fc
  .integer({ min: 1, max: 64 })
  .chain((length) =>
    fc.tuple(
      fc.float32Array({ minLength: length, maxLength: length, min: -1, max: 1, noNaN: true }),
      fc.float32Array({ minLength: length, maxLength: length, min: -1, max: 1, noNaN: true }),
    ),
  )

describe('cosine', () => {
  it('is 1 for the same direction, 0 for a right angle, -1 for the opposite', () => {
    expect(cosine(Float32Array.of(1, 2), Float32Array.of(2, 4))).toBeCloseTo(1, 6)
    expect(cosine(Float32Array.of(1, 0), Float32Array.of(0, 3))).toBe(0)
    expect(cosine(Float32Array.of(1, 1), Float32Array.of(-1, -1))).toBeCloseTo(-1, 6)
  })

  it('is 0 with a zero vector', () => {
    expect(cosine(Float32Array.of(0, 0), Float32Array.of(1, 2))).toBe(0)
  })

  it('is symmetric and stays between -1 and 1', () => {
    fc.assert(
      fc.property(pair, ([one, other]) => {
        const value = cosine(one, other)

        expect(value).toBe(cosine(other, one))
        expect(Math.abs(value)).toBeLessThanOrEqual(1)
      }),
    )
  })

  it('refuses vectors of different models', () => {
    expect(() => cosine(Float32Array.of(1), Float32Array.of(1, 2))).toThrow(RangeError)
  })
})
