import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { MemoryError } from '../errors.ts'
import { syncDirectoryNow } from '../files/sync-directory.ts'
import type { Session } from './session.ts'

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
