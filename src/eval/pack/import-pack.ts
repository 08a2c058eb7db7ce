import { constants, lstatSync, readdirSync } from 'node:fs'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { MemoryError } from '../../errors.ts'
import { syncDirectory } from '../../files/atomic-write.ts'
import { codeOf, leftoverName, sweepLeftovers } from '../../files/leftovers.ts'
import { manifestName, packPath, treePath } from '../store/documents.ts'
import { parseArtifact, readBounded, required } from '../store/parse-artifact.ts'
import { type Manifest, PackPath } from '../store/schemas/manifest.ts'
import { packHashOf } from './manifest.ts'

/** How much a pack may hold. */
export const packLimits = { files: 10_000, depth: 8, fileBytes: 64 * 1024 * 1024, totalBytes: 256 * 1024 * 1024 }

/** Made by version control around a pack; no part of it. */
const notPartOfAPack: ReadonlySet<string> = new Set(['.git'])

export type PackFile = { readonly path: string; readonly bytes: number }
export type PackSource = { readonly directory: string; readonly files: readonly PackFile[] }

/** What a path offers for import: one manifest, or a folder with a manifest at its root and whatever else is in it. */
export function packSource(given: string): PackSource {
  if (given.trim() === '') throw refused('The path of the pack is empty.')
  const path = resolve(given)
  const stats = lstatSync(path, { throwIfNoEntry: false })
  if (stats === undefined) throw new MemoryError('not_found', `There is no file or folder ${given}.`)
  if (stats.isSymbolicLink()) throw refused(`${given} is a symbolic link.`, 'Give the path it points to.')
  if (stats.isFile()) {
    checkSize(basename(path), stats.size)
    return { directory: dirname(path), files: [{ path: basename(path), bytes: stats.size }] }
  }
  if (!stats.isDirectory()) throw refused(`${given} is neither a file nor a folder.`)
  const files = [...filesBelow(path, '', 1)]
  if (!files.some((file) => file.path === manifestName)) {
    throw refused(`${given} has no ${manifestName} at its root.`, 'A pack is a folder with a manifest.json.')
  }
  const total = files.reduce((sum, { bytes }) => sum + bytes, 0)
  if (files.length > packLimits.files) throw refused(`${given} has more than ${packLimits.files} files.`)
  if (total > packLimits.totalBytes) {
    throw refused(`${given} has ${total} bytes; a pack has at most ${packLimits.totalBytes}.`)
  }
  return { directory: path, files }
}

function* filesBelow(root: string, folder: string, depth: number): Generator<PackFile> {
  if (depth > packLimits.depth) throw refused(`${folder} is nested deeper than ${packLimits.depth} folders.`)
  for (const name of readdirSync(join(root, folder))) {
    if (notPartOfAPack.has(name)) continue
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
  new MemoryError('invalid', message, hint === undefined ? {} : { hint })

/** What a valid pack is. */
export type PackSummary = {
  readonly sourcePath: string
  readonly manifestPath: string
  readonly benchmarkId: string
  readonly benchmarkType: Manifest['benchmarkType']
  readonly title: string
  readonly attackClass?: string
  readonly targetSurface?: string
  readonly totalCases: number
  readonly tags: readonly string[]
  readonly sourceLinks: readonly string[]
  readonly packHash: string
  readonly files: number
  /** Absent when nothing can execute the pack. */
  readonly runner?: string
}

export type ImportedPack = PackSummary & { readonly targetDir: string; readonly overwritten: boolean }

/** Checks a manifest, or a folder with one, without changing anything. */
export async function validatePack(path: string): Promise<PackSummary> {
  const source = packSource(path)
  return summaryOf(path, source, source.directory, manifestNameOf(source))
}

/**
 * Copies a pack into the store. The copy is checked before it takes the place of an earlier one, which stays whole until
 * then; without `force` an earlier one stays for good.
 */
export async function importPack(
  root: string,
  path: string,
  { force = false }: { readonly force?: boolean } = {},
): Promise<ImportedPack> {
  const source = packSource(path)
  const packs = treePath(root, 'benchmarks')
  await mkdir(packs, { recursive: true, mode: 0o700 })
  await sweepLeftovers(packs)
  const staged = join(packs, leftoverName('staged', 'pack'))
  try {
    await copyPack(source, staged)
    const summary = await summaryOf(path, source, staged, manifestName)
    const target = packPath(root, summary.benchmarkId)
    const overwritten = await moveIntoPlace({ staged, target, force, id: summary.benchmarkId })
    await syncDirectory(packs)
    return { ...summary, targetDir: target, overwritten }
  } finally {
    await rm(staged, { recursive: true, force: true })
  }
}

const manifestNameOf = ({ files }: PackSource): string =>
  files.length === 1 ? (files[0]?.path ?? manifestName) : manifestName

async function summaryOf(
  sourcePath: string,
  source: PackSource,
  directory: string,
  name: string,
): Promise<PackSummary> {
  const bytes = readBounded(join(directory, name), name)
  const manifest = required(bytes.ok ? parseArtifact('manifest', bytes.value, name) : bytes, 'manifest')
  const present = new Set(source.files.map((file) => file.path))
  for (const [field, path] of Object.entries(manifest.files ?? {})) {
    if (present.has(path)) continue
    throw new MemoryError('invalid', `${name}: files.${field} is "${path}", which is not in the pack.`, {
      hint: 'Give the folder of the pack, with the files its manifest names.',
    })
  }
  const { packHash } = await packHashOf(directory, manifest)
  if (manifest.contentHash !== undefined && manifest.contentHash !== packHash) {
    throw new MemoryError(
      'invalid',
      `${name}: contentHash is ${manifest.contentHash}, but the content has ${packHash}.`,
      {
        hint: 'The pack was changed after it was sealed. Correct contentHash if that was meant.',
      },
    )
  }
  const { benchmarkId, benchmarkType, title, attackClass, targetSurface, tags = [], sourceLinks = [] } = manifest
  return {
    sourcePath,
    manifestPath: join(source.directory, manifestNameOf(source)),
    benchmarkId,
    benchmarkType,
    title,
    ...(attackClass === undefined ? {} : { attackClass }),
    ...(targetSurface === undefined ? {} : { targetSurface }),
    totalCases: manifest.cases.length,
    tags,
    sourceLinks,
    packHash,
    files: source.files.length,
    ...(manifest.runner === undefined ? {} : { runner: manifest.runner }),
  }
}

async function copyPack(source: PackSource, target: string): Promise<void> {
  const isSingle = source.files.length === 1
  await mkdir(target, { mode: 0o700 })
  for (const { path } of source.files) {
    const copy = join(target, isSingle ? manifestName : path)
    await mkdir(dirname(copy), { recursive: true, mode: 0o700 })
    await copyFile(join(source.directory, path), copy, path)
  }
}

/** Looks again at what it has really opened: the file may have been exchanged since it was listed. */
async function copyFile(from: string, to: string, name: string): Promise<void> {
  const input = await open(from, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0))
  try {
    const stats = await input.stat()
    if (!stats.isFile() || stats.size > packLimits.fileBytes) {
      throw new MemoryError('conflict', `${name} was changed while the pack was being imported.`, {
        hint: 'Try again.',
      })
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

/** Says whether an earlier pack gave way. Two that import the same pack at once both succeed; the later one stays. */
async function moveIntoPlace({
  staged,
  target,
  force,
  id,
}: {
  readonly staged: string
  readonly target: string
  readonly force: boolean
  readonly id: string
}): Promise<boolean> {
  let aside: string | null = null
  for (let attempt = 0; attempt < mostAttempts; attempt += 1) {
    try {
      await rename(staged, target)
      if (aside !== null) await rm(aside, { recursive: true, force: true })
      return aside !== null
    } catch (error) {
      // A directory with content cannot be renamed over; each system has its own word for that.
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
