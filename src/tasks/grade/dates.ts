/** A day as it stands in a text, or as much of it as is said. `month` counts from 1. */
export type Day = { readonly year: number | null; readonly month: number; readonly day: number | null }

/** A place in a text where a day is named. */
export type DaySpan = Day & { readonly start: number; readonly end: number }

const names = [
  'jan(?:uary)?',
  'feb(?:ruary)?',
  'mar(?:ch)?',
  'apr(?:il)?',
  'may',
  'june?',
  'july?',
  'aug(?:ust)?',
  'sept?(?:ember)?',
  'oct(?:ober)?',
  'nov(?:ember)?',
  'dec(?:ember)?',
]
const monthNames = names.map((name) => new RegExp(`^${name}$`, 'iu'))
const month = `(?<name>${names.join('|')})\\.?`
const day = '(?<day>[0-3]?\\d)(?:st|nd|rd|th)?'
const year = '(?<year>[12]\\d{3})'
const edge = '(?<![\\p{L}\\p{N}])'
const end = '(?![\\p{L}\\p{N}])'
/** A date does not go on in the next line, which may be the next point of a list. */
const gap = '(?:[^\\S\\n]+)'

/** The longest first: a part of a date is looked for only where no whole one stands. */
const patterns: readonly RegExp[] = [
  `${edge}${year}(?<mark>[-/.])(?<month>[01]?\\d)\\k<mark>(?<day>[0-3]?\\d)(?=T|${end})`,
  `${year}${gap}?年${gap}?(?<month>[01]?\\d)${gap}?月${gap}?(?<day>[0-3]?\\d)${gap}?日`,
  `${edge}(?:the${gap})?${day}(?:${gap}of)?(?:${gap}|-)${month},?(?:${gap}|-)${year}${end}`,
  `${edge}${month}${gap}(?:the${gap})?${day},?${gap}(?:of${gap})?${year}${end}`,
  `${edge}(?<first>[0-3]?\\d)(?<mark>[./-])(?<second>[0-3]?\\d)\\k<mark>${year}${end}`,
  `${year}${gap}?年${gap}?(?<month>[01]?\\d)${gap}?月`,
  `${edge}${month},?${gap}(?:of${gap})?${year}${end}`,
  `${edge}(?:the${gap})?${day}(?:${gap}of)?${gap}${month}${end}`,
  `${edge}${month}${gap}(?:the${gap})?${day}${end}`,
].map((source) => new RegExp(source, 'giu'))

/** Every day named in a text, in whatever way it is written, in the order they stand. */
export function daysIn(text: string): readonly DaySpan[] {
  const found: DaySpan[] = []
  for (const pattern of patterns) {
    for (const match of text.matchAll(pattern)) {
      const [start, stop] = [match.index, match.index + match[0].length]
      if (found.some((other) => start < other.end && other.start < stop)) continue
      const named = dayOf(match.groups ?? {})
      if (named !== null) found.push({ ...named, start, end: stop })
    }
  }
  return found.sort((one, other) => one.start - other.start)
}

function dayOf(groups: Readonly<Record<string, string | undefined>>): Day | null {
  const given = (name: string): number | null => (groups[name] === undefined ? null : Number(groups[name]))
  const order = groups.first === undefined ? null : figures(given('first') ?? 0, given('second') ?? 0, groups.mark)
  if (groups.first !== undefined && order === null) return null
  const named = groups.name === undefined ? null : monthNames.findIndex((name) => name.test(groups.name ?? '')) + 1
  const month = order?.month ?? given('month') ?? named
  const day = order?.day ?? given('day')
  if (month === null || month < 1 || month > 12 || (day !== null && (day < 1 || day > 31))) return null
  return { year: given('year'), month, day }
}

/** Null where figures can be read both ways: a guess would make equal what is not. */
function figures(first: number, second: number, mark: string | undefined): { month: number; day: number } | null {
  if (mark === '.') return { day: first, month: second }
  if (first === second) return { day: first, month: second }
  if (first > 12) return { day: first, month: second }
  return second > 12 ? { month: first, day: second } : null
}

/** Whether `said` says at least what `wanted` does, and nothing else. */
export const saysDay = (said: Day, wanted: Day): boolean =>
  said.month === wanted.month &&
  (wanted.year === null || said.year === wanted.year) &&
  (wanted.day === null || said.day === wanted.day)
