import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Readable } from 'node:stream'
import { MemoryError } from '../errors.ts'
import { syncDirectoryNow } from '../files/sync-directory.ts'
import type { Session } from './session.ts'

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
    const { code } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT')
      throw new MemoryError('not_found', `There is no file ${file}.`, { hint: 'Check the path.', cause })
    const reason = code === 'EISDIR' ? 'it is a directory' : (code ?? 'unknown error')
    throw new MemoryError('unavailable', `${file} cannot be read: ${reason}.`, {
      hint: 'Give a file that you may read.',
      cause,
    })
  }
  return decode(bytes, file)
}

function decode(bytes: Uint8Array, source: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new MemoryError('invalid', `${source} is not UTF-8 text.`, { hint: 'Save it as UTF-8 and try again.', cause })
  }
}

/**
 * Writes a private file that is either complete or not there at all: into a new file beside it, to the disk, and then
 * in its place.
 */
export async function writeFileWhole(
  file: string,
  chunks: AsyncIterable<string>,
  whenInterrupted: Session['whenInterrupted'],
): Promise<void> {
  const draft = join(dirname(file), `.${basename(file)}.${process.pid}.tmp`)
  const remove = (): void => rmSync(draft, { force: true })
  const release = whenInterrupted(remove)
  try {
    const descriptor = translated(file, () => openSync(draft, 'w', 0o600))
    try {
      for await (const chunk of chunks) translated(file, () => writeFileSync(descriptor, chunk))
      translated(file, () => fsyncSync(descriptor))
    } finally {
      closeSync(descriptor)
    }
    translated(file, () => renameSync(draft, file))
    syncDirectoryNow(dirname(file))
  } catch (error) {
    remove()
    throw error
  } finally {
    release()
  }
}

function translated<Value>(file: string, act: () => Value): Value {
  try {
    return act()
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    throw new MemoryError('unavailable', `${file} cannot be written (${code}).`, {
      hint: 'Choose a directory that exists, that you may write to, and that has room.',
      cause,
    })
  }
}
