import fc from 'fast-check'
import { expect, it } from 'vitest'
import { cutMessage, isTooLong, maxMessageLength, placeInWhole } from './message.ts'

it('leaves a message of 32,000 characters unchanged', () => {
  const message = 'x'.repeat(maxMessageLength)

  expect([cutMessage(message), isTooLong(message)]).toEqual([message, false])
})

it('keeps both ends of a longer message, without splitting a character', () => {
  const message = `begin ${'\u{1f600}'.repeat(20_000)} end`

  const cut = cutMessage(message)

  expect(cut).toHaveLength(maxMessageLength)
  expect(cut).toMatch(/^begin .*\n.* end$/su)
  expect(cut.isWellFormed()).toBe(true)
})

it('finds the position of every character except the line break in the whole message', () => {
  const unit = fc.constantFrom('a', 'b', ' ', '好')
  fc.assert(
    fc.property(fc.string({ unit, minLength: 40, maxLength: 60 }), fc.nat(31_999), (piece, place) => {
      const message = piece.repeat(1_000)
      const isBreak = place === maxMessageLength / 2 - 1

      expect(isBreak ? '\n' : message[placeInWhole(message, place)]).toBe(cutMessage(message)[place])
    }),
    { numRuns: 50 },
  )
})
