const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })
const day = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', year: 'numeric' })
const dayOfThisYear = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short' })
const clockTime = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })
const minute = new Intl.DateTimeFormat('en', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
})

const units: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['second', 60],
  ['minute', 60],
  ['hour', 24],
  ['day', 7],
]

/** How long ago, up to a week; then the day. */
export function ago(iso: string, now: number = Date.now()): string {
  const time = timeOf(iso)
  if (Number.isNaN(time)) return iso
  let amount = (time - now) / 1000
  if (Math.abs(amount) < 5) return 'just now'
  for (const [unit, size] of units) {
    // Half past the last but one is not yet the whole of the next unit.
    if (Math.round(Math.abs(amount)) < size) return relative.format(Math.round(amount), unit)
    amount /= size
  }
  return shortDay(iso, now)
}

/** Day and minute, in the reader's time zone. */
export const moment = (iso: string): string => {
  const time = timeOf(iso)
  return Number.isNaN(time) ? iso : minute.format(time)
}

/** The time of day alone. */
export const clockOf = (iso: string): string => {
  const time = timeOf(iso)
  return Number.isNaN(time) ? iso : clockTime.format(time)
}

export const dayOf = (iso: string): string => {
  const time = timeOf(iso)
  return Number.isNaN(time) ? iso : day.format(time)
}

/** The day, with its year only where that is not the present one. */
export function shortDay(iso: string, now: number = Date.now()): string {
  const time = timeOf(iso)
  if (Number.isNaN(time)) return iso
  const isThisYear = new Date(time).getFullYear() === new Date(now).getFullYear()
  return (isThisYear ? dayOfThisYear : day).format(time)
}

/** A day as people say it: today, yesterday, or its date. */
export function namedDay(iso: string, now: number = Date.now()): string {
  const date = dayOf(iso)
  if (date === day.format(now)) return `Today, ${shortDay(iso, now)}`
  const before = new Date(now)
  before.setDate(before.getDate() - 1)
  return date === day.format(before) ? `Yesterday, ${shortDay(iso, now)}` : date
}

/** What to write at the two ends of a stretch of time: days, or times within one day. */
export function endsOf(first: string, last: string): readonly [string, string] {
  if (first === last || dayOf(first) !== dayOf(last)) return [shortDay(first), shortDay(last)]
  const [start, end] = [timeOf(first), timeOf(last)]
  return Number.isNaN(start) || Number.isNaN(end) ? [first, last] : [clockTime.format(start), clockTime.format(end)]
}

/** A day alone is a day of the reader's calendar: read as UTC it would be the day before for half of the world. */
export const timeOf = (iso: string): number => Date.parse(/^\d{4}-\d{2}-\d{2}$/.test(iso) ? `${iso}T00:00:00` : iso)
