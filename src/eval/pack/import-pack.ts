import { existsSync, readdirSync, statSync } from 'node:fs'
import { copyFile, mkdir, rename, rm } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { conflict, invalid, notFound } from '../../errors.ts'
import { syncDirectory } from '../../files/atomic-write.ts'
import { leftoverName, sweepLeftovers } from '../../files/leftovers.ts'
import { takeLock } from '../../files/lock.ts'
import { makeDirectory } from '../../files/make-directory.ts'
import { checkPlain } from '../../files/own-files.ts'
import { omitUndefined } from '../../omit-undefined.ts'
import { manifestName, packPath, treePath } from '../store/documents.ts'
import { readArtifact, requireValid } from '../store/parse-artifact.ts'
import { packHashOf, withRunner } from './manifest.ts'

type PackSource = ReturnType<typeof packSource>

/** The files to import from a path: one manifest, or a folder with a manifest.json and all its other regular files. */
function packSource(path: string) {
  if (path.trim() === '') throw invalid('The path of the pack is empty.')
  const directory = resolve(path)
  const stats = statSync(directory, { throwIfNoEntry: false })
  if (stats === undefined)
    throw notFound(`There is no file or folder ${path}.`, 'Give a folder with a manifest.json, or a manifest.')
  if (stats.isFile()) return { directory: dirname(directory), manifest: basename(path), files: [basename(path)] }
  // Checked first, so that a folder that is not a pack is not searched.
  if (!existsSync(join(directory, manifestName)))
    throw invalid(`${path} has no ${manifestName}.`, 'A pack is a folder with a manifest.json.')
  const files = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .filter((file) => !file.split('/').includes('.git'))
  return { directory, manifest: manifestName, files }
}

export type PackSummary = Awaited<ReturnType<typeof summarisePack>>

/** Checks a manifest or a folder with one, without changing anything. */
export async function validatePack(path: string): Promise<PackSummary> {
  const source = packSource(path)
  return summarisePack(path, source, source.directory, source.manifest)
}

/** Copies a pack into the store, and checks the copy before it replaces an earlier pack. Replacing needs `force`. */
export async function importPack(root: string, path: string, { force = false }: { readonly force?: boolean } = {}) {
  const source = packSource(path)
  const packs = treePath(root, 'benchmarks')
  checkPlain(root, packs)
  makeDirectory(packs)
  await sweepLeftovers(packs)
  const staged = join(packs, leftoverName('staged', 'pack'))
  try {
    await mkdir(staged, { mode: 0o700 })
    for (const file of source.files) {
      const copy = join(staged, file === source.manifest ? manifestName : file)
      makeDirectory(dirname(copy))
      await copyFile(join(source.directory, file), copy)
    }
    const summary = await summarisePack(path, source, staged, manifestName)
    const target = packPath(root, summary.benchmarkId)
    const overwritten = await moveIntoPlace(staged, target, force)
    await syncDirectory(packs)
    return { ...summary, targetDir: target, overwritten }
  } finally {
    await rm(staged, { recursive: true, force: true })
  }
}

async function summarisePack(sourcePath: string, source: PackSource, directory: string, name: string) {
  const manifest = withRunner(
    directory,
    requireValid(readArtifact('manifest', join(directory, name), name), 'manifest'),
  )
  const present = new Set(source.files)
  for (const [field, path] of Object.entries(manifest.files ?? {})) {
    if (present.has(path)) continue
    const hint = 'Give the folder of the pack, with the files its manifest names.'
    throw invalid(`${name}: files.${field} is "${path}", which is not in the pack.`, hint)
  }
  const { packHash } = await packHashOf(directory, manifest)
  const { contentHash, benchmarkId, benchmarkType, title, tags = [], sourceLinks = [] } = manifest
  if (contentHash !== undefined && contentHash !== packHash) {
    const hint = 'The pack was changed after it was sealed. Correct contentHash if that was meant.'
    throw invalid(`${name}: contentHash is ${contentHash}, but the content has ${packHash}.`, hint)
  }
  const { attackClass, targetSurface, runner } = manifest
  const manifestPath = join(source.directory, source.manifest)
  return {
    sourcePath,
    manifestPath,
    benchmarkId,
    benchmarkType,
    title,
    ...omitUndefined({ attackClass, targetSurface }),
    totalCases: manifest.cases.length,
    tags,
    sourceLinks,
    packHash,
    files: source.files.length,
    ...omitUndefined({ runner }),
  }
}

const maxWaitMs = 10_000

/** Returns whether an earlier pack was replaced. If two processes import the same pack at once, the later one wins. */
async function moveIntoPlace(staged: string, target: string, force: boolean): Promise<boolean> {
  const packs = dirname(target)
  const id = basename(target)
  const lock = join(packs, '.import.lock')
  checkPlain(packs, lock)
  const release = await takeLock(lock, 'The folder of packs', maxWaitMs)
  try {
    const isReplaced = existsSync(target)
    if (isReplaced && !force)
      throw conflict(`The pack "${id}" is in the store already, at ${target}.`, 'Add --force to replace it.')
    const aside = join(packs, leftoverName('replaced', id))
    if (isReplaced) await rename(target, aside)
    await rename(staged, target)
    await rm(aside, { recursive: true, force: true })
    return isReplaced
  } finally {
    release()
  }
}
