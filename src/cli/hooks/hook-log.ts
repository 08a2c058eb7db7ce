import { renameSync } from 'node:fs'
import { join } from 'node:path'
import { appendLine, isLargerThan } from './bounded-append.ts'

/** The log is kept in two files of at most this size. */
const largestLog = 256 * 1024

/** What one run of a hook did, in names and numbers: never a word of what was said. */
export type HookRecord = {
  readonly at: string
  readonly host: string
  readonly event: string
  readonly outcome: string
  readonly recalled?: number
  readonly learned?: number
  readonly ms: number
}

export const hookLogFile = (dir: string): string => join(dir, 'state', 'hook.log')

/** Adds one line. A log that cannot be written is no reason to fail. */
export function logHook(dir: string, record: HookRecord): void {
  const file = hookLogFile(dir)
  try {
    if (isLargerThan(file, largestLog)) renameSync(file, `${file}.1`)
    appendLine(file, record)
  } catch {
    // Nobody is there to be told.
  }
}
