import { readFileSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { invalid, notFound, unavailable } from '../errors.ts'
import { codeOf } from './leftovers.ts'

/** All of a stream, as text. */
export async function readAll(stream: Readable, source: string): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(Buffer.from(chunk))
  return decode(Buffer.concat(chunks), source)
}

/** All of a file, as text. */
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

function decode(bytes: Uint8Array, source: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw invalid(`${source} is not UTF-8 text.`, 'Save it as UTF-8 and try again.', cause)
  }
}
