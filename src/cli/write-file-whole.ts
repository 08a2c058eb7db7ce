import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { unavailable } from '../errors.ts'
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
    const descriptor = translateErrors(file, () => openSync(draft, 'w', 0o600))
    try {
      for await (const chunk of chunks) translateErrors(file, () => writeFileSync(descriptor, chunk))
      translateErrors(file, () => fsyncSync(descriptor))
    } finally {
      closeSync(descriptor)
    }
    translateErrors(file, () => renameSync(draft, file))
    translateErrors(file, () => syncDirectoryNow(dirname(file)))
  } catch (error) {
    remove()
    throw error
  } finally {
    release()
  }
}

function translateErrors<Value>(file: string, act: () => Value): Value {
  try {
    return act()
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    throw unavailable(
      `${file} cannot be written (${code}).`,
      'Choose a directory that exists, that you may write to, and that has room.',
      cause,
    )
  }
}
