import { statSync } from 'node:fs'
import { basename } from 'node:path'
import { MemoryError } from '../../../errors.ts'
import { manifestOf, packFolders } from '../../../eval/pack/manifest.ts'
import { casesOf } from '../../../eval/store/case-log.ts'
import { caseLogPath, scan, storeTrees, treePath } from '../../../eval/store/documents.ts'
import type { Manifest } from '../../../eval/store/schemas/manifest.ts'
import type { BaselineSnapshot, CaseRecord, RunSummary } from '../../../eval/store/schemas/run.ts'

/** A pack that was found, readable or not. */
export type FoundPack = {
  readonly id: string
  readonly source: 'store' | 'shipped'
  readonly manifest: Manifest | null
  readonly problem: string | null
}

export type RunCases = { readonly records: readonly CaseRecord[]; readonly problems: readonly string[] }

const mostRunsKept = 4

/** Reads an eval store, and reads it again only when something in it has changed. */
export class EvalArchive {
  readonly #root: string
  readonly #shipped: string
  readonly #lists = new Map<string, { readonly stamp: string; readonly value: Promise<unknown> }>()
  readonly #cases = new Map<string, { readonly stamp: string; readonly value: Promise<RunCases> }>()

  constructor({ root, shipped }: { readonly root: string; readonly shipped: string }) {
    this.#root = root
    this.#shipped = shipped
  }

  /** Changes when a document is added, replaced or removed. */
  stamp(): string {
    return storeTrees.map((tree) => stampOf(treePath(this.#root, tree))).join(' ')
  }

  /** Newest first. */
  runs(): Promise<readonly RunSummary[]> {
    return this.#list('runs', async () => {
      const runs: RunSummary[] = []
      await scan(this.#root, 'runs', ({ checked }) => {
        if (checked.ok) runs.push(checked.value)
      })
      return runs.sort((one, other) => timeOf(other) - timeOf(one) || (one.runId < other.runId ? 1 : -1))
    })
  }

  /** Newest first. */
  baselines(): Promise<readonly BaselineSnapshot[]> {
    return this.#list('baselines', async () => {
      const snapshots: BaselineSnapshot[] = []
      await scan(this.#root, 'baselines', ({ checked }) => {
        if (checked.ok) snapshots.push(checked.value)
      })
      return snapshots.sort((one, other) => Date.parse(other.createdAt) - Date.parse(one.createdAt))
    })
  }

  /** Those in the store, which go before those that ship, by id. */
  packs(): Promise<readonly FoundPack[]> {
    return this.#list('benchmarks', async () => {
      const own = statSync(treePath(this.#root, 'benchmarks'), { throwIfNoEntry: false })
      const directories = [
        ...(own === undefined ? [] : packFolders(treePath(this.#root, 'benchmarks'))).map(
          (path) => ['store', path] as const,
        ),
        ...packFolders(this.#shipped).map((path) => ['shipped', path] as const),
      ]
      const packs = new Map<string, FoundPack>()
      for (const [source, directory] of directories) {
        const pack = readPack(directory, source)
        if (!packs.has(pack.id)) packs.set(pack.id, pack)
      }
      return [...packs.values()].sort((one, other) => (one.id < other.id ? -1 : 1))
    })
  }

  async run(runId: string): Promise<RunSummary> {
    const run = (await this.runs()).find((known) => known.runId === runId)
    if (run !== undefined) return run
    throw new MemoryError('not_found', `There is no run "${runId}" in the eval store.`, {
      hint: 'GET evals/runs lists them.',
    })
  }

  /** The records of one run. Those looked at last are kept. */
  async cases(runId: string): Promise<RunCases> {
    const stamp = stampOf(caseLogPath(this.#root, runId))
    const known = this.#cases.get(runId)
    if (known?.stamp === stamp) return known.value
    const value = casesOf(this.#root, runId).then(({ records, problems }) => ({
      records,
      problems: problems.map(({ file, field, message }) => `${file}: ${field} ${message}.`),
    }))
    this.#cases.delete(runId)
    this.#cases.set(runId, { stamp, value })
    value.catch(() => this.#cases.delete(runId))
    const [oldest] = this.#cases.keys()
    if (this.#cases.size > mostRunsKept && oldest !== undefined) this.#cases.delete(oldest)
    return value
  }

  /** The manifest that a run was made from, as far as it is still there. */
  async manifest(benchmarkId: string): Promise<Manifest | null> {
    return (await this.packs()).find(({ id }) => id === benchmarkId)?.manifest ?? null
  }

  async #list<Value>(tree: 'runs' | 'baselines' | 'benchmarks', read: () => Promise<Value>): Promise<Value> {
    const stamp = stampOf(treePath(this.#root, tree))
    const known = this.#lists.get(tree)
    // Each tree is read by one method only, so that what is kept under its name is what that method made.
    if (known?.stamp === stamp) return known.value as Promise<Value>
    const value = read()
    this.#lists.set(tree, { stamp, value })
    value.catch(() => this.#lists.delete(tree))
    return value
  }
}

function readPack(directory: string, source: FoundPack['source']): FoundPack {
  const id = basename(directory)
  try {
    const manifest = manifestOf(directory)
    return { id: manifest.benchmarkId, source, manifest, problem: null }
  } catch (error) {
    if (!(error instanceof MemoryError)) throw error
    return { id, source, manifest: null, problem: error.message }
  }
}

/** Documents are replaced by renaming, which changes the folder they are in. */
function stampOf(path: string): string {
  const stats = statSync(path, { throwIfNoEntry: false, bigint: true })
  return stats === undefined ? 'none' : `${stats.mtimeNs}-${stats.size}`
}

const timeOf = ({ completedAt, startedAt }: RunSummary): number => Date.parse(completedAt ?? startedAt)
