import { createHash } from 'node:crypto'
import { chmodSync, existsSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { createTwoFilesPatch } from 'diff'
import { MemoryError } from '../../errors.ts'
import { asJson, writeAtomically } from '../../files/atomic-write.ts'
import type { Machine } from '../session.ts'
import { readTextFile } from '../text-files.ts'
import type { ConfigFile } from './hosts.ts'

/** What a file said before Credence changed it, and how it was left: the way back. */
export type ConnectionRecord = {
  readonly path: string
  /** Null when there was no file. */
  readonly before: string | null
  /** Hash of what was written. */
  readonly after: string
}

const directoryOf = ({ env, home }: Machine): string => {
  const given = env.XDG_STATE_HOME
  const state = given !== undefined && isAbsolute(given) ? given : join(home, '.local', 'state')
  return join(state, 'credence', 'connections')
}

const recordFile = (machine: Machine, path: string): string =>
  join(directoryOf(machine), `${hashOf(path).slice(0, 32)}.json`)

export const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')

export function readRecord(machine: Machine, path: string): ConnectionRecord | null {
  const file = recordFile(machine, path)
  if (!existsSync(file)) return null
  const value: unknown = JSON.parse(readFileSync(file, 'utf8'))
  return isRecord(value) && value.path === path ? value : null
}

export const writeRecord = async (machine: Machine, record: ConnectionRecord): Promise<void> => {
  await writeAtomically(recordFile(machine, record.path), asJson(record), { existing: 'replace' })
}

export const dropRecord = (machine: Machine, path: string): void => rmSync(recordFile(machine, path), { force: true })

const isRecord = (value: unknown): value is ConnectionRecord =>
  value !== null &&
  typeof value === 'object' &&
  'path' in value &&
  typeof value.path === 'string' &&
  'after' in value &&
  typeof value.after === 'string' &&
  'before' in value &&
  (value.before === null || typeof value.before === 'string')

/** What would become of one file. Null stands for no file. */
export type PlannedChange = {
  readonly path: string
  readonly before: string | null
  readonly after: string | null
  /** What to go back to, some day. */
  readonly origin: string | null
}

/** What connecting would change. A file that says everything already is not part of it. */
export const planConnection = (files: readonly ConfigFile[], machine: Machine): readonly PlannedChange[] =>
  files.map((file) => plannedAddition(file, machine)).filter(({ before, after }) => before !== after)

function plannedAddition(file: ConfigFile, machine: Machine): PlannedChange {
  const { path, add, remove } = behindMark(file)
  const before = textOf(path)
  const record = readRecord(machine, path)
  return { path, before, after: add(before), origin: originOf(before, record, remove) }
}

/** The same, only to be looked at: a file that cannot be edited is shown as if it were new, and `problems` says why. */
export function foreseeConnection(
  files: readonly ConfigFile[],
  machine: Machine,
): { readonly changes: readonly PlannedChange[]; readonly problems: readonly string[] } {
  const problems: string[] = []
  const changes = files.map((file): PlannedChange => {
    try {
      return plannedAddition(file, machine)
    } catch (error) {
      if (!(error instanceof MemoryError)) throw error
      problems.push(`${error.message} Shown is what to write into it by hand.`)
      return { path: file.path, before: null, after: file.add(null), origin: null }
    }
  })
  return { changes: changes.filter(({ before, after }) => before !== after), problems }
}

/** The mark that some editors put at the start of a file is no part of what it says, and stays where it is. */
function behindMark({ path, add, remove }: ConfigFile): ConfigFile {
  const plain = <Text extends string | null>(text: Text) => (text?.startsWith(mark) ? text.slice(1) : text)
  const marked = (text: string | null, edited: string): string => (text?.startsWith(mark) ? mark + edited : edited)
  return {
    path,
    add: (text) => marked(text, add(plain(text))),
    remove: (text, before) => marked(text, remove(plain(text), plain(before))),
  }
}

const mark = '\ufeff'

/** What to go back to: what was there before the first time, without entries of ours if others have written there since. */
function originOf(before: string | null, record: ConnectionRecord | null, remove: ConfigFile['remove']): string | null {
  if (record === null || before === null) return before
  return hashOf(before) === record.after ? record.before : remove(before, record.before)
}

/** What removing would change: back to the byte where nobody else has changed the file since, else our entries only. */
export function planRemoval(files: readonly ConfigFile[], machine: Machine): readonly PlannedChange[] {
  return files
    .map((file): PlannedChange => {
      const { path, remove } = behindMark(file)
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

function textOf(path: string): string | null {
  if (!existsSync(path)) return null
  const isMarked = readFileSync(path).subarray(0, 3).equals(Buffer.from(mark))
  return isMarked ? mark + readTextFile(path) : readTextFile(path)
}
