import type { ParsedResult } from 'chrono-node/en'

/** The sentence with a date beside every word that means one by the time it was said: "tomorrow [2026-05-04]". */
export async function datedWords(text: string, at: string): Promise<string> {
  // Loaded when there is something to learn, which is seldom.
  const { parse } = await import('chrono-node/en')
  const found = parse(text, { instant: new Date(at), timezone: 'UTC' }, { forwardDate: true })
  let dated = ''
  let from = 0
  for (const { index, text: words, start } of found) {
    const date = dateOf(start)
    // A date that is written out needs none beside it, and "from now on" means no day.
    if (date === null || /\d{4}/u.test(words) || words.toLowerCase() === 'now') continue
    const end = index + words.length
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
