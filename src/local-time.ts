import { invalid } from './errors.ts'

/**
 * The day of a time, such as 2026-05-08, at the UTC offset (in minutes) that a turn arrived with. Without an offset, the day
 * in the time zone of the process.
 */
export const localDay = (at: string, utcOffset: number | null = null): string => localTime(at, utcOffset).slice(0, 10)

/** The day and the minute of a time, such as 2026-05-08 20:15. */
export const localMinute = (at: string, utcOffset: number | null = null): string =>
  localTime(at, utcOffset).slice(0, 16).replace('T', ' ')

/** Formats a UTC time with its original offset, such as 2026-05-08T20:15:00.000-04:00; in UTC if the offset is null. */
export function withOffset(at: string, utcOffset: number | null): string {
  if (utcOffset === null) return at
  const two = (number: number): string => String(number).padStart(2, '0')
  const minutes = Math.abs(utcOffset)
  const offset = `${utcOffset < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`
  return `${localTime(at, utcOffset)}${offset}`
}

/**
 * The UTC offset at the end of a time, in minutes; null if there is none. +00:00 counts as none, because programs in any time
 * zone write it instead of Z.
 */
export function offsetIn(time: string): number | null {
  const [, sign, hours, minutes] =
    /:\d\d(?:[.,]\d+)?\s*(?:GMT|UTC)?([+-])(\d\d):?(\d\d)(?:\s*\(.*\))?$/u.exec(time) ?? []
  const offset = Number(hours) * 60 + Number(minutes)
  return sign === undefined || offset === 0 ? null : sign === '-' ? -offset : offset
}

/** Parses the value of `since` or `until`; throws if it is not a time. A date without a time means its start for `since` and its end for `until`, in the time zone of the process. */
export function parseTime(what: 'since' | 'until', given: string): number {
  const isDay = /^\d{4}-\d\d-\d\d$/u.test(given)
  const time = !isDay ? Date.parse(given) : what === 'since' ? startOfDay(given) : startOfDay(given, 1) - 1
  if (!Number.isNaN(time)) return time
  throw invalid(
    `"${given.slice(0, 80)}" is not a date.`,
    'Write a day such as 2026-05-03, or a time such as 2026-05-03T10:00:00Z.',
  )
}

/** The first moment of a day such as 2026-05-08 in the time zone of the process, or of the day `later` days after it. */
export function startOfDay(day: string, later = 0): number {
  // `Date` would parse a date without a time as UTC.
  const start = new Date(`${day}T00:00:00`)
  return new Date(start.getFullYear(), start.getMonth(), start.getDate() + later).getTime()
}

/** ISO 8601 without a time zone. An invalid time is returned unchanged. */
function localTime(at: string, utcOffset: number | null): string {
  const time = new Date(at)
  const offset = utcOffset ?? -time.getTimezoneOffset()
  const shifted = new Date(time.getTime() + offset * 60_000)
  return Number.isNaN(shifted.getTime()) ? at : shifted.toISOString().slice(0, -1)
}
