import { describe, expect, it } from 'vitest'
import { caseExample } from '../../../test/harness/example-documents.ts'
import type { CaseRecord } from '../store/schemas/run.ts'
import { judgeAblation } from './figures.ts'

const cases = Array.from({ length: 12 }, (_, index) => ({
  id: `c${index}`,
  prompt: 'p',
  words: [],
  // For the last two cases, an empty result is right.
  expectsSomething: index < 10,
}))

/** The first `passed` cases that expect a result pass, and so do all that expect an empty one. */
const recordsOf = (passed: number): readonly CaseRecord[] =>
  cases.map(({ id, expectsSomething }, index): CaseRecord => {
    const isPass = !expectsSomething || index < passed
    return { ...caseExample, schemaVersion: 1, caseId: id, verdict: isPass ? 'pass' : 'fail', scores: {} }
  })

const judged = (whole: number, without: number) =>
  judgeAblation('recall off', cases, { whole: recordsOf(whole), without: recordsOf(without) })

describe('an ablation', () => {
  it('shows what a pack measures if few cases pass without the part', () => {
    expect(judged(10, 0)).toEqual({
      ablation: 'recall off',
      whole: { passed: 10, total: 10 },
      without: { passed: 0, total: 10 },
      silent: { passed: 2, total: 2 },
      problem: null,
    })
  })

  it('is a problem if it scores within 0.2 of the whole system', () => {
    expect(judged(10, 7).problem).toBeNull()
    expect(judged(10, 8).problem).toContain('With recall off, 8/10 of the cases that expect something pass')
    expect(judged(2, 0).problem).not.toBeNull()
    expect(judged(5, 9).problem).not.toBeNull()
  })

  it('is a problem if no case expects any belief', () => {
    const silent = cases.map((one) => ({ ...one, expectsSomething: false }))

    expect(judgeAblation('recall off', silent, { whole: recordsOf(9), without: recordsOf(0) }).problem).toContain(
      'No case expects anything',
    )
  })
})
