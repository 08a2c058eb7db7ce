import { analyse } from '../analyse.ts'
import { type StepRange, stepRange, stepsNamed, withoutSteps } from './steps.ts'
import { isAskingTerm, termsOf } from './terms.ts'

/** The intent of a question, derived from its words. Nothing else affects how a search runs. */
export type Question = {
  /** Each term with its weight. */
  readonly terms: ReadonlyMap<string, number>
  /** The speaker in the conversations whom the question names; null if it names none or several. */
  readonly speaker: string | null
  /** Whether it ends in a question mark or begins like a question. */
  readonly isQuestion: boolean
  /** Whether it asks for the assistant's words. */
  readonly asksAssistant: boolean
  /** Whether it asks for what was said in a conversation, by the person or the assistant. */
  readonly asksEither: boolean
  /** Whether it asks for a summary of the whole conversation. */
  readonly asksSummary: boolean
  /** Whether it asks how something was before. */
  readonly asksPast: boolean
  readonly asksWhen: boolean
  readonly asksHowMany: boolean
  readonly asksFirst: boolean
  readonly asksLast: boolean
  /** Whether it asks what has changed, for example what was added, modified or created. */
  readonly asksChange: boolean
  /** Whether it refers to steps of an agent's work. */
  readonly asksSteps: boolean
  /** The steps of an agent's work that it names, the range that it asks for, and the terms that only name steps. */
  readonly steps: {
    readonly named: readonly number[]
    readonly range: StepRange | null
    readonly terms: ReadonlySet<string>
  }
}

/** The weight of question filler; other words have 1. */
const askingWeight = 0.5

export function parseQuestion(text: string, speakers: readonly string[] = []): Question {
  const plain = text.replaceAll('’', "'")
  const named = speakersIn(plain, speakers)
  const names = new Set(named.flatMap((name) => termsOf(name).map(({ term }) => term)))
  const weights = new Map<string, number>()
  const add = (term: string): void => {
    weights.set(term, (weights.get(term) ?? 0) + (isAskingTerm(term) ? askingWeight : 1))
  }
  const terms = termsOf(plain).map(({ term }) => term)
  for (const term of terms) if (!names.has(term)) add(term)
  // If a question consists only of names, the names are its topic.
  if (weights.size === 0) for (const term of terms) add(term)
  return {
    terms: weights,
    speaker: named.length === 1 ? (named[0] as string) : null,
    isQuestion: asks.test(plain.trim()),
    asksAssistant: assistantSaid.test(plain),
    asksEither: eitherSaid.test(plain),
    asksSummary: summary.test(plain),
    asksPast: past.test(plain),
    asksWhen: when.test(plain),
    asksHowMany: howMany.test(plain),
    asksFirst: first.test(plain),
    asksLast: last.test(plain),
    asksChange: change.test(plain),
    asksSteps: ofSteps.test(plain),
    steps: stepsIn(plain, terms),
  }
}

function stepsIn(text: string, terms: readonly string[]): Question['steps'] {
  const named = stepsNamed(text)
  if (named.length === 0) return { named, range: null, terms: new Set() }
  const others = new Set(termsOf(withoutSteps(text)).map(({ term }) => term))
  return { named, range: stepRange(text), terms: new Set(terms.filter((term) => !others.has(term))) }
}

/** The speakers whose first name or whole name occurs in a text, capitalised. */
function speakersIn(text: string, speakers: readonly string[]): readonly string[] {
  if (speakers.length === 0) return []
  const words = new Set(
    analyse(text)
      .filter(({ start }) => /^\p{Lu}/u.test(text.slice(start)))
      .map(({ word }) => word),
  )
  return speakers.filter((speaker) => {
    const [first] = analyse(speaker)
    return first !== undefined && words.has(first.word)
  })
}

const interrogative = 'what|when|where|who|whom|whose|which|why|how'
const opening = `(?:${interrogative}|do|did|does|is|are|was|were|can|could|would|should|have|has|had)\\b`

/** Whether a sentence is nothing but a question. "I moved to Ghent, where can I swim?" also tells something. */
export const isOnlyQuestion = (sentence: string): boolean => onlyAsks.test(sentence)
const onlyAsks = new RegExp(String.raw`^\W{0,4}${opening}.*[?？]["'”’)*_\s]{0,4}$`, 'isu')
/**
 * Matches a question mark at the end, or the beginning of a question: at the start of the text, or after a comma or a
 * preposition ("ok, at what time do I …").
 */
const asks = new RegExp(
  String.raw`\?\s*$|^${opening}|^(?:remind|tell) me\b|(?:^|[,;:]\s*)(?:\w+\s+){0,2}(?:at|in|on|for|to|from|with|by|of|about|and|so|ok)\s+(?:${interrogative})\b|[,;:]\s*(?:${interrogative})(?:'s|\s+(?:is|are|was|were|do|does|did|can|has|have))\b`,
  'i',
)
const assistantSaid =
  /\b(?:did you|you (?:said|mentioned|told|suggested|recommended|gave|provided|listed|wrote|created|described|explained|shared|made|used|advised|referenced|came up|were)|your (?:previous|earlier|last|suggestion|recommendation|answer|response|list)|according to you|(?:the|my) assistant)\b/i
const eitherSaid =
  /\b(?:(?:our|the|a) (?:previous|earlier|last|past|recent|prior) (?:conversation|chat|discussion|session)|our (?:conversation|chat|discussion)|remind me)\b/i
const summary = /\b(?:summar(?:y|i[sz]e[ds]?|i[sz]ing)|overview|recap)\b/i
const past =
  /\b(?:first|initial(?:ly)?|original(?:ly)?|previous(?:ly)?|before|used to|earlier|past|ago|started|begin|began)\b/i
const when =
  /^\s*when\b|\bwhat (?:date|day|month|year|time)\b|\bhow long\b|\bwhich (?:month|year|day)\b|\bhow many (?:days|weeks|months|years)\b/i
const first = /\b(?:first|initial(?:ly)?|earliest|begin|start)\b/i
const last = /\b(?:last|final(?:ly)?|latest|most recent|eventually|ultimately)\b/i
const change =
  /\b(?:chang\w*|modif\w*|updat\w*|evol\w*|added|removed|state of|location of|performed on|transition\w*|inventory|creat\w*|implement\w*|fix\w*)\b/i
const ofSteps = /\b(?:steps?|turns?|actions?|trajectory|episode)\b/i
const howMany = /\bhow (?:many|much|old|long|often|far)\b/i

/** Whether a text contains the time of something. */
export const hasTime = (text: string): boolean => timeWords.test(text)
const timeWords =
  /\b(?:yesterday|today|tonight|tomorrow|ago|last (?:\w+ )?(?:night|week|month|year|weekend|monday|tuesday|wednesday|thursday|friday|saturday|sunday|spring|summer|fall|winter)|this (?:week|month|year|weekend|morning|past)|next (?:week|month|year|weekend)|january|february|march|april|june|july|august|september|october|november|december|since|(?:19|20)\d\d)\b/i

/** Whether a text contains a number. */
export const hasNumber = (text: string): boolean => numberWords.test(text)
const numberWords =
  /\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|dozen|hundred|thousand|twice|couple)\b/i

/** The time span that a question asks about, in milliseconds since the epoch. */
export type DateWindow = {
  readonly from: number
  readonly to: number
  /** The terms of the question that name the time. */
  readonly terms: ReadonlySet<string>
}
type Span = Pick<DateWindow, 'from' | 'to'>

/** Max distance in days from the computed day, because "two months ago" is not exact. */
const tolerance: Readonly<Record<string, number>> = { day: 1, week: 3, weekend: 3, fortnight: 4, month: 8, year: 45 }

// Most questions contain none of these words, so they are not searched for a date.
const mayHoldDate =
  /\b(?:ago|last|past|previous|this|yesterday|today|tonight|(?:19|20)\d\d|jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec|january|february|march|april|august|september|october|november|december|\d{1,2}[/.]\d{1,2})\b/iu

/** Max characters that are searched for a date, because the search is slow, and a longer text is usually pasted. */
const maxQuestionLength = 2_000

/** The time that a question asks about ("last March", "two weeks ago", "in 2022"), relative to `now`; null for none. English only. Days are in the time zone of the process. */
export async function dateWindow(asked: string, now: Date): Promise<DateWindow | null> {
  const question = asked.slice(0, maxQuestionLength)
  if (!mayHoldDate.test(question)) return null
  const { parse } = await import('chrono-node/en')
  const found = parse(question, now).filter((one) => isMeant(one, question))
  const first = found[0]
  if (first === undefined) return yearIn(question)
  const last = found.length === 2 && /\b(?:between|from)\b/iu.test(question) ? found[1] : undefined
  const from = windowOf(first, question, now)
  const span = last === undefined ? from : { from: from.from, to: windowOf(last, question, now).to }
  return { ...span, terms: termsIn(`${first.text} ${last?.text ?? ''}`) }
}

/**
 * "march" and "may" are months after a preposition, when capitalised, or next to a day or a year; otherwise they may be
 * verbs.
 */
const isMeant = ({ text, index }: Parsed, question: string): boolean =>
  !/^(?:march|may)$/u.test(text) ||
  /\b(?:in|on|during|of|since|last|this|next|early|late|mid|by|until|before|after)[\s-]+$/iu.test(
    question.slice(0, index),
  )

type Parsed = Awaited<ReturnType<typeof import('chrono-node/en').parse>>[number]

function windowOf({ text, index, start }: Parsed, question: string, now: Date): Span {
  const nearest = startOfDay(start.date())
  // A date without a year is the last such date.
  const isAhead = start.isCertain('month') && !start.isCertain('year') && nearest > now.getTime()
  const day = isAhead ? yearBefore(nearest) : nearest
  const unit = /\b(day|week|weekend|fortnight|month|year)s?\b/iu.exec(text)?.[1]?.toLowerCase()
  const slack = tolerance[unit ?? 'day'] as number
  const around = { from: addDays(day, -slack), to: addDays(day, slack + 1) }
  if (unit !== undefined && /\bago\b|\bback\b/iu.test(text)) return around
  const isSpan = /\b(?:last|past|previous)\s+(?:\S+\s+)?(?:day|week|month|year)s\b/iu.test(text)
  const isUpToNow = isSpan || /\b(?:in|over|during|within)\s+the\s+$/iu.test(question.slice(0, index))
  if (unit !== undefined && isUpToNow) return { from: addDays(day, -1), to: now.getTime() }
  if (unit === 'year') return calendarYear(start.get('year') as number)
  if (unit === 'month') return { from: startOfMonth(day), to: startOfMonth(day, 1) }
  if (unit === 'week') return weekOf(day)
  if (unit === 'weekend') return { from: addDays(day, -2), to: addDays(day, 3) }
  if (start.isCertain('month') && !start.isCertain('day')) return { from: startOfMonth(day), to: startOfMonth(day, 1) }
  return around
}

function yearIn(question: string): DateWindow | null {
  const year = /\b(?:in|of|during|since|year)\s+((?:19|20)\d\d)\b/iu.exec(question)?.[1]
  return year === undefined ? null : { ...calendarYear(Number(year)), terms: termsIn(year) }
}

const termsIn = (text: string): ReadonlySet<string> => new Set(termsOf(text).map(({ term }) => term))

const calendarYear = (year: number): Span => ({
  from: new Date(year, 0, 1).getTime(),
  to: new Date(year + 1, 0, 1).getTime() - 1,
})

function yearBefore(day: number): number {
  const date = new Date(day)
  return date.setFullYear(date.getFullYear() - 1)
}

const startOfDay = (date: Date): number => date.setHours(0, 0, 0, 0)

function addDays(day: number, days: number): number {
  const date = new Date(day)
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() + days).getTime()
}

/** The first moment of the month of `day`, or of the month `later` months after it. */
function startOfMonth(day: number, later = 0): number {
  const date = new Date(day)
  return new Date(date.getFullYear(), date.getMonth() + later, 1).getTime()
}

/** The week of `day`, from Monday to Sunday, plus a day on each side. */
function weekOf(day: number): Span {
  const monday = addDays(day, -((new Date(day).getDay() + 6) % 7))
  return { from: addDays(monday, -1), to: addDays(monday, 8) }
}
