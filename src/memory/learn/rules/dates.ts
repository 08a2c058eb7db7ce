const month =
  'jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?'
const weekday = 'mon(?:day)?|tues?(?:day)?|wed(?:nesday)?|thu(?:rs)?(?:day)?|fri(?:day)?|sat(?:urday)?|sun(?:day)?'

const dayOfMonth = String.raw`\d{1,2}(?:st|nd|rd|th)?`

/** A calendar date, written in one of the usual ways. */
const calendarDate = new RegExp(
  String.raw`\b(?:\d{4}-\d{2}-\d{2}|\d{1,2}[./]\d{1,2}[./]\d{2,4}|(?:${month})\.?\s+${dayOfMonth}(?:,?\s+\d{4})?|(?:the\s+)?${dayOfMonth}(?:\s+of)?\s+(?:${month})(?:,?\s+\d{4})?|(?:${month})\s+\d{4})\b`,
  'giu',
)

const whenElse = new RegExp(
  String.raw`\b(?:(?:${weekday})s?|today|tonight|tomorrow|(?:next|last|this|every|each)\s+(?:second\s+|other\s+)?(?:${month}|week|month|year|spring|summer|autumn|fall|winter|morning|evening|night|quarter|${weekday})|(?:in|since|until|by|from|around|back in)\s+(?:(?:19|20)\d{2}|${month})|\d{1,2}(?::\d{2})?\s?(?:am|pm|a\.m\.|p\.m\.)|\d{1,2}:\d{2}|noon|midnight|daily|weekly|monthly|yearly|annually|q[1-4])\b`,
  'iu',
)

const calendarWords = new RegExp(`^(?:${month}|(?:${weekday})s?)$`, 'iu')

/** Whether a word is the name of a month or a day. */
export const isCalendarWord = (word: string): boolean => calendarWords.test(word)

/** The calendar dates in a text, as written. */
export const datesIn = (text: string): readonly string[] => [...text.matchAll(calendarDate)].map(([date]) => date)

/** Whether a text says when. */
export const saysWhen = (text: string): boolean => datesIn(text).length > 0 || whenElse.test(text)
