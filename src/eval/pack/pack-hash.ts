import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { Manifest } from '../store/schemas/manifest.ts'

/** Parts of a manifest that change neither what is asked nor what is expected. */
const descriptive: ReadonlySet<string> = new Set([
  'title',
  'description',
  'tags',
  'sourceLinks',
  'licence',
  'license',
  'notes',
  'contentHash',
  'metrics',
  'ablations',
  'provenance',
  'schemaVersion',
])

export type PackHash = { readonly packHash: string; readonly packFiles: Readonly<Record<string, string>> }

/**
 * The identity of a pack's content: of what its manifest asks and of every file it names. Titles, declarations of
 * metrics and files that no runner reads are not part of it, so that correcting them keeps results comparable.
 */
export async function packHashOf(directory: string, manifest: Manifest): Promise<PackHash> {
  const asked = Object.fromEntries(Object.entries(manifest).filter(([name]) => !descriptive.has(name)))
  const packFiles: Record<string, string> = { 'manifest.json': sha256(canonicalJson(asked)) }
  for (const path of new Set(Object.values(manifest.files ?? {})))
    packFiles[path] = await fileHash(join(directory, path))
  return hashOfFiles(packFiles)
}

export const hashOfFiles = (packFiles: Readonly<Record<string, string>>): PackHash => ({
  packHash: sha256(canonicalJson(packFiles)),
  packFiles,
})

export const sha256 = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`

async function fileHash(path: string): Promise<string> {
  const hash = createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return `sha256:${hash.digest('hex')}`
}

/** JSON with sorted names, so that the order of writing does not matter. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? 'null'
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1))
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonicalJson(field)}`).join(',')}}`
}
