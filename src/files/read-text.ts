import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { invalid, notFound, unavailable } from '../errors.ts'
import { codeOf } from './leftovers.ts'

export async function readAll(stream: Readable, source: string): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(Buffer.from(chunk))
  return decode(Buffer.concat(chunks), source)
}

export function readTextFile(file: string): string {
  let bytes: Buffer
  try {
    bytes = readFileSync(file)
  } catch (cause) {
    const code = codeOf(cause)
    if (code === 'ENOENT') throw notFound(`There is no file ${file}.`, 'Check the path.', cause)
    const reason = code === 'EISDIR' ? 'it is a directory' : (code ?? 'unknown error')
    throw unavailable(`${file} cannot be read: ${reason}.`, 'Give a file that you may read.', cause)
  }
  return decode(bytes, file)
}

/** Returns the file itself, or for a directory the files below it whose names match, sorted by path. */
export function listFilesAt(path: string, names: RegExp): readonly string[] {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats === undefined) throw notFound(`There is no file ${path}.`, 'Check the path.')
  if (!stats.isDirectory()) return [path]
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && names.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
}

function decode(bytes: Uint8Array, source: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw invalid(`${source} is not UTF-8 text.`, 'Save it as UTF-8 and try again.', cause)
  }
}
