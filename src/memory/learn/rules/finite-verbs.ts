import { asForm, auxiliaries } from './verbs.ts'

export const contracted = /['’](?:m|re|ve|ll|d|s)$/iu

/** Whether a stretch of words has a finite verb. */
export function hasVerb(text: string): boolean {
  const words = wordsIn(text)
  return words.some((word, index) => isFiniteVerb(word, words[index - 1]) && !isParticle(words, index))
}

/** "Casa do Mar": the Portuguese "do" between two parts of a name. */
export const isParticle = (words: readonly string[], index: number): boolean =>
  words[index] === 'do' && /^\p{Lu}\p{L}/u.test(words[index - 1] ?? '') && /^\p{Lu}/u.test(words[index + 1] ?? '')

/** Whether a word can be the verb of a clause, by itself and by the word before it. */
export function isFiniteVerb(word: string, before: string | undefined): boolean {
  const lower = word.toLowerCase()
  if (auxiliaries.has(lower)) return true
  if (contracted.test(word) && /^(?:i|we|he|she|they|it|you|there|that|this|who|what|here|name|let)['’]/iu.test(word))
    return true
  if (before === undefined) return false
  if (beforeNoun.test(before)) return false
  if (asForm(lower, 'third', 'past') !== undefined) return true
  return (
    asForm(lower, 'base') !== undefined &&
    /^(?:i|we|they|you|also|really|always|never|usually|often|still|just|only|longer|hardly|rarely|mostly|currently|sometimes|both|all|now)$|s$/iu.test(
      before,
    )
  )
}

/** What follows one of these is a noun: "two changes". */
const beforeNoun =
  /^(?:a|an|the|my|our|his|her|their|its|your|of|for|to|this|that|these|those|two|three|four|five|six|some|few|several|many|all|other|more|most|new|old|small|quick|big|\d+)$/iu

/** Whether a verb stands within the first few words, behind a subject. */
export const verbWithin = (text: string, most: number): boolean => {
  const words = wordsIn(text).slice(0, most)
  return words.some((word, index) => index > 0 && isFiniteVerb(word, words[index - 1]))
}

export const wordsIn = (text: string): readonly string[] => text.match(/[\p{L}\p{N}][\p{L}\p{N}'’-]*/gu) ?? []
