import { chmodSync, existsSync, realpathSync, rmSync, statSync } from 'node:fs'
import { createTwoFilesPatch } from 'diff'
import { MemoryError } from '../../errors.ts'
import { writeAtomically } from '../../files/atomic-write.ts'
import { readTextFile } from '../read-text.ts'
import type { Machine } from '../session.ts'
import { type ConnectionRecord, dropRecord, hashOf, readRecord, writeRecord } from './connection-record.ts'
import type { ConfigFile } from './hosts.ts'

/** What would become of one file. Null stands for no file. */
export type PlannedChange = {
  readonly path: string
  readonly before: string | null
  readonly after: string | null
  /** What to go back to, some day. */
  readonly origin: string | null
}

/** What connecting would change. A file that says everything already is not part of it. */
export function planConnection(files: readonly ConfigFile[], machine: Machine): readonly PlannedChange[] {
  return files
    .map(({ path, add, remove }): PlannedChange => {
      const before = textOf(path)
      const record = readRecord(machine, path)
      return { path, before, after: add(before), origin: originOf(before, record, remove) }
    })
    .filter(({ before, after }) => before !== after)
}

/** What to go back to: what was there before the first time, without entries of ours if others have written there since. */
function originOf(before: string | null, record: ConnectionRecord | null, remove: ConfigFile['remove']): string | null {
  if (record === null || before === null) return before
  return hashOf(before) === record.after ? record.before : remove(before, record.before)
}

/** What removing would change: back to the byte where nobody else has changed the file since, else our entries only. */
export function planRemoval(files: readonly ConfigFile[], machine: Machine): readonly PlannedChange[] {
  return files
    .map(({ path, remove }): PlannedChange => {
      const before = textOf(path)
      const record = readRecord(machine, path)
      if (before === null) return { path, before, after: null, origin: null }
      const isAsWeLeftIt = record !== null && hashOf(before) === record.after
      const after = isAsWeLeftIt ? record.before : remove(before, record?.before ?? null)
      return { path, before, after, origin: null }
    })
    .filter(({ before, after }) => before !== after)
}

/** As a person reads it. */
export function diffOf({ path, before, after }: PlannedChange): string {
  const nowhere = '/dev/null'
  const patch = createTwoFilesPatch(
    before === null ? nowhere : path,
    after === null ? nowhere : path,
    before ?? '',
    after ?? '',
  )
  return patch.slice(patch.indexOf('--- '))
}

/** Writes each file whole, after noting the way back. */
export async function connectFiles(changes: readonly PlannedChange[], machine: Machine): Promise<void> {
  for (const change of changes) {
    requireUnchanged(change)
    const after = change.after ?? ''
    await writeRecord(machine, { path: change.path, before: change.origin, after: hashOf(after) })
    await writeKeepingMode(change.path, after)
  }
}

export async function disconnectFiles(
  changes: readonly PlannedChange[],
  files: readonly ConfigFile[],
  machine: Machine,
): Promise<void> {
  for (const change of changes) {
    requireUnchanged(change)
    if (change.after === null) rmSync(change.path, { force: true })
    else await writeKeepingMode(change.path, change.after)
  }
  for (const { path } of files) dropRecord(machine, path)
}

/** The person agreed to a change of what was shown, not of what somebody has written in the meantime. */
function requireUnchanged({ path, before }: PlannedChange): void {
  if (textOf(path) === before) return
  throw new MemoryError('conflict', `${path} was changed while you were asked.`, { hint: 'Run the command again.' })
}

/** A link stays a link: the file it leads to is written. Whoever could read it still can. */
async function writeKeepingMode(path: string, text: string): Promise<void> {
  const target = existsSync(path) ? realpathSync(path) : path
  const mode = statSync(target, { throwIfNoEntry: false })?.mode
  await writeAtomically(target, text, { existing: 'replace' })
  if (mode !== undefined) chmodSync(target, mode & 0o777)
}

const textOf = (path: string): string | null => (existsSync(path) ? readTextFile(path) : null)
