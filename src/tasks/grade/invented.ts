import { isOrdinaryWord } from '../../search/ordinary-words.ts'
import { daysIn, formOf, holds, saysDay, type TextForm, wordsOf } from './text-match.ts'

/** Everything an answer may draw on: what was said, what is asked, what lies in the workspace. */
type KnownText = { readonly form: TextForm; readonly words: ReadonlySet<string> }

export function knownText(texts: readonly string[]): KnownText {
  const form = formOf(texts.join('\n\n'))
  return { form, words: new Set(form.words.flatMap((word) => [word, ...word.split(/[.:]/u)])) }
}

/**
 * Names, numbers, dates and quoted phrases of an answer that stand nowhere in what is known. Headings and labels are
 * the writer's own, and so are ordinary words in the place where a sentence begins.
 */
export function inventedIn(answer: string, known: KnownText): readonly string[] {
  const { quotes, days, rest } = takenApart(withoutLayout(answer))
  const phrases = quotes.filter((quote) => wordsOf(quote).length > 0 && !isKnownPhrase(quote, known))
  const dates = days.filter((day) => !isKnownDay(day, known))
  return [...new Set([...phrases, ...dates, ...unknownTokens(rest, known)])]
}

const quotation =
  /["“”«»„‟]([^"“”«»„‟\n]{2,})["“”«»„‟]|(?<![\p{L}\p{N}])['‘]([^'‘’\n]{2,})['’](?![\p{L}\p{N}])|`([^`\n]+)`/gu

/** Splits a text into its quotations, the days it names, and the rest with a comma in their place. */
function takenApart(text: string): {
  readonly quotes: readonly string[]
  readonly days: readonly string[]
  readonly rest: string
} {
  const quotes = [...text.matchAll(quotation)].map(([, double, single, code]) => double ?? single ?? code ?? '')
  const bare = text.replaceAll(quotation, ' , ')
  const spans = daysIn(bare)
  return {
    quotes,
    days: spans.map(({ start, end }) => bare.slice(start, end)),
    rest: spans.reduceRight((left, { start, end }) => `${left.slice(0, start)} , ${left.slice(end)}`, bare),
  }
}

/** Takes away headings, labels before a colon, and the numbers and marks of lists. */
const withoutLayout = (answer: string): string =>
  answer
    .normalize('NFKC')
    .split('\n')
    .filter((line) => !/^\s*#{1,6}\s/u.test(line))
    .map((line) =>
      line
        .replace(/^\s*(?:>\s*)*(?:[-*+•]\s+|\(?\d{1,3}[.)]\s+)?(?:\[[ x]\]\s+)?/iu, '')
        .replace(/^(?:\*\*|__)?[\p{L}\p{N} '’/&-]{1,60}(?:\*\*|__)?\s*[:：](?:\*\*|__)?(?=\s|$)/u, '')
        .replaceAll(/\*\*|__|(?<![\p{L}\p{N}])[*_]|[*_](?![\p{L}\p{N}])/gu, ''),
    )
    .join('\n')

/** A quotation may hold more than one line of what is known, as long as each of its words stands there in a row. */
const isKnownPhrase = (quote: string, known: KnownText): boolean =>
  holds(known.form, quote) || (wordsOf(quote).length === 1 && known.words.has(wordsOf(quote)[0] ?? ''))

function isKnownDay(text: string, known: KnownText): boolean {
  if (holds(known.form, text)) return true
  const [day] = daysIn(text)
  if (day === undefined) return false
  return known.form.dated.some((token) => typeof token !== 'string' && saysDay(token, day))
}

/** How many things there are is not a claim about them. */
const counting =
  /^\s*(?:facts?|items?|pieces?|questions?|things?|answers?|entries|entry|beliefs?|notes?|memories|memory|files?|points?|details?|lines?|sessions?|of)\b/iu

/** Letters and figures that stand together are one name: a desk 3A, a colour 0F6B5C, a version v1.2. */
const token = /[\p{L}\p{M}\p{N}]+(?:['’.,:&+#-][\p{L}\p{M}\p{N}+#]+)*[+#]*/gu

function unknownTokens(text: string, known: KnownText): readonly string[] {
  return [...text.matchAll(token)].flatMap((match) => {
    const [written] = match
    const bare = written.replace(/['’](?:s|m|re|ve|ll|d|t)$/iu, '')
    const parts = wordsOf(bare)
    if (parts.every((part) => known.words.has(part) || known.words.has(singular(part)))) return []
    if (/\p{N}/u.test(bare)) {
      const isCount = Number(bare) <= 20 && counting.test(text.slice(match.index + written.length))
      return isCount ? [] : [bare]
    }
    const lower = bare.toLowerCase()
    if (!/\p{Lu}/u.test(bare) || bare === 'I' || titles.has(lower)) return []
    // A word that begins a sentence is written large whatever it is.
    const isPlain = parts.every(isOrdinaryWord)
    return isPlain && (opensSentence(text, match.index) || /['’]/u.test(bare)) ? [] : [bare]
  })
}

const titles: ReadonlySet<string> = new Set(['dr', 'prof', 'mr', 'mrs', 'ms', 'ok', 'yes', 'no'])

const singular = (word: string): string => word.replace(/(?:es|s)$/u, '')

const opensSentence = (text: string, at: number): boolean => {
  const before = text.slice(0, at)
  return /(?:^|[.!?:;\n\-–—(]\s*|["“])$/u.test(before) && !/\b(?:dr|prof|mrs?|ms|st)\.\s*$/iu.test(before)
}
