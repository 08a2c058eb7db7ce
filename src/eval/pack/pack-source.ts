import { lstatSync, readdirSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { MemoryError } from '../../errors.ts'
import { manifestName } from '../store/layout.ts'
import { PackPath } from '../store/schemas/manifest.ts'

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
