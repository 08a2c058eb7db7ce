import { afterEach, describe, expect, it } from 'vitest'
import { localDay, localMinute, offsetIn, parseTime, withOffset } from './local-time.ts'

const zone = process.env.TZ
afterEach(() => {
  if (zone === undefined) delete process.env.TZ
  else process.env.TZ = zone
})

describe('a time without an offset is shown in the time zone of the process', () => {
  it.each([
    ['UTC', '2026-05-09', '2026-05-09 00:15'],
    ['America/Halifax', '2026-05-08', '2026-05-08 21:15'],
    ['Pacific/Auckland', '2026-05-09', '2026-05-09 12:15'],
    ['Asia/Kolkata', '2026-05-09', '2026-05-09 05:45'],
  ])('%s', (name, day, minute) => {
    process.env.TZ = name

    expect(localDay('2026-05-09T00:15:00.000Z')).toBe(day)
    expect(localMinute('2026-05-09T00:15:00.000Z')).toBe(minute)
  })

  it('has the offset of that season', () => {
    process.env.TZ = 'America/Halifax'

    expect(localMinute('2026-01-09T00:15:00.000Z')).toBe('2026-01-08 20:15')
  })
})

it.each(['UTC', 'America/Halifax', 'Pacific/Auckland'])(
  'a time with an offset is shown in that offset, also in %s',
  (name) => {
    process.env.TZ = name

    expect(localDay('2026-05-09T00:15:00.000Z', -240)).toBe('2026-05-08')
    expect(localMinute('2026-05-08T20:15:00.000Z', 330)).toBe('2026-05-09 01:45')
  },
)

it('a day ends when the next begins, also if its midnight is skipped', () => {
  process.env.TZ = 'Africa/Cairo'

  expect(new Date(parseTime('since', '2026-04-24')).toISOString()).toBe('2026-04-23T22:00:00.000Z')
  expect(new Date(parseTime('until', '2026-04-24')).toISOString()).toBe('2026-04-24T20:59:59.999Z')
  expect(new Date(parseTime('until', '2026-04-23')).toISOString()).toBe('2026-04-23T21:59:59.999Z')
})

it('a text that is not a time is shown unchanged', () => {
  expect(localDay('never')).toBe('never')
})

it.each([
  ['2026-05-08T20:15:00-04:00', -240],
  ['2026-05-08T20:15-0400', -240],
  ['2026-05-08 20:15:00.123+05:30', 330],
  ['Fri, 08 May 2026 20:15:00 -0330', -210],
  ['Fri May 08 2026 20:15:00 GMT-0300 (Atlantic Daylight Time)', -180],
  ['2026-05-08T20:15:00Z', null],
  ['2026-05-08T20:15:00+00:00', null],
  ['2026-05-08T20:15:00', null],
  ['2026-05-08', null],
])('the offset of %s is %s', (time, offset) => {
  expect(offsetIn(time)).toBe(offset)
  expect(Number.isNaN(Date.parse(time))).toBe(false)
})

it.each([-240, 330, -210, 765, null])('a time with its offset %s is the same time', (offset) => {
  const at = '2026-05-09T00:15:00.000Z'

  const written = withOffset(at, offset)

  expect(new Date(written).toISOString()).toBe(at)
  expect(offsetIn(written)).toBe(offset)
})
