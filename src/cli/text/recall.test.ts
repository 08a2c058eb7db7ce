import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { MatchedForm, NearMissReason } from '../../memory/recall/context.ts'
import { type Explanation, leaf, product, sum } from '../../search/explanation.ts'
import { arithmeticText, matchText, reasonText, roundText } from './recall.ts'

const match = (form: string, text: string, typo: { written: string; meant: string } | null = null): MatchedForm => ({
  field: 'alias',
  form,
  words: [{ text, start: 0, end: text.length, typo }],
  holders: 1,
  population: 3,
  explanation: leaf('alias', 1),
})

describe('matchText', () => {
  it('shows which words matched which form, and how a typo was corrected', () => {
    expect(matchText(match('session cache', 'session cache'))).toBe('"session cache" is its alias')
    expect(matchText(match('error', 'Errors'))).toBe('"Errors" means its alias "error"')
    expect(matchText(match('Redis', 'Reedis', { written: 'reedis', meant: 'redis' }))).toBe(
      '"Reedis" (read as "redis") means its alias "Redis"',
    )
    expect(matchText(match('session cache', 'sesion cache', { written: 'sesion', meant: 'session' }))).toBe(
      '"sesion cache" ("sesion" read as "session") means its alias "session cache"',
    )
  })
})

describe('arithmetic', () => {
  it('shows the arithmetic of a step', () => {
    const clause = product('name', [leaf('idf of 1 in 4', 1.2039728), leaf('name boost', 2)])

    expect(arithmeticText(clause)).toBe('1.204 (idf of 1 in 4) × 2 (name boost) = 2.408')
    expect(arithmeticText(sum('score', [clause, leaf('more', 0.5)]))).toBe('2.408 + 0.5 (more) = 2.908')
  })

  it('ends with the value of every explanation, to three decimals', () => {
    const number = fc.double({ min: 0, max: 100, noNaN: true })
    const explanation: fc.Arbitrary<Explanation> = fc.array(number, { minLength: 1, maxLength: 5 }).chain((values) =>
      fc.constantFrom(sum, product).map((combine) =>
        combine(
          'x',
          values.map((value) => leaf('part', value)),
        ),
      ),
    )
    fc.assert(
      fc.property(explanation, (one) => {
        expect(arithmeticText(one).endsWith(` = ${roundText(one.value)}`)).toBe(true)
      }),
    )
  })
})

describe('reasonText', () => {
  const reasons: readonly NearMissReason[] = [
    { kind: 'other-scope', scopes: ['project:a', 'project:b'] },
    { kind: 'superseded', by: 'b-2' },
    { kind: 'superseded', by: null },
    { kind: 'resolved', at: '2026-03-01T12:00:00.000Z' },
    { kind: 'open-question' },
    { kind: 'expertise' },
    { kind: 'over-budget', limit: 'maxBeliefs' },
    { kind: 'over-budget', limit: 'maxCharacters' },
    { kind: 'other-agent', agent: 'codex' },
    { kind: 'proposed', for: 'b-1' },
  ]

  it('has a separate text for every reason', () => {
    const texts = reasons.map(reasonText)

    expect(new Set(texts).size).toBe(reasons.length)
    expect(texts[0]).toBe('it belongs to project:a and project:b, which is not one of the active scopes')
    expect(texts[1]).toBe('it was superseded by b-2')
    expect(texts[3]).toBe('it was settled on 2026-03-01')
    expect(texts[6]).toContain('--max-beliefs')
  })
})
