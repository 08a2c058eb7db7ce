import { renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { prepareOwnPath, writePrivate } from '../../files/own-files.ts'

/** The maximum size of each of the two log files. */
const maxLogBytes = 256 * 1024

/** One run of a hook, as names and numbers, without any text of the conversation. */
export type HookRecord = {
  readonly at: string
  readonly host: string
  readonly event: string
  readonly outcome: string
  readonly recalled?: number
  readonly queued?: number
  readonly kept?: number
  readonly learned?: number
  readonly refused?: number
  readonly ms: number
}

export const hookLogFile = (dir: string): string => join(dir, 'state', 'hook.log')

/** Adds one line. Write errors are ignored. */
export function logHook(dir: string, record: HookRecord): void {
  const file = hookLogFile(dir)
  const line = `${JSON.stringify(record)}\n`
  try {
    prepareOwnPath(dir, file)
    if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > maxLogBytes) renameSync(file, `${file}.1`)
    writePrivate(file, line, 'append')
  } catch {
    // The hook's answer matters more than its log.
  }
}
