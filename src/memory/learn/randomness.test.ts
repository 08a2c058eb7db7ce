import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { isRandom, isVeryRandom, letterPairs, randomness } from './randomness.ts'

const words = readFileSync(new URL('../../search/ordinary-words.txt', import.meta.url), 'latin1')
  .trimEnd()
  .split('\n')

const alphabet = [...'abcdefghijklmnopqrstuvwxyz']

it('has the counts of letter pairs in the ordinary words', () => {
  const counts = Array.from({ length: 27 }, () => alphabet.map(() => 2))
  for (const word of words) {
    let before = 26
    for (const letter of word) {
      const place = alphabet.indexOf(letter)
      const row = counts[before] as number[]
      if (place >= 0) row[place] = (row[place] as number) + 1
      before = place >= 0 ? place : 26
    }
  }
  const rows = counts.map((row) => {
    const total = row.reduce((sum, count) => sum + count, 0)
    return row.map((count) => Math.min(35, Math.round(-2 * Math.log2(count / total))).toString(36)).join('')
  })

  expect(letterPairs).toEqual(rows)
})

it('reports hardly any ordinary word as random, in any case', () => {
  const random = words.filter((word) => [word, word.toUpperCase()].some(isRandom))

  expect(random.length / words.length).toBeLessThan(0.001)
  expect(words.filter(isVeryRandom)).toEqual([])
})

it.each([
  'getUserById2FromApiV3',
  'MainActivityViewModelFactoryProvider2',
  'APPLE_REDIRECT_URI',
  'acme-prod-eu-west-1-logs',
])('does not report the identifier %s as random', (name) => {
  expect(isRandom(name)).toBe(false)
})

it.each([
  ['hexadecimal digits', '0123456789abcdef'],
  ['small letters and digits', '0123456789abcdefghijklmnopqrstuvwxyz'],
  ['letters of both cases and digits', '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'],
])('reports 32 %s as random', (_, letters) => {
  const run = fc.string({ unit: fc.constantFrom(...letters), minLength: 32, maxLength: 32 })
  const random = fc.sample(run, { numRuns: 1_000, seed: 7 }).filter(isRandom)

  expect(random.length).toBeGreaterThan(985)
})

it('sums over the parts of a text', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (a, b) => {
      expect(randomness(`${a} ${b}`)).toBeCloseTo(randomness(a) + randomness(b), 6)
    }),
  )
})
