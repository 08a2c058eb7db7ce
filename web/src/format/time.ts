const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' })
const day = new Intl.DateTimeFormat('en', { day: 'numeric', month: 'short', year: 'numeric' })
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
  const time = Date.parse(iso)
  if (Number.isNaN(time)) return iso
  let amount = (time - now) / 1000
  if (Math.abs(amount) < 5) return 'just now'
  for (const [unit, size] of units) {
    if (Math.abs(amount) < size) return relative.format(Math.round(amount), unit)
    amount /= size
  }
  return day.format(time)
}

/** Day and minute, in the reader's time zone. */
export const moment = (iso: string): string => {
  const time = Date.parse(iso)
  return Number.isNaN(time) ? iso : minute.format(time)
}

export const dayOf = (iso: string): string => {
  const time = Date.parse(iso)
  return Number.isNaN(time) ? iso : day.format(time)
}
