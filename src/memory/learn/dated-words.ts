import type { ParsedResult } from 'chrono-node/en'

/** The sentence with a date beside every word that means one by the time it was said: "tomorrow [2026-05-04]". */
export async function datedWords(text: string, at: string): Promise<string> {
  // Loaded when there is something to learn, which is seldom.
  const { parse } = await import('chrono-node/en')
  const parsed = (forwardDate: boolean) => parse(text, { instant: new Date(at), timezone: 'UTC' }, { forwardDate })
  // "Friday" is the next one, "last Friday" is not.
  const past = new Map(parsed(false).map((one) => [one.index, one]))
  let dated = ''
  let from = 0
  for (const coming of parsed(true)) {
    const isPast = /\b(?:last|past|previous|ago|yesterday)\b/iu.test(coming.text)
    const { index, text: words, start } = (isPast ? past.get(coming.index) : undefined) ?? coming
    const date = dateOf(start)
    const end = index + words.length
    // A date that is written out needs none beside it. "From now on", "the week", "2 weeks" and "on Fridays" mean no day.
    const isLength = /^\d+\s(?:minute|hour|day|week|month|year)s?$/iu.test(words)
    const isNoDay = /^now$|^the\s\p{L}|\d{4}/iu.test(words) || /^s\b/iu.test(text.slice(end)) || isLength
    const isRepeated = /\b(?:every|each|any|most)\s{1,4}$/iu.test(text.slice(Math.max(0, index - 10), index))
    if (date === null || isNoDay || isRepeated) continue
    dated += `${text.slice(from, end)} [${date}]`
    from = end
  }
  return dated + text.slice(from)
}

/** The day, or the month where no day is meant; null where only a time of day is. */
function dateOf(start: ParsedResult['start']): string | null {
  const part = (name: 'day' | 'month' | 'year', length: number): string =>
    String(start.get(name) ?? 0).padStart(length, '0')
  const month = `${part('year', 4)}-${part('month', 2)}`
  if (start.isCertain('day') || start.isCertain('weekday')) return `${month}-${part('day', 2)}`
  return start.isCertain('month') ? month : null
}
