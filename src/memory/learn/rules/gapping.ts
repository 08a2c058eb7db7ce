import { isOrdinaryWord } from '../../../search/ordinary-words.ts'
import { asForm } from './verbs.ts'

/** A clause that goes without words of the clause before it. */
export type Gap = {
  /** With those words, to find out what it says. */
  readonly plain: string
  /** The words that stand in it, and behind which the missing ones belong; empty for the very beginning. */
  readonly behind: string
  readonly missing: string
}

const name = String.raw`(?!(?:I|We|My|Our|The|It|He|She|They)\b)\p{Lu}[\p{L}'’-]*(?:\s+\p{Lu}[\p{L}'’-]*)?`
const preposition = 'by|at|on|in|to|for|from|with|until|since|after|before|as|of'
/** "Freya by 23:00". */
const nameAndWhere = new RegExp(String.raw`^(?<who>${name})\s+(?<word>${preposition})\s+(?<rest>\S.*)$`, 'u')
/** "Laszlo black coffee", "Bo 12 euros". A second name would be a place: "Porto, Northern Portugal". */
const nameAndWhat =
  /^(?<who>(?!(?:I|We|My|Our|The|It|He|She|They)\b)\p{Lu}[\p{L}-]*)\s+(?<what>(?:the\s+|an?\s+)?[\p{Ll}\d"“€$£].*)$/u
/** "due on 12 December" after "I am 34 weeks pregnant". */
const state =
  /^(?:also\s+|now\s+)?(?:due|allergic|intolerant|married|engaged|based|born|retired|vegetarian|vegan|diabetic|left-handed|right-handed|colou?r-?blind|fluent|certified|licensed|trained|originally from)\b(?:\s+\S.*)?$/u
/** "for inventory it's Matteo" after "data owner for orders is Priyanka". */
const otherWhere =
  /^(?<word>for|in|at|on|from|of)\s+(?<where>[^,;]{2,40}?)(?:\s+(?:it['’]?s|it is|that['’]s|is|he['’]s|she['’]s))\s+(?<what>\S.*)$/iu
const hasWhere =
  /^(?<noun>(?:my\s+|our\s+|the\s+)?[\p{L}'’ -]{2,40}?)\s+(?<word>for|in|at|on|from|of)\s+[^,;]{2,40}?\s+(?<is>is|are|was)\s/iu

/** "Jonah has to be home by 21:00, Freya by 23:00": what the second clause leaves to be understood; null where it is none. */
export function gapIn(left: string, right: string): Gap | null {
  const clause = right.trim().replace(/[.!]+$/u, '')
  const before = left.trim()
  return (
    gapOfDoing(before, clause) ??
    gapBehindName(before, clause) ??
    gapOfState(before, clause) ??
    gapOfPlace(before, clause)
  )
}

function gapBehindName(before: string, clause: string): Gap | null {
  const subject = new RegExp(
    String.raw`^(?:and\s+)?(?<who>${name})\s+(?<verb>\p{Ll}[\p{L}'’]*)\s+(?<rest>\S.*)$`,
    'u',
  ).exec(before)?.groups
  const { verb = '', rest = '' } = subject ?? {}
  if (subject === undefined || !isVerb(verb)) return null
  const where = nameAndWhere.exec(clause)?.groups
  if (where !== undefined) {
    const [, between] = new RegExp(String.raw`^(.*?)(?:^|\s)${where.word}\s`, 'u').exec(rest) ?? []
    if (between === undefined) return null
    const missing = `${verb} ${between}`.trim()
    return { plain: `${where.who} ${missing} ${where.word} ${where.rest}`, behind: where.who ?? '', missing }
  }
  const what = nameAndWhat.exec(clause)?.groups
  const takesObject = isVerb(verb) && /^(?:the\s+|an?\s+)?[\p{Ll}\d"“€$£]/u.test(rest)
  if (what === undefined || !takesObject || isPreposition.test(rest) || hasOwnVerb(what.what ?? '')) return null
  return { plain: `${what.who} ${verb} ${what.what}`, behind: what.who ?? '', missing: verb }
}

const isPreposition = new RegExp(String.raw`^(?:${preposition})\b`, 'u')
const isVerb = (word: string): boolean =>
  asForm(word, 'third', 'past') !== undefined ||
  (/^\p{Ll}{2,}[^s]s$/u.test(word) && isOrdinaryWord(word)) ||
  /^(?:is|was|has|had|must|can|will|should|needs|wants)$/u.test(word)
const hasOwnVerb = (text: string): boolean =>
  isVerb(/^\p{Ll}+/u.exec(text)?.[0] ?? '') || /\b(?:is|are|was|were|has|have|will|who|which|that)\b/u.test(text)

const days = String.raw`(?:mon|tues|wednes|thurs|fri|satur|sun)days?\b`
const doesDays = new RegExp(String.raw`^(?<who>I|we|${name})\s+(?<does>do|does)\s+(?<when>${days}.*)$`, 'iu')
const doesOn = new RegExp(String.raw`^(?:and\s+)?(?:I|we|${name})\s+(?<verb>\p{Ll}+)\s+on\s+${days}`, 'iu')

/** "Anna cooks on Mondays and I do Fridays." */
function gapOfDoing(before: string, clause: string): Gap | null {
  const does = doesDays.exec(clause)?.groups
  const verb = doesOn.exec(before)?.groups?.verb ?? ''
  const done = asForm(verb, 'third', 'base')
  if (does === undefined || done === undefined) return null
  const missing = does.does === 'does' ? done.third : done.lemma
  return { plain: `${does.who} ${missing} on ${does.when}`, behind: does.does ?? '', missing }
}

function gapOfState(before: string, clause: string): Gap | null {
  const [, being] =
    /^(?:and\s+|so\s+)?((?:I|we|he|she|\p{Lu}[\p{L}-]+)(?:['’](?:m|re|s)|\s+(?:am|are|is)))\s/u.exec(before) ?? []
  return being === undefined || !state.test(clause) ? null : { plain: `${being} ${clause}`, behind: '', missing: being }
}

function gapOfPlace(before: string, clause: string): Gap | null {
  const other = otherWhere.exec(clause)?.groups
  const first = hasWhere.exec(before)?.groups
  if (other === undefined || first === undefined || other.word?.toLowerCase() !== first.word?.toLowerCase()) return null
  const { noun = '' } = first
  return { plain: `${noun} ${other.word} ${other.where} ${first.is} ${other.what}`, behind: '', missing: noun }
}
