import { type Day, daysIn, saysDay } from './dates.ts'

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
