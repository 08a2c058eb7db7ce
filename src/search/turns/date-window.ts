import type { DateWindow } from './rank.ts'

const dayMs = 24 * 60 * 60 * 1000

/** How far from the day meant something may lie: nobody counts the days of "two months ago". */
const tolerance: Readonly<Record<string, number>> = { day: 1, week: 3, weekend: 3, fortnight: 4, month: 8, year: 45 }

// Without one of these words there is no date to read, and most questions have none.
const mayHoldDate =
  /\b(?:ago|last|past|previous|this|yesterday|today|tonight|(?:19|20)\d\d|jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec|january|february|march|april|august|september|october|november|december|\d{1,2}[/.]\d{1,2})\b/iu

/** The time that a question asks about ("last March", "two weeks ago", "in 2022"), seen from `now`; null for none. English. */
export async function dateWindow(question: string, now: Date): Promise<DateWindow | null> {
  if (!mayHoldDate.test(question)) return null
  const { parse } = await import('chrono-node/en')
  const found = parse(question, { instant: now, timezone: 0 }).filter((one) => isMeant(one, question))
  const first = found[0]
  if (first === undefined) return yearIn(question)
  const last = found.length === 2 && /\b(?:between|from)\b/iu.test(question) ? found[1] : undefined
  const from = windowOf(first, question, now)
  return last === undefined ? from : { from: from.from, to: windowOf(last, question, now).to }
}

/** "march" and "may" are months after a preposition, with a capital, or beside a day or a year; else they may be verbs. */
const isMeant = ({ text, index }: Parsed, question: string): boolean =>
  !/^(?:march|may)$/u.test(text) ||
  /\b(?:in|on|during|of|since|last|this|next|early|late|mid|by|until|before|after)[\s-]+$/iu.test(
    question.slice(0, index),
  )

type Parsed = Awaited<ReturnType<typeof import('chrono-node/en').parse>>[number]

function windowOf({ text, index, start }: Parsed, question: string, now: Date): DateWindow {
  const day = startOfDay(start.date())
  const unit = /\b(day|week|weekend|fortnight|month|year)s?\b/iu.exec(text)?.[1]?.toLowerCase()
  const slack = (tolerance[unit ?? 'day'] as number) * dayMs
  if (unit !== undefined && /\bago\b|\bback\b/iu.test(text)) return { from: day - slack, to: day + slack + dayMs }
  const isSpan = /\b(?:last|past|previous)\s+(?:\S+\s+)?(?:day|week|month|year)s\b/iu.test(text)
  const isUpToNow = isSpan || /\b(?:in|over|during|within)\s+the\s+$/iu.test(question.slice(0, index))
  if (unit !== undefined && isUpToNow) return { from: day - dayMs, to: now.getTime() }
  if (unit === 'year') return calendarYear(start.get('year') as number)
  if (unit === 'month') return { from: startOfMonth(day), to: startOfMonth(day, 1) }
  if (unit === 'week') return weekOf(day)
  if (unit === 'weekend') return { from: day - 2 * dayMs, to: day + 3 * dayMs }
  if (start.isCertain('month') && !start.isCertain('day')) {
    // A month without a year is the last one of that name.
    const years = !start.isCertain('year') && startOfMonth(day) > now.getTime() ? -12 : 0
    return { from: startOfMonth(day, years), to: startOfMonth(day, years + 1) }
  }
  return { from: day - slack, to: day + slack + dayMs }
}

function yearIn(question: string): DateWindow | null {
  const year = /\b(?:in|of|during|since|year)\s+((?:19|20)\d\d)\b/iu.exec(question)?.[1]
  return year === undefined ? null : calendarYear(Number(year))
}

const calendarYear = (year: number): DateWindow => ({ from: Date.UTC(year, 0, 1), to: Date.UTC(year + 1, 0, 1) - 1 })

const startOfDay = (date: Date): number => Math.floor(date.getTime() / dayMs) * dayMs

/** The first moment of the month of `day`, or of one so many months later. */
function startOfMonth(day: number, later = 0): number {
  const date = new Date(day)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + later, 1)
}

/** From the Monday before to the Sunday after, with a day on either side. */
function weekOf(day: number): DateWindow {
  const monday = day - ((new Date(day).getUTCDay() + 6) % 7) * dayMs
  return { from: monday - dayMs, to: monday + 8 * dayMs }
}
