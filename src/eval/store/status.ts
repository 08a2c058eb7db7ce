import { statSync } from 'node:fs'
import { type Held, type StoreTree, scan, storeTrees, treePath } from './documents.ts'
import type { Problem } from './parse-artifact.ts'
import type { BaselineSnapshot, RunStatus, RunSummary } from './schemas/run.ts'
import type { ShadowRecord } from './schemas/shadow-record.ts'

/** One unusable file, and the first thing that is wrong with it. */
export type InvalidFile = { readonly path: string; readonly field: string; readonly error: string }

/** Longer lists of invalid files are cut; the counts beside them stay exact. */
export const mostInvalidFiles = 100

export type StoreStatus = Awaited<ReturnType<typeof storeStatus>>

/** What is in an eval store. Reads every document once and keeps counters and the latest ones only. */
export async function storeStatus(root: string) {
  const benchmarks = await benchmarkStatus(root)
  const runs = await runStatus(root)
  const shadows = await shadowStatus(root)
  const baselines = await baselineStatus(root)
  return {
    rootDir: root,
    benchmarkDir: treePath(root, 'benchmarks'),
    runsDir: treePath(root, 'runs'),
    shadowDir: treePath(root, 'shadow'),
    baselinesDir: treePath(root, 'baselines'),
    /** Trees that are not there, as opposed to empty. */
    missingDirs: storeTrees.filter((tree) => statSync(treePath(root, tree), { throwIfNoEntry: false }) === undefined),
    benchmarks: benchmarks.figures,
    runs: {
      ...runs.figures,
      latestRunId: runs.latest?.runId ?? null,
      latestBenchmarkId: runs.latest?.benchmarkId ?? null,
      latestCompletedAt: runs.latestCompletedAt,
    },
    shadows: {
      ...shadows.figures,
      latestTraceId: shadows.latest?.traceId ?? null,
      latestRecordedAt: shadows.latest?.recordedAt ?? null,
      latestSessionKey: shadows.latest?.sessionKey ?? null,
    },
    baselines: {
      ...baselines.figures,
      latestSnapshotId: baselines.latest?.snapshotId ?? null,
      latestCreatedAt: baselines.latest?.createdAt ?? null,
      latestBenchmarkCount: baselines.latest?.benchmarkCount ?? null,
    },
    latestRun: runs.latest,
    latestShadow: shadows.latest,
    latestBaseline: baselines.latest,
    invalidBenchmarks: benchmarks.invalid,
    invalidRuns: runs.invalid,
    invalidShadows: shadows.invalid,
    invalidBaselines: baselines.invalid,
  }
}

async function benchmarkStatus(root: string) {
  let redTeam = 0
  let totalCases = 0
  const sets = {
    attackClasses: new Set<string>(),
    targetSurfaces: new Set<string>(),
    tags: new Set<string>(),
    sourceLinks: new Set<string>(),
  }
  const count = await counted(root, 'benchmarks', (manifest) => {
    totalCases += manifest.cases.length
    for (const tag of manifest.tags ?? []) sets.tags.add(tag)
    for (const link of manifest.sourceLinks ?? []) sets.sourceLinks.add(link)
    if (manifest.benchmarkType !== 'memory-red-team') return
    redTeam += 1
    if (manifest.attackClass !== undefined) sets.attackClasses.add(manifest.attackClass)
    if (manifest.targetSurface !== undefined) sets.targetSurfaces.add(manifest.targetSurface)
  })
  const figures = {
    ...count.figures,
    redTeam,
    totalCases,
    attackClasses: [...sets.attackClasses].sort(),
    targetSurfaces: [...sets.targetSurfaces].sort(),
    tags: [...sets.tags].sort(),
    sourceLinks: [...sets.sourceLinks].sort(),
  }
  return { figures, invalid: count.invalid }
}

async function runStatus(root: string) {
  const byStatus: Record<RunStatus, number> = { completed: 0, failed: 0, partial: 0, running: 0 }
  const latest = latestOf<RunSummary>((run) => [run.completedAt ?? run.startedAt, run.runId])
  const completed = latestOf<RunSummary>((run) => [run.completedAt ?? run.startedAt, run.runId])
  const { figures, invalid } = await counted(root, 'runs', (run) => {
    byStatus[run.status] += 1
    latest.see(run)
    if (run.status === 'completed') completed.see(run)
  })
  const latestCompletedAt = completed.value()?.completedAt ?? null
  return { figures: { ...figures, ...byStatus }, invalid, latest: latest.value(), latestCompletedAt }
}

async function shadowStatus(root: string) {
  const latest = latestOf<ShadowRecord>((record) => [record.recordedAt, record.traceId])
  const { figures, invalid } = await counted(root, 'shadow', latest.see)
  return { figures, invalid, latest: latest.value() }
}

async function baselineStatus(root: string) {
  const latest = latestOf<BaselineSnapshot>((snapshot) => [snapshot.createdAt, snapshot.snapshotId])
  const { figures, invalid } = await counted(root, 'baselines', latest.see)
  return { figures, invalid, latest: latest.value() }
}

/** Counts the documents of a tree and shows each valid one to `see`. */
async function counted<Tree extends StoreTree>(root: string, tree: Tree, see: (document: Held<Tree>) => void) {
  const figures = { total: 0, valid: 0, invalid: 0 }
  const invalid: InvalidFile[] = []
  await scan(root, tree, ({ checked }) => {
    figures.total += 1
    if (checked.ok) {
      figures.valid += 1
      see(checked.value)
      return
    }
    figures.invalid += 1
    if (invalid.length < mostInvalidFiles) invalid.push(invalidFile(checked.problems[0]))
  })
  return { figures, invalid }
}

const invalidFile = ({ file, field, message }: Problem): InvalidFile => ({
  path: file,
  field,
  error: `${field} ${message}`,
})

/** Remembers the newest of what it sees; equal times are decided by id, so the order of seeing does not matter. */
function latestOf<Value>(keyOf: (value: Value) => readonly [timestamp: string, id: string]) {
  let latest: { readonly value: Value; readonly at: number; readonly id: string } | null = null
  return {
    see: (value: Value): void => {
      const [timestamp, id] = keyOf(value)
      const at = Date.parse(timestamp)
      if (latest === null || at > latest.at || (at === latest.at && id > latest.id)) latest = { value, at, id }
    },
    value: (): Value | null => latest?.value ?? null,
  }
}
