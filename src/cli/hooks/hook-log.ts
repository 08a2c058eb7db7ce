import { readFileSync, renameSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { ownPath, writePrivate } from '../../files/own-files.ts'
import { parseObject } from '../../json.ts'

/** The log is kept in two files of at most this size. */
const maxLogBytes = 256 * 1024

/** What one run of a hook did, in names and numbers, without any text of the conversation. */
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

/** Adds one line. Errors in writing are ignored. */
export function logHook(dir: string, record: HookRecord): void {
  const file = hookLogFile(dir)
  const line = `${JSON.stringify(record)}\n`
  try {
    ownPath(dir, file)
    if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > maxLogBytes) renameSync(file, `${file}.1`)
    writePrivate(file, line, 'append')
  } catch {
    // The hook's answer matters more than its log.
  }
}

/** The last run of a host's hook; null if the log has none. */
export function lastHook(dir: string): HookRecord | null {
  for (const file of [hookLogFile(dir), `${hookLogFile(dir)}.1`]) {
    let text = ''
    try {
      text = readFileSync(file, 'utf8')
    } catch {
      // No hook has run, or the log is not readable: in both cases there is nothing to show.
    }
    const records = text.trimEnd().split('\n').map(recordIn)
    const record = records.findLast((one) => one !== null && one.event !== 'hear')
    if (record !== undefined) return record
  }
  return null
}

function recordIn(line: string): HookRecord | null {
  // Null if a crash has cut off the line.
  const record = parseObject(line)
  return typeof record?.at === 'string' && typeof record.event === 'string' ? (record as HookRecord) : null
}
