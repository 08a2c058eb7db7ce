import type { Figures } from '../score/figures.ts'
import { type MetricSense, metricSense } from '../score/metric-direction.ts'
import type { Interval } from '../score/statistics.ts'
import type { CaseResult } from '../store/schemas/baseline.ts'
import { comparability } from './comparability.ts'
import {
  alpha,
  detectableFlip,
  detectableShift,
  holm,
  mcNemarExact,
  pairedBootstrap,
  signFlipTest,
} from './significance.ts'

/** Differences below this come from the order of adding up, and are none. */
export const dust = 1e-9

/**
 * `same`, `better` and `worse` are certain where nothing varies; where results vary, `better` and `worse` are beyond
 * chance, `no evidence` says that a change that matters would have been seen, `underpowered` that it would not.
 */
export type FigureVerdict = 'better' | 'worse' | 'same' | 'no evidence' | 'underpowered' | 'dropped' | 'new'

export type FigureComparison = {
  /** `passRate`, `errorCases`, or the name of a metric. */
  readonly figure: string
  readonly base: number | null
  readonly candidate: number | null
  readonly delta: number | null
  readonly sense: MetricSense
  readonly verdict: FigureVerdict
  readonly test: FigureTest | null
}

/** What statistics have to say about one figure. */
export type FigureTest = {
  readonly method: 'exact McNemar' | 'sign flip and paired bootstrap'
  readonly pairs: number
  readonly p: number
  /** The same after correction for the number of figures compared. */
  readonly adjustedP: number
  readonly interval: Interval | null
  /** What would have been seen four times out of five. */
  readonly smallestDetectable: number | null
}

export type BenchmarkComparison = {
  readonly benchmarkId: string
  readonly baseRunId: string
  readonly candidateRunId: string
  readonly basePassRate: number
  readonly candidatePassRate: number
  /** Empty when the two sides may be compared; else no figure was. */
  readonly obstacles: readonly string[]
  readonly notes: readonly string[]
  readonly figures: readonly FigureComparison[]
  readonly cases: CaseChanges | null
}

export type CaseChanges = { readonly broken: readonly string[]; readonly fixed: readonly string[] }

export type ComparedPair = {
  readonly base: Figures
  readonly candidate: Figures
  /** The reason given for a change of the pack. */
  readonly acceptedChange?: string | null
}

/** Compares each benchmark with its counterpart. All figures share one correction for their number. */
export function compareBenchmarks(pairs: readonly ComparedPair[]): readonly BenchmarkComparison[] {
  const drafts = pairs.map(draftComparison)
  const tests = drafts.flatMap(({ figures }) => figures.flatMap(({ test }) => (test === null ? [] : [test])))
  const adjusted = holm(tests.map(({ p }) => p))
  const corrected = new Map(tests.map((test, index) => [test, { ...test, adjustedP: adjusted[index] ?? 1 }]))
  return drafts.map((draft) => ({
    ...draft,
    figures: draft.figures.map((figure) => {
      const test = figure.test === null ? null : (corrected.get(figure.test) ?? figure.test)
      return test === null ? figure : { ...figure, test, verdict: testedVerdict(figure, test) }
    }),
  }))
}

function draftComparison({ base, candidate, acceptedChange = null }: ComparedPair): BenchmarkComparison {
  const { obstacles, notes } = comparability(base, candidate, acceptedChange)
  const shared = sharedCases(base, candidate)
  const isWhole = acceptedChange === null || shared === null
  const sides = isWhole
    ? { base, candidate }
    : { base: restricted(base, shared), candidate: restricted(candidate, shared) }
  const nothingLeft = !isWhole && shared.length === 0 ? ['No case is left that both sides have.'] : []
  const blocked = [...obstacles, ...nothingLeft]
  const figures = blocked.length > 0 ? [] : compareFigures(sides.base, sides.candidate)
  const cases = shared === null ? null : caseChanges(shared)
  return {
    benchmarkId: base.benchmarkId,
    baseRunId: base.runId,
    candidateRunId: candidate.runId,
    basePassRate: sides.base.passRate,
    candidatePassRate: sides.candidate.passRate,
    obstacles: blocked,
    notes: [
      ...notes,
      ...missingEvidence(sides.base, shared),
      ...assumptionNotes(figures),
      ...hiddenBreakage(figures, cases),
    ],
    figures,
    cases,
  }
}

type SharedCase = { readonly id: string; readonly base: CaseResult; readonly candidate: CaseResult }

function sharedCases({ cases: ours }: Figures, { cases: theirs }: Figures): readonly SharedCase[] | null {
  if (ours === null || theirs === null) return null
  return [...ours].flatMap(([id, base]) => {
    const candidate = theirs.get(id)
    return candidate === undefined ? [] : [{ id, base, candidate }]
  })
}

/** The figures of one side over the cases that both have. */
function restricted(side: Figures, shared: readonly SharedCase[]): Figures {
  const results = shared.flatMap(({ id }) => side.cases?.get(id) ?? [])
  const passed = results.filter(({ verdict }) => verdict === 'pass').length
  const metrics = Object.keys(side.metrics).flatMap((name) => {
    const scores = results.flatMap(({ scores = {} }) => scores[name] ?? [])
    return scores.length === 0 ? [] : [[name, scores.reduce((sum, score) => sum + score, 0) / scores.length]]
  })
  return {
    ...side,
    passRate: results.length === 0 ? 0 : passed / results.length,
    totalCases: results.length,
    errorCases: results.filter(({ verdict }) => verdict === 'error').length,
    metrics: Object.fromEntries(metrics),
    cases: new Map(results.map((result) => [result.id, result])),
  }
}

function compareFigures(base: Figures, candidate: Figures): readonly FigureComparison[] {
  const shared = base.isNoisy ? sharedCases(base, candidate) : null
  const passRate = exactly('passRate', base.passRate, candidate.passRate, base)
  const errors =
    base.errorCases === null || candidate.errorCases === null
      ? []
      : [exactly('errorCases', base.errorCases, candidate.errorCases, base)]
  const names = [...new Set([...Object.keys(base.metrics), ...Object.keys(candidate.metrics)])].sort()
  const metrics = names.map((name) => exactly(name, base.metrics[name] ?? null, candidate.metrics[name] ?? null, base))
  if (shared === null) return [passRate, ...errors, ...metrics]
  return [
    { ...passRate, test: flipTest(shared) },
    ...errors,
    ...metrics.map((figure) => ({ ...figure, test: figure.delta === null ? null : shiftTest(figure.figure, shared) })),
  ]
}

/** The base's declarations decide: a candidate must not choose the rule it is judged by. */
function exactly(figure: string, base: number | null, candidate: number | null, side: Figures): FigureComparison {
  const sense = metricSense(figure, side.declarations)
  const verdict = base === null ? 'new' : candidate === null ? 'dropped' : exactVerdict(sense, candidate - base)
  const delta = base === null || candidate === null ? null : candidate - base
  return { figure, base, candidate, delta, sense, verdict, test: null }
}

function exactVerdict({ direction, minEffect }: MetricSense, delta: number): FigureVerdict {
  const gain = direction === 'higher' ? delta : -delta
  // Written as "not above" so that a gain that is no number is a loss.
  if (!(gain >= -(minEffect + dust))) return 'worse'
  return gain > minEffect + dust ? 'better' : 'same'
}

/** Cases that were left out or not judged on either side are no evidence; an error is not a pass. */
function flipTest(shared: readonly SharedCase[]): FigureTest | null {
  const judged = shared.filter(({ base, candidate }) => isJudged(base) && isJudged(candidate))
  const { broken, fixed } = caseChanges(judged)
  if (judged.length === 0) return null
  const p = mcNemarExact({ broken: broken.length, fixed: fixed.length })
  const flips = { pairs: judged.length, discordant: broken.length + fixed.length }
  return {
    method: 'exact McNemar',
    pairs: judged.length,
    p,
    adjustedP: p,
    interval: null,
    smallestDetectable: detectableFlip(flips),
  }
}

/** Of resampling only: the verdict must not depend on when it is asked for. */
const resamplingSeed = 20_260_306

function shiftTest(name: string, shared: readonly SharedCase[]): FigureTest | null {
  const differences = shared.flatMap(({ base, candidate }) => {
    const [before, after] = [base.scores?.[name] ?? null, candidate.scores?.[name] ?? null]
    return before === null || after === null ? [] : [after - before]
  })
  if (differences.length === 0) return null
  const p = signFlipTest(differences, resamplingSeed)
  return {
    method: 'sign flip and paired bootstrap',
    pairs: differences.length,
    p,
    adjustedP: p,
    interval: pairedBootstrap(differences, resamplingSeed),
    smallestDetectable: detectableShift(differences),
  }
}

/** Worse or better needs both: more than chance, and more than the smallest effect that matters. */
function testedVerdict({ delta, sense, base }: FigureComparison, test: FigureTest): FigureVerdict {
  const exact = exactVerdict(sense, delta ?? Number.NaN)
  if (test.adjustedP < alpha) return exact === 'same' ? 'no evidence' : exact
  const matters = sense.minEffect > 0 ? sense.minEffect : defaultEffect(sense, base ?? 0)
  return test.smallestDetectable !== null && test.smallestDetectable <= matters ? 'no evidence' : 'underpowered'
}

/** Where nobody says what matters: one part in twenty of the range, or of the base where there is none. */
const defaultEffect = ({ range }: MetricSense, base: number): number =>
  0.05 * (range === null ? Math.max(Math.abs(base), dust) : range[1] - range[0])

const isJudged = ({ verdict }: CaseResult): boolean => verdict !== 'skipped' && verdict !== 'unjudged'

function caseChanges(shared: readonly SharedCase[]): CaseChanges {
  const passes = ({ verdict }: CaseResult): boolean => verdict === 'pass'
  return {
    broken: shared.filter(({ base, candidate }) => passes(base) && !passes(candidate)).map(({ id }) => id),
    fixed: shared.filter(({ base, candidate }) => !passes(base) && passes(candidate)).map(({ id }) => id),
  }
}

const missingEvidence = (base: Figures, shared: readonly SharedCase[] | null): readonly string[] =>
  base.isNoisy && shared === null
    ? ['Results vary between runs, but a side kept no case results; figures were compared as they stand.']
    : []

function assumptionNotes(figures: readonly FigureComparison[]): readonly string[] {
  const assumed = figures.filter(({ sense, delta }) => sense.source === 'assumed' && delta !== null)
  if (assumed.length === 0) return []
  const names = assumed.map(({ figure }) => figure).join(', ')
  return [`Nobody declares which way is better for ${names}; higher was taken to be.`]
}

/** A rate can stay the same while cases change places. */
function hiddenBreakage(figures: readonly FigureComparison[], cases: CaseChanges | null): readonly string[] {
  const passRate = figures.find(({ figure }) => figure === 'passRate')
  if (cases === null || cases.broken.length === 0 || passRate === undefined || passRate.verdict === 'worse') return []
  return [`The pass rate did not fall, but cases that passed before do not: ${cases.broken.join(', ')}.`]
}
