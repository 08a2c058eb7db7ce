import type { BenchmarkComparison, FigureComparison } from '../compare/compare.ts'
import type { BaselineSnapshot } from '../store/schemas/baseline.ts'
import type { InvalidCounts } from './ci-gate.ts'
import { changeSentence, gateExitCodes, type Judgement, nameOf, worstOf } from './gate.ts'

/** How one benchmark changed on one system. */
export type BenchmarkDelta = ReturnType<typeof deltaOf>

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
export type DeltaReport = ReturnType<typeof deltaReport>

/** One report of all that a candidate was held against. The worst judgement decides. */
export function deltaReport(
  judgements: readonly Judgement[],
  about: {
    readonly reference: Reference
    readonly baseRootDir: string | null
    readonly candidateRootDir: string
    readonly invalid: { readonly base?: InvalidCounts; readonly candidate: InvalidCounts }
  },
) {
  const verdict = worstOf(judgements.map((judgement) => judgement.verdict))
  const snapshot = about.reference.kind === 'snapshot' ? about.reference.snapshot : null
  const verdicts = judgements.flatMap((judgement) => judgement.verdicts)
  const deltas = verdicts.flatMap(({ comparison }) => (comparison === null ? [] : [deltaOf(comparison)]))
  const lines = (of: (delta: BenchmarkDelta) => readonly string[]): readonly string[] =>
    deltas.flatMap((delta) => of(delta).map((line) => `${nameOf(delta)}: ${line}`))
  const reasons = judgements.flatMap((judgement) => judgement.reasons)
  return {
    schemaVersion: 1 as const,
    passed: verdict === 'pass',
    verdict,
    exitCode: gateExitCodes[verdict],
    // What is wrong with the candidate is said by every judgement about it.
    reasons: reasons.filter(({ line }, index) => reasons.findIndex((other) => other.line === line) === index),
    /** Of every benchmark and system: the verdict, the reason in one line, what to do next, and the runs it rests on. */
    verdicts: verdicts.map(({ comparison: _, ...rest }) => rest),
    baselineSnapshotId: snapshot?.snapshotId ?? null,
    baselineCreatedAt: snapshot?.createdAt ?? null,
    baselineSourceRootDir: snapshot?.sourceRootDir ?? null,
    /** Whose snapshot decided. `candidate`: the base has never had one, so the candidate's own began. */
    baselineResolvedFrom: about.reference.kind === 'snapshot' ? about.reference.resolvedFrom : null,
    baseRootDir: about.baseRootDir,
    candidateRootDir: about.candidateRootDir,
    comparedBenchmarks: Math.max(...judgements.map(({ comparedBenchmarks }) => comparedBenchmarks)),
    missingCandidateBenchmarks: unique(judgements.flatMap((judgement) => judgement.missingCandidateBenchmarks)),
    newBenchmarks: unique(judgements.flatMap((judgement) => judgement.newBenchmarks)),
    invalidArtifacts: about.invalid,
    regressions: [
      ...lines(({ regressions }) => regressions),
      ...verdicts.filter((one) => one.verdict === 'regression' && one.comparison === null).map(({ reason }) => reason),
    ],
    improvements: lines(({ improvements }) => improvements),
    notes: lines(({ notes }) => notes),
    deltas,
  }
}

const unique = (names: readonly string[]): readonly string[] => [...new Set(names)].sort()

function deltaOf(comparison: BenchmarkComparison) {
  const { benchmarkId, system, baseRunId, candidateRunId, basePassRate, candidatePassRate } = comparison
  const { figures, obstacles, notes, cases } = comparison
  const sentences = (...verdicts: readonly FigureComparison['verdict'][]): readonly string[] =>
    figures.filter(({ verdict }) => verdicts.includes(verdict)).map(changeSentence)
  const moved = figures.flatMap(({ figure, delta }) =>
    delta === null || figure === 'passRate' || figure === 'errorCases' ? [] : [[figure, delta] as const],
  )
  return {
    benchmarkId,
    system,
    baseRunId,
    candidateRunId,
    basePassRate,
    candidatePassRate,
    passRateDelta: candidatePassRate - basePassRate,
    metricDeltas: Object.fromEntries(moved),
    regressions: sentences('worse', 'dropped'),
    improvements: sentences('better'),
    obstacles,
    notes: [...notes, ...sentences('new')],
    figures,
    cases,
  }
}
