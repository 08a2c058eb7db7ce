import type { Figures } from '../score/figures.ts'
import { type MetricSense, metricSense } from '../score/metric-direction.ts'
import {
  alpha,
  detectableFlip,
  detectableShift,
  holm,
  type Interval,
  mcNemarExact,
  pairedBootstrap,
  signFlipTest,
} from '../score/statistics.ts'
import type { CaseResult } from '../store/schemas/run.ts'

/** Differences below this come from the order of adding up, and are none. */
export const dust = 1e-9

/**
 * `same`, `better` and `worse` are certain where nothing varies. Where results vary, `better` and `worse` are beyond
 * chance and at least as large as the smallest effect that matters; `cannot tell` is a fall of that size that could be
 * chance; `no evidence` says that a change that matters would have been seen, `underpowered` that it would not.
 */
export const figureVerdicts = [
  'better',
  'worse',
  'same',
  'no evidence',
  'underpowered',
  'cannot tell',
  'dropped',
  'new',
] as const
export type FigureVerdict = (typeof figureVerdicts)[number]

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
  /** The mean change over these pairs. */
  readonly effect: number
  readonly p: number
  /** The same after correction for the number of figures compared. */
  readonly adjustedP: number
  readonly interval: Interval | null
  /** What would have been seen four times out of five. */
  readonly smallestDetectable: number | null
}

export type BenchmarkComparison = {
  readonly benchmarkId: string
  readonly system: string | null
  readonly baseRunId: string
  readonly candidateRunId: string
  readonly basePassRate: number
  readonly candidatePassRate: number
  /** Empty when the two sides may be compared; else no figure was. */
  readonly obstacles: readonly string[]
  /** Cases that were judged in the base and are not in the candidate, where they are too many to be left out. */
  readonly unjudged: readonly string[]
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

/** Compares a benchmark with its counterpart. Its figures share one correction for their number. */
export function compareBenchmark({ base, candidate, acceptedChange = null }: ComparedPair): BenchmarkComparison {
  const { obstacles, notes } = comparability(base, candidate, acceptedChange)
  const shared = sharedCases(base, candidate)
  const isWhole = acceptedChange === null || shared === null
  const sides = isWhole
    ? { base, candidate }
    : { base: restricted(base, shared), candidate: restricted(candidate, shared) }
  const unjudged = shared === null ? [] : lostJudgements(shared, base.isNoisy)
  const nothingLeft = !isWhole && shared.length === 0 ? ['No case is left that both sides have.'] : []
  const blocked = [...obstacles, ...nothingLeft]
  const figures = blocked.length > 0 ? [] : compareFigures(sides.base, sides.candidate)
  const cases = shared === null ? null : caseChanges(shared, passes)
  return {
    benchmarkId: base.benchmarkId,
    system: base.system?.name ?? candidate.system?.name ?? null,
    baseRunId: base.runId,
    candidateRunId: candidate.runId,
    basePassRate: sides.base.passRate,
    candidatePassRate: sides.candidate.passRate,
    obstacles: blocked,
    unjudged,
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
  // By id: neither a sum nor a resampling may depend on the order of the files.
  return [...ours.keys()].sort().flatMap((id) => {
    const [base, candidate] = [ours.get(id), theirs.get(id)]
    return base === undefined || candidate === undefined ? [] : [{ id, base, candidate }]
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
  const passRate = exactly('passRate', base.passRate, candidate.passRate, base)
  const errors =
    base.errorCases === null || candidate.errorCases === null
      ? []
      : [exactly('errorCases', base.errorCases, candidate.errorCases, base)]
  const names = [...new Set([...Object.keys(base.metrics), ...Object.keys(candidate.metrics)])].sort()
  const metrics = names.map((name) => exactly(name, base.metrics[name] ?? null, candidate.metrics[name] ?? null, base))
  if (!base.isNoisy) return [passRate, ...errors, ...metrics]
  const shared = sharedCases(base, candidate) ?? []
  const tested = [
    { ...passRate, test: flipTest(shared, passes) },
    ...errors.map((figure) => ({ ...figure, test: flipTest(shared, isError) })),
    ...metrics.map((figure) => ({ ...figure, test: figure.delta === null ? null : shiftTest(figure, shared) })),
  ]
  return corrected(tested).map((figure) => ({ ...figure, verdict: testedVerdict(figure) }))
}

/** Every probability, raised for the number of figures of this benchmark: another benchmark must not change the verdict. */
function corrected(figures: readonly FigureComparison[]): readonly FigureComparison[] {
  const tests = figures.flatMap(({ test }) => (test === null ? [] : [test]))
  const adjusted = holm(tests.map(({ p }) => p))
  return figures.map((figure) => {
    const { test } = figure
    return test === null ? figure : { ...figure, test: { ...test, adjustedP: adjusted[tests.indexOf(test)] ?? 1 } }
  })
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

/** How many cases changed sides. What the candidate left out or did not judge has not passed. */
function flipTest(shared: readonly SharedCase[], holds: (result: CaseResult) => boolean): FigureTest | null {
  const judged = shared.filter(({ base }) => isJudged(base))
  const { broken, fixed } = caseChanges(judged, holds)
  if (judged.length === 0) return null
  const p = mcNemarExact({ broken: broken.length, fixed: fixed.length })
  return {
    method: 'exact McNemar',
    pairs: judged.length,
    effect: (fixed.length - broken.length) / judged.length,
    p,
    adjustedP: p,
    interval: null,
    smallestDetectable: detectableFlip({ pairs: judged.length, discordant: broken.length + fixed.length }),
  }
}

/** Of resampling only: the verdict must not depend on when it is asked for. */
const resamplingSeed = 20_260_306

function shiftTest({ figure, sense, base }: FigureComparison, shared: readonly SharedCase[]): FigureTest | null {
  const differences = shared.flatMap((one) => {
    const [before, after] = [one.base.scores?.[figure] ?? null, one.candidate.scores?.[figure] ?? null]
    return before === null || after === null ? [] : [after - before]
  })
  if (differences.length === 0) return null
  const p = signFlipTest(differences, resamplingSeed)
  return {
    method: 'sign flip and paired bootstrap',
    pairs: differences.length,
    effect: differences.reduce((sum, difference) => sum + difference, 0) / differences.length,
    p,
    adjustedP: p,
    interval: pairedBootstrap(differences, resamplingSeed),
    smallestDetectable: detectableShift(differences, widthOf(sense, base, base)),
  }
}

/** Worse or better needs both: more than chance, and at least the smallest effect that matters. */
function testedVerdict({ figure, delta, sense, base, candidate, verdict, test }: FigureComparison): FigureVerdict {
  if (delta === null) return verdict
  // Errors are counted, and their test is about shares.
  const isCount = figure === 'errorCases'
  const matters = isCount
    ? defaultEffect
    : sense.minEffect > 0
      ? sense.minEffect
      : defaultEffect * widthOf(sense, base, candidate)
  const change = test?.effect ?? delta
  const gain = sense.direction === 'higher' ? change : -change
  // Written as "not above" so that a gain that is no number is a loss.
  if (!(gain > -(matters - dust))) return test !== null && test.adjustedP < alpha ? 'worse' : 'cannot tell'
  if (gain >= matters - dust) return test !== null && test.adjustedP < alpha ? 'better' : 'underpowered'
  const detectable = test?.smallestDetectable ?? null
  return detectable !== null && detectable <= matters ? 'no evidence' : 'underpowered'
}

/** The smallest effect that matters where nobody declares one: one part in twenty of the width of a figure. */
export const defaultEffect = 0.05

/** The range of a figure; where nobody declares it, its size. The same whichever side is called the base. */
const widthOf = ({ range }: MetricSense, base: number | null, candidate: number | null): number =>
  range === null ? Math.max(Math.abs(base ?? 0), Math.abs(candidate ?? 0), dust) : range[1] - range[0]

const passes = ({ verdict }: CaseResult): boolean => verdict === 'pass'
const isError = ({ verdict }: CaseResult): boolean => verdict === 'error'
const isJudged = ({ verdict }: CaseResult): boolean => verdict !== 'skipped' && verdict !== 'unjudged'

/** A candidate must not look better by leaving cases out. Where results vary, fewer than matter may be missing. */
function lostJudgements(shared: readonly SharedCase[], isNoisy: boolean): readonly string[] {
  const lost = shared.filter(({ base, candidate }) => isJudged(base) && !isJudged(candidate)).map(({ id }) => id)
  return isNoisy && lost.length < shared.length * defaultEffect ? [] : lost
}

function caseChanges(shared: readonly SharedCase[], holds: (result: CaseResult) => boolean): CaseChanges {
  return {
    broken: shared.filter(({ base, candidate }) => holds(base) && !holds(candidate)).map(({ id }) => id),
    fixed: shared.filter(({ base, candidate }) => !holds(base) && holds(candidate)).map(({ id }) => id),
  }
}

const missingEvidence = (base: Figures, shared: readonly SharedCase[] | null): readonly string[] =>
  base.isNoisy && shared === null
    ? ['Results vary between runs, but a side kept no case results, so nothing can tell a fall from chance.']
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
  if (
    cases === null ||
    cases.broken.length === 0 ||
    passRate === undefined ||
    !['same', 'better'].includes(passRate.verdict)
  )
    return []
  return [`The pass rate did not fall, but cases that passed before do not: ${cases.broken.join(', ')}.`]
}

/** Whether two sides measured the same thing. An obstacle forbids the comparison, a note goes with it. */
export type Comparability = { readonly obstacles: readonly string[]; readonly notes: readonly string[] }

const mostNamed = 5

/**
 * `acceptedChange` is the reason somebody gave for changing the pack. What the change explains then becomes a note, and
 * only cases of both sides are compared.
 */
export function comparability(base: Figures, candidate: Figures, acceptedChange: string | null = null): Comparability {
  const ofPack = packDifferences(base, candidate)
  const ofSystem = systemDifferences(base, candidate)
  const notes = [...ofSystem.notes, ...missingBindings(base, candidate)]
  if (acceptedChange === null || ofPack.length === 0) return { obstacles: [...ofPack, ...ofSystem.obstacles], notes }
  const accepted = ofPack.map((difference) => `${difference} Accepted: ${acceptedChange}`)
  if (base.cases !== null && candidate.cases !== null)
    return { obstacles: ofSystem.obstacles, notes: [...accepted, ...notes] }
  const impossible =
    'The change of the pack was accepted, but without case results the cases of both sides are unknown.'
  return { obstacles: [...ofPack, impossible, ...ofSystem.obstacles], notes }
}

function packDifferences(base: Figures, candidate: Figures): readonly string[] {
  const differences: string[] = []
  if (base.packHash !== null && candidate.packHash !== null && base.packHash !== candidate.packHash) {
    differences.push(`The pack changed: ${short(base.packHash)} became ${short(candidate.packHash)}.`)
  }
  if (base.cases !== null && candidate.cases !== null) {
    const [ours, theirs] = [base.cases, candidate.cases]
    const removed = [...ours.keys()].filter((id) => !theirs.has(id))
    const added = [...theirs.keys()].filter((id) => !ours.has(id))
    if (removed.length > 0) differences.push(`Cases of the base are missing (${removed.length}): ${named(removed)}.`)
    if (added.length > 0) differences.push(`Cases are not in the base (${added.length}): ${named(added)}.`)
  } else if (base.totalCases !== null && candidate.totalCases !== null && base.totalCases !== candidate.totalCases) {
    const verb = candidate.totalCases < base.totalCases ? 'shrank' : 'grew'
    differences.push(`The number of cases ${verb} from ${base.totalCases} to ${candidate.totalCases}.`)
  }
  for (const theirs of candidate.declarations) {
    const ours = base.declarations.find(({ name }) => name === theirs.name)
    if (ours !== undefined && ours.direction !== theirs.direction) {
      differences.push(`The direction of ${theirs.name} changed from ${ours.direction} to ${theirs.direction}.`)
    }
  }
  return differences
}

function systemDifferences(base: Figures, candidate: Figures): Comparability {
  const obstacles: string[] = []
  const notes: string[] = []
  if (base.system !== null && candidate.system !== null) {
    if (base.system.name !== candidate.system.name) {
      obstacles.push(`Different systems: ${base.system.name} and ${candidate.system.name}.`)
    } else if (base.system.version !== candidate.system.version) {
      notes.push(`${base.system.name} went from version ${base.system.version} to ${candidate.system.version}.`)
    }
  }
  if (base.seed !== null && candidate.seed !== null && base.seed !== candidate.seed) {
    const text = `Different seeds: ${base.seed} and ${candidate.seed}.`
    // Where nothing varies, the seed changes the order of cases at most.
    if (base.isNoisy || candidate.isNoisy) obstacles.push(text)
    else notes.push(text)
  }
  return { obstacles, notes }
}

function missingBindings(base: Figures, candidate: Figures): readonly string[] {
  if (base.packHash !== null && candidate.packHash !== null) return []
  return ['At least one side does not say which content of the pack it was run on.']
}

const short = (hash: string): string => hash.slice(0, 'sha256:'.length + 12)
const named = (ids: readonly string[]): string =>
  ids.length <= mostNamed ? ids.join(', ') : `${ids.slice(0, mostNamed).join(', ')} and ${ids.length - mostNamed} more`
