import { readFileSync } from 'node:fs'
import { memoize } from '../memoize.ts'
import { isAskingTerm } from './terms.ts'

const rarePoints = 10

/** For each number of points, the terms that have it, separated by spaces. */
let bands: readonly (readonly [points: number, terms: string])[] | undefined

/**
 * How informative a term is in general English, regardless of the store: 3 for the most common, 5, 6, 8, and 10 for a
 * rare or unknown one. Question filler has half as many points.
 */
export const pointsOf = memoize((term: string): number => {
  // A one-shot command asks for few terms, so it searches the text instead of building a table of all terms.
  bands ??= readBands()
  const band = bands.find(([, terms]) => terms.includes(` ${term} `))?.[0] ?? rarePoints
  return isAskingTerm(term) ? band / 2 : band
})

function readBands(): readonly (readonly [points: number, terms: string])[] {
  const text = readFileSync(new URL('./word-points.txt', import.meta.url), 'utf8')
  return text
    .trimEnd()
    .split('\n')
    .map((line) => [Number.parseInt(line, 10), `${line.slice(line.indexOf(' '))} `])
}

/** Of 10,000 turns of 15 words in general English, the number that contain a given term with these points. */
const turnsPer10k: Readonly<Record<number, number>> = { 3: 370, 5: 65, 6: 14, 8: 2.5 }

/** The share of turns that contain a term in general English. */
export const shareOfTurns = (term: string): number =>
  (turnsPer10k[pointsOf(term) * (isAskingTerm(term) ? 2 : 1)] ?? 0) / 10_000
