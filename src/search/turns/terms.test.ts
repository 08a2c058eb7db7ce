import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { passagesOf } from './passages.ts'
import { countTerms, isAskingTerm, termsOf, wantedTerms } from './terms.ts'

const terms = (text: string): readonly string[] => termsOf(text).map(({ term }) => term)

describe('terms', () => {
  it('are the stems of words, without function words', () => {
    expect(terms('I was renting the kayaks we bought')).toEqual(terms('rent a kayak, buy it'))
  })

  it('are the same for irregular forms and everyday pairs', () => {
    expect(terms('went children mother')).toEqual(terms('go kid mom'))
  })

  it('preserve names, numbers, identifiers and other scripts', () => {
    expect(terms('Voss 2024-01-15 NeonDB')).toEqual(['voss', '2024-01-15', 'neondb', 'neon', 'db'])
    expect(terms('自行车')).toEqual(['自行', '行车'])
    expect(terms('A 车')).toEqual(['车'])
  })

  it('have exact positions', () => {
    const text = 'The kayaks of Ana’s.'

    expect(termsOf(text).map(({ start, end }) => text.slice(start, end))).toEqual(['kayaks', 'Ana’s'])
  })

  it('include every occurrence', () => {
    const { counts, length } = countTerms('kayak, kayaks and a paddle')

    expect([...counts]).toEqual([
      ['kayak', 2],
      ['paddl', 1],
    ])
    expect(length).toBe(3)
  })

  it('that are requested are all found, whatever else is skipped', () => {
    const suffix = fc.constantFrom('', 's', 'es', 'ies', 'ed', 'ing', 'y', 'ys', 'eed', 'ational', 'ness', 'e', 'ion')
    const letters = fc.string({ unit: fc.constantFrom(...'abeilosty'), minLength: 1, maxLength: 5 })
    const word = fc.oneof(
      fc.tuple(letters, suffix).map((parts) => parts.join('')),
      fc.constantFrom('went', 'feet', "d'or", "o'brien", 'NeonDB', 'C++', 'x', '行车', 'node2', 'ays', 'Éy'),
      fc.string(),
    )
    fc.assert(
      fc.property(fc.array(word, { maxLength: 12 }), (words) => {
        const text = words.join(' ')
        const wanted = new Set(terms(words.filter((_, place) => place % 3 === 0).join(' ')))
        const found = termsOf(text, wantedTerms(wanted)).filter(({ term }) => wanted.has(term))

        expect(found).toEqual(termsOf(text).filter(({ term }) => wanted.has(term)))
      }),
      { numRuns: 1_000 },
    )
  })

  it('that ask a question are recognised', () => {
    expect(terms('recommendations').every(isAskingTerm)).toBe(true)
    expect(terms('kayak').some(isAskingTerm)).toBe(false)
  })

  it('can be computed for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
        for (const { term, start, end } of termsOf(text)) {
          expect(term).not.toBe('')
          expect(start).toBeLessThan(end)
        }
      }),
    )
  })
})

describe('passages', () => {
  it('consist of the whole text if it is short', () => {
    expect(passagesOf('Short.')).toEqual(['Short.'])
  })

  it('together are the whole text, for any text, and none is too long', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof(fc.string({ maxLength: 80 }), fc.constantFrom('. ', '\n', ' ', 'x'.repeat(3_000))), {
          maxLength: 120,
        }),
        (parts) => {
          const text = parts.join('')
          const passages = passagesOf(text)

          expect(passages.join('')).toBe(text)
          expect(Math.max(...passages.map(({ length }) => length))).toBeLessThanOrEqual(4_000 + 2_000)
        },
      ),
    )
  })
})
