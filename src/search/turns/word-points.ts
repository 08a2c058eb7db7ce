import { readFileSync } from 'node:fs'
import { memoized } from '../memoize.ts'
import { isAskingTerm } from './terms.ts'

const rarePoints = 10

/** Points with the terms that have them, each between two spaces. */
let bands: readonly (readonly [points: number, terms: string])[] | undefined

/**
 * How telling a term is in general English, whatever the store holds: 3 for the most common, 5, 6, 8, and 10 for a rare
 * or unknown one. Words of asking count half.
 */
export const pointsOf = memoized((term: string): number => {
  // A one-shot command asks for a few terms: to find them in the text costs less than to make a table of them all.
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
