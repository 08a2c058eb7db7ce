import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import { lstat, mkdir, open, readdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { codeOf } from '../../files/leftovers.ts'
import type { KeptFile } from '../evidence.ts'

/** Of larger workspaces only a part is kept, and the evidence says so. */
export const mostFilesKept = 10_000
export const mostBytesKept = 512 * 1024 * 1024

/** What lies in a folder: plain files by path with forward slashes, and what is not a plain file. */
export type Listing = {
  readonly files: ReadonlyMap<string, { readonly bytes: number; readonly mark: string }>
  readonly others: readonly { readonly path: string; readonly reason: string }[]
}

/** Lists a folder without following links. A folder that is not there is empty. */
export async function listFiles(root: string): Promise<Listing> {
  const files = new Map<string, { readonly bytes: number; readonly mark: string }>()
  const others: { readonly path: string; readonly reason: string }[] = []
  const waiting = ['']
  for (let folder = waiting.pop(); folder !== undefined; folder = waiting.pop()) {
    for (const name of (await namesIn(join(root, folder))).toSorted()) {
      const path = folder === '' ? name : `${folder}/${name}`
      const found = await lstat(join(root, path)).catch(() => null)
      // Gone since it was listed: an agent that is still tidying up.
      if (found === null) continue
      if (found.isDirectory()) waiting.push(path)
      else if (found.isSymbolicLink()) others.push({ path, reason: 'is a link' })
      else if (!found.isFile()) others.push({ path, reason: 'is not a plain file' })
      else if (files.size >= mostFilesKept) others.push({ path, reason: `is beyond the first ${mostFilesKept} files` })
      else files.set(path, { bytes: found.size, mark: `${found.size} ${found.mtimeMs} ${found.ctimeMs} ${found.ino}` })
    }
  }
  return { files, others }
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR' || codeOf(error) === 'EACCES') return []
    throw error
  }
}

/** What is different in the later listing: files written, and files gone. */
export function changesBetween(
  before: Listing,
  after: Listing,
): { readonly written: readonly string[]; readonly removed: readonly string[] } {
  return {
    written: [...after.files].filter(([path, { mark }]) => before.files.get(path)?.mark !== mark).map(([path]) => path),
    removed: [...before.files.keys()].filter((path) => !after.files.has(path)),
  }
}

/**
 * Copies a file of the workspace into the evidence; `path` is where it goes, below the evidence folder. What cannot be
 * read is no reason to lose the rest: then the answer says why.
 */
export async function keepFile(source: string, folder: string, path: string): Promise<KeptFile | string> {
  const target = join(folder, path)
  let bytes: Buffer
  try {
    bytes = await readPlain(source)
  } catch (error) {
    return codeOf(error) === 'ENOENT' ? 'was gone when it was looked for' : `cannot be read (${codeOf(error) ?? error})`
  }
  await mkdir(dirname(target), { recursive: true, mode: 0o700 })
  await writeFile(target, bytes, { mode: 0o600 })
  return { path, sha256: createHash('sha256').update(bytes).digest('hex'), bytes: bytes.length }
}

/** Between being listed and being read a file may have become a link or a pipe. */
async function readPlain(source: string): Promise<Buffer> {
  const file = await open(source, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0))
  try {
    return await file.readFile()
  } finally {
    await file.close()
  }
}
