import { MemoryError } from '../../../errors.ts'
import { type BenchmarkComparison, compareBenchmark } from '../../compare/compare.ts'
import { type CaseDiff, diffRuns } from '../../compare/diff.ts'
import { type CaseFigures, type Figures, figuresOfBaseline, figuresOfRun, summariseCases } from '../../score/figures.ts'
import { casesOf } from '../../store/case-log.ts'
import { readBaseline, readEnvironment, readRun, requireRun, scan } from '../../store/documents.ts'
import { required } from '../../store/parse-artifact.ts'
import type { CaseRecord, Environment, RunSummary } from '../../store/schemas/run.ts'

/** One run on the page, with what it is compared with. */
export type ReportedRun = {
  readonly run: RunSummary
  readonly environment: Environment | null
  readonly records: readonly CaseRecord[]
  readonly figures: CaseFigures
  /** What it is compared with, in words; null when there is nothing. */
  readonly reference: string | null
  readonly comparison: BenchmarkComparison | null
  /** By case id, where the cases of the other side were kept. */
  readonly diffs: ReadonlyMap<string, CaseDiff>
  /** Completed runs of the same benchmark on the same system, oldest first, this one among them. */
  readonly history: readonly RunSummary[]
}

export type ReportData = { readonly generatedAt: string; readonly runs: readonly ReportedRun[] }

export type ReportRequest = {
  /** Which runs; without any, the latest completed run of every benchmark and system. */
  readonly runIds: readonly string[]
  /** Compare with this baseline; without one, with the run before. */
  readonly snapshotId?: string | undefined
  readonly now: Date
}

/** More runs than this are not drawn. */
const longestHistory = 50

/** Gathers what the page shows. */
export async function reportData(root: string, { runIds, snapshotId, now }: ReportRequest): Promise<ReportData> {
  const completed = await completedRuns(root)
  const wanted = runIds.length > 0 ? runIds.map((id) => requireRun(root, id)) : latestOfEach(completed)
  if (wanted.length === 0) {
    throw new MemoryError('not_found', 'There is no completed run to show.', {
      hint: 'Run a benchmark first: `credence benchmark run ID`.',
    })
  }
  const baseline = snapshotId === undefined ? null : baselineFigures(root, snapshotId)
  const runs: ReportedRun[] = []
  for (const run of wanted) runs.push(await reportedRun(root, run, completed, baseline))
  return { generatedAt: now.toISOString(), runs }
}

async function reportedRun(
  root: string,
  run: RunSummary,
  completed: readonly RunSummary[],
  baseline: Baseline | null,
): Promise<ReportedRun> {
  const environment = readEnvironment(root, run.runId)
  const { records } = await casesOf(root, run.runId)
  const figures = summariseCases(records)
  const family = completed.filter((other) => keyOf(other) === keyOf(run))
  const earlier = family.filter((other) => timeOf(other) < timeOf(run) && other.runId !== run.runId).at(-1)
  const reference = await referenceFor(root, run, baseline, earlier)
  const comparison =
    reference === null
      ? null
      : compareBenchmark({ base: reference.figures, candidate: figuresOfRun(run, figures.results) })
  return {
    run,
    environment: environment?.ok ? environment.value : null,
    records: [...records].sort((one, other) =>
      one.caseId < other.caseId ? -1 : one.caseId > other.caseId ? 1 : one.repeat - other.repeat,
    ),
    figures,
    reference: reference?.label ?? null,
    comparison,
    diffs: reference === null ? new Map() : await diffsWith(root, reference.runId, run.runId),
    history: family.slice(-longestHistory),
  }
}

type Reference = { readonly label: string; readonly runId: string; readonly figures: Figures }
type Baseline = { readonly snapshotId: string; readonly figures: readonly Figures[] }

async function referenceFor(
  root: string,
  run: RunSummary,
  baseline: Baseline | null,
  earlier: RunSummary | undefined,
): Promise<Reference | null> {
  if (baseline !== null) {
    const figures = baseline.figures.find(
      ({ benchmarkId, system }) =>
        benchmarkId === run.benchmarkId && (system === null || system.name === (run.system?.name ?? system.name)),
    )
    return figures === undefined ? null : { label: `baseline ${baseline.snapshotId}`, runId: figures.runId, figures }
  }
  if (earlier === undefined) return null
  const { results } = summariseCases((await casesOf(root, earlier.runId)).records)
  return { label: `run ${earlier.runId}`, runId: earlier.runId, figures: figuresOfRun(earlier, results) }
}

/** A baseline may come from another store, whose cases are not here. */
async function diffsWith(root: string, baseId: string, runId: string): Promise<ReadonlyMap<string, CaseDiff>> {
  if (readRun(root, baseId)?.ok !== true) return new Map()
  const { fixed, broken, stillFailing, changed } = await diffRuns(root, baseId, runId)
  return new Map([...fixed, ...broken, ...stillFailing, ...changed].map((diff) => [diff.id, diff]))
}

function baselineFigures(root: string, snapshotId: string): Baseline {
  const found = readBaseline(root, snapshotId)
  if (found === null) {
    throw new MemoryError('not_found', `There is no baseline "${snapshotId}" in ${root}.`, {
      hint: 'Make one with `credence benchmark snapshot`.',
    })
  }
  const { benchmarks } = required(found, 'baseline')
  return { snapshotId, figures: benchmarks.map(figuresOfBaseline) }
}

async function completedRuns(root: string): Promise<readonly RunSummary[]> {
  const runs: RunSummary[] = []
  await scan(root, 'runs', ({ checked }) => {
    if (checked.ok && checked.value.status === 'completed' && checked.value.filter === undefined)
      runs.push(checked.value)
  })
  return runs.sort((one, other) => timeOf(one) - timeOf(other) || (one.runId < other.runId ? -1 : 1))
}

const latestOfEach = (runs: readonly RunSummary[]): readonly RunSummary[] =>
  [...new Map(runs.map((run) => [keyOf(run), run])).values()].sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1))

const keyOf = ({ benchmarkId, system }: RunSummary): string => `${benchmarkId}\n${system?.name ?? ''}`
const timeOf = ({ completedAt, startedAt }: RunSummary): number => Date.parse(completedAt ?? startedAt)
