const counts =
  'one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty'

const kinds: readonly (readonly [kind: string, pattern: RegExp])[] = [
  ['weekday', /\b(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b/iu],
  ['clock', /\b\d{1,2}:\d{2}\b|\b\d{1,2}\s?(?:am|pm)\b/iu],
  [
    'day',
    /\b(?:\d{1,2}(?:st|nd|rd|th)?(?: of)? (?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\p{L}*|(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\p{L}* \d{1,2}|\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./]\d{2,4})\b/iu,
  ],
  ['weight', /\b\d[\d.,]*\s?(?:mg|mcg|µg|g|kg|ml|l|lbs?|oz)\b/iu],
  ['money', /[€$£¥]\s?\d|\b\d[\d.,]*\s?(?:euros?|dollars?|pounds?|quid|usd|eur|gbp|chf)\b/iu],
  ['phone', /(?<![\d.])\+?\d[\d ()/-]{7,}\d/u],
  ['mail', /\S+@\S+\.\S+/u],
  [
    'age',
    new RegExp(
      String.raw`\b(?:is|turn(?:s|ed)|am|are)\s+(?:now\s+)?(?:\d{1,3}|${counts})\b(?![.,:/]\d|\s*(?:[€$£%]|mg|kg|ml|am|pm|minutes|hours))`,
      'iu',
    ),
  ],
]

/** What kinds of value a statement gives: a weekday, an age, an amount. Another value of the same kind may replace it. */
export const kindsOfValue = (text: string): readonly string[] =>
  kinds.flatMap(([kind, pattern]) => (pattern.test(text) ? [kind] : []))

/** A value as it stands in a text. Values of one kind can take the place of one another. */
export type Value = { readonly kind: string; readonly text: string }

const weekday = '(?:mon|tues|wednes|thurs|fri|satur|sun)days?'
const month = '(?:jan|feb|mar|apr|may|jun|jul|aug|sept?|oct|nov|dec)\\p{L}*'
const whole: readonly (readonly [kind: string, pattern: RegExp])[] = [
  ['mail', /[^\s<>"]+@[^\s<>"]+\.\p{L}+/gu],
  ['clock', /\b\d{1,2}[:.]\d{2}\s?(?:am|pm)\b|\b\d{1,2}:\d{2}\b|\b\d{1,2}\s?(?:am|pm)\b/giu],
  [
    'day',
    new RegExp(
      String.raw`\b(?:\d{1,2}(?:st|nd|rd|th)?(?:\s+of)?\s+${month}(?:,?\s+\d{4})?|${month}\s+\d{1,2}(?:st|nd|rd|th)?\b(?:,?\s+\d{4})?|\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./]\d{2,4})(?![\p{L}\d])`,
      'giu',
    ),
  ],
  [
    'weekday',
    new RegExp(
      String.raw`\b${weekday}(?:(?:,\s*|,?\s+(?:and|or|&)\s+)${weekday})*(?:\s+(?:morning|afternoon|evening|night|lunchtime)s?)?\b`,
      'giu',
    ),
  ],
  [
    'money',
    /[€$£¥]\s?\d[\d.,]*(?<![.,])|\b\d[\d.,]*\s?(?:euros?|dollars?|pounds?|quid|bucks|francs?|usd|eur|gbp|chf)\b/giu,
  ],
  ['phone', /(?<![\d.])\+?\d[\d ()/-]{7,}\d/gu],
]
/** Letters right behind a number are a unit only where they are a known one: "88c" is a house number. */
const measure =
  /(?<![\d.,:/-])\d[\d.,]*(?:\s?(?<unit>%|°\s?[CF]|(?:mcg|mg|µg|kg|g|ml|cl|l|km|cm|mm|m|mph|kmh|kwh|kw|w|gb|mb|tb|min|h|lbs?|oz|ft)(?![\p{L}\d-]))|\s(?<noun>(?!(?:of|and|or|in|at|on|to|per|for|by|is|are|was|from|with|the|an?|not|but|now|am|pm)\b)\p{Ll}{2,14})(?![\p{L}\d-]))/gu

/** The values of a text that can be told by their form: a date, a time, a weekday or several, money, a measure with its unit. */
export function valuesIn(text: string): readonly Value[] {
  let rest = text
  const found: Value[] = []
  const take = (kind: string, value: string): string => {
    found.push({ kind, text: value })
    // What belongs to one value is no part of another.
    return ' '.repeat(value.length)
  }
  for (const [kind, pattern] of whole) rest = rest.replace(pattern, (value) => take(kind, value))
  for (const match of rest.matchAll(measure)) {
    const unit = (match.groups?.unit ?? match.groups?.noun ?? '').toLowerCase().replace(/(?<=\p{L}{2})s$/u, '')
    found.push({ kind: `measure: ${unit}`, text: match[0] })
  }
  return found
}
