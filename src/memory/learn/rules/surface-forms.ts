import { isOrdinaryWord } from '../../../search/ordinary-words.ts'
import { datesIn } from './dates.ts'
import { isFirstName } from './given-names.ts'
import { emptyModifiers } from './nouns.ts'
import { enumerated, isDistinctive, nounPhrase, partsOfName, properNames, quotedIn, wordsOf } from './phrases.ts'
import { otherSpelling } from './spelling.ts'
import type { Verb } from './verbs.ts'

/** More forms than this recall no more. */
const mostForms = 24
const longestForm = 6

/** Forms of a noun phrase: whole, without what says little, by its last two words, and its head alone. */
export function formsOfPhrase(phrase: string): readonly string[] {
  const clean = phrase
    .replace(/["“”`*]/gu, '')
    .replace(/\s+/gu, ' ')
    .trim()
  const words = clean.split(' ').filter((word) => word !== '')
  if (words.length === 0) return []
  const forms: string[] = words.length <= longestForm ? [clean] : []
  const [of, owner] = clean.split(/\s+of\s+(?:my\s+|our\s+|the\s+)?/iu)
  if (owner !== undefined && of !== undefined && owner !== '' && of !== '') {
    // "A family of five" is a family.
    const isCount = /^(?:\d+|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)$/iu.test(owner)
    forms.push(...(isCount ? formsOfPhrase(of) : [`${owner} ${of}`, ...formsOfPhrase(owner)]))
    return forms
  }
  const within = /^(?<what>.+?)\s+(?:for|at|in|on|from|with|to)\s+(?:my\s+|our\s+|the\s+)?(?<where>.+)$/iu.exec(
    clean,
  )?.groups
  if (within?.what !== undefined && within.where !== undefined) {
    forms.push(`${within.where} ${within.what}`, ...formsOfPhrase(within.what))
    return forms
  }
  const bare = words.filter((word) => !emptyModifiers.has(word.toLowerCase()))
  if (bare.length > 0 && bare.length < words.length) forms.push(bare.join(' '))
  if (words.length >= 3) forms.push(words.slice(-2).join(' '), `${words[0]} ${words.at(-1)}`)
  if (words.length >= 2) forms.push(words.at(-1) as string)
  return forms
}

/** What people say instead of a word that stands for one thing about somebody. */
const sayings: readonly (readonly [RegExp, readonly string[]])[] = [
  [
    /\b(?:(?:code|secret|pass|safe|magic)[ -]?phrase|(?:code|secret|safe|magic)[ -]?word)\b/iu,
    ['code phrase', 'secret phrase', 'passphrase', 'secret word', 'code word', 'phrase'],
  ],
  [/\b(?:birthday|date of birth|born on)\b/iu, ['birthday', 'date of birth', 'birth date', 'born']],
  [/\b(?:e-?mail(?: address)?)\b/iu, ['email address', 'e-mail']],
  [/\b(?:phone|mobile|cell|telephone) number\b/iu, ['phone number', 'mobile number', 'telephone number']],
  [/\b(?:address|postcode|zip code)\b/iu, ['home address', 'postal address']],
  [/\b(?:wife|husband|spouse|partner)\b/iu, ['spouse']],
  [/\b(?:mum|mom|mother)\b/iu, ['mother', 'mum', 'mom']],
  [/\b(?:dad|father)\b/iu, ['father', 'dad']],
  [/\b(?:boss|manager|supervisor)\b/iu, ['boss', 'manager']],
  [/\b(?:time ?zone)\b/iu, ['timezone', 'time zone']],
  [/\b(?:deadline|due)\b/iu, ['deadline', 'due date']],
  [/\b(?:allerg(?:y|ies|ic))\b/iu, ['allergy', 'allergic']],
  [/\b(?:vegetarian|vegan|pescatarian|halal|kosher|gluten-free|lactose|coeliac|celiac)\b/iu, ['diet', 'dietary']],
  [/\b(?:anniversary|married on|wedding)\b/iu, ['wedding anniversary', 'wedding']],
  [/\b(?:hometown|home town|from)\b(?!.*\bto\b)/iu, []],
  [/\b(?:blood (?:type|group))\b/iu, ['blood type', 'blood group']],
  [/\b(?:salary|wage|pay)\b/iu, ['salary']],
  [/\b(?:licen[cs]e plate|number plate|registration)\b/iu, ['licence plate', 'number plate']],
  [/\b(?:pronouns)\b/iu, ['pronouns']],
  [/\b(?:wi-?fi)\b/iu, ['wifi', 'wi-fi']],
]

/** What is asked for when something happened at a time. */
const events: Readonly<Record<string, readonly string[]>> = {
  start: ['start date', 'starting date'],
  begin: ['start date', 'beginning'],
  launch: ['launch date', 'launch'],
  release: ['release date'],
  move: ['move', 'moving date'],
  join: ['joining date', 'join date'],
  graduate: ['graduation'],
  marry: ['wedding', 'wedding anniversary'],
  bear: ['birthday', 'date of birth', 'birth date'],
  found: ['founding date', 'founded'],
  arrive: ['arrival'],
  depart: ['departure'],
  leave: ['departure'],
  fly: ['flight'],
  end: ['end date'],
  finish: ['end date', 'finish date'],
  expire: ['expiry date', 'expiration date'],
  renew: ['renewal date', 'renewal'],
  retire: ['retirement'],
  adopt: ['adoption'],
  open: ['opening date', 'opening'],
  close: ['closing date'],
  meet: ['first met'],
  buy: ['purchase date'],
  deliver: ['delivery date', 'delivery'],
}

export const eventForms = (lemma: string): readonly string[] => events[lemma] ?? []

export const sayingsOf = (text: string): readonly string[] =>
  sayings.flatMap(([pattern, forms]) => (pattern.test(text) ? forms : []))

/** Words in no dictionary are names, however they are written: "porto", "okonkwo". */
const unknownWords = (value: string): readonly string[] =>
  wordsOf(value).filter(
    (word) =>
      /^\p{Ll}[\p{Ll}-]{2,}$/u.test(word) &&
      !word.includes("'") &&
      (isFirstName(word) || (!isOrdinaryWord(word) && !isOrdinaryWord(word.replace(/s$/u, '')))),
  )

/** Names, quoted words and dates in what is said: whatever somebody may bring up to ask about it. */
export function formsOfValue(value: string, { atStart = false } = {}): readonly string[] {
  const names = properNames(value, { atStart })
  const quotes = quotedIn(value).filter((quote) => wordsOf(quote).length <= 8)
  const [, apposition] = /,\s+(?:which is |who is |that is )?(?:an?|the|our|my)\s+([^,.;]{3,60})/u.exec(value) ?? []
  return [
    ...names.flatMap((name) => [name, ...partsOfName(name)]),
    ...quotes,
    ...(apposition === undefined ? [] : formsOfPhrase(nounPhrase(apposition))),
    ...unknownWords(value),
    ...datesIn(value),
    ...weekdaysIn(value),
  ]
}

/** "Tuesdays": what happens then is asked for by the day. One Tuesday is too common a word for that. */
const weekdaysIn = (value: string): readonly string[] =>
  (value.match(/\b(?:mon|tues|wednes|thurs|fri|satur|sun)days\b/giu) ?? []).map((day) => `on ${day}`)

/** Noun phrases of an object, each part of an enumeration by itself. */
export const formsOfObject = (object: string): readonly string[] =>
  enumerated(
    object.split(/\s+(?:because|since|so that|but|which|who|when|whenever|if|although|though|unless)\s/iu)[0] ?? object,
  )
    .slice(0, 8)
    .map(nounPhrase)
    .filter((phrase) => phrase !== '' && wordsOf(phrase).length <= longestForm)
    .flatMap(formsOfPhrase)

/** The ways to ask what somebody does: "do I live", "am I learning", "started learning"; of what is over, only "did I". */
export function formsOfDoing(subject: 'I' | 'we', verb: Verb, tail: string, isOver = false): readonly string[] {
  const { lemma, past, gerund } = verb
  const more = tail === '' ? '' : ` ${tail}`
  const be = subject === 'I' ? 'am I' : 'are we'
  const then = [`did ${subject} ${lemma}${more}`, `${subject} ${past}${more}`]
  return isOver
    ? then
    : [`do ${subject} ${lemma}${more}`, ...then, `${subject} ${lemma}${more}`, `${be} ${gerund}${more}`]
}

/** Puts forms in order: no repeats, no everyday words, both spellings, the name itself left out. */
export function tidied(name: string, forms: readonly string[]): readonly string[] {
  const seen = new Set([keyOf(name)])
  const kept: string[] = []
  const add = (form: string): void => {
    const clean = form
      .replace(/\s+/gu, ' ')
      .replace(/^[\s'"“‘.,;:–—-]+|[\s'"”’.,;:!?–—-]+$/gu, '')
      .trim()
    const key = keyOf(clean)
    if (key === '' || seen.has(key) || kept.length >= mostForms || !isDistinctive(clean)) return
    seen.add(key)
    kept.push(clean)
  }
  for (const form of [name, ...forms]) {
    add(form)
    const other = otherSpelling(form)
    if (other !== null) add(other)
  }
  return kept
}

const keyOf = (form: string): string =>
  form
    .toLowerCase()
    .replace(/['’]s\b/gu, '')
    .replace(/\s+/gu, ' ')
    .trim()
