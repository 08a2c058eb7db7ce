import { readFileSync } from 'node:fs'
import { memoized } from '../memoize.ts'
import { isAskingTerm } from './terms.ts'

/** From so many points on a word is uncommon enough to tell a topic. */
export const uncommonPoints = 8
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

/** A word that general English does not know and that at least this share of all turns holds is a particle, not a topic. */
const particleShare = 0.08
/** What fewer turns hold may be all over a small store by chance. */
const fewestHolders = 3

/**
 * The same, where a store is known. That is how the particles of other languages are told from telling words, and names
 * that stand everywhere.
 */
export function pointsAmong(
  term: string,
  { docFreq, units }: { readonly docFreq: number; readonly units: number },
): number {
  const points = pointsOf(term)
  const isParticle = points === rarePoints && docFreq >= fewestHolders && docFreq / units >= particleShare
  return isParticle ? 0 : points
}

function readBands(): readonly (readonly [points: number, terms: string])[] {
  const text = readFileSync(new URL('./word-points.txt', import.meta.url), 'utf8')
  return text
    .trimEnd()
    .split('\n')
    .map((line) => [Number.parseInt(line, 10), `${line.slice(line.indexOf(' '))} `])
}
