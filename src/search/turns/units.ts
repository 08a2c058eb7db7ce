import { analyse } from '../analyse.ts'
import { passagesOf } from './passages.ts'
import { countTerms } from './terms.ts'

/** What the index keeps of one unit of a turn: how often each term occurs in it, and how many there are. */
export type IndexedUnit = { readonly counts: ReadonlyMap<string, number>; readonly length: number }

/** The units of a turn's text, in order. */
export const unitsOf = (text: string): readonly IndexedUnit[] => passagesOf(text).map(countTerms)

/** How many words a text has, in any script. */
export const wordCount = (text: string): number => analyse(text).length

/** More occurrences in one unit count as this many. */
export const mostOccurrences = 255
