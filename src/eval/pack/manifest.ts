import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { MemoryError } from '../../errors.ts'
import { manifestName } from '../store/layout.ts'
import { parseArtifact, required } from '../store/parse-artifact.ts'
import { readBounded } from '../store/read-bounded.ts'
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
