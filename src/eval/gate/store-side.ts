import { type Figures, figuresOfRun } from '../score/figures.ts'
import { readEnvironment } from '../store/documents.ts'
import { type InvalidFiles, invalidFiles } from '../store/invalid-files.ts'
import type { StoreTree } from '../store/layout.ts'
import { scan } from '../store/scan.ts'
import type { RunSummary } from '../store/schemas/run-summary.ts'
import { type GateReason, invalidReason, type Side } from './gate.ts'
import { auditRun, latestRuns, type WantedSystem } from './latest-runs.ts'

/** How many documents of each tree are invalid. */
export type InvalidCounts = {
  readonly benchmarks: number
  readonly runs: number
  readonly shadows: number
  readonly baselines: number
}

export type StoreSide = Side & { readonly invalid: InvalidCounts }

export type StoreSideOptions = {
  /** What reasons call this side. */
  readonly name: string
  /** Refuse runs made from a tree with uncommitted changes, and those that do not say. */
  readonly requireCleanTree?: boolean
  /** Whose runs count, where several systems were run. */
  readonly system?: WantedSystem
}

/**
 * What the latest completed runs of a store stand for. Every invalid document is a reason against it, and so is a run
 * that contradicts its own cases, or a later one that did not complete.
 */
export async function storeSide(root: string, options: StoreSideOptions): Promise<StoreSide> {
  const { name, requireCleanTree = false, system } = options
  const runs = await latestRuns(root, system)
  const invalid = {
    benchmarks: await invalidIn(root, 'benchmarks'),
    runs: runs.invalid,
    shadows: await invalidIn(root, 'shadow'),
    baselines: await invalidIn(root, 'baselines'),
  }
  const reasons = Object.values(invalid).flatMap((files) => invalidReasons(files, name))
  const figures = new Map<string, Figures>()
  for (const [id, { completed, newerUnfinished }] of runs.byBenchmark) {
    if (newerUnfinished !== null) reasons.push(unfinishedReason(newerUnfinished, completed, name))
    if (completed === null) continue
    const { results, problems, outdated } = await auditRun(root, completed)
    reasons.push(...problems.map((problem) => ({ ...invalidReason(problem, name), benchmarkId: id })))
    if (outdated !== null) reasons.push({ kind: 'not-comparable', benchmarkId: id, line: `${id}: ${outdated}` })
    if (requireCleanTree) reasons.push(...dirtyReasons(root, completed))
    if (newerUnfinished === null) figures.set(id, figuresOfRun(completed, results))
  }
  const counts = {
    benchmarks: invalid.benchmarks.count,
    runs: invalid.runs.count,
    shadows: invalid.shadows.count,
    baselines: invalid.baselines.count,
  }
  return { figures, reasons, invalid: counts }
}

async function invalidIn(root: string, tree: StoreTree): Promise<InvalidFiles> {
  const invalid = invalidFiles()
  await scan(root, tree, ({ checked }) => invalid.see(checked))
  return invalid.found()
}

function invalidReasons({ count, problems }: InvalidFiles, side: string): GateReason[] {
  const files = new Set(problems.map(({ file }) => file)).size
  const more: GateReason[] =
    files < count
      ? [{ kind: 'invalid', benchmarkId: null, line: `Invalid in the ${side}: ${count - files} more files.` }]
      : []
  return [...problems.map((problem) => invalidReason(problem, side)), ...more]
}

function unfinishedReason(run: RunSummary, completed: RunSummary | null, side: string): GateReason {
  const before = completed === null ? '' : ` The completed run ${completed.runId} before it does not count.`
  return {
    kind: 'not-comparable',
    benchmarkId: run.benchmarkId,
    line: `${run.benchmarkId}: the latest run ${run.runId} in the ${side} is ${run.status}, not completed.${before}`,
  }
}

function dirtyReasons(root: string, { runId, benchmarkId }: RunSummary): readonly GateReason[] {
  const environment = readEnvironment(root, runId)
  const git = environment?.ok ? environment.value.git : null
  if (git !== null && !git.dirty) return []
  const why = git === null ? 'does not say which commit it was made from' : 'was made with uncommitted changes'
  return [{ kind: 'invalid', benchmarkId, line: `${benchmarkId}: the run ${runId} ${why}.` }]
}
