import { setImmediate } from 'node:timers/promises'
import type { StoreTree } from './layout.ts'
import { type Checked, parseArtifact } from './parse-artifact.ts'
import { type Place, placesIn } from './places.ts'
import { readBounded } from './read-bounded.ts'
import type { Artifact } from './schemas.ts'

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
