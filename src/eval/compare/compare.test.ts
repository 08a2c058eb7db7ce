import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Figures } from '../score/figures.ts'
import type { CaseResult } from '../store/schemas/run.ts'
import { compareBenchmark, type FigureVerdict } from './compare.ts'

const hash = (digit: string): string => `sha256:${digit.repeat(64)}`

function side(fields: Partial<Figures> = {}): Figures {
  return {
    benchmarkId: 'pack',
    runId: 'run',
    passRate: 0.75,
    totalCases: 12,
    errorCases: null,
    judgedCases: null,
    metrics: {},
    packHash: hash('a'),
    system: { name: 'bm25', version: '1' },
    seed: 1,
    repeats: null,
    isNoisy: false,
    declarations: [],
    cases: null,
    ...fields,
  }
}

/** One side of a comparison, with one case per character; a dot is a pass. */
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
  const { figures } = compareBenchmark({ base, candidate })
  return Object.fromEntries(figures.map(({ figure, verdict }) => [figure, verdict]))
}

const obstacles = (base: Figures, candidate: Figures): readonly string[] =>
  compareBenchmark({ base, candidate }).obstacles

describe('comparing results that do not vary', () => {
  it('calls any fall of the pass rate worse and any rise better', () => {
    expect(verdicts(side(), side({ passRate: 0.74 }))).toEqual({ passRate: 'worse' })
    expect(verdicts(side(), side({ passRate: 0.76 }))).toEqual({ passRate: 'better' })
    expect(verdicts(side(), side())).toEqual({ passRate: 'same' })
  })

  it('does not report a rounding error as a change', () => {
    const base = side({ metrics: { f1: 0.1 + 0.2 } })
    const candidate = side({ metrics: { f1: 0.3 }, passRate: 0.75 - 1e-12 })

    expect(verdicts(base, candidate)).toEqual({ passRate: 'same', f1: 'same' })
    expect(verdicts(candidate, base)).toEqual({ passRate: 'same', f1: 'same' })
  })

  it('knows whether higher or lower is better', () => {
    const base = side({ metrics: { trustViolationRate: 0.03, actionOutcomeScore: 0.8 } })
    const candidate = side({ metrics: { trustViolationRate: 0.04, actionOutcomeScore: 0.9 } })

    expect(verdicts(base, candidate)).toMatchObject({ trustViolationRate: 'worse', actionOutcomeScore: 'better' })
    expect(verdicts(candidate, base)).toMatchObject({ trustViolationRate: 'better', actionOutcomeScore: 'worse' })
  })

  it('ignores changes below the smallest effect that matters', () => {
    const declarations = [{ name: 'p95LatencyMs', direction: 'lower' as const, minEffect: 5 }]
    const base = side({ metrics: { p95LatencyMs: 20 }, declarations })

    expect(verdicts(base, side({ metrics: { p95LatencyMs: 25 } }))).toMatchObject({ p95LatencyMs: 'same' })
    expect(verdicts(base, side({ metrics: { p95LatencyMs: 25.1 } }))).toMatchObject({ p95LatencyMs: 'worse' })
    expect(verdicts(base, side({ metrics: { p95LatencyMs: 14 } }))).toMatchObject({ p95LatencyMs: 'better' })
  })

  it('compares unknown metrics, and reports the assumed direction', () => {
    const comparison = compareBenchmark({
      base: side({ metrics: { novelty: 0.5 } }),
      candidate: side({ metrics: { novelty: 0.4 } }),
    })

    expect(comparison.figures[1]).toMatchObject({ figure: 'novelty', verdict: 'worse', sense: { source: 'assumed' } })
    expect(comparison.notes).toContain(
      'The pack does not declare which way is better for novelty; higher was taken to be.',
    )
  })

  it('reports removed and new metrics', () => {
    const base = side({ metrics: { f1: 0.5 } })

    expect(verdicts(base, side({ metrics: { recall: 0.5 } }))).toMatchObject({ f1: 'dropped', recall: 'new' })
  })

  it('treats NaN as worse', () => {
    expect(verdicts(side(), side({ passRate: Number.NaN }))).toEqual({ passRate: 'worse' })
    expect(verdicts(side({ passRate: Number.NaN }), side())).toEqual({ passRate: 'worse' })
  })

  it('counts errors separately', () => {
    expect(verdicts(side({ errorCases: 0 }), side({ errorCases: 2 }))).toMatchObject({ errorCases: 'worse' })
  })

  it('reports a broken case even if the rate did not fall', () => {
    const comparison = compareBenchmark({ base: sideOf('..xx'), candidate: sideOf('.x.x') })

    expect(comparison.cases).toEqual({ broken: ['c1'], fixed: ['c2'] })
    expect(comparison.notes).toContain('The pass rate did not fall, but cases that passed before do not: c1.')
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
      fc.property(value, value, (a, b) => {
        const there = verdicts(side({ metrics: { m: a } }), side({ metrics: { m: b } })).m
        const back = verdicts(side({ metrics: { m: b } }), side({ metrics: { m: a } })).m

        expect([there, back].sort()).toEqual(there === 'same' ? ['same', 'same'] : ['better', 'worse'])
      }),
    )
  })
})

describe('comparing results that vary', () => {
  const noisy = { isNoisy: true }

  it('reports a difference only if it is larger than chance explains', () => {
    const base = sideOf('.'.repeat(200), noisy)
    const fewBroken = sideOf(`xxx${'.'.repeat(197)}`, noisy)
    const manyBroken = sideOf(`${'x'.repeat(20)}${'.'.repeat(180)}`, noisy)

    expect(verdicts(base, fewBroken)).toEqual({ passRate: 'no evidence' })
    expect(verdicts(base, manyBroken)).toEqual({ passRate: 'worse' })
    expect(verdicts(manyBroken, base)).toEqual({ passRate: 'better' })
  })

  it('cannot distinguish a large fall among few cases from chance', () => {
    const comparison = compareBenchmark({ base: sideOf('.....', noisy), candidate: sideOf('...xx', noisy) })

    expect(comparison.figures[0]).toMatchObject({ verdict: 'cannot tell', test: { pairs: 5 } })
    expect(verdicts(sideOf('...xx', noisy), sideOf('.....', noisy))).toEqual({ passRate: 'no evidence' })
  })

  it('never passes a fall from all cases to none, for any number of cases and metrics', () => {
    const metrics = { a: 1, b: 1, c: 1 }
    const all = (mark: string, value: number) =>
      sideOf(mark.repeat(6), {
        ...noisy,
        metrics: { a: value, b: value, c: value },
        cases: new Map(
          [...mark.repeat(6)].map((one, index) => [
            `c${index}`,
            {
              id: `c${index}`,
              verdict: one === '.' ? ('pass' as const) : ('fail' as const),
              scores: { ...metrics, a: value, b: value, c: value },
            },
          ]),
        ),
      })

    const found = Object.values(verdicts(all('.', 1), all('x', 0)))

    expect(found).toHaveLength(4)
    expect(found.every((verdict) => verdict === 'cannot tell' || verdict === 'worse')).toBe(true)
  })

  it('leaves out a fall that is smaller than the smallest effect that matters', () => {
    const base = sideOf('.'.repeat(400), noisy)

    expect(verdicts(base, sideOf(`${'x'.repeat(19)}${'.'.repeat(381)}`, noisy))).toEqual({ passRate: 'no evidence' })
    expect(verdicts(base, sideOf(`${'x'.repeat(20)}${'.'.repeat(380)}`, noisy))).toEqual({ passRate: 'worse' })
  })

  it('counts a large share of errors as a fall, and a single error among many cases not', () => {
    const errors = (count: number) => {
      const results = Array.from(
        { length: 100 },
        (_, index): CaseResult => ({ id: `c${index}`, verdict: index < count ? 'error' : 'fail' }),
      )
      return side({
        ...noisy,
        passRate: 0,
        totalCases: 100,
        errorCases: count,
        cases: new Map(results.map((one) => [one.id, one])),
      })
    }

    expect(verdicts(errors(0), errors(1)).errorCases).toBe('no evidence')
    expect(verdicts(errors(0), errors(5)).errorCases).toBe('cannot tell')
    expect(verdicts(errors(0), errors(20)).errorCases).toBe('worse')
  })

  it('cannot tell how a metric changed if it is NaN', () => {
    const noisy = side({ isNoisy: true })
    const broken = side({ isNoisy: true, passRate: Number.NaN })

    expect(verdicts(noisy, broken)).toEqual({ passRate: 'cannot tell' })
    expect(verdicts(broken, noisy)).toEqual({ passRate: 'cannot tell' })
  })

  it('pairs scores case by case', () => {
    const base = scoredSide(Array.from({ length: 30 }, (_, index) => 0.5 + (index % 7) / 20))
    const worse = scoredSide(Array.from({ length: 30 }, (_, index) => 0.45 + (index % 7) / 20 + (index % 3) / 100))

    expect(verdicts(base, worse)).toMatchObject({ f1: 'worse' })
    expect(verdicts(base, base)).toMatchObject({ f1: 'no evidence' })
  })

  it('excludes a case without a score on one side from the test, instead of counting it as zero', () => {
    const base = scoredSide([1, 1, 1, 1])
    const { cases, ...candidate } = scoredSide([1, 1, 1, 1])
    const unscored = new Map(cases).set('c0', { id: 'c0', verdict: 'pass', scores: { f1: null } })

    const { figures } = compareBenchmark({ base, candidate: { ...candidate, cases: unscored } })

    expect(figures.find(({ figure }) => figure === 'f1')?.test).toMatchObject({ pairs: 3, effect: 0 })
  })

  it('ignores a significant change that is too small to matter', () => {
    const declarations = [{ name: 'f1', direction: 'higher' as const, minEffect: 0.1 }]
    const base = scoredSide(
      Array.from({ length: 40 }, () => 0.5),
      { declarations },
    )
    const candidate = scoredSide(Array.from({ length: 40 }, () => 0.45))

    expect(verdicts(base, candidate)).toMatchObject({ f1: 'no evidence' })
  })

  it('corrects for the number of metrics of a benchmark', () => {
    const scored = (values: readonly number[], names: readonly string[]) => {
      const mean = values.reduce((sum, value) => sum + value, 0) / values.length
      const of = (value: number) => Object.fromEntries(names.map((name) => [name, value]))
      const results = values.map(
        (value, index): CaseResult => ({ id: `c${index}`, verdict: 'pass', scores: of(value) }),
      )
      return side({
        ...noisy,
        passRate: 1,
        totalCases: values.length,
        metrics: of(mean),
        cases: new Map(results.map((one) => [one.id, one])),
      })
    }
    const fell = [0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1]
    const compared = (names: readonly string[]) =>
      compareBenchmark({
        base: scored(
          fell.map(() => 1),
          names,
        ),
        candidate: scored(fell, names),
      }).figures.find(({ figure }) => figure === 'a')

    expect(compared(['a'])?.test?.p).toBe(2 / 64)
    expect(compared(['a', 'b', 'c'])?.test?.adjustedP).toBeCloseTo((2 / 64) * 4, 9)
    expect(compared(['a', 'b', 'c'])?.verdict).toBe('cannot tell')
  })

  it('cannot distinguish a fall from chance without stored cases, and reports this', () => {
    const comparison = compareBenchmark({ base: side(noisy), candidate: side({ ...noisy, passRate: 0.7 }) })

    expect(comparison.figures[0]?.verdict).toBe('cannot tell')
    expect(comparison.notes.join()).toContain('a side kept no case results')
    expect(verdicts(side(noisy), side({ ...noisy, passRate: 0.71 }))).toEqual({ passRate: 'no evidence' })
  })

  it('lists judged cases that the candidate did not judge', () => {
    const cases = (verdict: CaseResult['verdict']) =>
      new Map([
        ['c0', { id: 'c0', verdict }],
        ['c1', { id: 'c1', verdict: 'pass' as const }],
      ])

    const unjudged = (base: Partial<Figures>, candidate: Partial<Figures>) =>
      compareBenchmark({ base: side(base), candidate: side(candidate) }).unjudged

    expect(unjudged({ cases: cases('fail') }, { cases: cases('skipped') })).toBe(
      '1 case that the base judged was skipped or not judged: c0.',
    )
    expect(unjudged({ cases: cases('skipped') }, { cases: cases('unjudged') })).toBeNull()
  })

  it('counts them if one side stored no case results', () => {
    const unjudged = (base: number, candidate: number | null, isNoisy = false) =>
      compareBenchmark({ base: side({ judgedCases: base, isNoisy }), candidate: side({ judgedCases: candidate }) })
        .unjudged

    expect(unjudged(12, 11)).toBe('The base judged 12 cases, the candidate only 11.')
    expect([unjudged(12, 12), unjudged(11, 12), unjudged(12, null)]).toEqual([null, null, null])
    expect([unjudged(100, 96, true), unjudged(100, 94, true) === null]).toEqual([null, false])
  })

  it('reports if only one side stored case results', () => {
    const note = 'Only one side kept case results, so totals were compared and not cases.'

    expect(compareBenchmark({ base: sideOf('..'), candidate: side({ totalCases: 2, passRate: 1 }) }).notes).toEqual([
      note,
    ])
    expect(compareBenchmark({ base: side(), candidate: side() }).notes).toEqual([])
  })
})

describe('obstacles to a comparison', () => {
  it('include another content of the pack, another system, and fewer or other cases', () => {
    expect(obstacles(side(), side({ packHash: hash('b') }))).toEqual([
      'The pack changed: sha256:aaaaaaaaaaaa became sha256:bbbbbbbbbbbb.',
    ])
    expect(obstacles(side(), side({ packHash: null }))).toEqual([
      'The base was run on sha256:aaaaaaaaaaaa; the candidate does not say which content of the pack it was run on.',
    ])
    expect(obstacles(side({ packHash: null }), side())).toEqual([])
    expect(obstacles(side(), side({ system: { name: 'vector', version: '1' } }))).toHaveLength(1)
    expect(obstacles(side(), side({ totalCases: 1 }))).toEqual(['The number of cases shrank from 12 to 1.'])
    expect(obstacles(side(), side({ totalCases: 13 }))).toEqual(['The number of cases grew from 12 to 13.'])
    expect(obstacles(sideOf('...'), sideOf('..'))).toEqual(['Cases of the base are missing (1): c2.'])
    expect(obstacles(sideOf('..'), sideOf('....'))).toEqual(['Cases are not in the base (2): c2, c3.'])
  })

  it('include another seed only if results vary, and never another version', () => {
    expect(obstacles(side(), side({ seed: 2, system: { name: 'bm25', version: '2' } }))).toEqual([])
    expect(obstacles(side({ isNoisy: true }), side({ seed: 2 }))).toEqual(['Different seeds: 1 and 2.'])
  })

  it('come with a remedy that removes the obstacle', () => {
    const remedy = (base: Figures, candidate: Figures) => compareBenchmark({ base, candidate }).remedy

    expect(remedy(side({ isNoisy: true }), side({ seed: 2 }))).toBe(
      'Run both sides with the same system, seed and repeats.',
    )
    expect(remedy(sideOf('..'), sideOf('...'))).toContain('--accept-changed "pack: reason"')
    expect(remedy(side(), side({ totalCases: 3 }))).toBe('Run the base on the same pack.')
    expect(remedy(side({ judgedCases: 0 }), side())).toContain('Repeat the run of the base')
  })

  it('include a metric whose direction the candidate reversed', () => {
    const declared = (direction: 'higher' | 'lower') => ({
      metrics: { m: 1 },
      declarations: [{ name: 'm', direction }],
    })

    expect(obstacles(side(declared('higher')), side(declared('lower')))).toEqual([
      'The direction of m changed from higher to lower.',
    ])
  })

  it.each([
    ['higher', 0.9, 0.8, ['The floor of m was lowered from 0.9 to 0.8.']],
    ['higher', 0.9, undefined, ['The floor of m was lowered from 0.9 to nothing.']],
    ['lower', 0.1, 0.2, ['The floor of m was lowered from 0.1 to 0.2.']],
    ['lower', 0.1, 0.05, []],
    ['higher', undefined, 0.5, []],
  ] as const)(
    'include a floor that the candidate lowered: %s is better, from %d to %d',
    (direction, ours, theirs, expected) => {
      const declared = (floor: number | undefined) => ({
        metrics: { m: 1 },
        declarations: [{ name: 'm', direction, ...(floor === undefined ? {} : { floor }) }],
      })

      expect(obstacles(side(declared(ours)), side(declared(theirs)))).toEqual(expected)
    },
  )

  it('prevent the comparison of any metric', () => {
    expect(verdicts(side(), side({ packHash: hash('b'), passRate: 1 }))).toEqual({})
  })

  it('can be accepted with a reason; then the cases that both sides have are compared', () => {
    const comparison = compareBenchmark({
      base: sideOf('..x', { metrics: { f1: 0.5 } }),
      candidate: sideOf('.xxxx', { packHash: hash('b') }),
      acceptedChange: 'two cases added',
    })

    expect(comparison).toMatchObject({ obstacles: [], basePassRate: 2 / 3, candidatePassRate: 1 / 3 })
    expect(comparison.figures[0]).toMatchObject({ figure: 'passRate', verdict: 'worse' })
    expect(comparison.notes[0]).toContain('Accepted: two cases added')
  })

  it('cannot be accepted if the cases are unknown, or if no case is left', () => {
    const accepted = (base: Figures, candidate: Figures) =>
      compareBenchmark({ base, candidate, acceptedChange: 'because' })

    expect(accepted(side(), side({ totalCases: 3 })).figures).toEqual([])
    const renamed = new Map([['other', { id: 'other', verdict: 'pass' as const }]])
    expect(accepted(sideOf('..'), sideOf('.', { cases: renamed }))).toMatchObject({
      figures: [],
      obstacles: ['No case is left that both sides have.'],
    })
  })
})
