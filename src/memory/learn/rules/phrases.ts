import { isOrdinaryWord } from '../../../search/ordinary-words.ts'
import { datesIn, isCalendarWord } from './dates.ts'
import { isFirstName } from './given-names.ts'
import { everyday } from './nouns.ts'

const token = /[\p{L}\p{N}][\p{L}\p{N}\p{M}'’.+#&/_-]*[\p{L}\p{N}+#]|[\p{L}\p{N}]/gu
const particles = new Set([
  'of',
  'de',
  'da',
  'di',
  'del',
  'della',
  'van',
  'von',
  'der',
  'den',
  'la',
  'le',
  'du',
  'do',
  'dos',
  'das',
  'al',
  'bin',
  'ibn',
  'y',
  '&',
  'the',
])
const titles =
  /^(?:dr|prof|professor|mr|mrs|ms|miss|mx|sir|dame|lord|lady|rev|fr|sr|capt|captain|lt|sgt|judge|president|mayor|coach|chef|aunt|auntie|uncle|st)\.?$/iu

/** "Mr." alone is nobody's name. */
const bareTitle = /^(?:dr|mr|mrs|ms|prof|rev)\.?$/iu

export const wordsOf = (text: string): readonly string[] => text.match(token) ?? []

/** A word that names something by its looks: capitals inside, digits, or a capital where none is needed. */
export const looksNamed = (word: string): boolean =>
  /^\p{Lu}/u.test(word) || /\p{Ll}\p{Lu}|\p{L}\d|\d\p{L}|^[a-z]+[._][a-z]/u.test(word)

type Found = { readonly text: string; readonly start: number }

/**
 * Proper names in a text, longest run first seen: "Dr. Elena Vasquez", "PostgreSQL 16", "NeonDB". The first word of a
 * sentence counts only when it is no ordinary word, or when the run goes on.
 */
export function properNames(text: string, { atStart = true }: { readonly atStart?: boolean } = {}): readonly string[] {
  const found: string[] = []
  const words: Found[] = [...text.matchAll(/[\p{L}\p{N}$][\p{L}\p{N}\p{M}'’.+#&/_-]*/gu)].map((match) => ({
    text: match[0].replace(/(?:['’]s|[.'’,-])+$/u, (tail) => (titles.test(match[0]) && tail === '.' ? '.' : '')),
    start: match.index,
  }))
  let run: Found[] = []
  const flush = (): void => {
    while (run.length > 0 && particles.has((run.at(-1) as Found).text)) run = run.slice(0, -1)
    const [first] = run
    if (first !== undefined) {
      const last = run.at(-1) as Found
      const name = text.slice(first.start, last.start + last.text.length)
      const isSentenceStart = atStart && first.start === firstLetter(text)
      if (isName(run, isSentenceStart)) found.push(name)
    }
    run = []
  }
  for (const [index, word] of words.entries()) {
    const previous = run.at(-1)
    const isClose =
      previous !== undefined &&
      /^[ \t]?$|^\.? $|^ & $/u.test(text.slice(previous.start + previous.text.length, word.start))
    if (previous !== undefined && !isClose) flush()
    const isNumber = /^\d[\d.]*$/u.test(word.text)
    const isNamed = (looksNamed(word.text) || (isNumber && run.length > 0)) && !isPronoun(word.text)
    const next = words[index + 1]
    const isParticle =
      run.length > 0 &&
      particles.has(word.text) &&
      next !== undefined &&
      (/^\p{Lu}/u.test(next.text) || (particles.has(next.text) && /^\p{Lu}/u.test(words[index + 2]?.text ?? ''))) &&
      !isPronoun(next.text)
    if (isNamed || isParticle) run.push(word)
    else flush()
  }
  flush()
  return [...new Set(found)].filter((name) => !bareTitle.test(name))
}

const firstLetter = (text: string): number => Math.max(text.search(/[\p{L}\p{N}]/u), 0)

const isPronoun = (word: string): boolean =>
  /^(?:I|I['’].*|My|We|Our|You|Your|He|She|They|It|The|A|An|This|That|These|Those|There|And|But|Or|So|If|In|On|At|For|From|With|Not|No|Yes|Its|His|Her|Their|As|Of|To|By|Is|Are|Also|Then|When|What|Who|Where|Why|How|Which|Please|Actually|Remember|Note|PS|TODO|FYI|BTW|OK|TBD|NB)$/u.test(
    word,
  )

function isName(run: readonly Found[], isSentenceStart: boolean): boolean {
  const words = run.map(({ text }) => text)
  if (
    words.every(
      (word) => isCalendarWord(word) || /^[\d.,:/-]+$/u.test(word) || /^(?:am|pm|utc|gmt|cet|est|pst)$/iu.test(word),
    )
  )
    return false
  if (words.length === 1) {
    const [word = ''] = words
    if (word.length < 2) return false
    if (/^\d/u.test(word) && /^\d+(?:st|nd|rd|th|am|pm|k|m|h|kg|km|cm|g|mb|gb|px|%)$/iu.test(word)) return false
    if (isSentenceStart)
      return !isOrdinaryWord(word.toLowerCase()) || isFirstName(word) || /\p{Ll}\p{Lu}|\d/u.test(word)
  }
  return true
}

/** Parts of a person's or thing's name that it is also called by. */
export function partsOfName(name: string): readonly string[] {
  const words = name.split(/\s+/u)
  const bare = words.filter((word) => !titles.test(word))
  const forms: string[] = []
  const from = words.indexOf('of')
  if (from > 0) return [words.slice(0, from).join(' '), ...partsOfName(words.slice(0, from).join(' '))]
  if (bare.length < words.length && bare.length > 0) forms.push(bare.join(' '))
  if (
    bare.length > 1 &&
    /^(?:project|team|operation|hotel|café|cafe|restaurant|company|app|band|studio|bar|club)$/iu.test(bare[0] as string)
  )
    forms.push(bare.slice(1).join(' '))
  const numbers = bare.findIndex((word) => /^v?\d/u.test(word))
  if (numbers > 0) forms.push(bare.slice(0, numbers).join(' '))
  const isPersonal = bare.length === 2 && bare.every((word) => /^\p{Lu}\p{Ll}+(?:[-'’]\p{Lu}?\p{Ll}+)*$/u.test(word))
  if (isPersonal)
    forms.push(...bare.filter((word) => !isOrdinaryWord(word.toLowerCase()) || words.length > bare.length))
  const last = bare.at(-1)
  if (bare.length < words.length && last !== undefined) {
    forms.push(last, `${words.find((word) => titles.test(word))} ${last}`)
  }
  return forms
}

/** Texts in quotes or code, as they stand between the marks. */
export function quotedIn(text: string): readonly string[] {
  return [
    ...text.matchAll(
      /"(?<a>[^"\n]+)"|“(?<b>[^”\n]+)”|(?<![\p{L}\p{N}])['‘](?<c>[^'’\n]{2,}?)['’](?!\p{L})|`(?<d>[^`\n]+)`|\*\*(?<e>[^*\n]+)\*\*/gu,
    ),
  ].flatMap(({ groups = {} }) =>
    Object.values(groups).filter((quoted) => quoted !== undefined && /[\p{L}\p{N}]/u.test(quoted)),
  )
}

const determiners =
  /^(?:(?:a|an|the|my|our|your|his|her|their|its|this|that|these|those|some|any|all|both|about|around|roughly|exactly|only|just|also|currently|now|usually|mostly|really|very|quite|pretty|probably|always|never|called|named|either|mainly|still|actually|simply|basically|in fact)\s+)+/iu
const ends =
  /\s+(?:from|in|on|at|for|with|to|since|by|into|onto|over|under|because|so|that|which|who|whom|whose|where|when|while|if|than|as|and|or|but|not|instead|rather|every|until|before|after|during|through|about|via|per|using|near|between|is|are|was|were|has|have|had|will|can|within|without|like|except|despite|called|named|—|–|-)\s.*$/iu

/** The noun phrase at the beginning of a text, without articles and without what is said about it. */
export function nounPhrase(text: string): string {
  const flat = text
    .replace(/["“”`*]/gu, '')
    .replace(/\s+/gu, ' ')
    .trim()
    .replace(determiners, '')
  const [head = ''] = flat.split(/[,;()[\]]|:\s|(?<!\b(?:Dr|Mr|Mrs|Ms|Prof|St))\.\s|\s[—–-]\s/u)
  return ` ${head}`
    .replace(ends, '')
    .trim()
    .replace(/[.!?…]+$/u, '')
}

/** The parts of an enumeration: "peanuts, shellfish and penicillin". */
export const enumerated = (text: string): readonly string[] =>
  text
    .replace(/\s+/gu, ' ')
    .split(/\s*[,;]\s*(?:and\s+|or\s+)?|\s+(?:and|or|&)\s+/u)
    .map((part) => part.trim())
    .filter((part) => part !== '')

const ownWords = /^(?:my|our|am i|are we|do i|do we|did i|did we|was i|i|we|when i|where i|who i)\s+[\p{L}'’-]{2,}/iu
const labelEnds =
  /^(?!(?:the|a|an|this|that|next|last|first|second|new|old|good|best|same|other|any|some|every|each|one)\b)[\p{L}'’-]+\s+(?:date|number|name|address|day|code|size|type|level|version|time|style|plan|title|list|goal|email|phone|job|word|phrase)$/iu

/** Whether a word or phrase is distinctive enough to recall something by. */
export function isDistinctive(form: string): boolean {
  const words = wordsOf(form)
  if (words.length === 0 || form.length > 80) return false
  if (datesIn(form)[0] === form) return true
  const meaningful = words.filter((word) => !everyday.has(word.toLowerCase()))
  if (words.length === 1) {
    const [word = ''] = words
    return (
      !bareTitle.test(word) &&
      meaningful.length === 1 &&
      word.length >= 2 &&
      !/^[\d.,:/-]+$/u.test(word) &&
      !isCalendarWord(word)
    )
  }
  if (ownWords.test(form))
    return !/^(?:do|did|am|are|i|we)\s+(?:i\s+|we\s+)?(?:do|be|have|get|use|make|take|go|did|had|used|got|made|took|went|using|doing|having|getting|am|will|can)$/iu.test(
      form,
    )
  if (labelEnds.test(form)) return true
  return meaningful.some((word) => !/^\d+$/u.test(word)) || words.length >= 3
}
