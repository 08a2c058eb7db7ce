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
