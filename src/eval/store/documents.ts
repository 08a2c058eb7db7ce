import { type Dir, type Dirent, lstatSync, opendirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { MemoryError } from '../../errors.ts'
import { asJson, writeAtomically } from '../../files/atomic-write.ts'
import { codeOf } from '../../files/leftovers.ts'
import {
  type Artifact,
  type Checked,
  checkArtifact,
  type Problem,
  parseArtifact,
  readBounded,
  required,
  wholeDocument,
} from './parse-artifact.ts'
import type { Manifest } from './schemas/manifest.ts'
import { isSafeId } from './schemas/primitives.ts'
import type { BaselineSnapshot, Environment, RunSummary } from './schemas/run.ts'

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

type Holdings = {
  benchmarks: 'manifest'
  runs: 'run-summary'
  shadow: 'shadow-record'
  baselines: 'baseline'
}
/** What the documents of a tree are. */
export type Held<Tree extends StoreTree> = Artifact<Holdings[Tree]>

/** The kind of document each tree holds, and the field its file or folder is named after. */
const holdings: {
  readonly [Tree in StoreTree]: { readonly kind: Holdings[Tree]; readonly idField: string & keyof Held<Tree> }
} = {
  benchmarks: { kind: 'manifest', idField: 'benchmarkId' },
  runs: { kind: 'run-summary', idField: 'runId' },
  shadow: { kind: 'shadow-record', idField: 'traceId' },
  baselines: { kind: 'baseline', idField: 'snapshotId' },
}

export type Scanned<Value> = { readonly file: string; readonly checked: Checked<Value> }

/** How long other work waits at most while a large store is read. */
const longestTurnMs = 10

/**
 * Shows every document of one tree to `see`, one at a time. An invalid one is shown in its turn and stops nothing. A
 * callback and not an iterator, because a hundred thousand awaits would cost as much as the checking.
 */
export async function scan<Tree extends StoreTree>(
  root: string,
  tree: Tree,
  see: (scanned: Scanned<Held<Tree>>) => void,
): Promise<void> {
  let turn = performance.now()
  for (const found of placesIn(root, tree)) {
    if (performance.now() - turn > longestTurnMs) {
      await setImmediate()
      turn = performance.now()
    }
    if ('message' in found) see({ file: found.file, checked: { ok: false, problems: [found] } })
    else see({ file: found.file, checked: readPlace(found, tree) })
  }
}

/** Reads the document of a place and checks that it is the one its name promises. */
export function readPlace<Tree extends StoreTree>({ path, file, id }: Place, tree: Tree): Checked<Held<Tree>> {
  const { kind, idField } = holdings[tree]
  const bytes = readBounded(path, file)
  if (!bytes.ok) return bytes
  const checked = parseArtifact(kind, bytes.value, file)
  if (!checked.ok) return checked
  const own = String(checked.value[idField])
  // File systems may write the same letters in another normal form.
  if (own === id || own.normalize() === id.normalize()) return checked
  const message = `is ${JSON.stringify(own)}, but the file is kept under ${JSON.stringify(id)}`
  return { ok: false, problems: [{ file, field: idField, message }] }
}

/** Where a document is expected: its path, what a report calls it, and the id its name promises. */
export type Place = { readonly path: string; readonly file: string; readonly id: string }

const dayName = /^\d{4}-\d{2}-\d{2}$/u

/**
 * Everything in one tree of a store that is a document or pretends to be one, in no particular order and one at a time,
 * so that a tree of any size needs no memory. A tree that is not there is empty; one that cannot be read is a problem.
 */
export function* placesIn(root: string, tree: StoreTree): Generator<Place | Problem> {
  for (const entry of entriesOf(join(root, tree), tree)) {
    if ('message' in entry) yield entry
    else if (tree === 'benchmarks') yield* packPlace(root, entry)
    else if (entry.isDirectory() && tree !== 'baselines' && dayName.test(entry.name)) {
      const folder = `${tree}/${entry.name}`
      for (const inner of entriesOf(join(root, folder), folder)) {
        if ('message' in inner) yield inner
        else yield* documentPlace(root, folder, inner)
      }
    } else if (tree === 'shadow') yield* strayPlace(tree, entry)
    else yield* documentPlace(root, tree, entry)
  }
}

function* packPlace(root: string, entry: Dirent): Generator<Place | Problem> {
  const file = `benchmarks/${entry.name}`
  if (entry.isSymbolicLink()) yield problem(file, 'is a symbolic link, which is not followed')
  else if (entry.isDirectory()) {
    yield { path: join(root, file, manifestName), file: `${file}/${manifestName}`, id: entry.name }
  } else if (entry.name.endsWith('.json')) yield problem(file, 'must be in a folder of its own, as manifest.json')
}

function* documentPlace(root: string, folder: string, entry: Dirent): Generator<Place | Problem> {
  // Folders beside the runs hold their cases; other files are notes of people.
  if (!entry.name.endsWith('.json') || entry.isDirectory()) return
  const file = `${folder}/${entry.name}`
  yield { path: `${root}/${file}`, file, id: entry.name.slice(0, -'.json'.length) }
}

function* strayPlace(tree: StoreTree, entry: Dirent): Generator<Problem> {
  if (entry.isDirectory() || entry.isSymbolicLink() || entry.name.endsWith('.json')) {
    yield problem(`${tree}/${entry.name}`, 'must be in a folder named after its day, such as 2026-03-06')
  }
}

/** Names that begin with a dot are unfinished work and never documents. */
function* entriesOf(directory: string, file: string): Generator<Dirent | Problem> {
  let opened: Dir | undefined
  try {
    opened = opendirSync(directory, { bufferSize: 256 })
    for (let entry = opened.readSync(); entry !== null; entry = opened.readSync()) {
      if (!entry.name.startsWith('.')) yield entry
    }
  } catch (error) {
    // A folder that another process has just removed has nothing in it either.
    if (codeOf(error) !== 'ENOENT') yield problem(file, `cannot be read: ${codeOf(error) ?? String(error)}`)
  } finally {
    opened?.closeSync()
  }
}

const problem = (file: string, message: string): Problem => ({ file, field: wholeDocument, message })

/** How many files of a tree are unusable, and what is wrong with the first of them. */
export type InvalidFiles = { readonly count: number; readonly problems: readonly Problem[] }

/** A report names this many at most; the count stays exact. */
const mostNamed = 20

/** Counts unusable files while a tree is scanned, however many there are. */
export function invalidFiles() {
  let count = 0
  const problems: Problem[] = []
  return {
    see: (checked: Checked<unknown>): void => {
      if (checked.ok) return
      count += 1
      if (problems.length < mostNamed) problems.push(...checked.problems)
    },
    found: (): InvalidFiles => ({ count, problems }),
  }
}
