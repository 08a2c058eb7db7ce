import { type Dirent, lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { conflict, invalid, notFound } from '../../errors.ts'
import { formatJson, writeAtomically } from '../../files/atomic-write.ts'
import { codeOf, nullIfMissing } from '../../files/leftovers.ts'
import { checkOwn, checkPlain } from '../../files/own-files.ts'
import {
  type Artifact,
  type ArtifactKind,
  type Checked,
  checkArtifact,
  type Problem,
  readArtifact,
  refuseDocument,
  requireValid,
} from './parse-artifact.ts'
import type { Manifest } from './schemas/manifest.ts'
import { isSafeId } from './schemas/primitives.ts'
import type { BaselineSnapshot, RunEnvironment, RunSummary } from './schemas/run.ts'

export const storeTrees = ['benchmarks', 'runs', 'shadow', 'baselines'] as const
export type StoreTree = (typeof storeTrees)[number]

/** The kind of document in each folder, and the field that its file or folder is named after. */
const holdings = {
  benchmarks: { kind: 'manifest', idField: 'benchmarkId' },
  runs: { kind: 'run-summary', idField: 'runId' },
  shadow: { kind: 'shadow-record', idField: 'traceId' },
  baselines: { kind: 'baseline', idField: 'snapshotId' },
} as const satisfies Record<StoreTree, unknown>

export type HeldArtifact<Tree extends StoreTree> = Artifact<(typeof holdings)[Tree]['kind']>

/** Rejects an id that could escape its folder. `field` is the caller's name for the id. */
export function safeId(id: string, field: string): string {
  if (isSafeId(id)) return id
  const hint = 'Use 1 to 128 letters, digits, dots, dashes or underscores, without /, \\ or "..".'
  throw invalid(`The ${field} is ${JSON.stringify(id).slice(0, 80)}, which is not a safe id.`, hint)
}

/** The eval store in a memory directory. Throws if it is a link or belongs to another user. */
export function evalStoreIn(dir: string): string {
  const root = join(dir, 'state', 'evals')
  checkOwn(dir, root)
  return root
}

export const manifestName = 'manifest.json'
export const treePath = (root: string, tree: StoreTree): string => join(root, tree)
export const packPath = (root: string, benchmarkId: string): string =>
  join(root, 'benchmarks', safeId(benchmarkId, 'benchmarkId'))
/** The folder of a run's cases and environment. */
export const runFolder = (root: string, runId: string): string => join(root, 'runs', safeId(runId, 'runId'))
export const runPath = (root: string, runId: string): string => `${runFolder(root, runId)}.json`
export const caseLogPath = (root: string, runId: string): string => join(runFolder(root, runId), 'cases.jsonl')
export const environmentPath = (root: string, runId: string): string => join(runFolder(root, runId), 'environment.json')
export const baselinePath = (root: string, snapshotId: string): string =>
  join(root, 'baselines', `${safeId(snapshotId, 'snapshotId')}.json`)
/** The UTC day of a timestamp, such as 2026-05-08. Shadow records are stored in one folder per day. */
export const dayOf = (timestamp: string): string => new Date(timestamp).toISOString().slice(0, 10)
export const shadowPath = (root: string, recordedAt: string, traceId: string): string =>
  join(root, 'shadow', dayOf(recordedAt), `${safeId(traceId, 'traceId')}.json`)

/** Max time for which reading a large store blocks the event loop. */
const maxTurnMs = 10

/** Passes every document of a folder to `see`, even invalid ones. Not an async iterator: 100,000 awaits cost as much as the checks. */
export async function scan<Tree extends StoreTree>(
  root: string,
  tree: Tree,
  see: (scanned: { readonly file: string; readonly checked: Checked<HeldArtifact<Tree>> }) => void,
): Promise<void> {
  let turn = performance.now()
  for (const found of placesIn(root, tree)) {
    if (performance.now() - turn > maxTurnMs) {
      await setImmediate()
      turn = performance.now()
    }
    if ('message' in found) see({ file: found.file, checked: { ok: false, problems: [found] } })
    else see({ file: found.file, checked: readPlace(found, tree) })
  }
}

/** The path of a document, the name used for it in error messages, and the id in its file name. */
type DocumentPlace = { readonly path: string; readonly file: string; readonly id: string }

/** Reads a document and checks that its id matches its file name. */
function readPlace<Tree extends StoreTree>({ path, file, id }: DocumentPlace, tree: Tree): Checked<HeldArtifact<Tree>> {
  const { kind, idField } = holdings[tree]
  const checked = readArtifact(kind, path, file) as Checked<HeldArtifact<Tree>>
  if (!checked.ok) return checked
  const own = String(checked.value[idField])
  // Compares normal forms too, because file systems may store the same letters in a different Unicode normal form.
  if (own === id || own.normalize() === id.normalize()) return checked
  return refuseDocument(file, `is ${JSON.stringify(own)}, but the file is kept under ${JSON.stringify(id)}`, idField)
}

const dayName = /^\d{4}-\d{2}-\d{2}$/u

/** Everything in one folder of a store that is or should be a document. An unreadable folder is a problem. */
function placesIn(root: string, tree: StoreTree): readonly (DocumentPlace | Problem)[] {
  return storeEntriesOf(root, tree).flatMap((entry): readonly (DocumentPlace | Problem)[] => {
    if ('message' in entry) return [entry]
    const file = `${tree}/${entry.name}`
    const isJson = entry.name.endsWith('.json')
    if (tree === 'benchmarks') {
      if (entry.isSymbolicLink()) return [problem(file, 'is a symbolic link, which is not followed')]
      if (!entry.isDirectory()) return isJson ? [problem(file, 'must be in a folder of its own, as manifest.json')] : []
      return [{ path: join(root, file, manifestName), file: `${file}/${manifestName}`, id: entry.name }]
    }
    if (entry.isDirectory() && tree !== 'baselines' && dayName.test(entry.name))
      return storeEntriesOf(root, file).flatMap((inner): readonly (DocumentPlace | Problem)[] =>
        'message' in inner ? [inner] : documentIn(root, file, inner),
      )
    if (tree !== 'shadow') return documentIn(root, tree, entry)
    const isStray = entry.isDirectory() || entry.isSymbolicLink() || isJson
    return isStray ? [problem(file, 'must be in a folder named after its day, such as 2026-03-06')] : []
  })
}

/** Ignores folders, which contain the cases of runs, and other files, which are people's notes. */
function documentIn(root: string, folder: string, entry: Dirent): readonly DocumentPlace[] {
  const file = `${folder}/${entry.name}`
  const isDocument = entry.name.endsWith('.json') && !entry.isDirectory()
  return isDocument ? [{ path: `${root}/${file}`, file, id: entry.name.slice(0, -'.json'.length) }] : []
}

/** Names that begin with a dot are temporary files, never documents. A missing folder is empty. */
function storeEntriesOf(root: string, folder: string): readonly (Dirent | Problem)[] {
  try {
    const entries = readdirSync(join(root, folder), { withFileTypes: true })
    return entries.filter(({ name }) => !name.startsWith('.'))
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return []
    return [problem(folder, `cannot be read: ${codeOf(error) ?? String(error)}`)]
  }
}

const problem = (file: string, message: string): Problem => refuseDocument(file, message).problems[0]

/** The number of invalid files in a folder, and the problems of the first ones. */
export type InvalidFiles = { readonly count: number; readonly problems: readonly Problem[] }

const maxNamed = 20

/** Collects invalid files during a scan of a folder. */
export function collectInvalidFiles() {
  let count = 0
  const problems: Problem[] = []
  return {
    see: (checked: Checked<unknown>): void => {
      if (checked.ok) return
      count += 1
      if (problems.length < maxNamed) problems.push(...checked.problems)
    },
    found: (): InvalidFiles => ({ count, problems }),
  }
}

/** Of runs with the same time, the one with the greater id is first, so that the order of reading does not matter. */
export function compareNewestFirst(a: RunSummary, b: RunSummary): number {
  const [mine, its] = [a, b].map((run) => Date.parse(run.completedAt ?? run.startedAt)) as [number, number]
  return its - mine || (a.runId < b.runId ? 1 : -1)
}

export async function readRuns(root: string): Promise<readonly RunSummary[]> {
  const runs: RunSummary[] = []
  await scan(root, 'runs', ({ checked }) => {
    if (checked.ok) runs.push(checked.value)
  })
  return runs.sort(compareNewestFirst)
}

/** A document by its id, or null if it does not exist. An invalid document is never treated as missing. */
export type Found<Value> = Checked<Value> | null

const readFound = <Tree extends StoreTree>(
  root: string,
  tree: Tree,
  file: string,
  id: string,
): Found<HeldArtifact<Tree>> => {
  const path = join(root, file)
  return exists(path) ? readPlace({ path, file, id }, tree) : null
}

export function readRun(root: string, runId: string): Found<RunSummary> {
  const id = safeId(runId, 'runId')
  const usual = readFound(root, 'runs', `runs/${id}.json`, id)
  if (usual !== null) return usual
  // Also looks into folders by day, in which other programs store runs.
  const days = (nullIfMissing(() => readdirSync(treePath(root, 'runs'))) ?? []).filter((name) => dayName.test(name))
  const files = days.map((day) => `runs/${day}/${id}.json`)
  const file = files.find((path) => exists(join(root, path)))
  return file === undefined ? null : readFound(root, 'runs', file, id)
}

export const readBaseline = (root: string, snapshotId: string): Found<BaselineSnapshot> =>
  readFound(root, 'baselines', `baselines/${safeId(snapshotId, 'snapshotId')}.json`, snapshotId)

/** The baseline, or its problems if it is invalid. Throws if there is none. */
export function requireBaseline(root: string, snapshotId: string): Checked<BaselineSnapshot> {
  const found = readBaseline(root, snapshotId)
  if (found !== null) return found
  const hint = `Make one with \`credence benchmark snapshot --snapshot-id ${snapshotId}\`.`
  throw notFound(`There is no baseline "${snapshotId}" in ${root}.`, hint)
}

export function readManifest(root: string, benchmarkId: string): Found<Manifest> {
  // A folder without a manifest is an invalid pack, not a missing one.
  if (!exists(packPath(root, benchmarkId))) return null
  const file = `benchmarks/${benchmarkId}/${manifestName}`
  return readPlace({ path: join(root, file), file, id: benchmarkId }, 'benchmarks')
}

export function readEnvironment(root: string, runId: string): Found<RunEnvironment> {
  const path = environmentPath(root, runId)
  return exists(path) ? readArtifact('environment', path, `runs/${runId}/environment.json`) : null
}

/** The run. Throws if it is missing or invalid. */
export function requireRun(root: string, runId: string): RunSummary {
  const found = readRun(root, runId)
  if (found !== null) return requireValid(found, 'run-summary')
  const hint = '`credence benchmark status` shows the latest run.'
  throw notFound(`There is no run "${runId}" in the eval store.`, hint)
}

const exists = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined

export const writeRun = (root: string, run: RunSummary): Promise<boolean> =>
  writeDocument(root, 'run-summary', run, runPath(root, run.runId), 'replace')

/** Reserves the id of a new run by writing its first summary. */
export async function createRun(root: string, run: RunSummary): Promise<void> {
  if (await writeDocument(root, 'run-summary', run, runPath(root, run.runId), 'keep')) return
  throw conflict(`A run "${run.runId}" exists already.`, 'Choose another run id.')
}

export const writeEnvironment = (root: string, environment: RunEnvironment): Promise<boolean> =>
  writeDocument(
    root,
    'environment',
    { ...environment, sealed: true },
    environmentPath(root, environment.runId),
    'replace',
  )

/** Returns whether the snapshot was written: without `replace`, an existing one is kept. */
export const writeBaseline = (root: string, snapshot: BaselineSnapshot, replace: boolean): Promise<boolean> =>
  writeDocument(root, 'baseline', snapshot, baselinePath(root, snapshot.snapshotId), replace ? 'replace' : 'keep')

async function writeDocument(
  root: string,
  kind: ArtifactKind,
  document: object,
  path: string,
  existing: 'keep' | 'replace',
): Promise<boolean> {
  checkPlain(root, path)
  return writeAtomically(path, formatJson(requireValid(checkArtifact(kind, document, path), kind)), { existing })
}
