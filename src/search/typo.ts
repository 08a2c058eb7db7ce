import { isOrdinaryWord } from './ordinary-words.ts'
import { singular } from './singular.ts'

/** A form's word must be this long before a slip in it is forgiven. */
export const shortestForgiven = 5
/** An everyday word this long is rarely written for another by chance, so it may still be a slip. */
const longWord = 8
/** Nobody calls anything by a longer word; looking for slips in one would only cost time. */
const longestForgiven = 40
/** This many first letters must be right. */
const prefix = 2

const lettersOnly = /^\p{L}+$/u

/** Whether a slip may be looked for in a written word at all. */
export const isForgivable = (written: string): boolean => {
  if (written.length < shortestForgiven - 1 || written.length > longestForgiven) return false
  const known = answered.get(written)
  if (known !== undefined) return known
  const answer = lettersOnly.test(written) && (written.length >= longWord || !isEveryday(written))
  if (answered.size >= mostAnswered) answered.clear()
  answered.set(written, answer)
  return answer
}

// Most of a message is words that were looked up in the dictionary a moment ago.
const answered = new Map<string, boolean>()
const mostAnswered = 20_000

/** Whether a word of a form is long and plain enough to be meant by a slip. */
export const isMeantWord = (word: string): boolean =>
  word.length >= shortestForgiven && word.length <= longestForgiven && lettersOnly.test(word)

/**
 * Whoever writes one everyday word does not mean another: "provides" is no slip for "provider". Nor does another ending
 * make a slip of it: "installed" is not "installer", even where only the first is in the dictionary.
 */
export const isPlausibleSlip = (written: string, meant: string): boolean =>
  !isEveryday(written) || (!isEveryday(meant) && written.slice(-2) === meant.slice(-2))

const isEveryday = (word: string): boolean => isOrdinaryWord(word) || isOrdinaryWord(singular(word))

/**
 * Spellings with at most one letter left out after the prefix. Two words that are one insertion, deletion,
 * substitution or swap apart share one of them (Garbe's symmetric deletes).
 */
export function deletions(word: string): readonly string[] {
  const spellings = new Set([word])
  for (let at = prefix; at < word.length; at += 1) spellings.add(word.slice(0, at) + word.slice(at + 1))
  return [...spellings]
}

/** Whether one insertion, deletion, substitution or swap of neighbours turns one word into the other. */
export function isOneEditApart(one: string, other: string): boolean {
  if (one === other || Math.abs(one.length - other.length) > 1) return false
  if (one.slice(0, prefix) !== other.slice(0, prefix)) return false
  let start = prefix
  while (start < one.length && start < other.length && one[start] === other[start]) start += 1
  let oneEnd = one.length
  let otherEnd = other.length
  while (oneEnd > start && otherEnd > start && one[oneEnd - 1] === other[otherEnd - 1]) {
    oneEnd -= 1
    otherEnd -= 1
  }
  const oneMiddle = one.slice(start, oneEnd)
  const otherMiddle = other.slice(start, otherEnd)
  if (oneMiddle.length <= 1 && otherMiddle.length <= 1) return true
  return (
    oneMiddle.length === 2 &&
    otherMiddle.length === 2 &&
    oneMiddle[0] === otherMiddle[1] &&
    oneMiddle[1] === otherMiddle[0]
  )
}

/** What remains of a score when one letter of a word is wrong: less for short words. */
export const editFactor = (written: string, meant: string): number => 1 - 1 / Math.min(written.length, meant.length)
