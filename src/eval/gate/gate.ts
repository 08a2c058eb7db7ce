import {
  type BenchmarkComparison,
  type ComparedPair,
  compareBenchmarks,
  type FigureComparison,
} from '../compare/compare.ts'
import { type Figures, figuresOfBaseline } from '../score/figures.ts'
import { type Problem, problemText } from '../store/parse-artifact.ts'
import type { BaselineSnapshot } from '../store/schemas/baseline.ts'

/** What a gate says. Only `pass` lets a change through. */
export type GateVerdict = 'pass' | 'regression' | 'invalid' | 'not-comparable'

/** The exit code for each verdict. */
export const gateExitCodes = { pass: 0, regression: 1, invalid: 3, 'not-comparable': 4 } as const satisfies Record<
  GateVerdict,
  number
>

/** Why a change is not let through, in one line. */
export type GateReason = {
  readonly kind: Exclude<GateVerdict, 'pass'>
  readonly benchmarkId: string | null
  readonly line: string
}

export type Judgement = {
  readonly verdict: GateVerdict
  readonly reasons: readonly GateReason[]
  readonly comparisons: readonly BenchmarkComparison[]
  readonly comparedBenchmarks: number
  /** Of the base, without a completed run in the candidate. */
  readonly missingCandidateBenchmarks: readonly string[]
  /** Of the candidate only. */
  readonly newBenchmarks: readonly string[]
}

/** One side of a gate: what is known of each benchmark, and what keeps it from being believed. */
export type Side = {
  readonly figures: ReadonlyMap<string, Figures>
  readonly reasons: readonly GateReason[]
}

export type JudgeOptions = {
  /** Reasons given for changed packs, by benchmark id. */
  readonly acceptedChanges?: Readonly<Record<string, string>>
}

/** Decides whether a candidate may take the place of a base. Reads nothing, prints nothing, exits nothing. */
export function judge(base: Side, candidate: Side, { acceptedChanges = {} }: JudgeOptions = {}): Judgement {
  const ids = [...base.figures.keys()].sort()
  const missing = ids.filter((id) => !candidate.figures.has(id))
  const pairs = ids.flatMap((id): ComparedPair[] => {
    const [ours, theirs] = [base.figures.get(id), candidate.figures.get(id)]
    if (ours === undefined || theirs === undefined) return []
    return [{ base: ours, candidate: theirs, acceptedChange: acceptedChanges[id] ?? null }]
  })
  const comparisons = compareBenchmarks(pairs)
  const compared = comparisons.filter(({ figures }) => figures.length > 0)
  const reasons = [
    ...base.reasons,
    ...candidate.reasons,
    // What has an unfinished run instead of a completed one has said so already.
    ...missing
      .filter((id) => !candidate.reasons.some(({ benchmarkId }) => benchmarkId === id))
      .map((id) => regression(id, `${id}: vanished; the candidate has no completed run of it.`)),
    ...comparisons.flatMap(reasonsOf),
  ]
  if (compared.length === 0 && !reasons.some(({ kind }) => kind === 'not-comparable')) {
    reasons.push({ kind: 'not-comparable', benchmarkId: null, line: 'Nothing was compared.' })
  }
  return {
    verdict: verdictOf(reasons),
    reasons,
    comparisons,
    comparedBenchmarks: compared.length,
    missingCandidateBenchmarks: missing,
    newBenchmarks: [...candidate.figures.keys()].filter((id) => !base.figures.has(id)).sort(),
  }
}

/** What cannot be believed weighs more than what got worse, and that more than what could not be compared. */
function verdictOf(reasons: readonly GateReason[]): GateVerdict {
  const order = ['invalid', 'regression', 'not-comparable'] as const
  return order.find((verdict) => reasons.some(({ kind }) => kind === verdict)) ?? 'pass'
}

function reasonsOf({ benchmarkId, obstacles, figures }: BenchmarkComparison): readonly GateReason[] {
  return [
    ...obstacles.map(
      (obstacle): GateReason => ({
        kind: 'not-comparable',
        benchmarkId,
        line: `${benchmarkId}: not comparable. ${obstacle}`,
      }),
    ),
    ...figures
      .filter(({ verdict }) => verdict === 'worse' || verdict === 'dropped')
      .map((figure) => regression(benchmarkId, `${benchmarkId}: ${changeSentence(figure)}`)),
  ]
}

const regression = (benchmarkId: string, line: string): GateReason => ({ kind: 'regression', benchmarkId, line })

/** A change of one figure, for a person. */
export function changeSentence({ figure, base, candidate, delta, sense, verdict, test }: FigureComparison): string {
  if (base === null || candidate === null || delta === null) {
    return verdict === 'new'
      ? `${figure} is new: ${shown(candidate)}.`
      : `${figure} was dropped; it was ${shown(base)}.`
  }
  const way = delta > 0 ? 'rose' : 'fell'
  const allowed = sense.minEffect > 0 ? `, more than the ${shown(sense.minEffect)} that matters` : ''
  const chance = test === null ? '' : `, p = ${test.adjustedP.toPrecision(2)}`
  const direction = sense.direction === 'lower' ? '; lower is better' : ''
  return `${figure} ${way} from ${shown(base)} to ${shown(candidate)}${allowed}${chance}${direction}.`
}

/** At most six decimals: enough to see what moved. */
export const shown = (value: number | null): string =>
  value === null ? 'nothing' : String(Math.round(value * 1e6) / 1e6)

export const invalidReason = (problem: Problem, side: string): GateReason => ({
  kind: 'invalid',
  benchmarkId: null,
  line: `Invalid in the ${side}: ${problemText(problem)}.`,
})

/** What an accepted snapshot stands for. */
export const baselineSide = (snapshot: BaselineSnapshot): Side => ({
  figures: new Map(snapshot.benchmarks.map((benchmark) => [benchmark.benchmarkId, figuresOfBaseline(benchmark)])),
  reasons: [],
})
