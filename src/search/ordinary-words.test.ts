import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'

// A new module instance, as in a one-shot command. A module that has done many look-ups, for example for other tests,
// uses a set instead.
vi.resetModules()
const { isOrdinaryWord } = await import('./ordinary-words.ts')

const listed = readFileSync(new URL('./ordinary-words.txt', import.meta.url), 'utf8')
  .split('\n')
  .slice(0, -1)
const listedSet = new Set(listed)

const ordinary = `monday january france london alice github a i am be go us help but next note auto reach demo mongoose mango fault strip color colour organise organize
  cafe naive jalapeno ok app apps repo config`
const inflected = `helps helped helping notes reaches reached nested automates demos recompiles uploads uploaded latencies`
const contractions = 'dont doesnt havent youre thats'
const names = `redis kubernetes mongo mongodb typescript typescripts postgres postgresql nginx kafka django npm svelt
  `
const typos = 'helpp nxet kubernets postgers recieve teh'

const words = (text: string): string[] => text.split(/\s+/)

describe('isOrdinaryWord', () => {
  it.each(words(ordinary))('contains "%s"', (word) => {
    expect(isOrdinaryWord(word)).toBe(true)
  })

  it.each(words(inflected))('contains the inflected form "%s"', (word) => {
    expect(isOrdinaryWord(word)).toBe(true)
  })

  it.each(words(contractions))('contains "%s", a contraction typed without its apostrophe', (word) => {
    expect(isOrdinaryWord(word)).toBe(true)
  })

  it.each(words(names))('does not contain the name "%s"', (word) => {
    expect(isOrdinaryWord(word)).toBe(false)
  })

  it.each(words(typos))('does not contain the misspelling "%s"', (word) => {
    expect(isOrdinaryWord(word)).toBe(false)
  })

  it('finds every listed word, including the first and the last', () => {
    expect(listed.filter((word) => !isOrdinaryWord(word))).toEqual([])
  })

  it('agrees with a Set on words one edit away from listed ones', () => {
    const letter = fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz', '')
    const near = fc
      .record({ word: fc.constantFrom(...listed), at: fc.nat(12), letter, remove: fc.nat(1) })
      .map(({ word, at, letter, remove }) => word.slice(0, at) + letter + word.slice(at + remove))

    fc.assert(
      fc.property(near, (word) => {
        expect(isOrdinaryWord(word)).toBe(listedSet.has(word))
      }),
      { numRuns: 2_000 },
    )
  })

  it('agrees with a Set on any string', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (word) => {
        expect(isOrdinaryWord(word)).toBe(listedSet.has(word))
      }),
    )
  })

  it.each(['', '\n', 'help\n', '\nhelp', 'help\nhelped', 'help ', "don't", 'café', 'Help', '{', '\u0168elp'])(
    'answers false for %j, which is not a folded word',
    (text) => {
      expect(isOrdinaryWord(text)).toBe(false)
    },
  )
})

describe('the list of ordinary words', () => {
  it('contains only lower-case letters', () => {
    expect(listed.filter((word) => !/^[a-z]+$/.test(word))).toEqual([])
  })

  it('is sorted without duplicates, which the look-up relies on', () => {
    expect(listed).toEqual([...listedSet].sort())
  })
})
