import { figuresOfRun } from '../score/figures.ts'
import { readEnvironment } from '../store/documents.ts'
import { type InvalidFiles, invalidFiles } from '../store/invalid-files.ts'
import type { StoreTree } from '../store/layout.ts'
import { problemText } from '../store/parse-artifact.ts'
import { scan } from '../store/scan.ts'
import type { RunSummary } from '../store/schemas/run-summary.ts'
import { type GateReason, invalidReason, type Side, type Standing } from './gate.ts'
import { auditRun, type ChosenRun, latestRuns } from './latest-runs.ts'

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
}

/** What the runs of a store stand for. Every invalid document is a reason against it. */
export async function storeSide(root: string, options: StoreSideOptions): Promise<StoreSide> {
  const { name, requireCleanTree = false } = options
  const runs = await latestRuns(root)
  const invalid = {
    benchmarks: await invalidIn(root, 'benchmarks'),
    runs: runs.invalid,
    shadows: await invalidIn(root, 'shadow'),
    baselines: await invalidIn(root, 'baselines'),
  }
  const standings: Standing[] = []
  for (const chosen of runs.chosen) standings.push(await standingOf(root, chosen, { name, requireCleanTree }))
  const counts = {
    benchmarks: invalid.benchmarks.count,
    runs: invalid.runs.count,
    shadows: invalid.shadows.count,
    baselines: invalid.baselines.count,
  }
  return { standings, reasons: Object.values(invalid).flatMap((files) => invalidReasons(files, name)), invalid: counts }
}

async function standingOf(
  root: string,
  { run, why }: ChosenRun,
  { name, requireCleanTree }: Required<StoreSideOptions>,
): Promise<Standing> {
  const { benchmarkId, runId, status } = run
  const about = { benchmarkId, system: run.system?.name ?? null, taken: { runId, status, why } }
  if (status !== 'completed') return { ...about, figures: null, problems: [], outdated: null }
  const { results, problems, outdated } = await auditRun(root, run)
  const contradictions = problems.map((problem) => `invalid in the ${name}: ${problemText(problem)}`)
  const unclean = requireCleanTree ? uncleanReasons(root, run) : []
  return { ...about, figures: figuresOfRun(run, results), problems: [...contradictions, ...unclean], outdated }
}

async function invalidIn(root: string, tree: StoreTree): Promise<InvalidFiles> {
  const invalid = invalidFiles()
  await scan(root, tree, ({ checked }) => invalid.see(checked))
  return invalid.found()
}

function invalidReasons({ count, problems }: InvalidFiles, side: string): readonly GateReason[] {
  const more = count - new Set(problems.map(({ file }) => file)).size
  const rest = more > 0 ? [{ file: `${more} more files`, field: '', message: 'of the same kind' }] : []
  return [...problems, ...rest].map((problem) => invalidReason(problem, side))
}

function uncleanReasons(root: string, { runId }: RunSummary): readonly string[] {
  const environment = readEnvironment(root, runId)
  const git = environment?.ok ? environment.value.git : null
  if (git !== null && !git.dirty) return []
  return [
    `the run ${runId} ${git === null ? 'does not say which commit it was made from' : 'was made with uncommitted changes'}`,
  ]
}
