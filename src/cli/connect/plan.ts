import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  rmdirSync,
  rmSync,
  statSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { createTwoFilesPatch } from 'diff'
import { z } from 'zod'
import { conflict, MemoryError, unavailable } from '../../errors.ts'
import { formatJson, writeAtomically } from '../../files/atomic-write.ts'
import { codeOf } from '../../files/leftovers.ts'
import { readTextFile } from '../../files/read-text.ts'
import { stateDirectory } from '../memory-location.ts'
import type { Machine } from '../session.ts'
import type { ConfigFile } from './hosts.ts'

/** A record for undoing a change: the text of the file before it, and a hash of the text after it. */
const ConnectionRecord = z.object({
  path: z.string(),
  before: z.string().nullable().describe('Null when there was no file.'),
  after: z.string().describe('Hash of what was written.'),
  made: z.array(z.string()).optional().describe('The directories that were made for it, the innermost first.'),
})
type ConnectionRecord = z.infer<typeof ConnectionRecord>

const recordFile = (machine: Machine, path: string): string =>
  join(stateDirectory(machine), 'connections', `${planHashOf(path).slice(0, 32)}.json`)

const planHashOf = (text: string): string => createHash('sha256').update(text).digest('hex')

function readRecord(machine: Machine, path: string): ConnectionRecord | null {
  const file = recordFile(machine, path)
  if (!existsSync(file)) return null
  const { data } = ConnectionRecord.safeParse(JSON.parse(readFileSync(file, 'utf8')))
  return data?.path === path ? data : null
}

const writeRecord = async (machine: Machine, record: ConnectionRecord): Promise<void> => {
  await writeAtomically(recordFile(machine, record.path), formatJson(record), { existing: 'replace' })
}

const dropRecord = (machine: Machine, path: string): void => rmSync(recordFile(machine, path), { force: true })

/** A planned change to one file. A null text means that there is no file. */
type PlannedChange = {
  readonly path: string
  readonly before: string | null
  readonly after: string | null
  /** The text that disconnecting restores. */
  readonly origin: string | null
}

/**
 * The changes for connecting, without files that already have all entries. In a preview, a file that cannot be edited is
 * shown as if it were new, and `problems` has the reason.
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
      const before = settingsTextOf(path)
      const after = add(before)
      return { path, before, after, origin: originOf(before, readRecord(machine, path), remove) }
    } catch (error) {
      if (!isPreview || !(error instanceof MemoryError)) throw error
      problems.push(`${error.message} The preview shows what to write into it by hand.`)
      return { path: file.path, before: null, after: file.add(null), origin: null }
    }
  })
  return { changes: changes.filter(({ before, after }) => before !== after), problems }
}

/** Edits only the text after a byte order mark, and keeps the mark. */
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

/** The text before our first change. If others have changed the file since, their text without our entries. */
function originOf(before: string | null, record: ConnectionRecord | null, remove: ConfigFile['remove']): string | null {
  if (record === null || before === null) return before
  return planHashOf(before) === record.after ? record.before : remove(before, record.before)
}

/** The changes for disconnecting. Restores the original text, or removes our entries if others have changed the file since. */
export function planRemoval(files: readonly ConfigFile[], machine: Machine): readonly PlannedChange[] {
  return files
    .map((file): PlannedChange => {
      const { path, remove } = behindMark(file)
      const before = settingsTextOf(path)
      const record = readRecord(machine, path)
      if (before === null) return { path, before, after: null, origin: null }
      const isAsWeLeftIt = record !== null && planHashOf(before) === record.after
      const after = isAsWeLeftIt ? record.before : remove(before, record?.before ?? null)
      return { path, before, after: isOurFile(record, after) ? null : after, origin: null }
    })
    .filter(({ before, after }) => before !== after)
}

/** Whether we created the file and nothing is left in it. */
const isOurFile = (record: ConnectionRecord | null, after: string | null): boolean =>
  record?.before === null && /^\s*(?:\{\s*\})?\s*$/.test(after ?? '')

export function diffOf({ path, before, after }: PlannedChange): string {
  const name = (text: string | null): string => (text === null ? '/dev/null' : path)
  const patch = createTwoFilesPatch(name(before), name(after), before ?? '', after ?? '')
  return patch.slice(patch.indexOf('--- '))
}

/** Writes the record of each file, then the file. If a file cannot be written, all changes are undone. */
export async function connectFiles(changes: readonly PlannedChange[], machine: Machine): Promise<void> {
  const undoing: (() => Promise<void>)[] = []
  try {
    for (const change of changes) {
      requireUnchanged(change)
      const { path, origin: before } = change
      const after = change.after ?? ''
      const earlier = readRecord(machine, path)
      const made = earlier?.made ?? missingDirectories(behindLinks(path))
      undoing.unshift(async () => {
        if (settingsTextOf(path) !== change.before) await put(path, change.before, made)
        if (earlier === null) dropRecord(machine, path)
        else await writeRecord(machine, earlier)
      })
      await writeRecord(machine, { path, before, after: planHashOf(after), made })
      await put(path, after, made)
    }
  } catch (error) {
    for (const undo of undoing) await undo()
    throw error
  }
}

export async function disconnectFiles(
  changes: readonly PlannedChange[],
  files: readonly ConfigFile[],
  machine: Machine,
): Promise<void> {
  for (const change of changes) {
    requireUnchanged(change)
    await put(change.path, change.after, readRecord(machine, change.path)?.made ?? [])
  }
  for (const { path } of files) dropRecord(machine, path)
}

function missingDirectories(path: string): string[] {
  const missing: string[] = []
  for (let at = dirname(path); !existsSync(at) && at !== dirname(at); at = dirname(at)) missing.push(at)
  return missing
}

function removeEmpty(directory: string): void {
  if (existsSync(directory) && readdirSync(directory).length === 0) rmdirSync(directory)
}

/** Throws if the file has changed since the person was asked to confirm the change. */
function requireUnchanged({ path, before }: PlannedChange): void {
  if (settingsTextOf(path) === before) return
  throw conflict(`${path} was changed before you confirmed.`, 'Run the command again.')
}

/**
 * Writes a file through symbolic links, and keeps its permissions. Null removes the file, and the directories that were
 * created for it.
 */
async function put(path: string, text: string | null, made: readonly string[]): Promise<void> {
  const target = behindLinks(path)
  try {
    if (text === null) {
      rmSync(target, { force: true })
      for (const directory of made) removeEmpty(directory)
      return
    }
    const mode = statSync(target, { throwIfNoEntry: false })?.mode
    await writeAtomically(target, text, { existing: 'replace' })
    if (mode !== undefined) chmodSync(target, mode & 0o777)
  } catch (cause) {
    const code = codeOf(cause)
    if (code === undefined) throw cause
    const reason = code === 'ENOTDIR' || code === 'EEXIST' ? 'a file is in the place of a directory' : code
    throw unavailable(
      `${path} cannot be written: ${reason}.`,
      'Check the permissions, or see with --dry-run what to add by hand.',
      cause,
    )
  }
}

/** The target of symbolic links, which need not exist. */
function behindLinks(path: string): string {
  if (existsSync(path)) return realpathSync(path)
  try {
    return resolve(realpathSync(dirname(path)), readlinkSync(path))
  } catch {
    // The path is not a link.
    return path
  }
}

function settingsTextOf(path: string): string | null {
  if (!existsSync(path)) return null
  // `readTextFile` strips the byte order mark, so it is added again.
  const text = readTextFile(path)
  return readFileSync(path).subarray(0, 3).equals(Buffer.from(mark)) ? mark + text : text
}
