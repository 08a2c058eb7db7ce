import {
  closeSync,
  constants,
  copyFileSync,
  fchmodSync,
  fstatSync,
  fsync,
  linkSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { unavailable } from '../../../errors.ts'
import { codeOf, leftoverName, nullIfMissing } from '../../../files/leftovers.ts'
import { prepareOwnPath } from '../../../files/own-files.ts'
import { syncDirectoryNow } from '../../../files/write-files.ts'
import { decode, type LiveFile, signatureAt } from '../parse/read-file.ts'
import type { LateSave } from '../read.ts'
import { baseOf } from '../state/copies.ts'
import { type MirrorPaths, mirrorFile } from '../state/state.ts'
import { MirrorDocument } from './document.ts'

/** How long to wait for late writes of a program that had opened a file before it was replaced. */
export const settleMs = 60

/**
 * A file that was replaced by a new version. Another program may have saved it between our reading and our writing, or may still
 * have it open and write to it. The file has no name any more, but is kept open so that it can be read again.
 */
type ReplacedFile = { readonly descriptor: number; readonly at: number; seen: string }

/** The replaced files of each directory. */
const replacedFiles = new Map<string, readonly ReplacedFile[]>()

export const hasReplaced = ({ dir }: MirrorPaths): boolean => replacedFiles.has(dir)

/** The replaced files, each with its late save, if any. A file that a killed process left behind has no descriptor. */
export function readReplaced(paths: MirrorPaths) {
  const open = (replacedFiles.get(paths.dir) ?? []).map((file) => ({ file, late: lateSave(file) }))
  const left = nullIfMissing(() => readFileSync(prepareOwnPath(paths.dir, paths.replaced)))
  if (left === null) return open
  // The process was killed while it replaced the file. If the new one was not in place yet, the old one is put back.
  if (linkIn(paths.replaced, prepareOwnPath(paths.dir, paths.file))) {
    rmSync(paths.replaced)
    return open
  }
  const text = decode(left) ?? ''
  // A file without a version was created by another program while ours was not in place, so none of it was merged.
  const seen = new MirrorDocument(text).version() === null ? '' : (baseOf(paths, text)?.render() ?? null)
  return [...open, { file: null, late: text === seen ? null : { seen, bytes: left } }]
}

/** The late save of a replaced file, if any. An empty file does not count, because a program is about to write it. */
function lateSave({ descriptor, seen }: ReplacedFile): LateSave | null {
  const buffer = Buffer.alloc(fstatSync(descriptor).size)
  const bytes = buffer.subarray(0, readSync(descriptor, buffer, 0, buffer.length, 0))
  return bytes.length === 0 || decode(bytes) === seen ? null : { seen, bytes }
}

/** Closes the replaced files that no program writes to any more, and records how much of the others has been merged. */
export function settleReplaced(
  { dir, replaced }: MirrorPaths,
  read: ReturnType<typeof readReplaced>,
  isOld: (at: number) => boolean,
): void {
  const closed = new Set<ReplacedFile>()
  for (const { file, late } of read) {
    const text = late === null ? null : decode(late.bytes)
    if (file === null) rmSync(replaced, { force: true })
    else if (text !== null) file.seen = text
    else if (late !== null || isOld(file.at)) closed.add(file)
  }
  for (const { descriptor } of closed) closeSync(descriptor)
  const left = (replacedFiles.get(dir) ?? []).filter((file) => !closed.has(file))
  if (left.length > 0) replacedFiles.set(dir, left)
  else replacedFiles.delete(dir)
}

/**
 * Puts a new version of MEMORY.md in place without losing a change that another program makes at the same time. The old file is
 * moved aside by name, so the content at that instant is kept; the new one is linked in only if no file has the name, so a file
 * that appears in between is moved aside too. A rename over the old file would be simpler, but would lose what an editor saved
 * a moment before. During one system call, no file has the name. Returns the new signature.
 */
export async function replaceFile(paths: MirrorPaths, live: LiveFile | null, content: string, at: Date) {
  const path = prepareOwnPath(paths.dir, paths.file)
  const aside = prepareOwnPath(paths.dir, paths.replaced)
  const draft = join(paths.dir, leftoverName('tmp', mirrorFile))
  try {
    await writeToDisk(draft, content, live?.mode ?? 0o600)
    for (let attempt = 0; attempt < 20; attempt += 1) {
      const isAside = succeeds('ENOENT', () => renameSync(path, aside))
      let isInPlace: boolean
      try {
        isInPlace = linkIn(draft, path)
      } catch (error) {
        // Puts the old file back; otherwise there would be no file until the next sync.
        if (isAside && succeeds('EEXIST', () => linkSync(aside, path))) rmSync(aside)
        throw error
      }
      // If the moved file appeared in between, none of its text has been merged yet.
      if (isAside) keepOpen(paths, at.getTime(), attempt === 0 ? (live?.text ?? '') : '')
      if (isInPlace) {
        rmSync(draft, { force: true })
        syncDirectoryNow(paths.dir)
        const signature = signatureAt(path) ?? ''
        // Another program may have written to the new file already. An empty signature makes the next sync read it again.
        return signature.startsWith(`${Buffer.byteLength(content)}:`) ? signature : ''
      }
    }
    throw unavailable(`Another program keeps creating ${path}.`, 'Stop that program.')
  } finally {
    rmSync(draft, { force: true })
  }
}

function keepOpen({ dir, replaced }: MirrorPaths, at: number, seen: string): void {
  const descriptor = openSync(replaced, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0))
  rmSync(replaced)
  replacedFiles.set(dir, [...(replacedFiles.get(dir) ?? []), { descriptor, at, seen }])
}

/** Writes a new file. Its bytes are on disk when the call returns. */
async function writeToDisk(path: string, content: string, mode: number): Promise<void> {
  const descriptor = openSync(path, 'wx', 0o600)
  try {
    writeFileSync(descriptor, content)
    if (mode !== 0o600) fchmodSync(descriptor, mode)
    // Not synchronous, because a program that makes many changes in a row must still be able to handle its events.
    await promisify(fsync)(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Links a draft to a path. Returns false if the file already exists. */
function linkIn(draft: string, path: string): boolean {
  try {
    return succeeds('EEXIST', () => linkSync(draft, path))
  } catch (error) {
    // Copies the draft, because not every file system has hard links.
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
