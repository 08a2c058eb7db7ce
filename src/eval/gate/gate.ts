import { type BenchmarkComparison, compareBenchmark, type FigureComparison } from '../compare/compare.ts'
import { type Figures, figuresOfBaseline } from '../score/figures.ts'
import { type Problem, problemText } from '../store/parse-artifact.ts'
import type { BaselineSnapshot, RunStatus } from '../store/schemas/run.ts'
import { isControlName } from '../system/system.ts'

/** What a gate says. Only `pass` lets a change through. The worst comes first. */
export const gateVerdicts = ['invalid', 'regression', 'cannot tell', 'pass'] as const
export type GateVerdict = (typeof gateVerdicts)[number]

/** The exit code for each verdict. */
export const gateExitCodes = { pass: 0, regression: 1, invalid: 3, 'cannot tell': 4 } as const satisfies Record<
  GateVerdict,
  number
>

export const worstOf = (verdicts: readonly GateVerdict[]): GateVerdict =>
  gateVerdicts.find((verdict) => verdicts.includes(verdict)) ?? 'pass'

/** Why a change is not let through, in one line, and what to do next. */
export type GateReason = {
  readonly kind: Exclude<GateVerdict, 'pass'>
  readonly benchmarkId: string | null
  readonly system: string | null
  readonly line: string
  readonly next: string
}

/** The run that stands for a benchmark and a system on one side, and why it was this one. */
export type TakenRun = { readonly runId: string; readonly status: RunStatus; readonly why: string }

/** What one side knows of a benchmark on a system. */
export type Standing = {
  readonly benchmarkId: string
  /** Null where nobody says. */
  readonly system: string | null
  readonly taken: TakenRun
  /** Null unless the run is completed. */
  readonly figures: Figures | null
  /** Reasons not to believe the run. */
  readonly problems: readonly string[]
  /** Why the run cannot be compared although it is whole. */
  readonly outdated: string | null
}

/** One side of a gate: every benchmark and system once, and what concerns the side as a whole. */
export type Side = { readonly standings: readonly Standing[]; readonly reasons: readonly GateReason[] }

/** The verdict on one benchmark and system. */
export type BenchmarkVerdict = {
  readonly benchmarkId: string
  readonly system: string | null
  readonly verdict: GateVerdict
  /** One line. */
  readonly reason: string
  /** Null when there is nothing to do. */
  readonly next: string | null
  readonly base: TakenRun
  readonly candidate: TakenRun | null
  readonly comparison: BenchmarkComparison | null
}

export type Judgement = {
  readonly verdict: GateVerdict
  readonly verdicts: readonly BenchmarkVerdict[]
  readonly reasons: readonly GateReason[]
  readonly comparedBenchmarks: number
  /** Of the base, without a run in the candidate. */
  readonly missingCandidateBenchmarks: readonly string[]
  /** Of the candidate only. */
  readonly newBenchmarks: readonly string[]
}

export type JudgeOptions = {
  /** Reasons given for changed packs, by benchmark id. */
  readonly acceptedChanges?: Readonly<Record<string, string>>
}

/** Decides whether a candidate may take the place of a base. Reads nothing, prints nothing, exits nothing. */
export function judge(base: Side, candidate: Side, { acceptedChanges = {} }: JudgeOptions = {}): Judgement {
  const verdicts = base.standings
    .toSorted(byName)
    .map((ours) => judgeBenchmark(ours, counterpartOf(ours, candidate), acceptedChanges[ours.benchmarkId] ?? null))
  const compared = verdicts.filter(({ comparison }) => comparison !== null && comparison.figures.length > 0)
  const reasons = [...base.reasons, ...candidate.reasons, ...verdicts.flatMap(reasonOf)]
  if (compared.length === 0 && reasons.length === 0) {
    reasons.push({ kind: 'cannot tell', ...everywhere, line: 'Nothing was compared.', next: nextForNothing })
  }
  const known = new Set(base.standings.map(({ benchmarkId }) => benchmarkId))
  const missing = verdicts.filter((one) => one.candidate === null).map(nameOf)
  const added = candidate.standings.filter(({ benchmarkId }) => !known.has(benchmarkId)).map(nameOf)
  return {
    verdict: worstOf(reasons.map(({ kind }) => kind)),
    verdicts,
    reasons,
    comparedBenchmarks: compared.length,
    missingCandidateBenchmarks: missing,
    newBenchmarks: [...new Set(added)].sort(),
  }
}

const everywhere = { benchmarkId: null, system: null } as const
const nextForNothing = 'Run a benchmark in the candidate, and give a base with a baseline or a completed run.'

type Named = Pick<Standing, 'benchmarkId' | 'system'>

/** How a benchmark on a system is called: `retrieval-hard, bm25`. */
export const nameOf = ({ benchmarkId, system }: Named): string =>
  system === null ? benchmarkId : `${benchmarkId}, ${system}`

const byName = (one: Named, other: Named): number => (nameOf(one) < nameOf(other) ? -1 : 1)

/** The same benchmark on the same system. Runs that do not say their system stand for any, and any for them. */
function counterpartOf({ benchmarkId, system }: Standing, { standings }: Side): Standing | null {
  const own = standings.filter((one) => one.benchmarkId === benchmarkId).toSorted(byName)
  const same = own.find((one) => one.system === system)
  return same ?? own.find((one) => one.system === null || system === null) ?? null
}

function judgeBenchmark(ours: Standing, theirs: Standing | null, acceptedChange: string | null): BenchmarkVerdict {
  const about = { benchmarkId: ours.benchmarkId, system: ours.system ?? theirs?.system ?? null }
  const said = (
    verdict: GateVerdict,
    reason: string,
    next: string | null,
    comparison: BenchmarkComparison | null = null,
  ): BenchmarkVerdict => ({
    ...about,
    verdict,
    reason: `${nameOf(about)}: ${reason}`,
    next,
    base: ours.taken,
    candidate: theirs?.taken ?? null,
    comparison,
  })
  const again = `Run it again: \`credence benchmark run ${ours.benchmarkId}${ours.system === null ? '' : ` --system ${ours.system}`}\`.`
  const problems = [...ours.problems, ...(theirs?.problems ?? [])]
  if (problems.length > 0) return said('invalid', `${problems.join('; ')}.`, again)
  if (ours.figures === null) {
    const reason = `the base has no completed run to compare with; ${ours.taken.runId} is ${ours.taken.status}.`
    return said('cannot tell', reason, 'Complete a run of the base first.')
  }
  if (theirs === null) return said('regression', 'gone; the candidate has no run of it.', again)
  const { taken, figures, outdated } = theirs
  if (taken.status === 'running') {
    const resume = `Wait for it; if it was killed, complete it: \`credence benchmark run --resume ${taken.runId}\`.`
    return said('cannot tell', `the only run of the candidate, ${taken.runId}, is still running.`, resume)
  }
  if (figures === null) {
    const next = taken.status === 'partial' ? `Complete it: \`credence benchmark run --resume ${taken.runId}\`.` : again
    return said(
      'regression',
      `the base completed, but the run ${taken.runId} of the candidate is ${taken.status}.`,
      next,
    )
  }
  const stale = ours.outdated ?? outdated
  if (stale !== null) return said('cannot tell', stale, again)
  const comparison = compareBenchmark({ base: ours.figures, candidate: figures, acceptedChange })
  return said(...verdictOf(comparison), comparison)
}

/** What a comparison means for a change, why, and what to do next. */
export function verdictOf(
  comparison: BenchmarkComparison,
): readonly [verdict: GateVerdict, reason: string, next: string | null] {
  const { benchmarkId, obstacles, unjudged, figures, candidateRunId, cases } = comparison
  if (obstacles.length > 0) {
    const next = `Run the base on the same pack, or compare the cases of both with --accept-changed "${benchmarkId}: reason".`
    return ['cannot tell', `not comparable. ${obstacles.join(' ')}`, next]
  }
  const of = (...verdicts: readonly FigureComparison['verdict'][]) =>
    figures.filter(({ verdict }) => verdicts.includes(verdict))
  const worse = of('worse', 'dropped')
  if (worse.length > 0) {
    const broken = cases === null || cases.broken.length === 0 ? `the run ${candidateRunId}` : named(cases.broken)
    const next = `Look at ${broken}; if the fall is meant, accept it: \`credence benchmark snapshot --force --accept-lower "reason"\`.`
    return ['regression', worse.map(changeSentence).join(' '), next]
  }
  const unclear = of('cannot tell')
  if (unclear.length > 0) {
    const reason = `${unclear.map(changeSentence).join(' ')} The sample cannot tell that from chance.`
    return [
      'cannot tell',
      reason,
      'Add cases until a fall of this size would be beyond chance, and run both sides again.',
    ]
  }
  if (unjudged.length > 0) {
    const reason = `${unjudged.length} cases that the base judged were skipped or not judged: ${named(unjudged)}.`
    return ['cannot tell', reason, 'Run the candidate with what these cases need.']
  }
  const better = of('better')
  return ['pass', better.length === 0 ? 'nothing got worse.' : better.map(changeSentence).join(' '), null]
}

const mostNamed = 5

const named = (ids: readonly string[]): string =>
  ids.length <= mostNamed ? ids.join(', ') : `${ids.slice(0, mostNamed).join(', ')} and ${ids.length - mostNamed} more`

const reasonOf = ({ verdict, benchmarkId, system, reason, next }: BenchmarkVerdict): readonly GateReason[] =>
  verdict === 'pass' ? [] : [{ kind: verdict, benchmarkId, system, line: reason, next: next ?? '' }]

/** A change of one figure, for a person. */
export function changeSentence({ figure, base, candidate, delta, sense, verdict, test }: FigureComparison): string {
  if (base === null || candidate === null || delta === null) {
    return verdict === 'new'
      ? `${figure} is new: ${shown(candidate)}.`
      : `${figure} was dropped; it was ${shown(base)}.`
  }
  const way = delta > 0 ? 'rose' : 'fell'
  const allowed = sense.minEffect > 0 ? `, more than the ${shown(sense.minEffect)} that matters` : ''
  const chance = test === null ? '' : `, p = ${test.adjustedP.toPrecision(2)}, n = ${test.pairs}`
  const direction = sense.direction === 'lower' ? '; lower is better' : ''
  return `${figure} ${way} from ${shown(base)} to ${shown(candidate)}${allowed}${chance}${direction}.`
}

/** At most six decimals: enough to see what moved. */
export const shown = (value: number | null): string =>
  value === null ? 'nothing' : String(Math.round(value * 1e6) / 1e6)

export const invalidReason = (problem: Problem, side: string): GateReason => ({
  kind: 'invalid',
  ...everywhere,
  line: `Invalid in the ${side}: ${problemText(problem)}.`,
  next: 'Repair the file or remove it.',
})

/** What an accepted snapshot stands for. Controls never count, on either side. */
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
