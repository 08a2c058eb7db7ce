import { join } from 'node:path'
import { MemoryError } from '../../errors.ts'
import { isSafeId } from './schemas/primitives.ts'

/** The four trees of an eval store. */
export const storeTrees = ['benchmarks', 'runs', 'shadow', 'baselines'] as const
export type StoreTree = (typeof storeTrees)[number]

/** An id on its way into a path; refused when it could lead elsewhere. `field` is what the caller calls it. */
export function safeId(id: string, field: string): string {
  if (isSafeId(id)) return id
  throw new MemoryError('invalid', `The ${field} is ${JSON.stringify(id).slice(0, 80)}, which is not a safe id.`, {
    hint: 'Use 1 to 128 letters, digits, dots, dashes or underscores, without /, \\ or "..".',
  })
}

export const treePath = (root: string, tree: StoreTree): string => join(root, tree)

export const packPath = (root: string, benchmarkId: string): string =>
  join(root, 'benchmarks', safeId(benchmarkId, 'benchmarkId'))

export const manifestName = 'manifest.json'

export const runPath = (root: string, runId: string): string => join(root, 'runs', `${safeId(runId, 'runId')}.json`)

/** Where the cases and the environment of a run are kept. */
export const runFolder = (root: string, runId: string): string => join(root, 'runs', safeId(runId, 'runId'))

export const caseLogPath = (root: string, runId: string): string => join(runFolder(root, runId), 'cases.jsonl')

export const environmentPath = (root: string, runId: string): string => join(runFolder(root, runId), 'environment.json')

export const baselinePath = (root: string, snapshotId: string): string =>
  join(root, 'baselines', `${safeId(snapshotId, 'snapshotId')}.json`)

/** The day a record belongs to, as its folder is called. */
export const dayOf = (timestamp: string): string => new Date(timestamp).toISOString().slice(0, 10)

export const shadowPath = (root: string, recordedAt: string, traceId: string): string =>
  join(root, 'shadow', dayOf(recordedAt), `${safeId(traceId, 'traceId')}.json`)
