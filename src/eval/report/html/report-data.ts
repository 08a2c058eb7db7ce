import { MemoryError } from '../../../errors.ts'
import { type BenchmarkComparison, compareBenchmark } from '../../compare/compare.ts'
import { type CaseDiff, diffRuns } from '../../compare/diff.ts'
import { type Figures, figuresOfBaseline, figuresOfRun, summariseCases } from '../../score/figures.ts'
import { casesOf } from '../../store/case-log.ts'
import { readEnvironment, readRun, requireBaseline, requireRun, scan } from '../../store/documents.ts'
import { required } from '../../store/parse-artifact.ts'
import type { CaseRecord, Environment, RunSummary } from '../../store/schemas/run.ts'

/** One run on the page, and what it is compared with. */
export type ReportedRun = {
  readonly run: RunSummary
  readonly environment: Environment | null
  readonly records: readonly CaseRecord[]
  /** The name of the run or baseline it is compared with; null for none. */
  readonly reference: string | null
  readonly comparison: BenchmarkComparison | null
  /** By case id, where the cases of the other side were kept. */
  readonly diffs: ReadonlyMap<string, CaseDiff>
  /** Completed runs of the same benchmark on the same system, oldest first, this one among them. */
  readonly history: readonly RunSummary[]
}

export type ReportData = { readonly generatedAt: string; readonly runs: readonly ReportedRun[] }

export type ReportRequest = {
  /** Without any, the latest completed run of every benchmark and system. */
  readonly runIds: readonly string[]
  /** Compare with this baseline; without one, with the run before. */
  readonly snapshotId?: string | undefined
  readonly now: Date
}

const longestHistory = 50

/** Gathers the data of the page. */
export async function reportData(root: string, { runIds, snapshotId, now }: ReportRequest): Promise<ReportData> {
  const completed = await completedRuns(root)
  const latest = [...new Map(completed.map((run) => [keyOf(run), run])).values()]
  const byKey = latest.sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1))
  const wanted = runIds.length > 0 ? runIds.map((id) => requireRun(root, id)) : byKey
  if (wanted.length === 0) {
    throw new MemoryError('not_found', 'There is no completed run to show.', {
      hint: 'Run a benchmark first: `credence benchmark run ID`.',
    })
  }
  const baseline = snapshotId === undefined ? null : required(requireBaseline(root, snapshotId), 'baseline')
  const accepted = baseline?.benchmarks.map(figuresOfBaseline)
  const runs: ReportedRun[] = []
  for (const run of wanted) {
    const history = completed.filter((other) => keyOf(other) === keyOf(run))
    const reference =
      accepted === undefined
        ? await runBefore(root, run, history)
        : referenceIn(accepted, run, `baseline ${baseline?.snapshotId}`)
    runs.push(await reportedRun(root, run, history, reference))
  }
  return { generatedAt: now.toISOString(), runs }
}

async function reportedRun(
  root: string,
  run: RunSummary,
  history: readonly RunSummary[],
  reference: Reference | null,
): Promise<ReportedRun> {
  const environment = readEnvironment(root, run.runId)
  const { records } = await casesOf(root, run.runId)
  const candidate = figuresOfRun(run, summariseCases(records).results)
  return {
    run,
    environment: environment?.ok ? environment.value : null,
    records: records.sort((one, other) =>
      one.caseId < other.caseId ? -1 : one.caseId > other.caseId ? 1 : one.repeat - other.repeat,
    ),
    reference: reference?.label ?? null,
    comparison: reference === null ? null : compareBenchmark({ base: reference.figures, candidate }),
    diffs: reference === null ? new Map() : await diffsWith(root, reference.figures.runId, run.runId),
    history: history.slice(-longestHistory),
  }
}

type Reference = { readonly label: string; readonly figures: Figures }

function referenceIn(accepted: readonly Figures[], run: RunSummary, label: string): Reference | null {
  const figures = accepted.find(
    ({ benchmarkId, system }) =>
      benchmarkId === run.benchmarkId && (system === null || system.name === (run.system?.name ?? system.name)),
  )
  return figures === undefined ? null : { label, figures }
}

async function runBefore(root: string, run: RunSummary, history: readonly RunSummary[]): Promise<Reference | null> {
  const earlier = history.filter((other) => timeOf(other) < timeOf(run) && other.runId !== run.runId).at(-1)
  if (earlier === undefined) return null
  const { results } = summariseCases((await casesOf(root, earlier.runId)).records)
  return { label: `run ${earlier.runId}`, figures: figuresOfRun(earlier, results) }
}

/** A baseline may come from another store, whose cases are not here. */
async function diffsWith(root: string, baseId: string, runId: string): Promise<ReadonlyMap<string, CaseDiff>> {
  if (readRun(root, baseId)?.ok !== true) return new Map()
  const { fixed, broken, stillFailing, changed } = await diffRuns(root, baseId, runId)
  return new Map([...fixed, ...broken, ...stillFailing, ...changed].map((diff) => [diff.id, diff]))
}

async function completedRuns(root: string): Promise<readonly RunSummary[]> {
  const runs: RunSummary[] = []
  await scan(root, 'runs', ({ checked }) => {
    if (checked.ok && checked.value.status === 'completed' && checked.value.filter === undefined)
      runs.push(checked.value)
  })
  return runs.sort((one, other) => timeOf(one) - timeOf(other) || (one.runId < other.runId ? -1 : 1))
}

const keyOf = ({ benchmarkId, system }: RunSummary): string => `${benchmarkId}\n${system?.name ?? ''}`
const timeOf = ({ completedAt, startedAt }: RunSummary): number => Date.parse(completedAt ?? startedAt)
