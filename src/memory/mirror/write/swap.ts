import { createHmac } from 'node:crypto'
import {
  closeSync,
  constants,
  copyFileSync,
  fchmodSync,
  fsync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { diffArrays } from 'diff'
import { MemoryError } from '../../../errors.ts'
import { codeOf, leftoverName } from '../../../files/leftovers.ts'
import { splitLines } from '../parse/blocks.ts'
import { decode, signatureAt } from '../parse/read-file.ts'
import { bytesIfPresent, type MirrorPaths, namesIn, parseJson, readIfPresent, writeRecord } from '../state/state.ts'
import { MirrorDocument } from './document.ts'

/**
 * A file that a new version replaced. Another program may have saved it between our reading and our writing, or may
 * have it open and still write to it, so it is read again before it is removed.
 */
export type Displaced = {
  /** Its name in the directory of displaced files. */
  readonly id: string
  /** Whose place it had. */
  readonly file: string
  readonly at: number
  /** The part of its text that has been merged already. */
  readonly seen: string
  /** What it holds now, when that is not what was seen. */
  readonly late: Buffer | null
}

/** A program that opened a file before it was displaced has so long to write to it. */
export const settleMs = 60

const pending = '.pending.json'
const done = '.done.json'

type Swap = {
  readonly file: string
  /** The text of the file when it was read; null when there was no file. */
  readonly expected: string | null
  /** The new text, written to disk already, and its length. */
  readonly draft: string
  readonly bytes: number
  readonly now: () => Date
}

/** Writes the new text of a file beside it, and returns the path when the bytes are on disk. */
export async function writeDraft(
  { dir }: MirrorPaths,
  file: string,
  { content, mode }: { readonly content: string; readonly mode: number },
): Promise<string> {
  const draft = join(dir, leftoverName('tmp', file))
  const descriptor = openSync(draft, 'wx', 0o600)
  try {
    writeFileSync(descriptor, content)
    if (mode !== 0o600) fchmodSync(descriptor, mode)
    // Asynchronous, so that a program that makes many changes in a row still handles its events.
    await promisify(fsync)(descriptor)
    return draft
  } finally {
    closeSync(descriptor)
  }
}

/**
 * Puts a new version of a file in place without losing a change that another program makes at the same time. The old
 * file is moved aside by name, so whatever is there at that instant is kept; the new one is linked in only where nothing
 * is, so a file that appears meanwhile is moved aside too. A rename over the old file would be shorter and would lose
 * what an editor saved a moment before. The file is missing for one system call. The caller syncs the directory.
 * Returns the signature of the new file.
 */
export function swapIn(paths: MirrorPaths, { file, expected, draft, bytes, now }: Swap): string {
  const path = join(paths.dir, file)
  try {
    for (let attempt = 0; attempt < 20; attempt += 1) {
      const id = leftoverName('replaced', file).slice('.replaced-'.length)
      const aside = join(paths.displaced, id)
      // Written before the move, so that a crash in between loses nothing. A file that appeared meanwhile is all new.
      const seen = attempt === 0 ? (expected ?? '') : ''
      writeRecord(`${aside}${pending}`, JSON.stringify({ id, file, at: now().getTime(), seen }))
      const isAside = moveAside(path, aside)
      const isInPlace = linkIn(draft, path)
      if (isAside) renameSync(`${aside}${pending}`, `${aside}${done}`)
      else rmSync(`${aside}${pending}`)
      if (isInPlace) {
        rmSync(draft, { force: true })
        const signature = signatureAt(path) ?? ''
        // Another program may have written to it already; an empty signature has it read again.
        return signature.startsWith(`${bytes}:`) ? signature : ''
      }
    }
    throw new MemoryError('unavailable', `Another program keeps creating ${path}.`, { hint: 'Stop that program.' })
  } finally {
    rmSync(draft, { force: true })
  }
}

/** False when there was no file. */
const moveAside = (path: string, aside: string): boolean => succeeds('ENOENT', () => renameSync(path, aside))

/** False when there is a file already. */
function linkIn(draft: string, path: string): boolean {
  try {
    return succeeds('EEXIST', () => linkSync(draft, path))
  } catch (error) {
    // Not every file system has hard links.
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'].includes(codeOf(error) ?? '')) throw error
    return succeeds('EEXIST', () => copyFileSync(draft, path, constants.COPYFILE_EXCL))
  }
}

function succeeds(failure: string, work: () => void): boolean {
  try {
    work()
    return true
  } catch (error) {
    if (codeOf(error) === failure) return false
    throw error
  }
}

const recordsIn = ({ displaced }: MirrorPaths): readonly string[] =>
  namesIn(displaced).filter((name) => !name.startsWith('.') && (name.endsWith(pending) || name.endsWith(done)))

export const hasDisplaced = (paths: MirrorPaths): boolean => recordsIn(paths).length > 0

/** All displaced files, oldest first. One whose replacement never came, because the process died, is put back. */
export function displacedFiles(paths: MirrorPaths): readonly Displaced[] {
  const found: Displaced[] = []
  for (const name of recordsIn(paths)) {
    const path = join(paths.displaced, name)
    const id = name.slice(0, name.endsWith(done) ? -done.length : -pending.length)
    const record = parseJson(readIfPresent(path) ?? '') as Omit<Displaced, 'late'> | undefined
    if (record === undefined) continue
    const aside = join(paths.displaced, id)
    const isBack = name.endsWith(pending) && succeeds('EEXIST', () => restore(aside, join(paths.dir, record.file)))
    const bytes = isBack ? null : bytesIfPresent(aside)
    const seen = seenText(paths, record.seen, bytes)
    // An emptied file is about to be written.
    const late = bytes === null || bytes.length === 0 || decode(bytes) === seen ? null : bytes
    found.push({ id, file: record.file, at: record.at, seen, late })
  }
  return found.sort((one, other) => one.at - other.at)
}

function restore(aside: string, path: string): void {
  if (succeeds('ENOENT', () => linkSync(aside, path))) rmSync(aside)
}

/** Earlier versions recorded a keyed hash of the text instead of the text. */
function seenText({ state }: MirrorPaths, seen: unknown, bytes: Buffer | null): string {
  if (typeof seen === 'string') return seen
  const key = readIfPresent(join(state, 'key'))?.trim() ?? ''
  const hash = createHmac('sha256', key)
    .update(bytes ?? '')
    .digest('base64url')
    .slice(0, 22)
  const isSeen = bytes !== null && (seen as { readonly hash?: string } | null)?.hash === hash
  return isSeen ? (decode(bytes) ?? '') : ''
}

/** Removes displaced files that no program writes to any more, and records what has been merged of the others. */
export function settleDisplaced(
  paths: MirrorPaths,
  entries: readonly Displaced[],
  isOld: (at: number) => boolean,
): void {
  for (const { id, file, at, late } of entries) {
    const path = join(paths.displaced, id)
    const text = late === null ? null : decode(late)
    if (text !== null) {
      writeRecord(`${path}${done}`, JSON.stringify({ id, file, at, seen: text }))
      rmSync(`${path}${pending}`, { force: true })
    } else if (late !== null || isOld(at)) for (const end of ['', pending, done]) rmSync(path + end, { force: true })
  }
}

/**
 * The text of a file with a late change merged in. Appended text is appended. A whole save of a file that only we have
 * written since is an old copy that was saved: it takes the place of our text. Otherwise the lines are appended that it
 * adds to `base`, the version it was made from. If it removes or changes lines as well, or its version is not known,
 * `isTorn` asks the caller to keep the save as a whole too.
 */
export function mergeLate(
  live: { readonly text: string; readonly isOurs: boolean },
  { seen, late }: Displaced,
  base: string | null,
): { readonly text: string; readonly isTorn: boolean } {
  const text = late === null ? live.text : decode(late)
  if (text === null) return { text: live.text, isTorn: true }
  // A file that was created while ours was not in place holds either appended lines only, or a whole save.
  const isWhole = seen === '' && new MirrorDocument(text).version() !== null
  if (text.startsWith(seen) && !isWhole) return { text: appended(live.text, text.slice(seen.length)), isTorn: false }
  if (live.isOurs) return { text, isTorn: false }
  const isTorn = base === null || linesAdded(text, base, '') !== ''
  return { text: appended(live.text, linesAdded(base ?? seen, text, live.text)), isTorn }
}

/** Lines that are in `after` and neither in `before` nor in `known`, as text. */
export function linesAdded(before: string, after: string, known: string): string {
  const present = new Set(splitLines(known))
  const added = diffArrays([...splitLines(before)], [...splitLines(after)]).flatMap((part) =>
    part.added ? part.value : [],
  )
  return added
    .filter((line) => line.trim() !== '' && !present.has(line))
    .map((line) => `${line}\n`)
    .join('')
}

export const appended = (text: string, more: string): string =>
  text === '' || more === '' || /[\r\n]$/u.test(text) || /^[\r\n]/u.test(more) ? `${text}${more}` : `${text}\n${more}`
