import { readdirSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { formatJson, writeAtomically } from '../../files/atomic-write.ts'
import { Eraser, eraseInFile, type ForgottenTexts, listFilesBelow } from '../../files/erase-texts.ts'
import { nullIfMissing, sweepLeftovers } from '../../files/leftovers.ts'
import { eraseCases, ownPack } from '../pack/capture.ts'
import { runPath, treePath } from './documents.ts'
import { readArtifact, readJson } from './parse-artifact.ts'

/** Min length of a text to erase from runs of other packs. Runs of other packs were not made from this memory, so a shorter match in them is a coincidence. */
const minLengthInOthers = 16

/**
 * Erases forgotten texts from an eval store, and returns the changed files. Removes captured cases that expect a forgotten belief or
 * turn. Runs keep their records, with a mark in place of each text, and are marked as edited. Imported packs stay unchanged, because
 * they never contained this memory.
 */
export async function eraseFromEvals(root: string, forgotten: ForgottenTexts, at: string): Promise<readonly string[]> {
  const own = new Eraser(forgotten)
  const others = new Eraser(forgotten, minLengthInOthers)
  for (const folder of ['.', 'benchmarks', 'runs', 'shadow', 'baselines']) await sweepLeftovers(join(root, folder))
  const changed = [...(await eraseCases(root, own))]
  for (const run of directoryEntriesOf(treePath(root, 'runs'))) {
    const path = join(treePath(root, 'runs'), run)
    if (statSync(path).isDirectory()) continue
    const folder = path.replace(/\.json$/u, '')
    const eraser = benchmarkOf(path) === ownPack ? own : others
    const edited: string[] = []
    for (const file of [path, ...listFilesBelow(folder)]) if (await eraseInFile(file, eraser)) edited.push(file)
    if (edited.length > 0) await markEdited(root, basename(folder), at)
    changed.push(...edited)
  }
  const enters = (folder: string): boolean =>
    folder !== treePath(root, 'benchmarks') && folder !== treePath(root, 'runs')
  for (const file of listFilesBelow(root, enters)) if (await eraseInFile(file, own)) changed.push(file)
  return changed
}

function benchmarkOf(path: string): unknown {
  const json = readJson(path, path)
  return json.ok ? (json.value as { readonly benchmarkId?: unknown } | null)?.benchmarkId : undefined
}

async function markEdited(root: string, runId: string, at: string): Promise<void> {
  const path = runPath(root, runId)
  const run = readArtifact('run-summary', path, path)
  // An invalid summary is not marked, because it is useless as evidence anyway.
  if (run.ok) await writeAtomically(path, formatJson({ ...run.value, editedAt: at }), { existing: 'replace' })
}

const directoryEntriesOf = (directory: string): readonly string[] =>
  (nullIfMissing(() => readdirSync(directory)) ?? []).filter((name) => name.endsWith('.json'))
