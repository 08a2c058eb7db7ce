import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cosine, packVector, unpackVector } from './embedder.ts'

const component = fc.float({ min: -1, max: 1, noNaN: true })
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

  it('is 0 beside a vector that points nowhere', () => {
    expect(cosine(Float32Array.of(0, 0), Float32Array.of(1, 2))).toBe(0)
  })

  it('is symmetric and never leaves -1 to 1', () => {
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

describe('packVector', () => {
  it('keeps three digits of every component', () => {
    fc.assert(
      fc.property(fc.array(component, { minLength: 1 }), (values) => {
        const vector = Float32Array.from(values)

        const back = unpackVector(packVector(vector), vector.length) as Float32Array

        for (const [at, value] of vector.entries()) {
          expect(Math.abs((back[at] as number) - value)).toBeLessThanOrEqual(
            Math.max(Math.abs(value) * 2 ** -11, 2 ** -25),
          )
        }
      }),
    )
  })

  it('is the identity on what it has unpacked', () => {
    fc.assert(
      fc.property(fc.uint16Array({ minLength: 1, maxLength: 50 }), (halves) => {
        // Every half-precision number except the NaNs, which have many bit patterns.
        const numbers = halves.filter((half) => (half & 0x7c00) !== 0x7c00 || (half & 0x3ff) === 0)
        const text = Buffer.from(numbers.buffer, numbers.byteOffset, numbers.byteLength).toString('base64')

        const vector = unpackVector(text, numbers.length) as Float32Array

        expect(packVector(vector)).toBe(text)
      }),
    )
  })

  it('agrees with known half-precision numbers', () => {
    const bytes = (value: number) => Buffer.from(packVector(Float32Array.of(value)), 'base64').readUInt16LE(0)

    expect(bytes(1)).toBe(0x3c00)
    expect(bytes(-2)).toBe(0xc000)
    expect(bytes(65504)).toBe(0x7bff)
    expect(bytes(65520)).toBe(0x7c00)
    expect(bytes(2 ** -24)).toBe(0x0001)
    expect(bytes(2 ** -25)).toBe(0x0000)
    expect(bytes(2 ** -25 * 1.5)).toBe(0x0001)
    expect(bytes(1 / 3)).toBe(0x3555)
  })

  it('does not read a vector of another length', () => {
    expect(unpackVector(packVector(Float32Array.of(1, 2, 3)), 2)).toBeNull()
    expect(unpackVector('not base64 at all', 3)).toBeNull()
  })
})
