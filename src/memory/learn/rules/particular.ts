import { isOrdinaryWord } from '../../../search/ordinary-words.ts'
import { givenNames, isFirstName } from './given-names.ts'
import { isPerson } from './nouns.ts'
import { looksNamed, properNames, quotedIn, wordsOf } from './phrases.ts'
import { formsOfPhrase } from './surface-forms.ts'

/** "Neither of my sons", "everyone in our office". */
export const ofOurs =
  /^(?:neither|none|both|all|some|most|one|two|three|each|half|nobody|no one|everyone|everybody)\s+(?:of|in|at|on|from)\s+(?:my|our|us)\b/iu

/** Whether a subject is one particular thing: named, or told apart by "the", "my", "our". */
export function isParticular(subject: string): boolean {
  const [first = ''] = wordsOf(subject)
  // "Neither of my sons", "nobody in our house": one's own people, all of them or none.
  if (ofOurs.test(subject)) return true
  return /^(?:the|my|our|this|his|her|their)$/iu.test(first) || isPerson(subject.toLowerCase()) || isNamed(subject)
}

/** "Tom" and "Slack" are names, "Cats" and "Programming" the first words of a sentence. */
const isNameAlone = (word: string): boolean =>
  givenNames.has(word.toLowerCase()) ||
  isFirstName(word) ||
  !isOrdinaryWord(word.toLowerCase()) ||
  /\p{Ll}\p{Lu}|\d|^\p{Lu}{2,}$/u.test(word)

export const isNamed = (subject: string): boolean =>
  properNames(subject, { atStart: true }).length > 0 ||
  quotedIn(subject).length > 0 ||
  (wordsOf(subject).length === 1 && looksNamed(subject) && isNameAlone(subject)) ||
  /^\p{Lu}\p{L}+ (?:\p{L}+ )?\p{Lu}/u.test(subject)

/** "Parked behind the shed", "under the stairs": where a thing is to be found. */
export const placed =
  /^(?:(?:parked|kept|stored|hidden|located|hanging|hung|buried|left|tucked|plugged|mounted|moored|locked|always|usually|now)\s+(?:away\s+|up\s+)?)*(?:in|at|on|under|underneath|behind|above|below|beneath|beside|by|next to|near|inside|outside|between|opposite|against)\s+(?!(?:the\s+)?(?:progress|time|order|danger|trouble|fire|sale|fact|general|question|doubt|use|stock|charge|hand|purpose|control|construction|review|way|works|mind|hold|track|least|best|risk|shape|dark|end|moment|air|rise|case)\b|it\b|that\b|this\b|them\b)\p{L}/iu

/** "Renewal date is 30 November": a noun by itself, with a value that only one thing has. */
export const isBareNoun = (subject: string): boolean =>
  wordsOf(subject).length <= 4 &&
  !/^(?:it|he|she|they|this|that|these|those|there|you|everyone|everything|nothing|what|who|all|some|most|many|one|here|today|tomorrow|now)\b|^\p{L}+ing$/iu.test(
    subject,
  )

/** A capitalised word alone is a name, even where it is a word too: Tom, Rose, Slack. */
export function subjectNames(subject: string): readonly string[] {
  const found = properNames(subject, { atStart: true })
  return found.length === 0 && /^\p{Lu}[\p{L}\p{N}-]+$/u.test(subject) && isNameAlone(subject) ? [subject] : found
}

export const firstWords = (text: string): string =>
  wordsOf(text.replace(/[,;(].*$/u, ''))
    .slice(0, 5)
    .join(' ')

/** People lead, live and are born; a name of two capitalised words that does so is a person's. */
export const isPersonal = (subject: string, rest: string): boolean =>
  /\b(?:Mr|Mrs|Ms|Dr|Prof)\b/u.test(subject) ||
  (/^\p{Lu}\p{Ll}+(?: \p{Lu}\p{Ll}+)?$/u.test(subject.trim()) &&
    /^(?:my|our|an?)\s|lives?|works?|leads?|manages?|born|loves?|likes?/iu.test(rest))

/** Whose "everyone in my team" is: the team. */
export const oursIn = (subject: string): readonly string[] => {
  const noun = ofOurs.test(subject) ? /\b(?:my|our)\s+(?<noun>\p{L}.*)$/iu.exec(subject)?.groups?.noun : undefined
  return noun === undefined ? [] : [`my ${noun}`, `our ${noun}`, ...formsOfPhrase(noun)]
}
