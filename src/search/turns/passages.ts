import { analyse } from '../analyse.ts'
import { sentencesOf } from '../sentences.ts'
import { countTerms } from './terms.ts'

/** Turns up to this many characters are ranked as a whole. */
export const maxUnitLength = 4_000
/** The approximate length of the passages by which longer turns are ranked. */
const passageLength = 2_000

/** Splits a text into the units that are ranked: the whole text, or consecutive passages that end with a sentence. */
export function passagesOf(text: string): readonly string[] {
  if (text.length <= maxUnitLength) return [text]
  const passages: string[] = []
  let start = 0
  const cut = (end: number): void => {
    // A sentence that does not end, such as a log line of a megabyte, is cut into passages of `passageLength` characters.
    while (end - start > maxUnitLength) {
      passages.push(text.slice(start, start + passageLength))
      start += passageLength
    }
    passages.push(text.slice(start, end))
    start = end
  }
  for (const { end } of sentencesOf(text)) if (end - start >= passageLength) cut(end)
  if (start < text.length) cut(text.length)
  return passages
}

/** The index entry of one unit: the frequency of each term, and the numbers of terms and words. */
export type IndexedUnit = ReturnType<typeof countTerms>

export const unitsOf = (text: string): readonly IndexedUnit[] => passagesOf(text).map(countTerms)

/** The number of words in a text of any script. `units` are the units of the same text. */
export const wordCount = (text: string, units: readonly IndexedUnit[]): number =>
  // A passage may end inside a word, which must be counted only once.
  units.length === 1 ? (units[0] as IndexedUnit).words : analyse(text).length

/** Max term frequency in the index, which has one byte for it. Higher frequencies are stored as 255. */
export const maxOccurrences = 255
