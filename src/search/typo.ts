import { memoized } from './memoize.ts'
import { isOrdinaryWord } from './ordinary-words.ts'
import { singular } from './singular.ts'

/** A word of a form must be this long before a typo in it is accepted. */
const shortestForgiven = 5
/** An everyday word of this length or more may still be a typo for another word. */
const longWord = 8
/** Longer words are not checked for typos. */
const longestForgiven = 40
/** The first letters that must be equal. */
const prefix = 2

const lettersOnly = /^\p{L}+$/u

/** Whether a written word may be a typo: letters only, long enough, and not a short everyday word. */
export const isForgivable = (written: string): boolean =>
  written.length >= shortestForgiven - 1 && written.length <= longestForgiven && isUncommonOrLong(written)

const isUncommonOrLong = memoized(
  (written) => lettersOnly.test(written) && (written.length >= longWord || !isEveryday(written)),
)

/** Whether a word of a form may be the correction of a typo: letters only, 5 to 40 of them. */
export const isTypoTarget = (word: string): boolean =>
  word.length >= shortestForgiven && word.length <= longestForgiven && lettersOnly.test(word)

/**
 * An everyday word is never a typo for another everyday word: "provides" is not "provider". Nor is it a typo for a word
 * with another ending: "installed" is not "installer", even where only the first is in the dictionary.
 */
export const isPlausibleTypo = (written: string, meant: string): boolean =>
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
