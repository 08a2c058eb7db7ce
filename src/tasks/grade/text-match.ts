type Token = string | Day

/** A text as answers are compared: without case, punctuation, quotes and layout; dates by the day they mean. */
export type TextForm = {
  readonly words: readonly string[]
  /** The same with each date as one token. */
  readonly dated: readonly Token[]
  readonly raw: string
}

/** Scripts that are written without spaces: every sign is a word. */
const sign = '[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}]'
/** What belongs to a number stays in it, and what makes a name of a language does too: 3.5, 10:30, v1.2, C++, C#. */
const word = new RegExp(`${sign}|(?:(?!${sign})[\\p{L}\\p{M}\\p{N}])+(?:[.:]\\p{N}+)*(?:\\+{1,2}|#)?`, 'gu')
const thousands = /(?<=\p{N}),(?=\p{N}{3}(?!\p{N}))/gu

export function formOf(text: string): TextForm {
  const raw = text.normalize('NFKC')
  const dated: Token[] = []
  let at = 0
  for (const { start, end, ...day } of daysIn(raw)) {
    dated.push(...wordsOf(raw.slice(at, start)), day)
    at = end
  }
  dated.push(...wordsOf(raw.slice(at)))
  return { words: wordsOf(raw), dated, raw }
}

export const wordsOf = (text: string): readonly string[] =>
  text.normalize('NFKC').replaceAll(thousands, '').toLowerCase().match(word) ?? []

/** Whether a phrase stands in a text, word by word. */
export function holds(text: TextForm, phrase: string): boolean {
  const wanted = formOf(phrase)
  // What has no words at all, such as "!!", can only be looked for as it is.
  if (wanted.words.length === 0) return phrase.trim() !== '' && text.raw.includes(wanted.raw.trim())
  return standsIn(text.words, wanted.words) || standsIn(text.dated, wanted.dated)
}

function standsIn(tokens: readonly Token[], wanted: readonly Token[]): boolean {
  const last = tokens.length - wanted.length
  for (let start = 0; start <= last; start += 1) {
    if (wanted.every((token, offset) => isSame(tokens[start + offset], token))) return true
  }
  return false
}

function isSame(found: Token | undefined, wanted: Token): boolean {
  if (typeof wanted === 'string' || typeof found === 'string' || found === undefined) return found === wanted
  return saysDay(found, wanted)
}

/** A day as it stands in a text, or as much of it as is said. `month` counts from 1. */
type Day = { readonly year: number | null; readonly month: number; readonly day: number | null }

/** A place in a text where a day is named. */
type DaySpan = Day & { readonly start: number; readonly end: number }

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

/** Whether `said` names the day that `wanted` names, as far as `wanted` goes. */
export const saysDay = (said: Day, wanted: Day): boolean =>
  said.month === wanted.month &&
  (wanted.year === null || said.year === wanted.year) &&
  (wanted.day === null || said.day === wanted.day)

/** At the start of a line, however it is marked: `1.`, `2)`, `**3.**`, `### 4.`, `Question 5:`. */
const atLineStart =
  /^([^\S\n]*)(?:>\s*)?(?:#{1,6}\s+)?(?:[-*+]\s+)?(?:\*\*|__)?\(?(?:(?:question|answer|q|a)[^\S\n]*)?(\d{1,2})[.):](?:\*\*|__)?(?=\s)/gimu
const anywhere = /(?<=^|\s)\(?(\d{1,2})[.)](?=\s+\S)/gu

type Mark = { readonly number: number; readonly start: number; readonly end: number }

/**
 * The items of a text that is a numbered list, by their numbers; empty for any other text. Numbers may be left out, but
 * a number that comes twice is ambiguous.
 */
export function numberedItems(text: string): ReadonlyMap<number, string> {
  const lines = marksAtLineStarts(text)
  const marks = lines.length >= 2 && lines[0]?.number === 1 ? lines : marksInARow(text)
  const isAscending = marks.every(({ number }, index) => number > (marks[index - 1]?.number ?? 0))
  if (marks.length < 2 || !isAscending) return new Map()
  return new Map(marks.map(({ number, end }, index) => [number, text.slice(end, marks[index + 1]?.start)]))
}

/** Those of the outermost list: what is indented further belongs to an item. */
function marksAtLineStarts(text: string): readonly Mark[] {
  const found = [...text.matchAll(atLineStart)].map((match) => ({
    number: Number(match[2]),
    start: match.index,
    end: match.index + match[0].length,
    indent: (match[1] ?? '').length,
  }))
  const least = Math.min(...found.map(({ indent }) => indent))
  return found.filter(({ indent }) => indent === least)
}

/** 1, 2, 3 and so on, wherever they stand. */
function marksInARow(text: string): readonly Mark[] {
  const marks: Mark[] = []
  for (const match of text.matchAll(anywhere)) {
    if (Number(match[1]) !== marks.length + 1) continue
    marks.push({ number: marks.length + 1, start: match.index, end: match.index + match[0].length })
  }
  return marks
}
