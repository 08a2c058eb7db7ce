import { type Figures, isJudged } from '../score/figures.ts'
import { type MetricSense, metricSense } from '../score/metric-direction.ts'
import { alpha, holm, type Interval, mcNemarExact, mean, pairedBootstrap, signFlipTest } from '../score/statistics.ts'
import type { CaseResult } from '../store/schemas/run.ts'

/** Smaller differences are rounding errors and count as zero. */
export const dust = 1e-9

/**
 * `better` and `worse`: a change above the declared minimum; if results vary, one that is significant and large enough to matter.
 * `cannot tell`: a large fall that could be chance. `no evidence`: any other outcome if results vary.
 */
export const figureVerdicts = ['better', 'worse', 'same', 'no evidence', 'cannot tell', 'dropped', 'new'] as const
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

type FigureTest = {
  readonly method: 'exact McNemar' | 'sign flip and paired bootstrap'
  readonly pairs: number
  /** The mean change over the pairs. */
  readonly effect: number
  readonly p: number
  /** `p` after correction for the number of compared figures. */
  readonly adjustedP: number
  readonly interval: Interval | null
}

type Compared = { readonly base: Figures; readonly candidate: Figures; readonly acceptedChange?: string | null }
export type BenchmarkComparison = ReturnType<typeof compareBenchmark>

/** Compares a benchmark with its counterpart. `acceptedChange` is the reason for accepting a changed pack. */
export function compareBenchmark({ base, candidate, acceptedChange = null }: Compared) {
  const { obstacles, notes, remedy } = comparability(base, candidate, acceptedChange)
  const shared = sharedCases(base, candidate)
  const isWhole = acceptedChange === null || shared === null
  const [ours, theirs] = isWhole ? [base, candidate] : [keepCases(base, shared), keepCases(candidate, shared)]
  const isEmpty = !isWhole && shared.length === 0
  const blocked = [
    ...obstacles,
    ...(isEmpty ? ['No case is left that both sides have.'] : []),
    ...(isEmpty || isMeasured(ours) ? [] : ['No case of the base passed or failed.']),
  ]
  const figures = blocked.length > 0 ? [] : compareFigures(ours, theirs)
  const cases = shared === null ? null : caseChanges(shared, passes)
  return {
    benchmarkId: base.benchmarkId,
    system: base.system?.name ?? candidate.system?.name ?? null,
    baseRunId: base.runId,
    candidateRunId: candidate.runId,
    basePassRate: ours.passRate,
    candidatePassRate: theirs.passRate,
    /** Why the two sides cannot be compared; if there is any obstacle, no figure is compared. */
    obstacles: blocked,
    remedy: remedy ?? (isEmpty ? `${samePack}.` : 'Repeat the run of the base so that its cases pass or fail.'),
    /** A sentence about the cases that lost their verdict or a score in the candidate; null if these are few enough to ignore. */
    unjudged: lostJudgements(ours, theirs, shared),
    notes: [...notes, ...comparisonNotes(figures, cases, base.isNoisy && shared === null)],
    figures,
    cases,
  }
}

/** Whether any case passed, failed or has a score. A side without counts is assumed to be measured. */
const isMeasured = ({ judgedCases, errorCases, metrics }: Figures): boolean =>
  judgedCases === null || judgedCases > (errorCases ?? 0) || Object.keys(metrics).length > 0

const maxNamed = 5

/** The first five ids, and the number of further ones. */
export const listIds = (ids: readonly string[]): string =>
  ids.length <= maxNamed ? ids.join(', ') : `${ids.slice(0, maxNamed).join(', ')} and ${ids.length - maxNamed} more`

/**
 * Checks whether two sides measured the same thing. An obstacle forbids the comparison; a note is shown with it. With an
 * `acceptedChange`, differences between the packs are only notes, if both sides have case results.
 */
export function comparability(base: Figures, candidate: Figures, acceptedChange: string | null = null) {
  const ofPack = packDifferences(base, candidate)
  const obstacles: string[] = []
  const notes: string[] = []
  const hasCases = base.cases !== null && candidate.cases !== null
  if (acceptedChange === null || ofPack.length === 0) obstacles.push(...ofPack)
  else if (hasCases) notes.push(...ofPack.map((difference) => `${difference} Accepted: ${acceptedChange}`))
  else {
    const impossible = 'but without case results the cases of both sides are unknown.'
    obstacles.push(...ofPack, `The change of the pack was accepted, ${impossible}`)
  }
  const isPackObstacle = obstacles.length > 0
  if (base.system !== null && candidate.system !== null) {
    const ours = base.system
    const theirs = candidate.system
    if (ours.name !== theirs.name) obstacles.push(`Different systems: ${ours.name} and ${theirs.name}.`)
    else if (ours.version !== theirs.version)
      notes.push(`${ours.name} went from version ${ours.version} to ${theirs.version}.`)
  }
  if (base.seed !== null && candidate.seed !== null && base.seed !== candidate.seed) {
    // If results do not vary, the seed affects only the order of cases, so a different seed is only a note.
    const list = base.isNoisy || candidate.isNoisy ? obstacles : notes
    list.push(`Different seeds: ${base.seed} and ${candidate.seed}.`)
  }
  // A repeated case passes only if all its repeats pass, so fewer repeats are easier to pass.
  if (base.isNoisy && base.repeats !== null && candidate.repeats !== null && base.repeats !== candidate.repeats)
    obstacles.push(`Different numbers of repeats: ${base.repeats} and ${candidate.repeats}.`)
  if (base.packHash === null) notes.push('The base does not say which content of the pack it was run on.')
  if (!hasCases && base.cases !== candidate.cases)
    notes.push('Only one side kept case results, so totals were compared and not cases.')
  return { obstacles, notes, remedy: obstacles.length === 0 ? null : remedyOf(base, isPackObstacle, hasCases) }
}

const samePack = 'Run the base on the same pack'

function remedyOf({ benchmarkId }: Figures, isPackObstacle: boolean, hasCases: boolean): string {
  if (!isPackObstacle) return 'Run both sides with the same system, seed and repeats.'
  return hasCases
    ? `${samePack}, or compare the cases of both with --accept-changed "${benchmarkId}: reason".`
    : `${samePack}.`
}

function packDifferences(base: Figures, candidate: Figures): readonly string[] {
  const short = (hash: string): string => hash.slice(0, 'sha256:'.length + 12)
  const differences: string[] = []
  if (base.packHash !== null && base.packHash !== candidate.packHash)
    differences.push(
      candidate.packHash === null
        ? `The base was run on ${short(base.packHash)}; the candidate does not say which content of the pack it was run on.`
        : `The pack changed: ${short(base.packHash)} became ${short(candidate.packHash)}.`,
    )
  if (base.cases !== null && candidate.cases !== null) {
    const ours = base.cases
    const theirs = candidate.cases
    const removed = [...ours.keys()].filter((id) => !theirs.has(id))
    const added = [...theirs.keys()].filter((id) => !ours.has(id))
    if (removed.length > 0) differences.push(`Cases of the base are missing (${removed.length}): ${listIds(removed)}.`)
    if (added.length > 0) differences.push(`Cases are not in the base (${added.length}): ${listIds(added)}.`)
  } else if (base.totalCases !== null && candidate.totalCases !== null && base.totalCases !== candidate.totalCases) {
    const verb = candidate.totalCases < base.totalCases ? 'shrank' : 'grew'
    differences.push(`The number of cases ${verb} from ${base.totalCases} to ${candidate.totalCases}.`)
  }
  for (const { name, direction, floor } of candidate.declarations) {
    const ours = base.declarations.find((declaration) => declaration.name === name)
    if (ours !== undefined && ours.direction !== direction)
      differences.push(`The direction of ${name} changed from ${ours.direction} to ${direction}.`)
    if (ours?.floor === undefined) continue
    const isKept = floor !== undefined && (direction === 'higher' ? floor >= ours.floor : floor <= ours.floor)
    if (!isKept) differences.push(`The floor of ${name} was lowered from ${ours.floor} to ${floor ?? 'nothing'}.`)
  }
  return differences
}

type SharedCase = { readonly id: string; readonly base: CaseResult; readonly candidate: CaseResult }

function sharedCases({ cases: ours }: Figures, { cases: theirs }: Figures): readonly SharedCase[] | null {
  if (ours === null || theirs === null) return null
  // Sorted by id, because sums and resampling must not depend on the order of the files.
  return [...ours.keys()].sort().flatMap((id) => {
    const base = ours.get(id)
    const candidate = theirs.get(id)
    return base === undefined || candidate === undefined ? [] : [{ id, base, candidate }]
  })
}

function keepCases(side: Figures, shared: readonly SharedCase[]): Figures {
  const results = shared.flatMap(({ id }) => side.cases?.get(id) ?? [])
  const metrics = Object.keys(side.metrics).flatMap((name) => {
    const score = mean(results.map(({ scores = {} }) => scores[name] ?? null))
    return score === null ? [] : [[name, score]]
  })
  return {
    ...side,
    passRate: results.length === 0 ? 0 : results.filter(passes).length / results.length,
    totalCases: results.length,
    errorCases: results.filter(isError).length,
    judgedCases: results.filter(isJudged).length,
    metrics: Object.fromEntries(metrics),
    cases: new Map(results.map((result) => [result.id, result])),
  }
}

function compareFigures(base: Figures, candidate: Figures): readonly FigureComparison[] {
  const shared = sharedCases(base, candidate) ?? []
  const ours = answeredMetrics(base, 'base', shared)
  const theirs = answeredMetrics(candidate, 'candidate', shared)
  const passRate = compareExactly('passRate', base.passRate, candidate.passRate, base)
  const errors =
    base.errorCases === null || candidate.errorCases === null
      ? []
      : [compareExactly('errorCases', base.errorCases, candidate.errorCases, base)]
  const names = [...new Set([...Object.keys(ours), ...Object.keys(theirs)])].sort()
  const metrics = names.map((name) => compareExactly(name, ours[name] ?? null, theirs[name] ?? null, base))
  if (!base.isNoisy) return [passRate, ...errors, ...metrics]
  const tested = [
    { ...passRate, test: flipTest(shared, passes) },
    ...errors.map((figure) => ({ ...figure, test: flipTest(shared, isError) })),
    ...metrics.map((figure) => ({ ...figure, test: figure.delta === null ? null : shiftTest(figure, shared) })),
  ]
  return adjustForMultipleTests(tested).map((figure) => ({ ...figure, verdict: testedVerdict(figure) }))
}

/** The mean of each metric over the cases that both sides answered: a score has no counterpart if the other side has no answer. */
function answeredMetrics(
  { metrics }: Figures,
  side: 'base' | 'candidate',
  shared: readonly SharedCase[],
): Figures['metrics'] {
  const answered = shared.filter(({ base, candidate }) => isAnswered(base) && isAnswered(candidate))
  if (answered.length === shared.length) return metrics
  const overAnswered = (name: string): number | null => mean(answered.map((one) => one[side].scores?.[name] ?? null))
  return Object.fromEntries(Object.entries(metrics).map(([name, stated]) => [name, overAnswered(name) ?? stated]))
}

/** Corrects every p-value for the number of figures of this benchmark; other benchmarks do not affect the verdict. */
function adjustForMultipleTests(figures: readonly FigureComparison[]): readonly FigureComparison[] {
  const tests = figures.flatMap(({ test }) => (test === null ? [] : [test]))
  const adjusted = holm(tests.map(({ p }) => p))
  return figures.map((figure) => {
    const { test } = figure
    return test === null ? figure : { ...figure, test: { ...test, adjustedP: adjusted[tests.indexOf(test)] ?? 1 } }
  })
}

/** Uses the base's declarations: a candidate must not choose the rules by which it is judged. */
function compareExactly(
  figure: string,
  base: number | null,
  candidate: number | null,
  side: Figures,
): FigureComparison {
  const sense = metricSense(figure, side.declarations)
  const delta = base === null || candidate === null ? null : candidate - base
  const verdict = base === null ? 'new' : delta === null ? 'dropped' : exactVerdict(sense, delta)
  return { figure, base, candidate, delta, sense, verdict, test: null }
}

function exactVerdict({ direction, minEffect }: MetricSense, delta: number): FigureVerdict {
  const gain = direction === 'higher' ? delta : -delta
  // Written as "not at least" so that NaN counts as a loss.
  if (!(gain >= -(minEffect + dust))) return 'worse'
  return gain > minEffect + dust ? 'better' : 'same'
}

/** McNemar's test of `holds` on the cases that the base judged. A case that the candidate skipped or did not judge counts as false. */
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
  }
}

/** Fixed, so that the same files always give the same verdict. */
const resamplingSeed = 20_260_306

function shiftTest({ figure }: FigureComparison, shared: readonly SharedCase[]): FigureTest | null {
  const differences = shared.flatMap((result) => {
    const before = result.base.scores?.[figure] ?? null
    const after = result.candidate.scores?.[figure] ?? null
    return before === null || after === null ? [] : [after - before]
  })
  const effect = mean(differences)
  if (effect === null) return null
  const p = signFlipTest(differences, resamplingSeed)
  return {
    method: 'sign flip and paired bootstrap',
    pairs: differences.length,
    effect,
    p,
    adjustedP: p,
    interval: pairedBootstrap(differences, resamplingSeed),
  }
}

/** The smallest effect that matters if the pack declares none, as a share of the figure's range. */
const defaultEffect = 0.05

/** `worse` and `better` need both a significant change and at least the smallest effect that matters. */
function testedVerdict({ figure, delta, sense, base, candidate, verdict, test }: FigureComparison): FigureVerdict {
  if (delta === null) return verdict
  const declared = sense.minEffect > 0 ? sense.minEffect : defaultEffect * widthOf(sense, base, candidate)
  // `errorCases` is a count, but the effect in its test is a share of the cases.
  const matters = figure === 'errorCases' ? defaultEffect : declared
  const change = test?.effect ?? delta
  const gain = sense.direction === 'higher' ? change : -change
  const isBeyondChance = test !== null && test.adjustedP < alpha
  // Written as "not above" so that NaN counts as a loss.
  if (!(gain > -(matters - dust))) return isBeyondChance ? 'worse' : 'cannot tell'
  return gain >= matters - dust && isBeyondChance ? 'better' : 'no evidence'
}

/** The width of a figure's declared range, else the larger of its two values, so that swapping the sides changes nothing. */
const widthOf = ({ range }: MetricSense, base: number | null, candidate: number | null): number =>
  range === null ? Math.max(Math.abs(base ?? 0), Math.abs(candidate ?? 0), dust) : range[1] - range[0]

const passes = ({ verdict }: CaseResult): boolean => verdict === 'pass'
const isError = ({ verdict }: CaseResult): boolean => verdict === 'error'
const isAnswered = (result: CaseResult): boolean => !isError(result) && result.verdict !== 'skipped'

/** A candidate must not look better by leaving out cases or scores. If results vary, it may leave out a share below `defaultEffect`. */
function lostJudgements(base: Figures, candidate: Figures, shared: readonly SharedCase[] | null): string | null {
  const mayLose = (lost: number, of: number): boolean => lost <= 0 || (base.isNoisy && lost < of * defaultEffect)
  if (shared === null) {
    const ours = base.judgedCases
    const theirs = candidate.judgedCases
    if (ours === null || theirs === null || mayLose(ours - theirs, ours)) return null
    return `The base judged ${ours} cases, the candidate only ${theirs}.`
  }
  const lost = shared.filter((result) => isJudged(result.base) && !isJudged(result.candidate)).map(({ id }) => id)
  const unscored = shared.filter(hasLostScore).map(({ id }) => id)
  const cases = (ids: readonly string[]): string => (ids.length === 1 ? '1 case' : `${ids.length} cases`)
  if (!mayLose(lost.length, shared.length)) {
    const were = lost.length === 1 ? 'was' : 'were'
    return `${cases(lost)} that the base judged ${were} skipped or not judged: ${listIds(lost)}.`
  }
  if (mayLose(unscored.length, shared.length)) return null
  return `${cases(unscored)} that passed on both sides lost a score: ${listIds(unscored)}.`
}

/** Only cases that pass on both sides count, because which scores apply to a failing case may depend on its answer. */
const hasLostScore = ({ base, candidate }: SharedCase): boolean =>
  passes(base) &&
  passes(candidate) &&
  Object.entries(base.scores ?? {}).some(
    ([name, score]) => score !== null && (candidate.scores?.[name] ?? null) === null,
  )

const caseChanges = (shared: readonly SharedCase[], holds: (result: CaseResult) => boolean) => ({
  broken: shared.filter(({ base, candidate }) => holds(base) && !holds(candidate)).map(({ id }) => id),
  fixed: shared.filter(({ base, candidate }) => !holds(base) && holds(candidate)).map(({ id }) => id),
})

function comparisonNotes(
  figures: readonly FigureComparison[],
  cases: ReturnType<typeof caseChanges> | null,
  lacksEvidence: boolean,
) {
  const notes: string[] = []
  if (lacksEvidence)
    notes.push('Results vary between runs, but a side kept no case results, so nothing can tell a fall from chance.')
  const assumed = figures.filter(({ sense, delta }) => sense.source === 'assumed' && delta !== null)
  if (assumed.length > 0) {
    const names = assumed.map(({ figure }) => figure).join(', ')
    notes.push(`The pack does not declare which way is better for ${names}; higher was taken to be.`)
  }
  const passRate = figures.find(({ figure }) => figure === 'passRate')
  const broken = cases?.broken ?? []
  if (broken.length > 0 && (passRate?.verdict === 'same' || passRate?.verdict === 'better'))
    notes.push(`The pass rate did not fall, but cases that passed before do not: ${broken.join(', ')}.`)
  return notes
}
