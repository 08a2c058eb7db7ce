import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Figures } from '../score/figures.ts'
import type { CaseResult } from '../store/schemas/baseline.ts'
import { compareBenchmarks, type FigureVerdict } from './compare.ts'

const hash = (digit: string): string => `sha256:${digit.repeat(64)}`

function side(fields: Partial<Figures> = {}): Figures {
  return {
    benchmarkId: 'pack',
    runId: 'run',
    passRate: 0.75,
    totalCases: 12,
    errorCases: null,
    metrics: {},
    packHash: hash('a'),
    system: { name: 'bm25', version: '1' },
    seed: 1,
    isNoisy: false,
    declarations: [],
    cases: null,
    ...fields,
  }
}

/** A side whose cases pass where the text has a dot. */
function sideOf(pattern: string, fields: Partial<Figures> = {}): Figures {
  const results = [...pattern].map(
    (mark, index): CaseResult => ({ id: `c${index}`, verdict: mark === '.' ? 'pass' : 'fail', scores: {} }),
  )
  const passRate = results.filter(({ verdict }) => verdict === 'pass').length / results.length
  const cases = new Map(results.map((result) => [result.id, result]))
  return side({ passRate, totalCases: results.length, cases, ...fields })
}

function scoredSide(scores: readonly number[], fields: Partial<Figures> = {}): Figures {
  const results = scores.map((f1, index): CaseResult => ({ id: `c${index}`, verdict: 'pass', scores: { f1 } }))
  const mean = scores.reduce((total, score) => total + score, 0) / scores.length
  const cases = new Map(results.map((result) => [result.id, result]))
  return side({ passRate: 1, totalCases: scores.length, cases, metrics: { f1: mean }, isNoisy: true, ...fields })
}

function verdicts(base: Figures, candidate: Figures): Readonly<Record<string, FigureVerdict>> {
  const [comparison] = compareBenchmarks([{ base, candidate }])
  return Object.fromEntries((comparison?.figures ?? []).map(({ figure, verdict }) => [figure, verdict]))
}

const obstacles = (base: Figures, candidate: Figures): readonly string[] =>
  compareBenchmarks([{ base, candidate }])[0]?.obstacles ?? []

describe('comparing where nothing varies', () => {
  it('calls any fall of the pass rate worse and any rise better', () => {
    expect(verdicts(side(), side({ passRate: 0.74 }))).toEqual({ passRate: 'worse' })
    expect(verdicts(side(), side({ passRate: 0.76 }))).toEqual({ passRate: 'better' })
    expect(verdicts(side(), side())).toEqual({ passRate: 'same' })
  })

  it('does not take float dust for a change', () => {
    const [base, candidate] = [
      side({ metrics: { f1: 0.1 + 0.2 } }),
      side({ metrics: { f1: 0.3 }, passRate: 0.75 - 1e-12 }),
    ]

    expect(verdicts(base, candidate)).toEqual({ passRate: 'same', f1: 'same' })
    expect(verdicts(candidate, base)).toEqual({ passRate: 'same', f1: 'same' })
  })

  it('knows which way is better', () => {
    const [base, candidate] = [
      side({ metrics: { trustViolationRate: 0.03, actionOutcomeScore: 0.8 } }),
      side({ metrics: { trustViolationRate: 0.04, actionOutcomeScore: 0.9 } }),
    ]

    expect(verdicts(base, candidate)).toMatchObject({ trustViolationRate: 'worse', actionOutcomeScore: 'better' })
    expect(verdicts(candidate, base)).toMatchObject({ trustViolationRate: 'better', actionOutcomeScore: 'worse' })
  })

  it('leaves out what is smaller than the smallest effect that matters', () => {
    const declarations = [{ name: 'p95LatencyMs', direction: 'lower' as const, minEffect: 5 }]
    const base = side({ metrics: { p95LatencyMs: 20 }, declarations })

    expect(verdicts(base, side({ metrics: { p95LatencyMs: 25 } }))).toMatchObject({ p95LatencyMs: 'same' })
    expect(verdicts(base, side({ metrics: { p95LatencyMs: 25.1 } }))).toMatchObject({ p95LatencyMs: 'worse' })
    expect(verdicts(base, side({ metrics: { p95LatencyMs: 14 } }))).toMatchObject({ p95LatencyMs: 'better' })
  })

  it('compares metrics that it has never heard of, and says what it assumed', () => {
    const [comparison] = compareBenchmarks([
      { base: side({ metrics: { novelty: 0.5 } }), candidate: side({ metrics: { novelty: 0.4 } }) },
    ])

    expect(comparison?.figures[1]).toMatchObject({ figure: 'novelty', verdict: 'worse', sense: { source: 'assumed' } })
    expect(comparison?.notes).toContain('Nobody declares which way is better for novelty; higher was taken to be.')
  })

  it('notices a metric that is gone and one that is new', () => {
    const base = side({ metrics: { f1: 0.5 } })

    expect(verdicts(base, side({ metrics: { recall: 0.5 } }))).toMatchObject({ f1: 'dropped', recall: 'new' })
  })

  it('calls a figure that is no number worse', () => {
    expect(verdicts(side(), side({ passRate: Number.NaN }))).toEqual({ passRate: 'worse' })
    expect(verdicts(side({ passRate: Number.NaN }), side())).toEqual({ passRate: 'worse' })
  })

  it('counts errors apart', () => {
    expect(verdicts(side({ errorCases: 0 }), side({ errorCases: 2 }))).toMatchObject({ errorCases: 'worse' })
  })

  it('says when a case broke although the rate did not fall', () => {
    const [comparison] = compareBenchmarks([{ base: sideOf('..xx'), candidate: sideOf('.x.x') }])

    expect(comparison?.cases).toEqual({ broken: ['c1'], fixed: ['c2'] })
    expect(comparison?.notes).toContain('The pass rate did not fall, but cases that passed before do not: c1.')
  })

  it('finds nothing when both sides are the same run', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ minLength: 1 }), fc.double({ noNaN: true, noDefaultInfinity: true })),
        (metrics) => {
          const run = side({ metrics })

          expect(Object.values(verdicts(run, run)).every((verdict) => verdict === 'same')).toBe(true)
        },
      ),
    )
  })

  it('never calls a change better in both directions', () => {
    const value = fc.double({ min: -1e6, max: 1e6, noNaN: true })
    fc.assert(
      fc.property(value, value, (one, other) => {
        const [there, back] = [
          verdicts(side({ metrics: { m: one } }), side({ metrics: { m: other } })).m,
          verdicts(side({ metrics: { m: other } }), side({ metrics: { m: one } })).m,
        ]

        expect([there, back].sort()).toEqual(there === 'same' ? ['same', 'same'] : ['better', 'worse'])
      }),
    )
  })
})

describe('comparing where results vary', () => {
  const noisy = { isNoisy: true }

  it('needs more than chance to call a difference one', () => {
    const base = sideOf('.'.repeat(200), noisy)
    const fewBroken = sideOf(`xxx${'.'.repeat(197)}`, noisy)
    const manyBroken = sideOf(`${'x'.repeat(20)}${'.'.repeat(180)}`, noisy)

    expect(verdicts(base, fewBroken)).toEqual({ passRate: 'no evidence' })
    expect(verdicts(base, manyBroken)).toEqual({ passRate: 'worse' })
    expect(verdicts(manyBroken, base)).toEqual({ passRate: 'better' })
  })

  it('admits that a handful of cases could not have shown it', () => {
    const [comparison] = compareBenchmarks([{ base: sideOf('.....', noisy), candidate: sideOf('...xx', noisy) }])

    expect(comparison?.figures[0]).toMatchObject({ verdict: 'underpowered', test: { pairs: 5, smallestDetectable: 1 } })
  })

  it('pairs scores case by case', () => {
    const base = scoredSide(Array.from({ length: 30 }, (_, index) => 0.5 + (index % 7) / 20))
    const worse = scoredSide(Array.from({ length: 30 }, (_, index) => 0.45 + (index % 7) / 20 + (index % 3) / 100))

    expect(verdicts(base, worse)).toMatchObject({ f1: 'worse' })
    expect(verdicts(base, base)).toMatchObject({ f1: 'no evidence' })
  })

  it('leaves a significant but meaningless change alone', () => {
    const declarations = [{ name: 'f1', direction: 'higher' as const, minEffect: 0.1 }]
    const base = scoredSide(
      Array.from({ length: 40 }, () => 0.5),
      { declarations },
    )
    const candidate = scoredSide(Array.from({ length: 40 }, () => 0.45))

    expect(verdicts(base, candidate)).toMatchObject({ f1: 'no evidence' })
  })

  it('corrects for the number of figures over all benchmarks', () => {
    // One pair of runs with seven broken cases is beyond chance; the same among many comparisons is not.
    const pair = (benchmarkId: string, broken: number) => ({
      base: sideOf('.'.repeat(400), { ...noisy, benchmarkId }),
      candidate: sideOf(`${'x'.repeat(broken)}${'.'.repeat(400 - broken)}`, { ...noisy, benchmarkId }),
    })

    const alone = compareBenchmarks([pair('a', 7)])
    const among = compareBenchmarks([pair('a', 7), ...['b', 'c', 'd', 'e'].map((id) => pair(id, 0))])

    expect(alone[0]?.figures[0]?.verdict).toBe('worse')
    expect(among[0]?.figures[0]?.verdict).toBe('no evidence')
    expect(among[0]?.figures[0]?.test?.adjustedP).toBeCloseTo((alone[0]?.figures[0]?.test?.p ?? 0) * 5, 9)
  })

  it('compares as it stands, and says so, when nobody kept the cases', () => {
    const [comparison] = compareBenchmarks([{ base: side(noisy), candidate: side({ ...noisy, passRate: 0.7 }) }])

    expect(comparison?.figures[0]?.verdict).toBe('worse')
    expect(comparison?.notes.join()).toContain('a side kept no case results')
  })
})

describe('what is not comparable', () => {
  it('is another content of the pack, another system, fewer or other cases', () => {
    expect(obstacles(side(), side({ packHash: hash('b') }))).toEqual([
      'The pack changed: sha256:aaaaaaaaaaaa became sha256:bbbbbbbbbbbb.',
    ])
    expect(obstacles(side(), side({ system: { name: 'vector', version: '1' } }))).toHaveLength(1)
    expect(obstacles(side(), side({ totalCases: 1 }))).toEqual(['The number of cases shrank from 12 to 1.'])
    expect(obstacles(side(), side({ totalCases: 13 }))).toEqual(['The number of cases grew from 12 to 13.'])
    expect(obstacles(sideOf('...'), sideOf('..'))).toEqual(['Cases of the base are missing (1): c2.'])
    expect(obstacles(sideOf('..'), sideOf('....'))).toEqual(['Cases are not in the base (2): c2, c3.'])
  })

  it('is another seed only where results vary, and never another version', () => {
    expect(obstacles(side(), side({ seed: 2, system: { name: 'bm25', version: '2' } }))).toEqual([])
    expect(obstacles(side({ isNoisy: true }), side({ seed: 2 }))).toEqual(['Different seeds: 1 and 2.'])
  })

  it('is a metric whose direction the candidate turned round', () => {
    const declared = (direction: 'higher' | 'lower') => ({
      metrics: { m: 1 },
      declarations: [{ name: 'm', direction }],
    })

    expect(obstacles(side(declared('higher')), side(declared('lower')))).toEqual([
      'The direction of m changed from higher to lower.',
    ])
  })

  it('compares no figure', () => {
    expect(verdicts(side(), side({ packHash: hash('b'), passRate: 1 }))).toEqual({})
  })

  it('can be accepted with a reason; then the cases of both sides are compared', () => {
    const [comparison] = compareBenchmarks([
      {
        base: sideOf('..x', { metrics: { f1: 0.5 } }),
        candidate: sideOf('.xxxx', { packHash: hash('b') }),
        acceptedChange: 'two cases added',
      },
    ])

    expect(comparison).toMatchObject({ obstacles: [], basePassRate: 2 / 3, candidatePassRate: 1 / 3 })
    expect(comparison?.figures[0]).toMatchObject({ figure: 'passRate', verdict: 'worse' })
    expect(comparison?.notes[0]).toContain('Accepted: two cases added')
  })

  it('cannot be accepted when nobody knows the cases, or when none is left', () => {
    const accepted = (base: Figures, candidate: Figures) =>
      compareBenchmarks([{ base, candidate, acceptedChange: 'because' }])[0]

    expect(accepted(side(), side({ totalCases: 3 }))?.figures).toEqual([])
    const renamed = new Map([['other', { id: 'other', verdict: 'pass' as const }]])
    expect(accepted(sideOf('..'), sideOf('.', { cases: renamed }))).toMatchObject({
      figures: [],
      obstacles: ['No case is left that both sides have.'],
    })
  })
})
