import { isOrdinaryWord } from './ordinary-words.ts'
import { singular } from './singular.ts'

/** Min length of a word in a form for a typo of it to be accepted. */
const minForgivenLength = 5
/** Min length of an everyday word that may be a typo for another word. */
const longWord = 8
/** Max length of a word that is checked for typos. */
const maxForgivenLength = 40
/** The number of letters at the start that a word and its typo must share. */
const prefix = 2

const lettersOnly = /^\p{L}+$/u

/** Whether a written word may be a typo: letters only, long enough, and not a short everyday word. */
export const isForgivable = (written: string): boolean =>
  written.length >= minForgivenLength - 1 &&
  written.length <= maxForgivenLength &&
  (written.length >= longWord || !isEveryday(written)) &&
  lettersOnly.test(written)

/** Whether a word of a form may be the correction of a typo: letters only, 5 to 40 of them. */
export const isTypoTarget = (word: string): boolean =>
  word.length >= minForgivenLength && word.length <= maxForgivenLength && lettersOnly.test(word)

/**
 * An everyday word is never a typo for another everyday word: "provides" is not "provider". Nor is it a typo for a word
 * with a different ending: "installed" is not "installer", even if the dictionary has only "installed".
 */
export const isPlausibleTypo = (written: string, meant: string): boolean =>
  !isEveryday(written) || (!isEveryday(meant) && written.slice(-2) === meant.slice(-2))

const isEveryday = (word: string): boolean => isOrdinaryWord(word) || isOrdinaryWord(singular(word))

const cutOf = (length: number): number => (length + 1) >> 1
const firstHalf = (length: number, letters: string): string => `${length}<${letters}`
/** A key with the second half of a word. It also contains the first letters of the word, because a typo must share them. */
const secondHalf = (length: number, start: string, letters: string): string => `${length}>${start}${letters}`

/** The index keys by which a typo finds a word: the word's length with its first half, and with its second half. */
export function typoKeys(word: string): readonly [string, string] {
  const cut = cutOf(word.length)
  return [firstHalf(word.length, word.slice(0, cut)), secondHalf(word.length, word.slice(0, prefix), word.slice(cut))]
}

/**
 * The keys to look up for a written word. The intended word has the same length, or one letter less or more. One edit changes
 * only one of its halves, except for a swap across the cut, which has a separate key.
 */
export function typoProbes(written: string): readonly string[] {
  const start = written.slice(0, prefix)
  const probes: string[] = []
  for (let length = written.length - 1; length <= written.length + 1; length += 1) {
    const cut = cutOf(length)
    probes.push(firstHalf(length, written.slice(0, cut)))
    probes.push(secondHalf(length, start, written.slice(written.length - (length - cut))))
    if (length === written.length && written[cut - 1] !== written[cut])
      probes.push(firstHalf(length, written.slice(0, cut - 1) + written.slice(cut, cut + 1)))
  }
  return probes
}

/** Whether one insertion, deletion, substitution or swap of neighbours turns one word into the other. */
export function isOneEditApart(a: string, b: string): boolean {
  const [shorter, longer] = a.length < b.length ? [a.length, b.length] : [b.length, a.length]
  if (longer - shorter > 1) return false
  let same = 0
  while (same < shorter && a.charCodeAt(same) === b.charCodeAt(same)) same += 1
  if (same < prefix || same === longer) return false
  let sameAtEnd = 0
  while (
    sameAtEnd < shorter - same &&
    a.charCodeAt(a.length - 1 - sameAtEnd) === b.charCodeAt(b.length - 1 - sameAtEnd)
  )
    sameAtEnd += 1
  const differing = longer - same - sameAtEnd
  if (differing <= 1) return true
  const isSwap = a[same] === b[same + 1] && a[same + 1] === b[same]
  return differing === 2 && shorter === longer && isSwap
}

/** The score factor for a mention with a typo; smaller for short words. */
export const editFactor = (written: string, meant: string): number => 1 - 1 / Math.min(written.length, meant.length)
