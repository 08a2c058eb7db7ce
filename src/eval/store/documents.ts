import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { MemoryError } from '../../errors.ts'
import { asJson, writeAtomically } from '../../files/atomic-write.ts'
import { baselinePath, environmentPath, manifestName, packPath, runPath, safeId, treePath } from './layout.ts'
import { type Checked, checkArtifact, parseArtifact, required } from './parse-artifact.ts'
import { readBounded } from './read-bounded.ts'
import { readPlace } from './scan.ts'
import type { BaselineSnapshot } from './schemas/baseline.ts'
import type { Manifest } from './schemas/manifest.ts'
import type { Environment, RunSummary } from './schemas/run.ts'

/** A document by its id: checked, or null where there is none. Unreadable is never the same as absent. */
export type Found<Value> = Checked<Value> | null

export function readRun(root: string, runId: string): Found<RunSummary> {
  const path = runPath(root, runId)
  if (exists(path)) return readPlace({ path, file: `runs/${runId}.json`, id: runId }, 'runs')
  // Stores made by others keep their runs in folders by day.
  for (const day of daysIn(treePath(root, 'runs'))) {
    const file = `runs/${day}/${runId}.json`
    if (exists(join(root, file))) return readPlace({ path: join(root, file), file, id: runId }, 'runs')
  }
  return null
}

export function readBaseline(root: string, snapshotId: string): Found<BaselineSnapshot> {
  const path = baselinePath(root, snapshotId)
  if (!exists(path)) return null
  return readPlace({ path, file: `baselines/${snapshotId}.json`, id: snapshotId }, 'baselines')
}

export function readManifest(root: string, benchmarkId: string): Found<Manifest> {
  const path = packPath(root, benchmarkId)
  if (!exists(path)) return null
  const file = `benchmarks/${benchmarkId}/${manifestName}`
  return readPlace({ path: join(path, manifestName), file, id: benchmarkId }, 'benchmarks')
}

export function readEnvironment(root: string, runId: string): Found<Environment> {
  const path = environmentPath(root, runId)
  if (!exists(path)) return null
  const file = `runs/${runId}/environment.json`
  const bytes = readBounded(path, file)
  return bytes.ok ? parseArtifact('environment', bytes.value, file) : bytes
}

/** Keeps a run's summary, in place of an earlier one of the same run. */
export async function writeRun(root: string, run: RunSummary): Promise<void> {
  const valid = required(checkArtifact('run-summary', run, `runs/${run.runId}.json`), 'run-summary')
  await writeAtomically(runPath(root, run.runId), asJson(valid), { existing: 'replace' })
}

/** Claims the id of a new run by writing its first summary. */
export async function createRun(root: string, run: RunSummary): Promise<void> {
  const valid = required(checkArtifact('run-summary', run, `runs/${run.runId}.json`), 'run-summary')
  if (await writeAtomically(runPath(root, run.runId), asJson(valid), { existing: 'keep' })) return
  throw new MemoryError('conflict', `A run "${run.runId}" exists already.`, { hint: 'Choose another run id.' })
}

export async function writeEnvironment(root: string, environment: Environment): Promise<void> {
  const file = `runs/${environment.runId}/environment.json`
  const valid = required(checkArtifact('environment', environment, file), 'environment')
  await writeAtomically(environmentPath(root, environment.runId), asJson(valid), { existing: 'replace' })
}

/** Keeps a snapshot. Says whether it was written: without `replace` an existing one stays. */
export async function writeBaseline(
  root: string,
  snapshot: BaselineSnapshot,
  { replace }: { readonly replace: boolean },
): Promise<boolean> {
  const valid = required(checkArtifact('baseline', snapshot, `baselines/${snapshot.snapshotId}.json`), 'baseline')
  const path = baselinePath(root, snapshot.snapshotId)
  return writeAtomically(path, asJson(valid), { existing: replace ? 'replace' : 'keep' })
}

/** The run, or an error that says that there is none or what is wrong with it. */
export function requireRun(root: string, runId: string): RunSummary {
  const found = readRun(root, safeId(runId, 'runId'))
  if (found !== null) return required(found, 'run-summary')
  throw new MemoryError('not_found', `There is no run "${runId}" in the eval store.`, {
    hint: 'The latest runs are listed by `credence benchmark status`.',
  })
}

const exists = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined

const daysIn = (directory: string): readonly string[] =>
  exists(directory) ? readdirSync(directory).filter((name) => /^\d{4}-\d{2}-\d{2}$/u.test(name)) : []
