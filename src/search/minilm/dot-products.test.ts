import fc from 'fast-check'
import { expect, it } from 'vitest'
import { maxInteger, maxTerms, openProducts } from './dot-products.ts'

it('computes the exact products of each input with each row of weights', async () => {
  const whole = fc.integer({ min: -maxInteger, max: maxInteger })
  const sizes = fc.record({
    inputs: fc.constantFrom(2, 4, 6),
    rows: fc.constantFrom(4, 8),
    terms: fc.constantFrom(8, 24),
  })
  const { memory, multiply } = await openProducts(4_096)
  const given = sizes.chain(({ inputs, rows, terms }) =>
    fc.record({
      inputs: fc.array(fc.array(whole, { minLength: terms, maxLength: terms }), {
        minLength: inputs,
        maxLength: inputs,
      }),
      rows: fc.array(fc.array(whole, { minLength: terms, maxLength: terms }), { minLength: rows, maxLength: rows }),
    }),
  )

  fc.assert(
    fc.property(given, ({ inputs, rows }) => {
      const stride = 2 * (inputs[0]?.length ?? 0)
      const inputsAt = rows.length * stride
      const resultsAt = (rows.length + inputs.length) * stride
      new Int16Array(memory, 0, resultsAt / 2).set([...rows.flat(), ...inputs.flat()])
      const results = new Float32Array(memory, resultsAt, inputs.length * rows.length).fill(1)

      multiply({
        inputs: inputsAt,
        inputCount: inputs.length,
        weights: 0,
        weightCount: rows.length,
        stride,
        length: stride,
        results: resultsAt,
      })

      const product = (a: readonly number[], b: readonly number[]): number =>
        a.reduce((total, value, at) => total + value * (b[at] as number), 0)
      expect([...results]).toEqual(
        inputs.flatMap((a) => rows.map((row) => Math.fround(1 + Math.fround(product(a, row))))),
      )
    }),
  )
})

it('does not overflow for the largest sum', async () => {
  const stride = 2 * maxTerms
  const { memory, multiply } = await openProducts(8 * stride)
  new Int16Array(memory, 0, 6 * maxTerms).fill(-maxInteger)

  multiply({
    inputs: 4 * stride,
    inputCount: 2,
    weights: 0,
    weightCount: 4,
    stride,
    length: stride,
    results: 6 * stride,
  })

  expect([...new Float32Array(memory, 6 * stride, 8)]).toEqual(
    Array.from({ length: 8 }, () => Math.fround(maxInteger * maxInteger * maxTerms)),
  )
})
