import { createHash } from 'node:crypto'
import { createReadStream, existsSync, readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import type { z } from 'zod'
import { invalid, type MemoryError } from '../../errors.ts'
import { canonicalJson } from '../../json.ts'
import type { PackPlace } from '../runners/runner.ts'
import { manifestName } from '../store/documents.ts'
import { readArtifact, readJson, requireValid } from '../store/parse-artifact.ts'
import type { Manifest } from '../store/schemas/manifest.ts'

export function manifestOf(directory: string): Manifest {
  const file = join(directory, manifestName)
  return withRunner(directory, requireValid(readArtifact('manifest', file, file), 'manifest'))
}

/** Fills in runner and case file of a red-team manifest in the short form of older harnesses, if a case file is next to it. */
export function withRunner(directory: string, manifest: Manifest): Manifest {
  const cases = 'cases.jsonl'
  const isShort = manifest.benchmarkType === 'memory-red-team' && manifest.runner === undefined
  return isShort && existsSync(join(directory, cases))
    ? { ...manifest, runner: 'red-team', files: { cases } }
    : manifest
}

/** The folders of all packs below `directory`, sorted by name. A folder without a manifest may contain packs. */
export function packFolders(directory: string): readonly string[] {
  if (!existsSync(directory))
    throw invalid(`${directory}: no such directory.`, 'Packs are folders with a manifest.json.')
  return readdirSync(directory, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
    .map(({ name }) => join(directory, name))
    .flatMap((folder) => (existsSync(join(folder, manifestName)) ? [folder] : packFolders(folder)))
    .sort()
}

/** The ids and folders of the packs below `directory`. A pack with an unreadable manifest gets its folder's name as id. */
export const packsById = (directory: string): ReadonlyMap<string, string> =>
  new Map(
    packFolders(directory).map((folder) => {
      const manifest = readJson(join(folder, manifestName), folder)
      const { benchmarkId } = (manifest.ok ? manifest.value : {}) as { readonly benchmarkId?: unknown }
      return [typeof benchmarkId === 'string' ? benchmarkId : basename(folder), folder]
    }),
  )

/** Rejects a manifest whose cases differ from those of the case file: counts come from the manifest, and results from the case file. */
export function refuseUnlike(
  { directory, manifest }: PackPlace,
  cases: readonly { readonly id: string; readonly prompt: string }[],
): void {
  const mismatch = (message: string): MemoryError =>
    invalid(
      `${join(directory, manifestName)}: ${message}`,
      'The manifest lists every case of the case file once, with the same prompt.',
    )
  const prompts = new Map(cases.map(({ id, prompt }) => [id, prompt]))
  if (prompts.size !== cases.length) throw mismatch('a case of the case file has the id of another.')
  const listed = new Map(manifest.cases.map(({ id, prompt }) => [id, prompt]))
  const unlisted = cases.find(({ id }) => !listed.has(id))
  if (unlisted !== undefined) throw mismatch(`the case "${unlisted.id}" of the case file is not listed.`)
  for (const [id, prompt] of listed) {
    if (!prompts.has(id)) throw mismatch(`lists "${id}", which is not in the case file.`)
    if (prompts.get(id) !== prompt) throw mismatch(`the prompt of "${id}" is not the one in the case file.`)
  }
}

/** The JSON value of a file's text. The parser's message gives the position of a syntax error. */
export function parseJsonFile(file: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    const message = `${file}: not JSON (${(cause as Error).message}).`
    throw invalid(message, 'Correct the file and try again.', cause)
  }
}

/** Parses a JSON text with a schema. The error names every invalid field. */
export function parseJsonAs<Schema extends z.ZodType>(
  place: string,
  text: string,
  schema: Schema,
  hint: string,
): z.output<Schema> {
  const { data, error } = schema.safeParse(parseJsonFile(place, text))
  if (error === undefined) return data
  const wrong = error.issues.map(({ path, message }) => `${place}: ${path.join('.') || 'value'}: ${message}.`)
  throw invalid(wrong.join('\n'), hint)
}

/** The file of a pack that its manifest names as `files.cases`. */
export function caseFileOf({ directory, manifest }: PackPlace): string {
  if (manifest.files?.cases !== undefined) return join(directory, manifest.files.cases)
  throw invalid(`${join(directory, manifestName)}: files.cases is missing.`, 'See docs/evaluation.md for the format.')
}

/** Fields of a manifest that affect neither the questions nor the expectations. */
const descriptive: readonly string[] = [
  'title',
  'description',
  'tags',
  'sourceLinks',
  'licence',
  'license',
  'notes',
  'schemaVersion',
  'contentHash',
  'metrics',
  'ablations',
  'system',
  'provenance',
]

type PackHash = { readonly packHash: string; readonly packFiles: Readonly<Record<string, string>> }

/** The hash of the questions and of every file that the manifest names. Titles and other files do not affect it. */
export async function packHashOf(directory: string, manifest: Manifest): Promise<PackHash> {
  const asked = Object.fromEntries(Object.entries(manifest).filter(([name]) => !descriptive.includes(name)))
  const packFiles: Record<string, string> = { 'manifest.json': sha256(canonicalJson(asked)) }
  for (const path of new Set(Object.values(manifest.files ?? {}))) {
    const hash = createHash('sha256')
    await pipeline(createReadStream(join(directory, path)), hash)
    packFiles[path] = `sha256:${hash.digest('hex')}`
  }
  return hashOfFiles(packFiles)
}

export const hashOfFiles = (packFiles: Readonly<Record<string, string>>): PackHash => ({
  packHash: sha256(canonicalJson(packFiles)),
  packFiles,
})

export const sha256 = (text: string): string => `sha256:${createHash('sha256').update(text).digest('hex')}`
