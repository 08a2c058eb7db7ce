import type { Span } from './parts.ts'
import { asForm, auxiliaries, verbForms } from './verbs.ts'

/** A part of a sentence that says something by itself. */
export type Clause = Span & {
  /** Set when the subject stands in the clause before: "I like tea and hate coffee". */
  readonly borrowed: string | null
}

const contracted = /['’](?:m|re|ve|ll|d|s)$/iu
const subjects =
  'I|we|he|she|they|it|you|there|this|that|these|those|my|our|his|her|their|its|the|a|an|one|both|everyone|nobody'
/** What stands between two clauses: a mark with or without a joining word, or the word alone. */
const joints =
  /(?:\s*,?\s+and\s+that\s+|\s*,\s+that\s+|\s*[,;]?\s+(?:\(\d{1,2}\)|(?<!\([^()]*)\d{1,2}\))\s+|\s*[;]\s*(?:and\s+|but\s+|also\s+|so\s+)?|\s+[—–]\s+|\s*,\s*(?:and|but|so|while|whereas|plus|also|yet|then|after that|afterwards)\s+(?:also\s+|then\s+|now\s+)?|\s+(?:and|but|while|whereas|plus|btw|by the way|n|&)\s+(?:also\s+|then\s+|now\s+)?|\s*,\s+)/giu
const pronounStart = new RegExp(String.raw`^(?:${subjects})(?:['’](?:m|re|ve|ll|d|s))?(?=\s)`, 'iu')
const properStart = /^(?:\p{Lu}[\p{L}\p{N}'’.-]*\s+){1,4}/u

const entry = /^\p{L}[\p{L}'’ ]{1,30}\s?[:=]\s+\S/u
const longestSentence = 3_000

/** Splits a sentence where a new clause with a subject and a verb of its own begins. */
export function clausesIn(message: string, sentence: Span): readonly Clause[] {
  const text = message.slice(sentence.start, sentence.end)
  // Nobody says so much in one sentence; it is refused whole.
  if (text.length > longestSentence) return [{ ...sentence, borrowed: null }]
  const shielded = shieldedPlaces(text)
  const cuts: { readonly end: number; readonly start: number; readonly borrowed: string | null }[] = []
  let from = 0
  for (const match of text.matchAll(joints)) {
    const at = match.index
    if (at <= from) continue
    if (shielded.some(({ start, end }) => at > start && at < end)) continue
    const left = text.slice(from, at)
    const right = text.slice(at + match[0].length)
    const isMarkOnly = /^[\s,]*$/u.test(match[0])
    const isAfterEntry = /[,;]/u.test(match[0]) && entry.test(left.trim())
    const isBorrowing = (cuts.at(-1)?.borrowed ?? null) !== null
    // "We've switched banks, it's Nordea now" is one statement.
    if (
      isMarkOnly &&
      /\b(?:switched|changed|swapped|replaced)\s+\S+(?:\s\S+){0,3}$/iu.test(left) &&
      /^(?:it|that|they)['’]/iu.test(right)
    )
      continue
    const isPlainly = /^[^\p{L}]*,?\s*but\s/iu.test(match[0]) && /^(?:my|our|i)\s/iu.test(right)
    // "Salt & Stone" is one name.
    if (/&/u.test(match[0]) && /\p{Lu}[\p{L}\p{N}'’-]*$/u.test(left.trimEnd()) && /^\p{Lu}/u.test(right)) continue
    if (!(hasVerb(left) || isAfterEntry || isBorrowing || isPlainly) || endsOpen(left)) continue
    const isSeries = /^(?:the|my|our)(?:\s+[\p{L}'’-]+){1,4}\s+(?:is|are|was|were)\b/iu.test(left.trim())
    const isOwn = beginsClause(right, {
      afterCommaOnly: isMarkOnly,
      isSeries,
      isEntry: match[0].includes(';') || isAfterEntry,
    })
    const borrowed = isOwn ? null : isMarkOnly ? impliedSubject(left, right) : borrowedSubject(left, right)
    if (!isOwn && borrowed === null) continue
    cuts.push({ end: at, start: at + match[0].length, borrowed })
    from = at + match[0].length
  }
  const starts = [{ start: 0, borrowed: null as string | null }, ...cuts]
  return starts.map(({ start, borrowed }, index) => {
    const end = cuts[index]?.end ?? text.length
    return { start: sentence.start + start, end: sentence.start + end, borrowed }
  })
}

/** Whether a stretch of words has a finite verb. */
export function hasVerb(text: string): boolean {
  const words = wordsIn(text)
  return words.some((word, index) => isFiniteVerb(word, words[index - 1]) && !isParticle(words, index))
}

/** "Casa do Mar": the Portuguese "do" between two parts of a name. */
export const isParticle = (words: readonly string[], index: number): boolean =>
  words[index] === 'do' && /^\p{Lu}/u.test(words[index - 1] ?? '') && /^\p{Lu}/u.test(words[index + 1] ?? '')

function isFiniteVerb(word: string, before: string | undefined): boolean {
  const lower = word.toLowerCase()
  if (auxiliaries.has(lower)) return true
  if (contracted.test(word) && /^(?:i|we|he|she|they|it|you|there|that|this|who|what|here|name|let)['’]/iu.test(word))
    return true
  if (before === undefined) return false
  if (/^(?:a|an|the|my|our|his|her|their|its|your|of|for|to|this|that)$/iu.test(before)) return false
  if (asForm(lower, 'third', 'past') !== undefined) return true
  return (
    asForm(lower, 'base') !== undefined &&
    /^(?:i|we|they|you|also|really|always|never|usually|often|still|just|only)$|s$/iu.test(before)
  )
}

/** What stands before a clause: nothing but a comma, a clause of the same build, a semicolon. */
type Joint = { readonly afterCommaOnly: boolean; readonly isSeries: boolean; readonly isEntry: boolean }

/** A clause of its own: a subject at the very beginning, and a verb right behind its few words. */
function beginsClause(right: string, { afterCommaOnly, isSeries, isEntry }: Joint): boolean {
  const head = untilNextMark(right)
  if (isEntry && entry.test(head)) return true
  const pronoun = pronounStart.exec(head)
  if (pronoun !== null) {
    // "NeonDB, it's a key-value store" goes on about the same.
    if (
      afterCommaOnly &&
      /^(?:it|he|she|they|that)(?:['’](?:s|re)|\s+(?:is|are|was))\s+(?:basically\s+|just\s+|really\s+)?(?:an?|the|my|our)\s/iu.test(
        head,
      )
    )
      return false
    if (contracted.test(pronoun[0])) return true
    if (/^(?:I|we|he|she|they|it|you|there)$/iu.test(pronoun[0])) return hasVerb(head)
    // After a bare comma "that", "the" and "a" mostly explain what stands before.
    if (afterCommaOnly && /^(?:the|a|an|this|that|these|those|one|both)$/iu.test(pronoun[0]))
      return isSeries && /^the\s/iu.test(head) && verbWithin(head, 6)
    // "a mortgage and a broken boiler, so what would you cook?"
    return verbWithin(/^an?$/iu.test(pronoun[0]) ? (head.split(',')[0] ?? head) : head, 8)
  }
  if (!afterCommaOnly && askingClause.test(head)) return true
  const proper = properStart.exec(head)
  // "Ana is the chair, Bo is the treasurer"
  const isNext =
    /^(?:\p{Lu}[\p{L}'’-]*\s+){1,3}(?:is|are|was|were|has)\s/u.test(head) ||
    asForm(
      /^\p{Lu}\p{Ll}+\s+(?<verb>\p{Ll}+)\s+(?:the|a|an|my|our|his|her)\s/u.exec(head)?.groups?.verb ?? '',
      'third',
      'past',
    ) !== undefined
  if (proper !== null) return afterCommaOnly ? isNext : verbWithin(head, 6)
  return possessiveEllipsis.test(head)
}

/** ", so what would you cook?" */
const askingClause =
  /^(?:what|who|when|where|why|how|which|can|could|would|should|do|does|is|are)\s(?:.*\s)?(?:i|you|we|it|he|she|they|the|my|our)\s.*\?\s*$/iu

/** "and Tom's is on Friday" */
const possessiveEllipsis = /^\p{L}+['’]s\s+(?:is|are|was|were)\b/iu

const untilNextMark = (text: string): string => text.split(/[;]|\s[—–]\s/u)[0] ?? text

const verbWithin = (text: string, most: number): boolean => {
  const words = wordsIn(text).slice(0, most)
  return words.some((word, index) => index > 0 && isFiniteVerb(word, words[index - 1]))
}

/** "Favourite framework is Svelte, started using it in March": the speaker goes without saying. */
const impliedSubject = (left: string, right: string): string | null =>
  // "a Miele, bought in 2022": that is said of the machine.
  !(/^bought\b/u.test(right) && /\b(?:is|are|was|has|have)\b/iu.test(left)) &&
  /^(?:started|began|moved|joined|bought|met|learned|learnt|been (?:using|doing|learning|working|playing))\s+\S/u.test(
    right,
  )
    ? implied
    : null

/** Marks a subject that stands nowhere in the sentence. */
export const implied = 'I'

/** "I like tea and hate coffee": the second verb has the subject of the first. */
function borrowedSubject(left: string, right: string): string | null {
  const [first = '', second = ''] = wordsIn(right)
  const lead = /^(?:also|always|never|usually|often|really|currently|now|still|mostly)$/iu.test(first) ? second : first
  const subject = /^(?:(?:also|and|so|well|yes|ok)[\s,]+)*(I|we)(?=['’\s])/iu.exec(left.trim())?.[1]
  const forms = verbForms(lead)
  const isModal = /^(?:can['’]?t|can|cannot|doesn['’]t|won['’]t|isn['’]t|must|mustn['’]t)$/u.test(lead)
  if ((forms.length === 0 && !isModal) || lead !== lead.toLowerCase()) return null
  if (subject !== undefined) {
    const isVerb =
      forms.some(({ form }) => form === 'base' || form === 'past') ||
      /^(?:am|have|don't|can't|cannot|won't)$/u.test(lead)
    const isObject = /(?:^|\s)(?:a|an|the|my|our|to)$/iu.test(left.trim()) || wordsIn(right).length < 2
    // "I like to cook and bake", "I love cats and work": nouns and infinitives go on as they began.
    const isSeries = /\bto\s+\w+$/u.test(left.trim())
    return isVerb && !isObject && !isSeries ? subject : null
  }
  const isThird = isModal || forms.some(({ form }) => form === 'third') || /^(?:is|was|has)$/u.test(lead)
  const named = subjectOf(left.trim())
  return isThird && named !== undefined && wordsIn(right).length >= 2 ? named : null
}

/** What stands before the first verb of a clause. */
function subjectOf(clause: string): string | undefined {
  const words = [...clause.matchAll(/[\p{L}\p{N}][\p{L}\p{N}'’.-]*/gu)]
  const at = words.findIndex((word, index) => index > 0 && isFiniteVerb(word[0], words[index - 1]?.[0]))
  const verb = words[at]
  const subject = clause
    .slice(0, verb?.index ?? 0)
    .replace(/[\s,;]+$/u, '')
    .replace(/^(?:this|last|next)\s+(?:year|month|week|term|season|spring|summer|autumn|winter)\s+/iu, '')
  return at === -1 || at > 6 || /^(?:there|it|this|that|what|which|who|if|when)$/iu.test(subject) ? undefined : subject
}

/** Ends in a word that cannot end a clause. */
const endsOpen = (left: string): boolean =>
  /(?:^|\s)(?:between|both|either|neither|the|a|an|my|our|of|to|in|on|at|for|with|from|by|is|are|was|were)$/iu.test(
    left.trim(),
  )

const wordsIn = (text: string): readonly string[] => text.match(/[\p{L}\p{N}][\p{L}\p{N}'’-]*/gu) ?? []

/** Quotes, brackets and dates hold commas that join nothing. */
function shieldedPlaces(text: string): readonly Span[] {
  return [
    ...text.matchAll(
      /"[^"]*"|“[^”]*”|`[^`]*`|(?<![\p{L}\p{N}])['‘][^'’]{2,}['’](?!\p{L})|\([^)]*\)|\[[^\]]*\]|,\s+(?:who|which|whose)\s[^,]*(?=,)/gu,
    ),
  ].map((match) => ({ start: match.index, end: match.index + match[0].length }))
}
