import fc from 'fast-check'
import { expect, it } from 'vitest'
import { compareText } from '../beliefs/identity.ts'

it('orders any two texts like their UTF-8 bytes', () => {
  const text = fc.string({
    unit: fc.constantFrom('a', 'b', 'é', '\ud7ff', '\ue000', '\uffee', '\u{10000}', '\u{1f600}'),
  })
  fc.assert(
    fc.property(text, text, (a, b) => {
      expect(Math.sign(compareText(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)))
    }),
  )
})
