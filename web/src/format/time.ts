import { localDay, startOfDay } from '../../../src/local-time.ts'

const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })
/** Formats a time with a UTC offset in minutes, such as the offset of a turn; without one, in the browser's time zone. */
function formatter(options: Intl.DateTimeFormatOptions) {
  const here = new Intl.DateTimeFormat('en', options)
  const inUtc = new Intl.DateTimeFormat('en', { ...options, timeZone: 'UTC' })
  return (time: number, utcOffset: UtcOffset): string =>
    utcOffset === null ? here.format(time) : inUtc.format(time + utcOffset * 60_000)
}
type UtcOffset = number | null

const day = { day: 'numeric', month: 'short' } as const
const clock = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const
const formatDay = formatter({ ...day, year: 'numeric' })
const formatDayOfThisYear = formatter(day)
const formatClock = formatter(clock)

const units: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['second', 60],
  ['minute', 60],
  ['hour', 24],
  ['day', 7],
]

/** A relative time, up to a week; then the day. */
export function relativeTime(iso: string, now: number = Date.now()): string {
  const time = timeOf(iso)
  if (Number.isNaN(time)) return iso
  let amount = (time - now) / 1000
  if (Math.abs(amount) < 5) return 'just now'
  for (const [unit, size] of units) {
    // Compares the rounded amount: 59.6 minutes are "1 hour ago", not "60 minutes ago".
    if (Math.round(Math.abs(amount)) < size) return relative.format(Math.round(amount), unit)
    amount /= size
  }
  return shortDay(iso, null, now)
}

/** Formats a stored time. A text that is not a time is returned unchanged. */
const formatStored =
  (format: ReturnType<typeof formatter>) =>
  (iso: string, utcOffset: UtcOffset = null): string => {
    const time = timeOf(iso)
    return Number.isNaN(time) ? iso : format(time, utcOffset)
  }

export const dateTimeText = formatStored(formatter({ ...day, year: 'numeric', ...clock }))
export const clockOf = formatStored(formatClock)
export const dayOf = formatStored(formatDay)

/** The day, with its year unless it is the current one. */
export function shortDay(iso: string, utcOffset: UtcOffset = null, now: number = Date.now()): string {
  const time = timeOf(iso)
  if (Number.isNaN(time)) return iso
  const isThisYear = localDay(new Date(time).toISOString(), utcOffset).startsWith(`${new Date(now).getFullYear()}-`)
  return (isThisYear ? formatDayOfThisYear : formatDay)(time, utcOffset)
}

/** "Today" or "Yesterday" with the day, or the date. */
export function namedDay(iso: string, utcOffset: UtcOffset = null, now: number = Date.now()): string {
  const date = dayOf(iso, utcOffset)
  if (date === formatDay(now, null)) return `Today, ${shortDay(iso, utcOffset, now)}`
  const before = new Date(now)
  before.setDate(before.getDate() - 1)
  return date === formatDay(before.getTime(), null) ? `Yesterday, ${shortDay(iso, utcOffset, now)}` : date
}

/** The labels for the ends of a time range: days, or times of day if it is within one day. */
export function rangeLabels(first: string, last: string): readonly [string, string] {
  if (first === last || dayOf(first) !== dayOf(last)) return [shortDay(first), shortDay(last)]
  const start = timeOf(first)
  const end = timeOf(last)
  return Number.isNaN(start) || Number.isNaN(end) ? [first, last] : [formatClock(start, null), formatClock(end, null)]
}

/** Parses a time. A date without a time is a day in the browser's time zone; in UTC it would be the day before for half the world. */
export const timeOf = (iso: string): number => (/^\d{4}-\d{2}-\d{2}$/.test(iso) ? startOfDay(iso) : Date.parse(iso))

/** The last moment of a day such as 2026-05-08 in the browser's time zone, which may differ from the server's. */
export const endOfDay = (day: string): string => {
  const end = new Date(startOfDay(day, 1) - 1)
  return Number.isNaN(end.getTime()) ? day : end.toISOString()
}

/** The current day in the browser's time zone, such as 2026-05-08. */
export const today = (): string => localDay(new Date().toISOString())

/** Max days of a plot. With more, its bars would be too thin. */
const maxDays = 90

/** All days from the first known one to the last, but only the latest `maxDays`. */
export const plottedDays = (known: readonly string[]): readonly string[] =>
  daysBetween(known[0] ?? '', known.at(-1) ?? '').slice(-maxDays)

/** All days between two days, both inclusive. */
export function daysBetween(first: string, last: string): readonly string[] {
  const all: string[] = []
  const at = new Date(`${first}T00:00:00Z`)
  if (Number.isNaN(at.getTime())) return [first]
  for (let day = first; day <= last && all.length < 10_000; day = dayAfter(at)) all.push(day)
  return all
}

/** Advances `at` by one day and returns it. Uses UTC, in which each day has 24 hours. */
function dayAfter(at: Date): string {
  at.setUTCDate(at.getUTCDate() + 1)
  return at.toISOString().slice(0, 10)
}
