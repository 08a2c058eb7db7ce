import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { caseExample } from '../../../test/harness/example-documents.ts'
import { type CaseRecord, verdicts } from '../store/schemas/run.ts'
import { summariseCases } from './figures.ts'

const record = fc.record({
  caseId: fc.constantFrom('a', 'b', 'c', 'd'),
  repeat: fc.nat(2),
  verdict: fc.constantFrom(...verdicts),
  score: fc.option(fc.double({ min: 0, max: 1, noNaN: true })),
})

const records = fc.uniqueArray(record, { selector: ({ caseId, repeat }) => `${caseId}${repeat}` }).map((list) =>
  list.map(
    ({ score, ...rest }): CaseRecord => ({
      ...caseExample,
      ...rest,
      schemaVersion: 1,
      scores: { f1: score },
      failures: [],
    }),
  ),
)

describe('the metrics of a run', () => {
  it('do not depend on the order of its records', () => {
    fc.assert(
      fc.property(records, fc.infiniteStream(fc.double({ min: 0, max: 1, noNaN: true })), (list, order) => {
        const shuffled = list
          .map((one) => ({ one, key: order.next().value ?? 0 }))
          .sort((left, right) => left.key - right.key)
          .map(({ one }) => one)

        expect(summariseCases(shuffled)).toEqual(summariseCases(list))
      }),
    )
  })

  it('count every case once, and keep every mean within the range of the scores', () => {
    fc.assert(
      fc.property(records, (list) => {
        const { counts, results, metrics } = summariseCases(list)

        expect(Object.values(counts).reduce((total, count) => total + count, 0)).toBe(results.length)
        expect(results).toHaveLength(new Set(list.map(({ caseId }) => caseId)).size)
        if (metrics.f1 !== undefined) {
          const scores = list.flatMap((one) => one.scores.f1 ?? [])
          expect(metrics.f1).toBeGreaterThanOrEqual(Math.min(...scores) - 1e-12)
          expect(metrics.f1).toBeLessThanOrEqual(Math.max(...scores) + 1e-12)
        }
      }),
    )
  })

  it('give shares an interval that stays within 0 and 1, and is wide for 0 of a few', () => {
    const scored = (caseId: string): CaseRecord => ({
      ...caseExample,
      caseId,
      repeat: 0,
      schemaVersion: 1,
      verdict: 'pass',
      failures: [],
      scores: { loss: 0 },
    })

    const { loss } = summariseCases(['a', 'b', 'c', 'd'].map(scored)).intervals

    expect(loss?.low).toBe(0)
    // Wilson, Journal of the American Statistical Association 22 (1927): z²/(n+z²).
    expect(loss?.high).toBeCloseTo(0.4899, 4)
  })

  it('weigh cases equally, however often each was repeated', () => {
    const scored = (caseId: string, repeat: number, f1: number | null): CaseRecord => ({
      ...caseExample,
      schemaVersion: 1,
      verdict: 'pass',
      caseId,
      repeat,
      scores: { f1 },
    })

    const { metrics } = summariseCases([scored('a', 0, 1), scored('b', 0, 0), scored('b', 1, 0), scored('c', 0, null)])

    expect(metrics).toEqual({ f1: 0.5 })
  })
})
