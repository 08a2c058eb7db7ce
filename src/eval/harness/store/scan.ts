import { setImmediate } from 'node:timers/promises'
import { readBounded } from '../files/read-bounded.ts'
import { type Checked, type Problem, parseArtifact } from '../parse-artifact.ts'
import type { Artifact, ArtifactKind } from '../schemas.ts'
import { type StoreTree, storeTrees } from './layout.ts'
import { type Place, placesIn } from './places.ts'

/** The kind of document each tree holds, and the field its file or folder is named after. */
const holdings = {
  benchmarks: { kind: 'manifest', idField: 'benchmarkId' },
  runs: { kind: 'run-summary', idField: 'runId' },
  shadow: { kind: 'shadow-record', idField: 'traceId' },
  baselines: { kind: 'baseline', idField: 'snapshotId' },
} as const satisfies Record<StoreTree, { kind: ArtifactKind; idField: string }>

export type Held<Tree extends StoreTree> = Artifact<(typeof holdings)[Tree]['kind']>

export type Scanned<Value> = { readonly file: string; readonly checked: Checked<Value> }

/** How long other work waits at most while a large store is read. */
const longestTurnMs = 10

/** Reads one tree, one document at a time. An invalid one is reported in its turn and stops nothing. */
export async function* scan<Tree extends StoreTree>(root: string, tree: Tree): AsyncGenerator<Scanned<Held<Tree>>> {
  let turn = performance.now()
  for (const found of placesIn(root, tree)) {
    if (performance.now() - turn > longestTurnMs) {
      await setImmediate()
      turn = performance.now()
    }
    if ('message' in found) yield { file: found.file, checked: { ok: false, problems: [found] } }
    else yield { file: found.file, checked: readPlace(found, tree) }
  }
}

/** Reads the document of a place and checks that it is the one its name promises. */
export function readPlace<Tree extends StoreTree>({ path, file, id }: Place, tree: Tree): Checked<Held<Tree>> {
  const { kind, idField }: { kind: (typeof holdings)[Tree]['kind']; idField: string } = holdings[tree]
  const bytes = readBounded(path, file)
  if (!bytes.ok) return bytes
  const checked = parseArtifact(kind, bytes.value, file)
  if (!checked.ok) return checked
  const own = new Map<string, unknown>(Object.entries(checked.value)).get(idField)
  // File systems may write the same letters in another normal form.
  if (typeof own === 'string' && own.normalize() === id.normalize()) return checked
  const message = `is ${JSON.stringify(own)}, but the file is kept under ${JSON.stringify(id)}`
  return { ok: false, problems: [{ file, field: idField, message }] }
}

/** Every problem of a store, one line each, for those who need all of it to be valid. */
export async function problemsOf(root: string, trees: readonly StoreTree[] = storeTrees): Promise<readonly Problem[]> {
  const problems: Problem[] = []
  for (const tree of trees) {
    for await (const { checked } of scan(root, tree)) if (!checked.ok) problems.push(...checked.problems)
  }
  return problems
}
