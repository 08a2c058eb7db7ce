import fc from 'fast-check'
import { expect, it } from 'vitest'
import { rateLimit } from './authentication.ts'

it('allows a full bucket and then at most the limit per minute, and never delays the first request', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 100 }), fc.array(fc.nat(5_000), { maxLength: 300 }), (perMinute, pauses) => {
      let now = 0
      const limit = rateLimit(perMinute, () => now)
      const through: number[] = []
      for (const pause of pauses) {
        now += pause
        if (limit.wait('one') === 0) through.push(now)
      }

      const inMinute = (from: number): number => through.filter((at) => at >= from && at < from + 60_000).length
      expect(Math.max(0, ...through.map(inMinute))).toBeLessThanOrEqual(2 * perMinute)
      expect(through.length).toBeGreaterThanOrEqual(Math.min(perMinute, pauses.length))
    }),
  )
})

it('returns the seconds until the next request is answered', () => {
  let now = 0
  const limit = rateLimit(6, () => now)
  for (let sent = 0; sent < 6; sent += 1) expect(limit.wait('one')).toBe(0)

  const seconds = limit.wait('one')

  expect(seconds).toBe(10)
  now += seconds * 1_000 - 1
  expect(limit.wait('one')).toBe(1)
  now += 1
  expect(limit.wait('one')).toBe(0)
  expect(limit.wait('other')).toBe(0)
})

it('has no limit if none is set', () => {
  const limit = rateLimit(0, () => 0)

  expect(Array.from({ length: 1_000 }, () => limit.wait('one')).every((seconds) => seconds === 0)).toBe(true)
})
