import { randomBytes } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'

/** Marks a path as unfinished work of a process. Ids never begin with a dot, so no document can have such a name. */
type Purpose = 'tmp' | 'staged' | 'replaced'

/** A unique name next to `name` with the id of this process, which shows whether the file is still in use. */
export const leftoverName = (purpose: Purpose, name: string): string =>
  `.${purpose}-${process.pid}-${randomBytes(4).toString('hex')}-${name}`

const pattern = /^\.(?<purpose>tmp|staged|replaced)-(?<pid>\d+)-[0-9a-f]{8}-(?<name>.+)$/u

/**
 * Removes the leftovers of dead processes from a directory. A file that was moved aside for a replacement is restored when
 * the replacement never arrived.
 */
export async function sweepLeftovers(directory: string): Promise<void> {
  for (const entry of ifPresent(() => readdirSync(directory)) ?? []) {
    const { purpose, pid, name } = pattern.exec(entry)?.groups ?? {}
    if (purpose === undefined || name === undefined || isRunning(Number(pid))) continue
    const path = join(directory, entry)
    if (purpose === 'replaced' && (await cameBack(path, join(directory, name)))) continue
    await rm(path, { recursive: true, force: true })
  }
}

/** Renaming a directory onto one with content fails, so content that arrived in between is never lost. */
async function cameBack(path: string, target: string): Promise<boolean> {
  try {
    await rename(path, target)
    return true
  } catch {
    // Either the replacement is in place or another process has already swept: both leave nothing to bring back.
    return false
  }
}

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // A process of another user may not be signalled, but it is there.
    return codeOf(error) === 'EPERM'
  }
}

/** The system's code for a file error, such as ENOENT. */
export const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined

/** The result of reading a file or folder; null when there is none. */
export function ifPresent<Value>(read: () => Value): Value | null {
  try {
    return read()
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw error
  }
}
