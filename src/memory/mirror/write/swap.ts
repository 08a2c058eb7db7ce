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
import { z } from 'zod'
import type { Belief } from '../../../beliefs/belief.ts'
import { unavailable } from '../../../errors.ts'
import { codeOf, leftoverName } from '../../../files/leftovers.ts'
import { ownPath } from '../../../files/own-files.ts'
import { syncDirectoryNow } from '../../../files/write-files.ts'
import { parseJson } from '../../../json.ts'
import { type ItemBlock, parseBlocks, splitLines } from '../parse/blocks.ts'
import { decode, hashOf, signatureAt } from '../parse/read-file.ts'
import { saveBase } from '../state/bases.ts'
import {
  bytesIfPresent,
  type MirrorPaths,
  type MirrorState,
  mirrorFile,
  namesIn,
  readIfPresent,
  writeRecord,
} from '../state/state.ts'
import { MirrorDocument } from './document.ts'
import type { MirrorFile } from './layout.ts'

/**
 * A file that a new version replaced. Another program may have saved it between our reading and our writing, or may
 * have it open and still write to it, so it is read again before it is removed.
 */
export type Displaced = {
  /** Its name in the directory of displaced files. */
  readonly id: string
  /** The name of the file that it was. */
  readonly file: string
  readonly at: number
  /** The part of its text that has been merged already; null if its record is damaged or of an older version. */
  readonly seen: string | null
  /** Its present bytes, if they differ from `seen`. */
  readonly late: Buffer | null
}

/** A program that opened a file before it was displaced has so long to write to it. */
export const settleMs = 60

const pending = '.pending.json'
const done = '.done.json'

const displacedRecord = z.object({ file: z.string(), at: z.number(), seen: z.string() })

type WriteContext = { readonly paths: MirrorPaths; readonly state: MirrorState; readonly now: () => Date }

/**
 * Writes every file whose text is not the one on disk, and keeps each text as the base of the next merge. `left` are lines
 * that stay as they are, with what the store says in their place. Returns the names of the files written.
 */
export async function writeFiles(
  { paths, state, now }: WriteContext,
  files: readonly MirrorFile[],
  left: ReadonlyMap<ItemBlock, Belief | null>,
): Promise<readonly string[]> {
  const changed = files.filter(({ document, live }) => document.version() === null || document.render() !== live?.text)
  const versions = files.map(({ document }) => document.version() ?? 0)
  const version = Math.max(state.version, ...versions.filter((one) => one < Number.MAX_SAFE_INTEGER / 2)) + 1
  // The base of a line that is left is what the store says, so that the line still counts as edited.
  const instead = new Map([...left].flatMap(([block, belief]) => (belief === null ? [] : [[block, belief] as const])))
  for (const file of files) {
    const { name, scope, live, document } = file
    const isChanged = changed.includes(file)
    if (!isChanged && live?.hash === state.files[name]?.hash) continue
    if (isChanged) document.setVersion(version)
    const content = document.render()
    saveBase(paths, name, document, document.render(instead))
    const signature = isChanged ? await replaceFile({ paths, now }, file, content) : (live?.signature ?? '')
    state.files[name] = { scope, signature, hash: hashOf(content), items: document.ids().length }
  }
  if (changed.length > 0) {
    state.version = version
    // Once for all files: the caller learns of them only after this.
    syncDirectoryNow(paths.dir)
  }
  return changed.map(({ name }) => name)
}

/**
 * Puts a new version of a file in place without losing a change that another program makes at the same time. The old
 * file is moved aside by name, so whatever is there at that instant is kept; the new one is linked in only where nothing
 * is, so a file that appears meanwhile is moved aside too. A rename over the old file would be shorter and would lose
 * what an editor saved a moment before. The file is missing for one system call. The caller syncs the directory.
 * Returns the signature of the new file.
 */
async function replaceFile(
  { paths, now }: Omit<WriteContext, 'state'>,
  { name, live }: MirrorFile,
  content: string,
): Promise<string> {
  const path = ownPath(paths.dir, join(paths.dir, name))
  const draft = join(paths.dir, leftoverName('tmp', name))
  try {
    await writeToDisk(draft, content, live?.mode ?? 0o600)
    for (let attempt = 0; attempt < 20; attempt += 1) {
      const id = leftoverName('replaced', name).slice('.replaced-'.length)
      const aside = join(paths.displaced, id)
      // Written before the move, so that a crash in between loses nothing. A file that appeared meanwhile is all new.
      const seen = attempt === 0 ? (live?.text ?? '') : ''
      writeRecord(paths, `${aside}${pending}`, JSON.stringify({ file: name, at: now().getTime(), seen }))
      const isAside = succeeds('ENOENT', () => renameSync(path, aside))
      let isInPlace: boolean
      try {
        isInPlace = linkIn(draft, path)
      } catch (error) {
        // Without the old file there would be none until the next sync.
        if (isAside && succeeds('EEXIST', () => restore(aside, path))) rmSync(`${aside}${pending}`)
        throw error
      }
      if (isAside) renameSync(`${aside}${pending}`, `${aside}${done}`)
      else rmSync(`${aside}${pending}`)
      if (isInPlace) {
        rmSync(draft, { force: true })
        const signature = signatureAt(path) ?? ''
        // Another program may have written to it already; an empty signature has it read again.
        return signature.startsWith(`${Buffer.byteLength(content)}:`) ? signature : ''
      }
    }
    throw unavailable(`Another program keeps creating ${path}.`, 'Stop that program.')
  } finally {
    rmSync(draft, { force: true })
  }
}

/** Writes a new file. Its bytes are on disk when the call returns. */
async function writeToDisk(path: string, content: string, mode: number): Promise<void> {
  const descriptor = openSync(path, 'wx', 0o600)
  try {
    writeFileSync(descriptor, content)
    if (mode !== 0o600) fchmodSync(descriptor, mode)
    // Asynchronous, so that a program that makes many changes in a row still handles its events.
    await promisify(fsync)(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

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
    const parsed = displacedRecord.safeParse(parseJson(readIfPresent(path) ?? ''))
    const record = parsed.success ? parsed.data : { file: mirrorFile, at: 0, seen: null }
    const aside = join(paths.displaced, id)
    const putBack = (): void => restore(aside, ownPath(paths.dir, join(paths.dir, record.file)))
    const isBack = name.endsWith(pending) && succeeds('EEXIST', putBack)
    const bytes = isBack ? null : bytesIfPresent(aside)
    // An emptied file is about to be written.
    const late = bytes === null || bytes.length === 0 || decode(bytes) === record.seen ? null : bytes
    found.push({ ...record, id, late })
  }
  return found.sort((one, other) => one.at - other.at)
}

function restore(aside: string, path: string): void {
  if (succeeds('ENOENT', () => linkSync(aside, path))) rmSync(aside)
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
      writeRecord(paths, `${path}${done}`, JSON.stringify({ file, at, seen: text }))
      rmSync(`${path}${pending}`, { force: true })
    } else if (late !== null || isOld(at)) for (const end of ['', pending, done]) rmSync(path + end, { force: true })
  }
}

/**
 * The text of a file with a late change merged in. Appended text is appended. A whole save of a file that only we have
 * written since is an old copy that was saved: it takes the place of our text. Otherwise the lines are appended that it
 * adds to `base`, the version it was made from. If it removes or changes lines as well, or its version is not known,
 * `isTorn` asks the caller to keep the save as a whole too. If it is unknown which part is merged already, none is merged.
 */
export function mergeLate(
  live: { readonly text: string; readonly isOurs: boolean },
  { seen, late }: Displaced,
  base: string | null,
): { readonly text: string; readonly isTorn: boolean } {
  const text = late === null ? live.text : decode(late)
  if (text === null) return { text: live.text, isTorn: true }
  if (seen === null) return { text: live.text, isTorn: linesAdded('', withoutMarks(text), live.text) !== '' }
  // A file that was created while ours was not in place holds either appended lines only, or a whole save.
  const isWhole = seen === '' && new MirrorDocument(text).version() !== null
  if (text.startsWith(seen) && !isWhole) return { text: appended(live.text, text.slice(seen.length)), isTorn: false }
  if (live.isOurs) return { text, isTorn: false }
  const isTorn = base === null || linesAdded(text, base, '') !== ''
  return { text: appended(live.text, linesAdded(base ?? seen, text, live.text)), isTorn }
}

const withoutMarks = (text: string): string =>
  parseBlocks(text)
    .filter(({ kind }) => kind !== 'mark')
    .map(({ raw }) => raw)
    .join('')

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
