import type { BaselineBenchmark, CaseResult } from '../store/schemas/baseline.ts'
import type { MetricDeclaration } from '../store/schemas/metric-declaration.ts'
import type { RunSummary } from '../store/schemas/run-summary.ts'

/** One side of a comparison: a run, or the accepted figures of one. What nobody recorded is null, never zero. */
export type Figures = {
  readonly benchmarkId: string
  readonly runId: string
  readonly passRate: number
  readonly totalCases: number | null
  readonly errorCases: number | null
  readonly metrics: Readonly<Record<string, number>>
  readonly packHash: string | null
  readonly system: { readonly name: string; readonly version: string } | null
  readonly seed: number | null
  /** Whether results vary between runs of the same build, so that statistics must decide. */
  readonly isNoisy: boolean
  readonly declarations: readonly MetricDeclaration[]
  readonly cases: ReadonlyMap<string, CaseResult> | null
}

/** The figures of a run; `results` are its cases, where it kept them. */
export function figuresOfRun(run: RunSummary, results: readonly CaseResult[] | null): Figures {
  return {
    ...shared(run),
    passRate: run.passedCases / run.totalCases,
    totalCases: run.totalCases,
    errorCases: run.errorCases ?? null,
    cases: results === null || results.length === 0 ? null : byId(results),
  }
}

export function figuresOfBaseline(benchmark: BaselineBenchmark): Figures {
  const { passRate, totalCases = null, errorCases = null, caseResults } = benchmark
  return {
    ...shared(benchmark),
    passRate,
    totalCases,
    errorCases,
    cases: caseResults === undefined ? null : byId(caseResults),
  }
}

const byId = (results: readonly CaseResult[]): ReadonlyMap<string, CaseResult> =>
  new Map(results.map((result) => [result.id, result]))

function shared(source: RunSummary | BaselineBenchmark) {
  const { benchmarkId, runId, metrics = {}, packHash = null, system = null, seed = null } = source
  const { deterministic, repeats = 1, metricDeclarations = [] } = source
  // Repeats are asked for where results vary; a pack that declares itself deterministic knows better.
  const isNoisy = deterministic === false || (deterministic === undefined && repeats > 1)
  return { benchmarkId, runId, metrics, packHash, system, seed, isNoisy, declarations: metricDeclarations }
}
