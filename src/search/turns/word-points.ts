import { readFileSync } from 'node:fs'
import { isAskingTerm } from './terms.ts'

/** From so many points on a word is uncommon enough to tell a topic. */
export const uncommonPoints = 8
const rarePoints = 10

let bands: ReadonlyMap<string, number> | undefined

/**
 * How telling a term is in general English, whatever the store holds: 3 for the most common, 5, 6, 8, and 10 for a rare
 * or unknown one. Words of asking count half.
 */
export function pointsOf(term: string): number {
  bands ??= readBands()
  const points = bands.get(term) ?? rarePoints
  return isAskingTerm(term) ? points / 2 : points
}

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

function readBands(): ReadonlyMap<string, number> {
  const found = new Map<string, number>()
  const text = readFileSync(new URL('./word-points.txt', import.meta.url), 'utf8')
  for (const line of text.trimEnd().split('\n')) {
    const [points, ...terms] = line.split(' ')
    for (const term of terms) found.set(term, Number(points))
  }
  return found
}
