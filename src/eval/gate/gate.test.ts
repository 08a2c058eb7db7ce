import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { aRun } from '../../../test/harness/eval-store.ts'
import type { FigureVerdict } from '../compare/compare.ts'
import type { Figures } from '../score/figures.ts'
import type { CaseResult, RunSummary } from '../store/schemas/run.ts'
import { type GateVerdict, gateVerdicts, judge, type Side, type Standing } from './gate.ts'
import { chooseRun } from './latest-runs.ts'

type CaseEnd = { readonly verdict: 'pass' | 'fail' | 'error'; readonly f1: number }

/** The figures that a run would derive from these cases. */
function figuresOf(ends: readonly CaseEnd[], fields: Partial<Figures> = {}): Figures {
  const results = ends.map(
    ({ verdict, f1 }, index): CaseResult => ({
      id: `c${index}`,
      verdict,
      scores: { f1: verdict === 'error' ? null : f1 },
    }),
  )
  const scores = results.flatMap((result) => result.scores?.f1 ?? [])
  const count = (verdict: string): number => ends.filter((end) => end.verdict === verdict).length
  return {
    benchmarkId: 'pack',
    runId: 'run',
    passRate: count('pass') / ends.length,
    totalCases: ends.length,
    errorCases: count('error'),
    judgedCases: ends.length,
    metrics: scores.length === 0 ? {} : { f1: scores.reduce((sum, score) => sum + score, 0) / scores.length },
    packHash: null,
    system: { name: 'bm25', version: '1' },
    seed: 1,
    repeats: null,
    isNoisy: false,
    declarations: [{ name: 'f1', direction: 'higher', range: [0, 1] }],
    cases: new Map(results.map((result) => [result.id, result])),
    ...fields,
  }
}

const standing = (figures: Figures): Standing => ({
  benchmarkId: figures.benchmarkId,
  system: figures.system?.name ?? null,
  taken: { runId: figures.runId, status: 'completed', why: 'the only finished run' },
  figures,
  problems: [],
  outdated: null,
})

const sideOf = (...figures: readonly Figures[]): Side => ({ standings: figures.map(standing), reasons: [] })

/** The side of the candidate, with a separate run for each of these figures. */
const measured = (...figures: readonly Figures[]): Side =>
  sideOf(...figures.map((one) => ({ ...one, runId: `own-${one.runId}` })))

const judged = (base: readonly CaseEnd[], candidate: readonly CaseEnd[], isNoisy: boolean) =>
  judge(sideOf(figuresOf(base, { isNoisy })), measured(figuresOf(candidate, { isNoisy })))

/** 0 is the worst verdict. */
const rank = (verdict: GateVerdict): number => gateVerdicts.indexOf(verdict)

const caseEnd = fc
  .record({ verdict: fc.constantFrom('pass', 'fail'), f1: fc.integer({ min: 0, max: 4 }) })
  .map(({ verdict, f1 }): CaseEnd => ({ verdict: verdict as CaseEnd['verdict'], f1: f1 / 4 }))
/** Enough cases to cover both the enumerated and the sampled test. */
const bothSides = fc
  .integer({ min: 1, max: 18 })
  .chain((count) =>
    fc.tuple(
      fc.array(caseEnd, { minLength: count, maxLength: count }),
      fc.array(caseEnd, { minLength: count, maxLength: count }),
    ),
  )

/** Every way in which a case can get worse. */
function worseEnds({ verdict, f1 }: CaseEnd): readonly CaseEnd[] {
  const lower = f1 === 0 ? [] : [{ verdict, f1: 0 }]
  if (verdict === 'pass') return [...lower, { verdict: 'fail', f1 }, { verdict: 'fail', f1: 0 }]
  return lower
}

describe('the law of the gate', () => {
  it.each([false, true])('a case that gets worse never improves the verdict (results vary: %s)', (isNoisy) => {
    fc.assert(
      fc.property(bothSides, fc.nat(), fc.nat(), ([base, candidate], which, how) => {
        const index = which % candidate.length
        const options = worseEnds(candidate[index] as CaseEnd)
        fc.pre(options.length > 0)
        const worse = candidate.with(index, options[how % options.length] as CaseEnd)

        const before = judged(base, candidate, isNoisy)
        const after = judged(base, worse, isNoisy)

        expect(rank(after.verdict)).toBeLessThanOrEqual(rank(before.verdict))
      }),
      { numRuns: 80 },
    )
  })

  it('an error in place of an answer never improves the verdict if results do not vary', () => {
    fc.assert(
      fc.property(bothSides, fc.nat(), ([base, candidate], which) => {
        const index = which % candidate.length
        const broken = candidate.with(index, { verdict: 'error', f1: 0 })

        expect(judged(base, broken, false).verdict).toBe('regression')
      }),
    )
  })

  it('adding an unrelated benchmark changes nothing', () => {
    fc.assert(
      fc.property(bothSides, bothSides, fc.boolean(), ([base, candidate], [other, its], isNoisy) => {
        const alone = judged(base, candidate, isNoisy)
        const name = { benchmarkId: 'unrelated', isNoisy }
        const beside = judge(
          sideOf(figuresOf(other, name), figuresOf(base, { isNoisy })),
          measured(figuresOf(candidate, { isNoisy }), figuresOf(its, name)),
        )

        expect(beside.verdicts.find(({ benchmarkId }) => benchmarkId === 'pack')).toEqual(alone.verdicts[0])
      }),
      { numRuns: 20 },
    )
  })

  it('swapping base and candidate turns better into worse, and an improvement too small to judge into "cannot tell"', () => {
    const mirrored: Readonly<Record<FigureVerdict, readonly FigureVerdict[]>> = {
      better: ['worse'],
      worse: ['better'],
      same: ['same'],
      'no evidence': ['no evidence', 'cannot tell'],
      'cannot tell': ['no evidence'],
      dropped: ['new'],
      new: ['dropped'],
    }
    fc.assert(
      fc.property(bothSides, fc.boolean(), ([base, candidate], isNoisy) => {
        const there = judged(base, candidate, isNoisy)
        const back = judged(candidate, base, isNoisy)

        for (const { figure, verdict } of there.verdicts[0]?.comparison?.figures ?? []) {
          const other = back.verdicts[0]?.comparison?.figures.find((one) => one.figure === figure)
          expect(mirrored[verdict]).toContain(other?.verdict)
        }
        if (there.verdict === 'regression') expect(judgedBetter(back)).toBe(true)
      }),
      { numRuns: 40 },
    )
  })

  it('is the same for any order of files', () => {
    const status = fc.constantFrom('completed', 'failed', 'partial', 'running')
    const hour = fc.integer({ min: 10, max: 14 })
    const runs = fc.array(fc.tuple(status, hour, hour), { minLength: 1, maxLength: 6 }).map((drawn) =>
      drawn.map(([one, start, length], index) => {
        const startedAt = `2026-03-06T${start}:00:00.000Z`
        const completedAt = one === 'completed' ? `2026-03-06T${start + (length % 4)}:30:00.000Z` : undefined
        return aRun({ runId: `run-${index}`, status: one, startedAt, completedAt }) as unknown as RunSummary
      }),
    )
    fc.assert(
      fc.property(runs, fc.nat(), (drawn, turn) => {
        const at = turn % drawn.length
        const rotated = [...drawn.slice(at), ...drawn.slice(0, at)]

        expect(chooseRun(rotated)).toEqual(chooseRun(drawn))
        expect(chooseRun(drawn.toReversed())).toEqual(chooseRun(drawn))
      }),
    )
  })

  it('is the same for any order of benchmarks and of cases', () => {
    fc.assert(
      fc.property(bothSides, fc.boolean(), ([base, candidate], isNoisy) => {
        const ours = figuresOf(base, { isNoisy })
        const theirs = figuresOf(candidate, { isNoisy })
        const other = { ...ours, benchmarkId: 'other' }
        const turned = (figures: Figures): Figures => ({
          ...figures,
          cases: new Map([...(figures.cases ?? [])].reverse()),
        })

        expect(judge(sideOf(other, turned(ours)), measured(turned(theirs), other))).toEqual(
          judge(sideOf(ours, other), measured(other, theirs)),
        )
      }),
      { numRuns: 40 },
    )
  })
})

const judgedBetter = ({ verdicts }: ReturnType<typeof judge>): boolean =>
  verdicts.some(({ comparison }) =>
    comparison?.figures.some(({ verdict }) => verdict === 'better' || verdict === 'new'),
  )

describe('a verdict', () => {
  const all = (count: number, verdict: CaseEnd['verdict']): readonly CaseEnd[] =>
    Array.from({ length: count }, () => ({ verdict, f1: verdict === 'pass' ? 1 : 0 }))

  it('is a regression even for one case if results do not vary', () => {
    const fallen = all(100, 'pass').with(0, { verdict: 'fail', f1: 1 })

    expect(judged(all(100, 'pass'), fallen, false)).toMatchObject({
      verdict: 'regression',
      verdicts: [{ reason: 'pack, bm25: passRate fell from 1 to 0.99.', next: expect.stringContaining('Look at c0') }],
    })
    expect(judged(all(100, 'pass'), all(100, 'pass'), false).verdict).toBe('pass')
  })

  it('is a regression for varying results only if the sample shows a fall that matters', () => {
    const broken = (count: number, of: number) => [...all(count, 'fail'), ...all(of - count, 'pass')]

    expect(judged(all(200, 'pass'), broken(5, 200), true).verdict).toBe('pass')
    expect(judged(all(200, 'pass'), broken(40, 200), true).verdict).toBe('regression')
    for (const count of [1, 2, 3, 4, 5, 6]) {
      expect(judged(all(count, 'pass'), all(count, 'fail'), true).verdict).not.toBe('pass')
    }
  })

  it('is "cannot tell" if no data or different data was compared', () => {
    const ours = figuresOf(all(3, 'pass'))

    expect(judge(sideOf(), measured(ours))).toMatchObject({ verdict: 'cannot tell', newBenchmarks: ['pack, bm25'] })
    const other = { ...ours, packHash: `sha256:${'b'.repeat(64)}` }
    const known = { ...ours, packHash: `sha256:${'a'.repeat(64)}` }
    expect(judge(sideOf(known), measured(other))).toMatchObject({ verdict: 'cannot tell', comparedBenchmarks: 0 })
  })

  it('is a regression for removed items, separately for each system', () => {
    const ours = figuresOf(all(3, 'pass'))
    const another = { ...ours, system: { name: 'vector', version: '1' } }

    expect(judge(sideOf(ours), measured())).toMatchObject({ verdict: 'regression' })
    expect(judge(sideOf(ours), measured(another))).toMatchObject({
      verdict: 'regression',
      missingCandidateBenchmarks: ['pack, bm25'],
    })
    const worse = { ...figuresOf(all(3, 'fail')), system: another.system }
    expect(judge(sideOf(ours), measured(ours, worse))).toMatchObject({
      verdict: 'pass',
      verdicts: [{ system: 'bm25' }],
    })
  })

  it('ranks a regression above "cannot tell", and that above a pass', () => {
    const good = figuresOf(all(3, 'pass'))
    const bad = figuresOf(all(3, 'fail'))
    const named = (figures: Figures, benchmarkId: string): Figures => ({ ...figures, benchmarkId })
    const fewer = named(figuresOf(all(2, 'pass')), 'b')

    expect(judge(sideOf(good, named(good, 'b')), measured(good, fewer)).verdict).toBe('cannot tell')
    expect(judge(sideOf(good, named(good, 'b')), measured(bad, fewer)).verdict).toBe('regression')
  })

  it('reports the excluded cases if they are the reason for a lower pass rate', () => {
    const base = figuresOf(all(2, 'pass'))
    const cases = new Map(base.cases).set('c1', { id: 'c1', verdict: 'skipped' })

    expect(judge(sideOf(base), measured({ ...base, passRate: 0.5, cases }))).toMatchObject({
      verdict: 'regression',
      verdicts: [
        {
          reason: 'pack, bm25: passRate fell from 1 to 0.5. 1 case that the base judged was skipped or not judged: c1.',
          next: expect.stringContaining('snapshot --snapshot-id ID --force --accept-lower "reason"'),
        },
      ],
    })
  })

  it('names only a few of many problems', () => {
    const problems = Array.from({ length: 400 }, (_, index) => `invalid in the candidate: line ${index}`)
    const ours = standing(figuresOf(all(2, 'pass')))
    const { verdicts } = judge({ standings: [ours], reasons: [] }, { standings: [{ ...ours, problems }], reasons: [] })

    expect(verdicts[0]?.verdict).toBe('invalid')
    expect(verdicts[0]?.reason).toMatch(/line 4; and 395 more\.$/u)
  })

  it('never improves if cases are left out', () => {
    const base = figuresOf([
      { verdict: 'pass', f1: 1 },
      { verdict: 'fail', f1: 0 },
    ])
    const skipped = new Map(
      [...(base.cases ?? [])].map(([id, result]) => [id, id === 'c1' ? { id, verdict: 'skipped' as const } : result]),
    )

    expect(judge(sideOf(base), measured({ ...base, metrics: { f1: 1 }, cases: skipped }))).toMatchObject({
      verdict: 'cannot tell',
      verdicts: [{ reason: 'pack, bm25: 1 case that the base judged was skipped or not judged: c1.' }],
    })
  })
})

describe('a metric', () => {
  const base = figuresOf([{ verdict: 'pass', f1: 1 }])
  const verdictFor = (metrics: Figures['metrics']): GateVerdict =>
    judge(sideOf(base), measured({ ...base, metrics })).verdict

  it.each([
    [-0.1, 'invalid'],
    [1.1, 'invalid'],
    [1, 'pass'],
  ] as const)('of %d in a range from 0 to 1 is judged: %s', (f1, verdict) => {
    expect(verdictFor({ f1 })).toBe(verdict)
  })

  it('is a regression if it is removed, but not if it is new', () => {
    expect(verdictFor({})).toBe('regression')
    expect(verdictFor({ f1: 1, recall: 0 })).toBe('pass')
  })
})

describe('a floor', () => {
  const withFloor = (f1: number, direction: 'higher' | 'lower', floor: number): Figures =>
    figuresOf([{ verdict: 'pass', f1 }], { declarations: [{ name: 'f1', direction, range: [0, 1], floor }] })

  it.each([
    ['higher', 0.5, 0.5, 'pass'],
    ['higher', 0.5, 0.6, 'regression'],
    ['lower', 0.5, 0.5, 'pass'],
    ['lower', 0.5, 0.4, 'regression'],
  ] as const)('gives a verdict if %s is better: %d with the floor %d is a %s', (direction, f1, floor, verdict) => {
    const figures = withFloor(f1, direction, floor)

    expect(judge(sideOf(figures), measured(figures)).verdict).toBe(verdict)
  })

  it('applies to a benchmark that the base never had, so that no baseline is needed', () => {
    const known = figuresOf([{ verdict: 'pass', f1: 1 }])
    const own = { ...withFloor(0.5, 'higher', 0.6), benchmarkId: 'new' }

    const { verdict, reasons } = judge(sideOf(known), measured(known, own))

    expect(verdict).toBe('regression')
    expect(reasons.map(({ line }) => line)).toEqual(['new, bm25: f1 is 0.5, and the floor of the pack is 0.6.'])
  })

  it('is not reached if the metric was not measured', () => {
    const silent = { ...withFloor(1, 'higher', 0.6), benchmarkId: 'new', metrics: {} }
    const known = figuresOf([{ verdict: 'pass', f1: 1 }])

    expect(judge(sideOf(known), measured(known, silent)).verdict).toBe('regression')
  })
})
