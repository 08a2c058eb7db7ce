import { analyse } from '../analyse.ts'
import { sentencesOf } from '../sentences.ts'
import { countTerms } from './terms.ts'

/** A turn up to this many characters is ranked whole. */
export const maxUnitLength = 4_000
/** Longer ones are ranked by passages of about this many characters. */
const passageLength = 2_000

/** The units of a text that are ranked: all of it, or consecutive passages that end with a sentence. */
export function passagesOf(text: string): readonly string[] {
  if (text.length <= maxUnitLength) return [text]
  const passages: string[] = []
  let start = 0
  const cut = (end: number): void => {
    // A sentence without an end, such as a log line of a megabyte, is cut at the limit.
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

/** The index entry of one unit: how often each term occurs in it, and the numbers of terms and words. */
export type IndexedUnit = ReturnType<typeof countTerms>

export const unitsOf = (text: string): readonly IndexedUnit[] => passagesOf(text).map(countTerms)

/** The number of words in a text of any script. `units` are those of the text. */
export const wordCount = (text: string, units: readonly IndexedUnit[]): number =>
  // A passage may end within a word, which then counts once in the whole text.
  units.length === 1 ? (units[0] as IndexedUnit).words : analyse(text).length

/** Term frequencies are stored in one byte; higher ones count as this. */
export const maxOccurrences = 255
