import { type BenchmarkComparison, compareBenchmark, dust, type FigureComparison, listIds } from '../compare/compare.ts'
import { type Figures, figuresOfBaseline } from '../score/figures.ts'
import { type Problem, problemText } from '../store/parse-artifact.ts'
import type { BaselineSnapshot, RunStatus } from '../store/schemas/run.ts'
import { isControlName } from '../system/system.ts'
import type { ExplainedRun } from './latest-runs.ts'

/** The exit code of each verdict, worst verdict first. Only `pass` lets a change through. */
export const gateExitCodes = { invalid: 3, regression: 1, 'cannot tell': 4, pass: 0 } as const
export type GateVerdict = keyof typeof gateExitCodes
export const gateVerdicts = Object.keys(gateExitCodes) as readonly GateVerdict[]

export const worstOf = (verdicts: readonly GateVerdict[]): GateVerdict =>
  gateVerdicts.find((verdict) => verdicts.includes(verdict)) ?? 'pass'

/** The reason for rejecting a change, in one line, and the next step. */
export type GateReason = {
  readonly kind: Exclude<GateVerdict, 'pass'>
  /** Null for a reason that concerns the whole store. */
  readonly benchmarkId: string | null
  readonly system: string | null
  readonly line: string
  readonly next: string
}

/** The run that represents a benchmark and a system on one side, and why it was chosen. */
export type TakenRun = { readonly runId: string; readonly status: RunStatus; readonly why: string }

/** The state of one benchmark on one system, on one side. */
export type Standing = {
  readonly benchmarkId: string
  /** Null if the run does not record it. */
  readonly system: string | null
  readonly taken: TakenRun
  /** Null unless the run is completed. */
  readonly figures: Figures | null
  readonly problems: readonly string[]
  /** Why the run cannot be compared although it is valid. */
  readonly outdated: string | null
}

/** One side of a gate: a standing for each benchmark and system, and reasons that concern the whole side. */
export type Side = {
  readonly standings: readonly Standing[]
  /** Filtered or edited runs, which are ignored. */
  readonly leftOut?: readonly ExplainedRun[]
  readonly reasons: readonly GateReason[]
}

type BenchmarkVerdict = ReturnType<typeof judgeBenchmark>
export type Judgement = ReturnType<typeof judge>

export type JudgeOptions = {
  /** The reasons for accepting changed packs, by benchmark id. */
  readonly acceptedChanges?: Readonly<Record<string, string>>
}

/** Decides whether a candidate may replace a base. A pure function. */
export function judge(base: Side, candidate: Side, { acceptedChanges = {} }: JudgeOptions = {}) {
  const verdicts = base.standings
    .toSorted(compareNames)
    .map((ours) => judgeBenchmark(ours, candidate, acceptedChanges[ours.benchmarkId] ?? null))
  const compared = verdicts.filter(({ comparison }) => comparison !== null && comparison.figures.length > 0)
  const low = candidate.standings.flatMap(floorReasons)
  const reasons = [...base.reasons, ...candidate.reasons, ...verdicts.flatMap(reasonOf), ...low]
  if (compared.length === 0 && reasons.length === 0) {
    const next = 'Run a benchmark in the candidate, and give a base with a baseline or a completed run.'
    reasons.push(storeReason('cannot tell', 'Nothing was compared.', next))
  }
  const known = new Set(base.standings.map(({ benchmarkId }) => benchmarkId))
  const added = candidate.standings.filter(({ benchmarkId }) => !known.has(benchmarkId)).map(runNameOf)
  return {
    verdict: worstOf(reasons.map(({ kind }) => kind)),
    verdicts,
    reasons,
    comparedBenchmarks: compared.length,
    missingCandidateBenchmarks: verdicts.filter((verdict) => verdict.candidate === null).map(runNameOf),
    newBenchmarks: [...new Set(added)].sort(),
  }
}

export const storeReason = (kind: GateReason['kind'], line: string, next: string): GateReason => ({
  kind,
  benchmarkId: null,
  system: null,
  line,
  next,
})

export const invalidReason = (problem: Problem, side: string): GateReason =>
  storeReason('invalid', `Invalid in the ${side}: ${problemText(problem)}.`, 'Repair the file or remove it.')

type Named = Pick<Standing, 'benchmarkId' | 'system'>

/** The name of a benchmark on a system: `retrieval-hard, bm25`. */
export const runNameOf = ({ benchmarkId, system }: Named): string =>
  system === null ? benchmarkId : `${benchmarkId}, ${system}`

const compareNames = (a: Named, b: Named): number => (runNameOf(a) < runNameOf(b) ? -1 : 1)

/** The standing of the same benchmark on the same system. A run without a system name matches any system. */
function counterpartOf({ benchmarkId, system }: Standing, { standings }: Side): Standing | null {
  const own = standings.filter((standing) => standing.benchmarkId === benchmarkId).toSorted(compareNames)
  const same = own.find((standing) => standing.system === system)
  return same ?? own.find((standing) => standing.system === null || system === null) ?? null
}

function judgeBenchmark(ours: Standing, side: Side, acceptedChange: string | null) {
  const theirs = counterpartOf(ours, side)
  const about = { benchmarkId: ours.benchmarkId, system: ours.system ?? theirs?.system ?? null }
  const parts = (side.leftOut ?? []).filter(
    ({ run }) => run.benchmarkId === ours.benchmarkId && (run.system?.name ?? ours.system) === ours.system,
  )
  const { verdict, reason, next, comparison } = decide(ours, theirs, { acceptedChange, parts })
  return {
    ...about,
    verdict,
    reason: `${runNameOf(about)}: ${reason}`,
    next,
    base: ours.taken,
    candidate: theirs?.taken ?? null,
    comparison,
  }
}

type Decision = { readonly verdict: GateVerdict; readonly reason: string; readonly next: string | null }

function decide(
  ours: Standing,
  theirs: Standing | null,
  { acceptedChange, parts }: { readonly acceptedChange: string | null; readonly parts: readonly ExplainedRun[] },
): Decision & { readonly comparison: BenchmarkComparison | null } {
  const settle = (verdict: GateVerdict, reason: string, next: string) => ({ verdict, reason, next, comparison: null })
  const how = ours.system === null ? '' : ` on ${ours.system}, with the options of ${ours.taken.runId}`
  const again = `Run it again${how}: \`credence benchmark run ${ours.benchmarkId}\`.`
  const problems = [...ours.problems, ...(theirs?.problems ?? [])]
  if (problems.length > 0) {
    const more = problems.length > maxProblems ? [`and ${problems.length - maxProblems} more`] : []
    return settle('invalid', `${[...problems.slice(0, maxProblems), ...more].join('; ')}.`, again)
  }
  if (ours.figures === null) {
    const reason = `the base has no completed run to compare with; ${ours.taken.runId} is ${ours.taken.status}.`
    return settle('cannot tell', reason, 'Complete a run of the base first.')
  }
  if (theirs === null) {
    const only = listIds(parts.map(({ run, why }) => `${run.runId} (${why})`))
    const none = parts.length === 0 ? 'no run of it' : `no whole run of it, only ${only}`
    return settle('regression', `missing; the candidate has ${none}.`, again)
  }
  const { taken, figures, outdated } = theirs
  const resume = `\`credence benchmark run --resume ${taken.runId}\`.`
  if (taken.status === 'running') {
    const reason = `the only run of the candidate, ${taken.runId}, is still running.`
    return settle('cannot tell', reason, `Wait for it; if it was killed, complete it: ${resume}`)
  }
  if (figures === null) {
    const reason = `the base completed, but the run ${taken.runId} of the candidate is ${taken.status}.`
    return settle('regression', reason, taken.status === 'partial' ? `Complete it: ${resume}` : again)
  }
  const stale = ours.outdated ?? outdated
  if (stale !== null) return settle('cannot tell', stale, again)
  const impossible = [ours.figures, figures].flatMap((side) => rangeProblems(side, ours.figures?.declarations ?? []))
  if (impossible.length > 0) return settle('invalid', impossible.join(' '), 'Correct the metric or its declared range.')
  const comparison = compareBenchmark({ base: ours.figures, candidate: figures, acceptedChange })
  const decision = verdictOf(comparison)
  if (decision.verdict === 'pass' && ours.taken.runId === taken.runId) {
    const reason = `both sides have the same run ${taken.runId}, so the candidate was not measured.`
    return settle('cannot tell', reason, again)
  }
  return { ...decision, comparison }
}

const maxProblems = 5

/** A sentence for each metric outside of the range that the pack declares. */
const rangeProblems = ({ runId, metrics }: Figures, declarations: Figures['declarations']): readonly string[] =>
  declarations.flatMap(({ name, range }) => {
    const value = metrics[name]
    if (value === undefined || range === undefined) return []
    const [low, high] = range
    if (value >= low - dust && value <= high + dust) return []
    return [
      `${name} of the run ${runId} is ${formatFigure(value)}, but the pack declares a range from ${low} to ${high}.`,
    ]
  })

/** The metrics of a run below the floor of its pack. A floor does not depend on a base, so a new baseline cannot lower it. */
function floorReasons({ benchmarkId, system, figures }: Standing): readonly GateReason[] {
  if (figures === null) return []
  return figures.declarations.flatMap(({ name, direction, floor }) => {
    if (floor === undefined) return []
    const value = figures.metrics[name] ?? null
    if (value !== null && (direction === 'higher' ? value >= floor - dust : value <= floor + dust)) return []
    const line = `${runNameOf({ benchmarkId, system })}: ${name} is ${formatFigure(value)}, and the floor of the pack is ${floor}.`
    return [{ kind: 'regression', benchmarkId, system, line, next: `Look at the run ${figures.runId}.` }]
  })
}

export function verdictOf(comparison: BenchmarkComparison): Decision {
  const { obstacles, remedy, unjudged, figures, candidateRunId, cases } = comparison
  if (obstacles.length > 0)
    return { verdict: 'cannot tell', reason: `not comparable. ${obstacles.join(' ')}`, next: remedy }
  const sentences = (...verdicts: readonly FigureComparison['verdict'][]): string =>
    figures
      .filter(({ verdict }) => verdicts.includes(verdict))
      .map(changeSentence)
      .join(' ')
  const worse = sentences('worse', 'dropped')
  if (worse !== '') {
    const broken = cases === null || cases.broken.length === 0 ? `the run ${candidateRunId}` : listIds(cases.broken)
    const accept = '`credence benchmark snapshot --snapshot-id ID --force --accept-lower "reason"`.'
    return {
      verdict: 'regression',
      reason: unjudged === null ? worse : `${worse} ${unjudged}`,
      next: `Look at ${broken}; if this is intended, accept it: ${accept}`,
    }
  }
  const unclear = sentences('cannot tell')
  if (unclear !== '') {
    const next = 'Add cases until a fall of this size would be beyond chance, and run both sides again.'
    return { verdict: 'cannot tell', reason: `${unclear} The sample cannot tell that from chance.`, next }
  }
  if (unjudged !== null)
    return { verdict: 'cannot tell', reason: unjudged, next: 'Run the candidate with what these cases need.' }
  return { verdict: 'pass', reason: sentences('better') || 'nothing got worse.', next: null }
}

const reasonOf = ({ verdict, benchmarkId, system, reason, next }: BenchmarkVerdict): readonly GateReason[] =>
  verdict === 'pass' ? [] : [{ kind: verdict, benchmarkId, system, line: reason, next: next ?? '' }]

export function changeSentence({ figure, base, candidate, delta, sense, verdict, test }: FigureComparison): string {
  if (base === null || candidate === null || delta === null) {
    return verdict === 'new'
      ? `${figure} is new: ${formatFigure(candidate)}.`
      : `${figure} was dropped; it was ${formatFigure(base)}.`
  }
  const way = delta > 0 ? 'rose' : 'fell'
  const allowed = sense.minEffect > 0 ? `, more than the ${formatFigure(sense.minEffect)} that matters` : ''
  const chance = test === null ? '' : `, p = ${test.adjustedP.toPrecision(2)}, n = ${test.pairs}`
  const direction = sense.direction === 'lower' ? '; lower is better' : ''
  return `${figure} ${way} from ${formatFigure(base)} to ${formatFigure(candidate)}${allowed}${chance}${direction}.`
}

/** A figure with at most six decimals. */
export const formatFigure = (value: number | null): string =>
  value === null ? 'nothing' : String(Math.round(value * 1e6) / 1e6)

/** An accepted snapshot as one side of the gate. Controls are left out, as on the other side. */
export const baselineSide = (snapshot: BaselineSnapshot): Side => ({
  standings: snapshot.benchmarks
    .filter(({ system }) => !isControlName(system?.name ?? ''))
    .map((benchmark) => ({
      benchmarkId: benchmark.benchmarkId,
      system: benchmark.system?.name ?? null,
      taken: { runId: benchmark.runId, status: 'completed', why: `accepted as ${snapshot.snapshotId}` },
      figures: figuresOfBaseline(benchmark),
      problems: [],
      outdated: null,
    })),
  reasons: [],
})
