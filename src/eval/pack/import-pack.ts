import { constants, lstatSync, readdirSync } from 'node:fs'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { MemoryError } from '../../errors.ts'
import { syncDirectory } from '../../files/atomic-write.ts'
import { codeOf, leftoverName, sweepLeftovers } from '../../files/leftovers.ts'
import { omitUndefined } from '../../omit-undefined.ts'
import { manifestName, packPath, treePath } from '../store/documents.ts'
import { readArtifact, required } from '../store/parse-artifact.ts'
import { PackPath } from '../store/schemas/manifest.ts'
import { packHashOf } from './manifest.ts'

/** The largest pack that is imported. */
export const packLimits = { files: 10_000, depth: 8, fileBytes: 64 * 1024 * 1024, totalBytes: 256 * 1024 * 1024 }

type PackFile = { readonly path: string; readonly bytes: number }
type PackSource = ReturnType<typeof packSource>

/** The files to import from a path: one manifest, or a folder with a manifest.json and whatever else is in it. */
function packSource(path: string) {
  if (path.trim() === '') throw refused('The path of the pack is empty.')
  const directory = resolve(path)
  const stats = lstatSync(directory, { throwIfNoEntry: false })
  if (stats === undefined) throw new MemoryError('not_found', `There is no file or folder ${path}.`)
  if (stats.isSymbolicLink()) throw refused(`${path} is a symbolic link.`, 'Give the path it points to.')
  if (stats.isFile()) {
    const name = basename(directory)
    checkSize(name, stats.size)
    return { directory: dirname(directory), manifest: name, files: [{ path: name, bytes: stats.size }] }
  }
  if (!stats.isDirectory()) throw refused(`${path} is neither a file nor a folder.`)
  const files = [...filesBelow(directory, '', 1)]
  if (!files.some((file) => file.path === manifestName)) {
    throw refused(`${path} has no ${manifestName} at its root.`, 'A pack is a folder with a manifest.json.')
  }
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0)
  if (files.length > packLimits.files) throw refused(`${path} has more than ${packLimits.files} files.`)
  if (total > packLimits.totalBytes)
    throw refused(`${path} has ${total} bytes; a pack has at most ${packLimits.totalBytes}.`)
  return { directory, manifest: manifestName, files }
}

function* filesBelow(root: string, folder: string, depth: number): Generator<PackFile> {
  if (depth > packLimits.depth) throw refused(`${folder} is nested deeper than ${packLimits.depth} folders.`)
  for (const name of readdirSync(join(root, folder))) {
    if (name === '.git') continue
    const path = folder === '' ? name : `${folder}/${name}`
    if (!PackPath.safeParse(path).success)
      throw refused(`${JSON.stringify(path)} is not a name that every system can keep.`)
    const stats = lstatSync(join(root, path))
    if (stats.isSymbolicLink()) throw refused(`${path} is a symbolic link.`, 'Put the file itself into the pack.')
    if (stats.isDirectory()) yield* filesBelow(root, path, depth + 1)
    else if (stats.isFile()) {
      checkSize(path, stats.size)
      yield { path, bytes: stats.size }
    } else throw refused(`${path} is not a plain file.`)
  }
}

function checkSize(path: string, bytes: number): void {
  if (bytes <= packLimits.fileBytes) return
  throw refused(`${path} has ${bytes} bytes; a file of a pack has at most ${packLimits.fileBytes}.`)
}

const refused = (message: string, hint?: string): MemoryError =>
  new MemoryError('invalid', message, omitUndefined({ hint }))

export type PackSummary = Awaited<ReturnType<typeof summaryOf>>

/** Checks a manifest, or a folder with one, without changing anything. */
export async function validatePack(path: string): Promise<PackSummary> {
  const source = packSource(path)
  return summaryOf(path, source, source.directory, source.manifest)
}

/**
 * Copies a pack into the store. The copy is checked before it replaces an earlier one, which stays whole until then;
 * without `force` an earlier one is never replaced.
 */
export async function importPack(root: string, path: string, { force = false }: { readonly force?: boolean } = {}) {
  const source = packSource(path)
  const packs = treePath(root, 'benchmarks')
  await mkdir(packs, { recursive: true, mode: 0o700 })
  await sweepLeftovers(packs)
  const staged = join(packs, leftoverName('staged', 'pack'))
  try {
    await mkdir(staged, { mode: 0o700 })
    for (const { path: file } of source.files) {
      const copy = join(staged, file === source.manifest ? manifestName : file)
      await mkdir(dirname(copy), { recursive: true, mode: 0o700 })
      await copyFile(join(source.directory, file), copy, file)
    }
    const summary = await summaryOf(path, source, staged, manifestName)
    const target = packPath(root, summary.benchmarkId)
    const overwritten = await moveIntoPlace(staged, target, force)
    await syncDirectory(packs)
    return { ...summary, targetDir: target, overwritten }
  } finally {
    await rm(staged, { recursive: true, force: true })
  }
}

async function summaryOf(sourcePath: string, source: PackSource, directory: string, name: string) {
  const manifest = required(readArtifact('manifest', join(directory, name), name), 'manifest')
  const present = new Set(source.files.map((file) => file.path))
  for (const [field, path] of Object.entries(manifest.files ?? {})) {
    if (present.has(path)) continue
    const hint = 'Give the folder of the pack, with the files its manifest names.'
    throw refused(`${name}: files.${field} is "${path}", which is not in the pack.`, hint)
  }
  const { packHash } = await packHashOf(directory, manifest)
  const { contentHash, benchmarkId, benchmarkType, title, tags = [], sourceLinks = [] } = manifest
  if (contentHash !== undefined && contentHash !== packHash) {
    const hint = 'The pack was changed after it was sealed. Correct contentHash if that was meant.'
    throw refused(`${name}: contentHash is ${contentHash}, but the content has ${packHash}.`, hint)
  }
  const { attackClass, targetSurface, runner } = manifest
  const manifestPath = join(source.directory, source.manifest)
  return {
    ...{ sourcePath, manifestPath, benchmarkId, benchmarkType, title },
    ...omitUndefined({ attackClass, targetSurface }),
    ...{ totalCases: manifest.cases.length, tags, sourceLinks, packHash, files: source.files.length },
    /** Absent when nothing can execute the pack. */
    ...omitUndefined({ runner }),
  }
}

/** Checks the file that it has really opened: it may have been exchanged since it was listed. */
async function copyFile(from: string, to: string, name: string): Promise<void> {
  const input = await open(from, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0))
  try {
    const stats = await input.stat()
    if (!stats.isFile() || stats.size > packLimits.fileBytes) {
      const message = `${name} was changed while the pack was being imported.`
      throw new MemoryError('conflict', message, { hint: 'Try again.' })
    }
    const output = await open(to, 'wx', 0o600)
    try {
      await output.writeFile(await input.readFile())
      await output.sync()
    } finally {
      await output.close()
    }
  } finally {
    await input.close()
  }
}

const mostAttempts = 100

/** Whether an earlier pack was replaced. Two processes that import the same pack at once both succeed; the later one stays. */
async function moveIntoPlace(staged: string, target: string, force: boolean): Promise<boolean> {
  const id = basename(target)
  let aside: string | null = null
  for (let attempt = 0; attempt < mostAttempts; attempt += 1) {
    try {
      await rename(staged, target)
      if (aside !== null) await rm(aside, { recursive: true, force: true })
      return aside !== null
    } catch (error) {
      // A directory with content cannot be renamed over; each system has its own code for that.
      if (!['ENOTEMPTY', 'EEXIST', 'EPERM', 'ENOTDIR'].includes(codeOf(error) ?? '')) throw error
    }
    if (!force) {
      throw new MemoryError('conflict', `The pack "${id}" is in the store already, at ${target}.`, {
        hint: 'Add --force to replace it.',
      })
    }
    const next: string = join(dirname(target), leftoverName('replaced', id))
    try {
      await rename(target, next)
      if (aside !== null) await rm(aside, { recursive: true, force: true })
      aside = next
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error
    }
  }
  throw new MemoryError('conflict', `The pack "${id}" could not be put in place at ${target}.`, {
    hint: 'Check who may write there, and try again when no other process is importing it.',
  })
}
