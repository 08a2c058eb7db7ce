import { link, open, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { codeOf, leftoverName } from './leftovers.ts'
import { makeDirectory } from './make-directory.ts'

type WriteOptions = {
  /** `keep`: an existing file is not replaced, and the result is false. */
  readonly existing: 'replace' | 'keep'
  /** Whether the bytes must survive a power cut after the promise resolves. Default: true. */
  readonly durable?: boolean
}

/**
 * Writes a file atomically: readers see all of it or nothing, even if this process is killed during the write. Returns
 * whether it was written.
 */
export async function writeAtomically(
  path: string,
  content: string | Uint8Array | AsyncIterable<string>,
  { existing, durable = true }: WriteOptions,
): Promise<boolean> {
  const directory = dirname(path)
  makeDirectory(directory)
  const temporary = join(directory, leftoverName('tmp', basename(path)))
  try {
    const file = await open(temporary, 'wx', 0o600)
    try {
      await file.writeFile(content)
      if (durable) await file.sync()
    } finally {
      await file.close()
    }
    if (existing === 'replace') await rename(temporary, path)
    else if (!(await linkUnlessThere(temporary, path))) return false
    if (durable) await syncDirectory(directory)
    return true
  } finally {
    await rm(temporary, { force: true })
  }
}

/** Formats a JSON document for a file: indented, with a newline at the end. */
export const formatJson = (document: object): string => `${JSON.stringify(document, null, 2)}\n`

/** Publishes a file with a link. Creating a link fails atomically if the target exists, so exactly one of two writers succeeds. */
async function linkUnlessThere(temporary: string, path: string): Promise<boolean> {
  try {
    await link(temporary, path)
    return true
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false
    throw error
  }
}

/** Makes new names in a directory survive a power cut. */
export async function syncDirectory(directory: string): Promise<void> {
  // Windows cannot open directories. Its file system makes new names durable without this.
  if (process.platform === 'win32') return
  const handle = await open(directory, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
