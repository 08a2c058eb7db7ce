import { memoize } from './memoize.ts'
import { isOrdinaryWord } from './ordinary-words.ts'

// Words that are not the plural of the word before the s ("news" is not the plural of "new"), and names that look plural.
const notPlural = new Set(
  `analytics besides devops does economics electronics ethics genetics goes hers https logistics news ours physics
  politics semantics sometimes species thanks theirs theses yours`.split(/\s+/),
)

/** Common irregular plurals, and plurals of very short words, which are common in compounds. */
const irregular: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ads: 'ad',
    ids: 'id',
    ins: 'in',
    ons: 'on',
    ups: 'up',
    children: 'child',
    feet: 'foot',
    geese: 'goose',
    men: 'man',
    mice: 'mouse',
    teeth: 'tooth',
    women: 'woman',
  }),
)

/** Min length of an ordinary word at the end of a compound. Shorter matches are often coincidences. */
const minPartLength = 4

/**
 * The singular of an English plural, or the word itself. Expects a lower-case word without accents. Except for the irregular
 * plurals, words of up to three or over forty letters, or with characters other than letters, are not changed.
 */
export const singular = (word: string): string =>
  word.endsWith('s') ? singularOfS(word) : (irregular.get(word) ?? word)

const singularOfS = memoize((word: string): string => {
  const regular = regularSingular(word)
  return irregular.get(regular) ?? regular
})

function regularSingular(word: string): string {
  // No English word ends in -j, so "nodejs" is not a plural. No plural ends in -ss.
  if (!/^[a-z]{2,38}[a-ik-rt-z]s$/.test(word) || notPlural.has(word)) return word

  const candidates = singularCandidates(word)
  const known = candidates.find(isOrdinaryWord)
  if (known !== undefined) return known
  // A dictionary word that is not an ordinary word plus -s ("alias", "always", "series") is not a plural.
  if (isOrdinaryWord(word)) return word

  const compound = candidates.find(endsInOrdinaryWord)
  if (compound !== undefined) return compound
  // Unknown words with a vowel before the -s are mostly names: "redis", "kubernetes", "lucas". After a sibilant, -es is a
  // regular plural ending.
  const mayBeName = /[aeiou]s$/.test(word) && !/(ies|[sxz]es|[cs]hes)$/.test(word)
  return mayBeName ? word : (candidates[0] ?? word)
}

/** Possible singulars, likeliest first. */
function singularCandidates(word: string): string[] {
  const withoutS = word.slice(0, -1)
  const withoutEs = word.slice(0, -2)
  // "knives" and "elves" come from "knife" and "elf", "caves" from "cave".
  if (word.endsWith('ves')) return [withoutS, `${word.slice(0, -3)}fe`, `${word.slice(0, -3)}f`]
  if (word.endsWith('ies')) return [`${word.slice(0, -3)}y`, withoutS]
  if (/(ss|x|[tz]z|[cs]h)es$/.test(word)) return [withoutEs, withoutS]
  // "uses" and "toes" come from "use" and "toe", although "us" and "to" are words as well. A candidate
  // that is a plural itself ("psychos") is left out.
  if (/[szo]es$/.test(word)) return [withoutS, withoutEs].filter((candidate) => singular(candidate) === candidate)
  return [withoutS]
}

/** Recognises compounds that no dictionary has, such as "microservice", by their last word. */
function endsInOrdinaryWord(word: string): boolean {
  for (let at = 1; at <= word.length - minPartLength; at++) {
    if (isOrdinaryWord(word.slice(at))) return true
  }
  return false
}
