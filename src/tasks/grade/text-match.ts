/** A text prepared for comparison: case, punctuation, quotes and layout are gone; `dated` has each date in one form. */
export type TextForm = { readonly words: string; readonly dated: string; readonly raw: string }

/** In scripts written without spaces every character is a word. */
const character = '[\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Thai}]'
/** Marks inside numbers and after the names of languages belong to the word: 3.5, 10:30, v1.2, C++, C#. */
const word = new RegExp(`${character}|(?:(?!${character})[\\p{L}\\p{M}\\p{N}])+(?:[.:]\\p{N}+)*(?:\\+{1,2}|#)?`, 'gu')
const thousands = /(?<=\p{N}),(?=\p{N}{3}(?!\p{N}))/gu

export function formOf(text: string): TextForm {
  const raw = text.normalize('NFKC')
  return { words: wordsIn(raw), dated: wordsIn(withUniformDates(raw)), raw }
}

/** Words with a space before and after each, so that only whole words are found. */
const wordsIn = (text: string): string =>
  ` ${(text.replaceAll(thousands, '').toLowerCase().match(word) ?? []).join(' ')} `

/** Whether a text holds a phrase, word by word. */
export function holds(text: TextForm, phrase: string): boolean {
  const wanted = formOf(phrase)
  // A phrase without words, such as "!!", can only be looked for as it is.
  if (wanted.words.trim() === '') return phrase.trim() !== '' && text.raw.includes(wanted.raw.trim())
  return text.words.includes(wanted.words) || text.dated.includes(wanted.dated)
}

const months = 'january february march april may june july august september october november december'.split(' ')
const edge = '(?<![\\p{L}\\p{N}])'
const end = '(?![\\p{L}\\p{N}])'
const day = '(?<day>\\d{1,2})(?:st|nd|rd|th)?'
const name = '(?<name>\\p{L}{3,9})\\.?'
const year = '(?<year>[12]\\d{3})'
/** A date does not continue on the next line, which may be the next item of a list. */
const gap = '[^\\S\\n]+'

const datePatterns = [
  `${edge}${year}(?<mark>[-/.])(?<month>\\d{1,2})\\k<mark>(?<day>\\d{1,2})(?=T|${end})`,
  `${year}年(?<month>\\d{1,2})月(?<day>\\d{1,2})日`,
  `${edge}(?<first>\\d{1,2})(?<mark>[-/.])(?<second>\\d{1,2})\\k<mark>${year}${end}`,
  `${edge}(?:the${gap})?${day}(?:${gap}of)?${gap}${name}(?:,?${gap}${year})?${end}`,
  `${edge}${name}${gap}(?:the${gap})?${day}(?:,?${gap}${year})?${end}`,
].map((source) => new RegExp(source, 'giu'))

/** Writes every date as one word for month and day, then the year where there is one. */
const withUniformDates = (text: string): string =>
  datePatterns.reduce(
    (left, pattern) =>
      left.replaceAll(pattern, (...match) => {
        const [found, groups] = [match[0] as string, match.at(-1) as Groups]
        const { month, day: date } = monthAndDay(groups)
        const isDate = month >= 1 && month <= 12 && date >= 1 && date <= 31
        return isDate ? ` day${100 * month + date} ${groups.year ?? ''} ` : found
      }),
    text,
  )

type Groups = Readonly<Record<string, string | undefined>>

/** Zero where there is no such month, or where figures can be read both ways. */
function monthAndDay({ month, day: date, name: word = '', first, second, mark }: Groups): {
  readonly month: number
  readonly day: number
} {
  if (first === undefined) {
    const named = months.findIndex((one) => one.startsWith(word.toLowerCase())) + 1
    return { month: month === undefined ? named : Number(month), day: Number(date) }
  }
  const [one, other] = [Number(first), Number(second)]
  if (mark === '.' || one > 12 || one === other) return { month: other, day: one }
  return other > 12 ? { month: one, day: other } : { month: 0, day: 0 }
}
