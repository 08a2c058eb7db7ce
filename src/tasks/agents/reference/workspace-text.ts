import { existsSync } from 'node:fs'
import { mkdir, readFile, realpath, stat, writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve, sep } from 'node:path'

/** Larger files are not read: what a person noted down is smaller. */
const largestRead = 1024 * 1024

/** Reads a text file of the workspace; null when it is not there, outside, too large or not text. */
export async function readText(workspace: string, path: string): Promise<string | null> {
  const file = await inside(workspace, path)
  if (file === null || !existsSync(file)) return null
  const found = await stat(file)
  if (!found.isFile() || found.size > largestRead) return null
  const bytes = await readFile(file)
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    return text.includes('\0') ? null : text
  } catch {
    // Not text: to the agent it is as if it were not there.
    return null
  }
}

/** Writes a text file of the workspace; false when the path leads out of it. */
export async function writeText(workspace: string, path: string, text: string): Promise<boolean> {
  const file = await inside(workspace, path)
  if (file === null) return false
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, text)
  return true
}

/** The file a path of the workspace means; null when it, or a link on the way, leads elsewhere. */
async function inside(workspace: string, path: string): Promise<string | null> {
  const file = resolve(workspace, path)
  if (!isBelow(workspace, file)) return null
  let existing = file
  while (!existsSync(existing)) existing = dirname(existing)
  const isOwn = isBelow(await realpath(workspace), await realpath(existing)) || existing === resolve(workspace)
  return isOwn ? file : null
}

function isBelow(folder: string, file: string): boolean {
  const way = relative(folder, file)
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && resolve(folder, way) === join(file)
}
