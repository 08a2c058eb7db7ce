import { statSync } from 'node:fs'
import { basename } from 'node:path'
import { MemoryError, notFound } from '../errors.ts'
import { manifestOf, packFolders } from '../eval/pack/manifest.ts'
import { readCaseLog } from '../eval/store/case-log.ts'
import { caseLogPath, readRuns, scan, storeTrees, treePath } from '../eval/store/documents.ts'
import type { Manifest } from '../eval/store/schemas/manifest.ts'
import type { BaselineSnapshot, RunSummary } from '../eval/store/schemas/run.ts'
import { RecentMap } from '../recent-map.ts'
import { cacheFor } from './served-memory.ts'

/** A pack in the eval store or in the package, readable or not. */
export type FoundPack = {
  readonly id: string
  readonly source: 'store' | 'shipped'
  readonly directory: string | null
  readonly manifest: Manifest | null
  readonly problem: string | null
}

type RunCases = Awaited<ReturnType<typeof readCases>>

/** The number of runs whose case records are cached. */
const maxCachedRuns = 24

/** The documents of an eval store, cached until their folder changes. */
export class EvalArchive {
  readonly #root: string
  readonly #cases = new RecentMap<() => Promise<RunCases>>(maxCachedRuns)
  /** Newest first. */
  readonly runs: () => Promise<readonly RunSummary[]>
  /** Newest first. */
  readonly baselines: () => Promise<readonly BaselineSnapshot[]>
  /** By id. A pack in the store hides a shipped one with the same id. */
  readonly packs: () => Promise<readonly FoundPack[]>

  constructor({ root, shipped }: { readonly root: string; readonly shipped: string }) {
    this.#root = root
    this.runs = cacheByStamp(treePath(root, 'runs'), () => readRuns(root))
    this.baselines = cacheByStamp(treePath(root, 'baselines'), () => readBaselines(root))
    this.packs = cacheByStamp(treePath(root, 'benchmarks'), async () => readPacks(root, shipped))
  }

  /** Changes when a document is added, replaced or removed. */
  stamp(): string {
    return storeTrees.map((tree) => stampOf(treePath(this.#root, tree))).join(' ')
  }

  async run(runId: string): Promise<RunSummary> {
    const run = (await this.runs()).find((known) => known.runId === runId)
    if (run !== undefined) return run
    throw notFound(`There is no run "${runId}" in the eval store.`, 'GET evals/runs lists them.')
  }

  /** The case records of one run. The most recently read ones are cached. */
  async cases(runId: string): Promise<RunCases> {
    const read = () => cacheByStamp(caseLogPath(this.#root, runId), () => readCases(this.#root, runId))
    return (this.#cases.get(runId) ?? this.#cases.set(runId, read()))()
  }

  /** The manifest of a benchmark; null if its pack no longer exists. */
  async manifest(benchmarkId: string): Promise<Manifest | null> {
    return (await this.packs()).find(({ id }) => id === benchmarkId)?.manifest ?? null
  }
}

async function readCases(root: string, runId: string) {
  const { records, problems } = await readCaseLog(root, runId)
  return { records, problems: problems.map(({ file, field, message }) => `${file}: ${field} ${message}.`) }
}

function readPacks(root: string, shipped: string): readonly FoundPack[] {
  const own = treePath(root, 'benchmarks')
  const found = [
    ...(stampOf(own) === missing ? [] : packFolders(own)).map((directory) => readPack(directory, 'store')),
    ...packFolders(shipped).map((directory) => readPack(directory, 'shipped')),
  ]
  // Reversed, so that the first of two packs with the same id wins.
  const byId = new Map(found.toReversed().map((pack) => [pack.id, pack]))
  return [...byId.values()].sort((a, b) => (a.id < b.id ? -1 : 1))
}

async function readBaselines(root: string): Promise<readonly BaselineSnapshot[]> {
  const snapshots: BaselineSnapshot[] = []
  await scan(root, 'baselines', ({ checked }) => {
    if (checked.ok) snapshots.push(checked.value)
  })
  return snapshots.sort((a, b) => Date.parse(b.createdAt) - Date.parse(a.createdAt))
}

function readPack(directory: string, source: FoundPack['source']): FoundPack {
  try {
    const manifest = manifestOf(directory)
    return { id: manifest.benchmarkId, source, directory, manifest, problem: null }
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error
    return { id: basename(directory), source, directory, manifest: null, problem: error.message }
  }
}

/** Calls `read` again only when the file or folder at `path` has changed. */
function cacheByStamp<Value>(path: string, read: () => Promise<Value>): () => Promise<Value> {
  const owner = {}
  return () => cacheFor(owner, path, stampOf(path), read)
}

const missing = 'missing'

/** A value that changes with the file or folder. Documents are replaced by renaming, which also changes their folder. */
function stampOf(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false, bigint: true })
  return stats === undefined ? missing : `${stats.mtimeNs}-${stats.size}`
}
