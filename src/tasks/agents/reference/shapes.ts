/** What a kind of answer looks like, so that a statement can be seen to hold one. */
export const shapes = [
  'time',
  'number',
  'place',
  'organisation',
  'name',
  'reason',
  'email',
  'phone',
  'link',
  'often',
  'age',
  'extent',
  'title',
] as const
export type Shape = (typeof shapes)[number]

const month =
  'jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?'
const weekday = '(?:mon|tues|wednes|thurs|fri|satur|sun)days?'
const numeral =
  'one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|thousand|million|dozen|half|once|twice|no|none|zero'

// A capital after a preposition is a place or a body of people; a month or weekday after it is neither.
const properNoun = String.raw`(?!(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\b|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?\b)(?:the |our |my )?\p{Lu}[\p{L}\p{N}]`

const patterns: Readonly<Record<Exclude<Shape, 'title'>, RegExp>> = {
  time: new RegExp(
    String.raw`\b(?:${month})\b\.?\s*\d|\d(?:st|nd|rd|th)?\s+(?:of\s+)?(?:${month})\b|\b(?:in|since|until|by|from|of|on|every|this|next|last|early|late|mid)[\s-](?:${month})\b|\b${weekday}\b|\b(?:19|20)\d\d\b|\d{1,4}[/.-]\d{1,2}[/.-]\d{1,4}|\d{1,2}[:.]\d\d\b|\b\d{1,2}\s*(?:am|pm|a\.m\.|p\.m\.|o['’]clock|h)\b|\b(?:today|tomorrow|yesterday|tonight|noon|midnight|morning|afternoon|evening|night|dawn|dusk|sunrise|sunset|spring|summer|autumn|winter|weekends?|christmas|easter)\b|\b(?:daily|weekly|monthly|yearly|annually|hourly|quarterly)\b|\b(?:ago|since|until)\b|\b(?:next|last|every|each|this)\s+(?:day|week|month|year|quarter)|\b(?:in|within|after|for)\s+(?:\d+|a|${numeral})\s+(?:minute|hour|day|week|month|year)|\bq[1-4]\b|\bweek\s+\d|\b(?:from|between)\s+\d{1,2}\s+(?:to|and|till|until)\s+\d{1,2}\b`,
    'iu',
  ),
  number: new RegExp(String.raw`\d|\b(?:${numeral})\b`, 'iu'),
  place: new RegExp(
    String.raw`\b(?:[Ii]n|[Aa]t|[Ff]rom|[Tt]o|[Nn]ear|[Oo]n|[Oo]f|[Oo]utside|[Bb]y|[Aa]round|[Bb]ehind|[Uu]nder|[Bb]etween)\s+${properNoun}|\b(?:in|at|from|to|on)\s+\S*\p{L}[\p{L}-]*\d|\b(?:in|at|under|behind|inside|on|above|below|near|beside|next to|between|opposite|outside)\s+(?:the|my|our|a|an|level|floor|room|row|drawer)\b|\b(?:venue|location|street|road|avenue|lane|square|building|room|floor)\b`,
    'u',
  ),
  organisation: new RegExp(String.raw`\b(?:at|to|for|from|with|by|of|join(?:ed)?)\s+${properNoun}`, 'u'),
  name: /["“'‘`][^"”'’`]+["”'’`]|(?<=[\p{L}\p{N},;:)\]"'”’]\s)\p{Lu}[\p{L}\p{N}]|^(?!I\b|My\b|Our\b|The\b|We\b)\p{Lu}\p{L}|\p{L}\d|\p{Ll}\p{Lu}|:\s*\S/u,
  reason:
    /\b(?:because|since|so that|in order to|due to|reason|so|as (?:it|we|he|she|they|i)\b|thanks to|owing to|therefore|to (?:avoid|keep|make|get|have|save|reduce|prevent|be|allow|help|stop|let))\b|\(\p{L}[^)]*\s[^)]*\)/iu,
  email: /\S@\S+\.\S/u,
  phone: /(?:\+|\b)\d[\d\s().-]{4,}\d|\b(?:ext|extension)\b\.?\s*\d/iu,
  link: /\bhttps?:\/\/\S|\bwww\.\S|\b[\w-]+\.(?:com|org|net|io|dev|ai|co|edu|gov|app)\b/iu,
  age: new RegExp(
    String.raw`\b(?:years?|months?|weeks?)[\s-]old\b|\bage[ds]?\b|\bborn\b|\bturn(?:s|ed|ing)?\s+(?:\d|${numeral})|\b(?:is|am|are|i['’]m)\s+(?:${numeral})(?=\s*(?:$|[,.;!?]|and\b|now\b|today\b|but\b))|\b(?:is|am|are|i['’]m)\s+\d{1,3}(?![\d:]|[.,-]\d|\s*(?:st|nd|rd|th|%|kg|km|cm|m)\b)`,
    'iu',
  ),
  extent: new RegExp(
    String.raw`(?:\d|\b(?:a|an|${numeral}))[\s-]*(?:seconds?|secs?|minutes?|mins?|hours?|h|days?|weeks?|months?|years?|decades?|km|kilomet(?:er|re)s?|miles?|met(?:er|re)s?|m|cm|feet|foot|inch(?:es)?|pages?|lines?)\b|\bsince\b|\b(?:began|begun|started|joined)\b.*\d`,
    'iu',
  ),
  often: new RegExp(
    String.raw`\b(?:every|each|daily|weekly|monthly|yearly|hourly|annually|quarterly|always|never|often|twice|once|times|${weekday})\b`,
    'iu',
  ),
}

/** A name may be written small, when it is said that it is one. */
const saysName = /\b(?:called|named|names?|titled?|goes by)\b/iu

export const hasShape = (text: string, shape: Shape): boolean =>
  shape === 'title' ? saysName.test(text) || patterns.name.test(text) : patterns[shape].test(text)

// What a question may call the answer instead of asking when, where or how many.
const shapeOfWord: Readonly<Record<string, Shape>> = {
  date: 'time',
  day: 'time',
  time: 'time',
  year: 'time',
  month: 'time',
  weekday: 'time',
  hour: 'time',
  city: 'place',
  region: 'place',
  area: 'place',
  spot: 'place',
  town: 'place',
  country: 'place',
  place: 'place',
  location: 'place',
  village: 'place',
  address: 'place',
  company: 'organisation',
  firm: 'organisation',
  college: 'organisation',
  organization: 'organisation',
  university: 'organisation',
  school: 'organisation',
  institution: 'organisation',
  affiliation: 'organisation',
  person: 'name',
  number: 'number',
  amount: 'number',
  count: 'number',
  age: 'age',
  length: 'extent',
  duration: 'extent',
  reason: 'reason',
  email: 'email',
  phone: 'phone',
  link: 'link',
  url: 'link',
  website: 'link',
}

/** The shape that a word of a question stands for; null for most. */
export const shapeNamedBy = (word: string): Shape | null =>
  Object.hasOwn(shapeOfWord, word) ? (shapeOfWord[word] as Shape) : null
