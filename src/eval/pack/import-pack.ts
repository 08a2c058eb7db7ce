import { constants } from 'node:fs'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { MemoryError } from '../../errors.ts'
import { syncDirectory } from '../../files/atomic-write.ts'
import { codeOf, leftoverName, sweepLeftovers } from '../../files/leftovers.ts'
import { manifestName, packPath, treePath } from '../store/layout.ts'
import { parseArtifact, required } from '../store/parse-artifact.ts'
import { readBounded } from '../store/read-bounded.ts'
import type { Manifest } from '../store/schemas/manifest.ts'
import { packHashOf } from './pack-hash.ts'
import { type PackSource, packLimits, packSource } from './pack-source.ts'

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
