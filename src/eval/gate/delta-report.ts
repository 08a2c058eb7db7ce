import type { BenchmarkComparison, CaseChanges, FigureComparison } from '../compare/compare.ts'
import type { BaselineSnapshot } from '../store/schemas/baseline.ts'
import { changeSentence, type GateReason, type GateVerdict, gateExitCodes, type Judgement } from './gate.ts'
import type { InvalidCounts } from './store-side.ts'

/** How one benchmark changed. */
export type BenchmarkDelta = {
  readonly benchmarkId: string
  readonly baseRunId: string
  readonly candidateRunId: string
  readonly basePassRate: number
  readonly candidatePassRate: number
  readonly passRateDelta: number
  readonly metricDeltas: Readonly<Record<string, number>>
  readonly regressions: readonly string[]
  readonly improvements: readonly string[]
  readonly obstacles: readonly string[]
  readonly notes: readonly string[]
  readonly figures: readonly FigureComparison[]
  readonly cases: CaseChanges | null
}

/** What a candidate was held against. */
export type Reference =
  | {
      readonly kind: 'snapshot'
      readonly snapshot: BaselineSnapshot
      readonly resolvedFrom: 'base' | 'candidate'
    }
  | { readonly kind: 'store' }
  | { readonly kind: 'nothing' }

/** The result of a comparison, for machines; the other forms are made from it. */
export type DeltaReport = {
  readonly schemaVersion: 1
  readonly passed: boolean
  readonly verdict: GateVerdict
  readonly exitCode: number
  readonly reasons: readonly GateReason[]
  readonly baselineSnapshotId: string | null
  readonly baselineCreatedAt: string | null
  readonly baselineSourceRootDir: string | null
  /** Whose snapshot decided. `candidate`: the base has never had one, so the candidate's own began. */
  readonly baselineResolvedFrom: 'base' | 'candidate' | null
  readonly baseRootDir: string | null
  readonly candidateRootDir: string
  readonly comparedBenchmarks: number
  readonly missingCandidateBenchmarks: readonly string[]
  readonly newBenchmarks: readonly string[]
  readonly invalidArtifacts: { readonly base?: InvalidCounts; readonly candidate: InvalidCounts }
  readonly regressions: readonly string[]
  readonly improvements: readonly string[]
  readonly notes: readonly string[]
  readonly deltas: readonly BenchmarkDelta[]
}

export function deltaReport(
  judgement: Judgement,
  about: {
    readonly reference: Reference
    readonly baseRootDir: string | null
    readonly candidateRootDir: string
    readonly invalid: DeltaReport['invalidArtifacts']
  },
): DeltaReport {
  const { verdict, reasons, comparisons, comparedBenchmarks, missingCandidateBenchmarks, newBenchmarks } = judgement
  const snapshot = about.reference.kind === 'snapshot' ? about.reference.snapshot : null
  const deltas = comparisons.map(deltaOf)
  return {
    schemaVersion: 1,
    passed: verdict === 'pass',
    verdict,
    exitCode: gateExitCodes[verdict],
    reasons,
    baselineSnapshotId: snapshot?.snapshotId ?? null,
    baselineCreatedAt: snapshot?.createdAt ?? null,
    baselineSourceRootDir: snapshot?.sourceRootDir ?? null,
    baselineResolvedFrom: about.reference.kind === 'snapshot' ? about.reference.resolvedFrom : null,
    baseRootDir: about.baseRootDir,
    candidateRootDir: about.candidateRootDir,
    comparedBenchmarks,
    missingCandidateBenchmarks,
    newBenchmarks,
    invalidArtifacts: about.invalid,
    regressions: reasons.filter(({ kind }) => kind === 'regression').map(({ line }) => line),
    improvements: deltas.flatMap(({ benchmarkId, improvements }) =>
      improvements.map((line) => `${benchmarkId}: ${line}`),
    ),
    notes: deltas.flatMap(({ benchmarkId, notes }) => notes.map((line) => `${benchmarkId}: ${line}`)),
    deltas,
  }
}

function deltaOf({ benchmarkId, baseRunId, candidateRunId, figures, ...rest }: BenchmarkComparison): BenchmarkDelta {
  const sentences = (...verdicts: readonly FigureComparison['verdict'][]): readonly string[] =>
    figures.filter(({ verdict }) => verdicts.includes(verdict)).map(changeSentence)
  const moved = figures.flatMap(({ figure, delta }) =>
    delta === null || figure === 'passRate' || figure === 'errorCases' ? [] : [[figure, delta] as const],
  )
  return {
    benchmarkId,
    baseRunId,
    candidateRunId,
    basePassRate: rest.basePassRate,
    candidatePassRate: rest.candidatePassRate,
    passRateDelta: rest.candidatePassRate - rest.basePassRate,
    metricDeltas: Object.fromEntries(moved),
    regressions: sentences('worse', 'dropped'),
    improvements: sentences('better'),
    obstacles: rest.obstacles,
    notes: [...rest.notes, ...sentences('new')],
    figures,
    cases: rest.cases,
  }
}
