import { randomBytes } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'

/** Marks a file as unfinished work of a process. Document ids never start with a dot, so no document has such a name. */
type Purpose = 'tmp' | 'staged' | 'replaced'

/** A unique file name for `name` that contains the id of this process, which shows later whether the file is still in use. */
export const leftoverName = (purpose: Purpose, name: string): string =>
  `.${purpose}-${process.pid}-${randomBytes(4).toString('hex')}-${name}`

const pattern = /^\.(?<purpose>tmp|staged|replaced)-(?<pid>\d+)-[0-9a-f]{8}-(?<name>.+)$/u

/**
 * Removes the leftovers of dead processes from a directory. Restores a file that was moved aside for a replacement if the replacement was
 * never put in place.
 */
export async function sweepLeftovers(directory: string): Promise<void> {
  for (const entry of nullIfMissing(() => readdirSync(directory)) ?? []) {
    const { purpose, pid, name } = pattern.exec(entry)?.groups ?? {}
    if (purpose === undefined || name === undefined || isRunning(Number(pid))) continue
    const path = join(directory, entry)
    if (purpose === 'replaced' && (await tryToRestore(path, join(directory, name)))) continue
    await rm(path, { recursive: true, force: true })
  }
}

/** Restores a file that was moved aside. Renaming onto a directory with content fails, so a replacement is never lost. */
async function tryToRestore(path: string, target: string): Promise<boolean> {
  try {
    await rename(path, target)
    return true
  } catch {
    // The replacement is in place, or another process has restored the file.
    return false
  }
}

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: the process exists, but belongs to another user.
    return codeOf(error) === 'EPERM'
  }
}

/** The system's code for a file error, such as ENOENT. */
export const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined

/** The result of reading a file or folder; null if it does not exist. */
export function nullIfMissing<Value>(read: () => Value): Value | null {
  try {
    return read()
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
}
