import { statSync } from 'node:fs'
import { type HeldArtifact, type StoreTree, scan, storeTrees, treePath } from './documents.ts'
import type { BaselineSnapshot, RunStatus, RunSummary } from './schemas/run.ts'
import type { ShadowRecord } from './schemas/shadow-record.ts'

/** Max listed invalid files; the counts stay exact. */
const maxInvalidFiles = 100

export type StoreStatus = Awaited<ReturnType<typeof storeStatus>>

/** The content of an eval store. Reads every document once, and keeps only counters and the latest documents. */
export async function storeStatus(root: string) {
  const benchmarks = await benchmarkStatus(root)
  const runs = await runStatus(root)
  const shadow = latestOf<ShadowRecord>((record) => [record.recordedAt, record.traceId])
  const baseline = latestOf<BaselineSnapshot>((snapshot) => [snapshot.createdAt, snapshot.snapshotId])
  const shadows = await countDocuments(root, 'shadow', shadow.see)
  const baselines = await countDocuments(root, 'baselines', baseline.see)
  const latestShadow = shadow.value()
  const latestBaseline = baseline.value()
  return {
    rootDir: root,
    benchmarkDir: treePath(root, 'benchmarks'),
    runsDir: treePath(root, 'runs'),
    shadowDir: treePath(root, 'shadow'),
    baselinesDir: treePath(root, 'baselines'),
    /** Folders that do not exist, as opposed to empty ones. */
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
      latestTraceId: latestShadow?.traceId ?? null,
      latestRecordedAt: latestShadow?.recordedAt ?? null,
      latestSessionKey: latestShadow?.sessionKey ?? null,
    },
    baselines: {
      ...baselines.figures,
      latestSnapshotId: latestBaseline?.snapshotId ?? null,
      latestCreatedAt: latestBaseline?.createdAt ?? null,
      latestBenchmarkCount: latestBaseline?.benchmarkCount ?? null,
    },
    latestRun: runs.latest,
    latestShadow,
    latestBaseline,
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
  const { figures, invalid } = await countDocuments(root, 'benchmarks', (manifest) => {
    totalCases += manifest.cases.length
    for (const tag of manifest.tags ?? []) sets.tags.add(tag)
    for (const link of manifest.sourceLinks ?? []) sets.sourceLinks.add(link)
    if (manifest.benchmarkType !== 'memory-red-team') return
    redTeam += 1
    if (manifest.attackClass !== undefined) sets.attackClasses.add(manifest.attackClass)
    if (manifest.targetSurface !== undefined) sets.targetSurfaces.add(manifest.targetSurface)
  })
  const lists = Object.entries(sets).map(([name, set]) => [name, [...set].sort()])
  const sorted: Readonly<Record<keyof typeof sets, readonly string[]>> = Object.fromEntries(lists)
  return { figures: { ...figures, redTeam, totalCases, ...sorted }, invalid }
}

async function runStatus(root: string) {
  const byStatus: Record<RunStatus, number> = { completed: 0, failed: 0, partial: 0, running: 0 }
  const keyOf = (run: RunSummary) => [run.completedAt ?? run.startedAt, run.runId] as const
  const latest = latestOf(keyOf)
  const completed = latestOf(keyOf)
  const { figures, invalid } = await countDocuments(root, 'runs', (run) => {
    byStatus[run.status] += 1
    latest.see(run)
    if (run.status === 'completed') completed.see(run)
  })
  const latestCompletedAt = completed.value()?.completedAt ?? null
  return { figures: { ...figures, ...byStatus }, invalid, latest: latest.value(), latestCompletedAt }
}

async function countDocuments<Tree extends StoreTree>(
  root: string,
  tree: Tree,
  see: (document: HeldArtifact<Tree>) => void,
) {
  const figures = { total: 0, valid: 0, invalid: 0 }
  const invalid: { readonly path: string; readonly field: string; readonly error: string }[] = []
  await scan(root, tree, ({ checked }) => {
    figures.total += 1
    if (checked.ok) {
      figures.valid += 1
      see(checked.value)
      return
    }
    figures.invalid += 1
    const [{ file, field, message }] = checked.problems
    if (invalid.length < maxInvalidFiles) invalid.push({ path: file, field, error: `${field} ${message}` })
  })
  return { figures, invalid }
}

/** Tracks the newest value. Of values with the same time it takes the greater id, so that the order of reading does not matter. */
function latestOf<Value>(keyOf: (value: Value) => readonly [timestamp: string, id: string]) {
  let latest: Value | null = null
  let latestAt = Number.NEGATIVE_INFINITY
  let latestId = ''
  return {
    see: (value: Value): void => {
      const [timestamp, id] = keyOf(value)
      const at = Date.parse(timestamp)
      if (at < latestAt || (at === latestAt && id < latestId)) return
      latest = value
      latestAt = at
      latestId = id
    },
    value: (): Value | null => latest,
  }
}
