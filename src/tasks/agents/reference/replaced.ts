import { analyse } from '../../../search/analyse.ts'
import { functionWords, meaningOf } from './meaning.ts'
import type { ParsedStatement } from './statement.ts'

const month = 'jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec'
// Values that can stand in for one another: an amount of money, a measure, a time of day, a date.
const values: readonly RegExp[] = [
  /[€$£¥]\s?\d[\d.,]*|\b\d[\d.,]*\s?(?:euros?|dollars?|pounds?|quid|usd|eur|gbp)\b/giu,
  /\b\d[\d.,]*\s?(?:mg|ml|g|kg|km|cm|m|l|units?|pupils?|people|pages?|%)(?![\p{L}])/giu,
  /\b\d{1,2}(?::\d\d|\s?(?:am|pm)\b)/giu,
  /\b(?:is|am|are|turn(?:s|ed)?)\s+(?:now\s+)?(?:\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen)(?=\s*(?:$|[,.;!?]|and\b|but\b|years?\b|yesterday\b|today\b|now\b|last\b))/giu,
  new RegExp(
    String.raw`\b\d{1,2}(?:st|nd|rd|th)?\s+(?:of\s+)?(?:${month})\p{L}*|\b(?:${month})\p{L}*\s+\d{1,2}\b`,
    'giu',
  ),
]

const changing =
  /\b(?:chang|mov|rais|lower|increas|reduc|switch|updat|postpon|shift|push)(?:ed|es|e|s)?\s+(?:(?:my|our|the|his|her|their)\s+)?(?<thing>[^,;.]{2,60}?)(?:\s+from\s[^,;.]+?)?\s+to\s/iu
const sayingNow =
  /\b(?:now|turned|from (?:today|now|tomorrow|next)|these days|as of|new|has (?:been )?(?:changed|moved|gone)|no longer|since (?:today|yesterday))\b/iu

/** Gives each statement the later one that has another value for the same thing, if there is one. */
export const withReplacements = (parsedStatements: readonly ParsedStatement[]): readonly ParsedStatement[] =>
  parsedStatements.map((parsed, at) => {
    const later = parsedStatements.findLast((other, index) => index > at && isReplaced(parsed, other))
    return later === undefined
      ? parsed
      : { ...parsed, replacedBy: later.statement, lasting: lastingText(parsed, later) }
  })

function isReplaced(earlier: ParsedStatement, later: ParsedStatement): boolean {
  if (earlier.statement.file !== later.statement.file) return false
  const differs = values.some((pattern) => {
    const was = valuesIn(earlier.statement.text, pattern)
    const is = valuesIn(later.statement.text, pattern)
    return was.length > 0 && is.length > 0 && !is.some((value) => was.includes(value))
  })
  if (!differs) return false
  const thing = changing.exec(later.statement.text)?.groups?.thing
  const spokenOf = contentOf(thing ?? withoutValues(later.statement.text))
  const shared = spokenOf.filter((meaning) => earlier.said.has(meaning)).length
  if (spokenOf.length === 0 || shared === 0) return false
  if (thing !== undefined || sayingNow.test(later.statement.text)) return shared >= spokenOf.length * 0.6
  // Without a word of change only the same sentence with another value takes the place of one.
  return shared === spokenOf.length && contentOf(withoutValues(earlier.statement.text)).length === shared
}

/** The earlier text without the values that the later one gives anew. */
const lastingText = (earlier: ParsedStatement, later: ParsedStatement): string =>
  values
    .filter((pattern) => valuesIn(later.statement.text, pattern).length > 0)
    .reduce((text, pattern) => text.replace(pattern, '[…]'), earlier.statement.text)

const valuesIn = (text: string, pattern: RegExp): readonly string[] =>
  [...text.matchAll(pattern)].map(([value]) => value.replace(/\s/gu, '').toLowerCase())

const withoutValues = (text: string): string =>
  values.reduce(
    (left, pattern) => left.replace(pattern, ' '),
    text.replace(/\b(?:today|yesterday|tomorrow|now)\b/giu, ' '),
  )

const contentOf = (text: string): readonly string[] => [
  ...new Set(analyse(text).flatMap(({ word }) => (functionWords.has(word) ? [] : [meaningOf(word)]))),
]
