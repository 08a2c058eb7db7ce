import { createHash } from 'node:crypto'
import { createReadStream, existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { MemoryError } from '../../errors.ts'
import { manifestName } from '../store/documents.ts'
import { parseArtifact, readBounded, required } from '../store/parse-artifact.ts'
import type { Manifest } from '../store/schemas/manifest.ts'

/** Reads the manifest of a pack folder. */
export function manifestOf(directory: string): Manifest {
  const file = join(directory, manifestName)
  const bytes = readBounded(file, file)
  return required(bytes.ok ? parseArtifact('manifest', bytes.value, file) : bytes, 'manifest')
}

/** The folders below `directory` that are packs of any kind, by name. */
export function packFolders(directory: string): readonly string[] {
  if (!existsSync(directory))
    throw invalid(`${directory}: no such directory.`, 'Packs are folders with a manifest.json.')
  return readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(join(directory, entry.name, manifestName)))
    .map(({ name }) => join(directory, name))
    .sort()
}

/** Counts come from the manifest and results from the case file: they must speak of the same cases. */
export function refuseUnlike(
  { directory, manifest }: { readonly directory: string; readonly manifest: Manifest },
  cases: readonly { readonly id: string; readonly prompt: string }[],
): void {
  const hint = 'The manifest lists every case of the case file once, with the same prompt.'
  const file = join(directory, manifestName)
  const prompts = new Map(cases.map(({ id, prompt }) => [id, prompt]))
  if (prompts.size !== cases.length) throw invalid(`${file}: a case of the case file has the id of another.`, hint)
  const listed = new Map(manifest.cases.map(({ id, prompt }) => [id, prompt]))
  const unlisted = cases.find(({ id }) => !listed.has(id))
  if (unlisted !== undefined) throw invalid(`${file}: the case "${unlisted.id}" of the case file is not listed.`, hint)
  for (const [id, prompt] of listed) {
    if (!prompts.has(id)) throw invalid(`${file}: lists "${id}", which is not in the case file.`, hint)
    if (prompts.get(id) !== prompt)
      throw invalid(`${file}: the prompt of "${id}" is not the one in the case file.`, hint)
  }
}

/** A file that cannot be used as it stands. */
export const invalid = (message: string, hint: string): MemoryError => new MemoryError('invalid', message, { hint })

/** A file's text, or a sentence about why there is none. */
export function readTextFile(file: string): string {
  let bytes: Buffer
  try {
    bytes = readFileSync(file)
  } catch (cause) {
    throw new MemoryError('invalid', `${file}: ${reasonOf(cause)}.`, { hint: 'Check the path.', cause })
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new MemoryError('invalid', `${file}: not UTF-8 text.`, { hint: 'Save the file as UTF-8.', cause })
  }
}

/** A file's value. A syntax error says where it is. */
export function parseJsonFile(file: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    // Parsers name the place as "position 17" or "line 2 column 3"; either way it is in the message.
    throw new MemoryError('invalid', `${file}: not JSON (${(cause as Error).message}).`, {
      hint: 'Correct the file and try again.',
      cause,
    })
  }
}

function reasonOf(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  switch (code) {
    case 'ENOENT':
      return 'no such file'
    case 'EISDIR':
      return 'is a directory, not a file'
    case 'EACCES':
      return 'may not be read'
    default:
      return `cannot be read (${code ?? cause})`
  }
}

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
