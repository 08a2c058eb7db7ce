import { createHash } from 'node:crypto'
import { chmodSync, existsSync, readFileSync, realpathSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { createTwoFilesPatch } from 'diff'
import { MemoryError } from '../../errors.ts'
import { asJson, writeAtomically } from '../../files/atomic-write.ts'
import { readTextFile } from '../../files/read-text.ts'
import { xdgDirectory } from '../memory-location.ts'
import type { Machine } from '../session.ts'
import type { ConfigFile } from './hosts.ts'

/** The text of a file before Credence changed it, and the hash after it, so that the change can be undone. */
export type ConnectionRecord = {
  readonly path: string
  /** Null when there was no file. */
  readonly before: string | null
  /** Hash of what was written. */
  readonly after: string
}

const recordFile = (machine: Machine, path: string): string =>
  join(
    xdgDirectory(machine.env.XDG_STATE_HOME, join(machine.home, '.local', 'state')),
    'credence',
    'connections',
    `${hashOf(path).slice(0, 32)}.json`,
  )

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

const isRecord = (value: unknown): value is ConnectionRecord => {
  if (value === null || typeof value !== 'object') return false
  const { path, before, after } = { path: null, before: undefined, after: null, ...value }
  return typeof path === 'string' && typeof after === 'string' && (before === null || typeof before === 'string')
}

/** The change of one file. Null stands for no file. */
export type PlannedChange = {
  readonly path: string
  readonly before: string | null
  readonly after: string | null
  /** The text that removing restores. */
  readonly origin: string | null
}

/**
 * The changes that connecting makes; a file that has all entries already is not among them. In a preview, a file that cannot
 * be edited is shown as if it were new, and `problems` says why.
 */
export function planConnection(
  files: readonly ConfigFile[],
  machine: Machine,
  { isPreview }: { readonly isPreview: boolean },
): { readonly changes: readonly PlannedChange[]; readonly problems: readonly string[] } {
  const problems: string[] = []
  const changes = files.map((file): PlannedChange => {
    try {
      const { path, add, remove } = behindMark(file)
      const before = textOf(path)
      const after = add(before)
      return { path, before, after, origin: originOf(before, readRecord(machine, path), remove) }
    } catch (error) {
      if (!isPreview || !(error instanceof MemoryError)) throw error
      problems.push(`${error.message} Shown is what to write into it by hand.`)
      return { path: file.path, before: null, after: file.add(null), origin: null }
    }
  })
  return { changes: changes.filter(({ before, after }) => before !== after), problems }
}

/** Edits the text behind a byte order mark, which stays where it is. */
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

/** The text before the first change; without our entries, if others have changed the file since. */
function originOf(before: string | null, record: ConnectionRecord | null, remove: ConfigFile['remove']): string | null {
  if (record === null || before === null) return before
  return hashOf(before) === record.after ? record.before : remove(before, record.before)
}

/** The changes that removing makes: the exact text before, if nobody else has changed the file; else without our entries. */
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

/** A unified diff. */
export function diffOf({ path, before, after }: PlannedChange): string {
  const name = (text: string | null): string => (text === null ? '/dev/null' : path)
  const patch = createTwoFilesPatch(name(before), name(after), before ?? '', after ?? '')
  return patch.slice(patch.indexOf('--- '))
}

/** Writes each file, after its record. */
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

/** The person agreed to a change of the text that was shown, not of a later one. */
function requireUnchanged({ path, before }: PlannedChange): void {
  if (textOf(path) === before) return
  throw new MemoryError('conflict', `${path} was changed while you were asked.`, { hint: 'Run the command again.' })
}

/** Writes through a symbolic link, and keeps the permissions. */
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
