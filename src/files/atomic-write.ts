import { link, mkdir, open, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { codeOf, leftoverName } from './leftovers.ts'

type WriteOptions = {
  /** `keep`: an existing file stays, and the answer is false. */
  readonly existing: 'replace' | 'keep'
  /** Whether the bytes must survive a power cut once the call returns. Default true. */
  readonly durable?: boolean
}

/**
 * Writes a file so that readers see all of it or nothing, also when this process is killed in the middle. Says whether
 * it was written.
 */
export async function writeAtomically(
  path: string,
  content: string | Uint8Array | AsyncIterable<string>,
  { existing, durable = true }: WriteOptions,
): Promise<boolean> {
  const directory = dirname(path)
  await mkdir(directory, { recursive: true, mode: 0o700 })
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

/** The document as it is kept on disk: readable, ending in a newline. */
export const asJson = (document: object): string => `${JSON.stringify(document, null, 2)}\n`

/** A link is made only where nothing is, in one step: of two writers exactly one succeeds. */
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
  // Windows cannot open directories, and journals its names by itself.
  if (process.platform === 'win32') return
  const handle = await open(directory, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
