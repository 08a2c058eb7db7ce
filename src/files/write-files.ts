import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { unavailable } from '../errors.ts'
import { makeDirectory } from './make-directory.ts'

export type FileToWrite = { readonly file: string; readonly text: string | Uint8Array }

/** Writes several files, none of them partially, because all are synced under temporary names before the first is renamed. */
export function writeFiles(files: readonly FileToWrite[]): void {
  const drafts: { readonly draft: string; readonly file: string }[] = []
  try {
    for (const { file, text } of files) {
      const draft = join(dirname(file), `.${basename(file)}.${process.pid}.tmp`)
      makeDirectory(dirname(file), 0o777)
      drafts.push({ draft, file })
      const descriptor = openSync(draft, 'w')
      try {
        writeFileSync(descriptor, text)
        fsyncSync(descriptor)
      } finally {
        closeSync(descriptor)
      }
    }
    for (const { draft, file } of drafts) renameSync(draft, file)
  } catch (cause) {
    for (const { draft } of drafts) rmSync(draft, { force: true })
    const { code, path } = cause as NodeJS.ErrnoException
    const reason = code === 'EEXIST' || code === 'ENOTDIR' ? 'a file is in the place of a directory' : code
    throw unavailable(
      `${path ?? 'A file'} cannot be written: ${reason}.`,
      'Choose a directory that you may write to and that has room.',
      cause,
    )
  }
}

/**
 * Makes new names in a directory survive a power cut, synchronously. Windows cannot open directories, and its file system
 * makes new names durable without this.
 */
export function syncDirectoryNow(directory: string): void {
  if (process.platform === 'win32') return
  const descriptor = openSync(directory, 'r')
  try {
    fsyncSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
