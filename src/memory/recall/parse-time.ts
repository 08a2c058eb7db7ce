import { MemoryError } from '../../errors.ts'

/** A day alone means its beginning for `since`, and its end for `until`. */
export function parseTime(what: 'since' | 'until', given: string): number {
  const isDay = /^\d{4}-\d\d-\d\d$/u.test(given)
  const time = Date.parse(isDay && what === 'until' ? `${given}T23:59:59.999Z` : given)
  if (!Number.isNaN(time)) return time
  throw new MemoryError('invalid', `"${given.slice(0, 80)}" is not a date.`, {
    hint: 'Write a day such as 2026-05-03, or a time such as 2026-05-03T10:00:00Z.',
  })
}
