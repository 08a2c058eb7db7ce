import {
  closeSync,
  constants,
  fsyncSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { MemoryError } from '../../../errors.ts'
import { codeOf, leftoverName } from '../../../files/leftovers.ts'
import { noFollow } from '../../../files/own-files.ts'
import type { Connection } from '../connection.ts'

/** Number and hash of an event. */
type JournalHead = { readonly number: number; readonly hash: string }

/**
 * The anchor is a small file beside the store with the newest event that is known to be committed. A journal that lost
 * events at its end has a valid chain of hashes; only a head kept outside of the database shows the loss. It is written
 * after a commit, without waiting for the disk, so after a crash it may name an earlier event, but never a later one.
 */
const anchorFile = (file: string): string => `${file}-head`

/** Null when there is none. A file that was created but not filled before a power cut counts as none. */
export function readAnchor(file: string): JournalHead | 'unreadable' | null {
  const text = textAt(anchorFile(file))
  if (text === null || text === '') return null
  try {
    const { number, hash } = JSON.parse(text)
    return Number.isSafeInteger(number) && typeof hash === 'string' ? { number, hash } : 'unreadable'
  } catch {
    return 'unreadable'
  }
}

/**
 * How the journal contradicts its anchor; null if it does not. Read the anchor before the transaction in which this is
 * called begins, or another process may have moved it beyond the state that the transaction sees.
 */
export function anchorProblem(connection: Connection, anchor: ReturnType<typeof readAnchor>): string | null {
  if (anchor === null || (anchor !== 'unreadable' && anchor.number === 0)) return null
  if (anchor === 'unreadable') return `${anchorFile(connection.file)} cannot be read`
  const found = connection.value<string>('SELECT lower(hex(hash)) FROM events WHERE number = ?', [anchor.number])
  if (found === anchor.hash) return null
  if (found !== undefined) return `event ${anchor.number} is not the event that was committed under this number`
  const last = connection.value<number | null>('SELECT max(number) FROM events') ?? 0
  return `the journal ends with event ${last}, but event ${anchor.number} was committed; the events after ${last} are missing`
}

/** Throws if events are missing: to derive the tables from such a journal would remove beliefs that are still there. */
export function requireWholeJournal(connection: Connection): void {
  const anchor = readAnchor(connection.file)
  const problem = connection.read(() => anchorProblem(connection, anchor))
  if (problem === null) return
  throw new MemoryError('conflict', `The journal of ${connection.file} is not whole: ${problem}.`, {
    hint: 'Nothing was changed. Restore a backup, or take the journal as it is with `credence doctor --accept-loss`.',
  })
}

/** What this process wrote last to the anchor of each store, so that it is not checked with every commit. */
const written = new WeakMap<Connection, string>()

/**
 * Moves the anchor to an event that was just committed. An anchor that contradicts the journal stays where it is, so that
 * the loss is still seen. A full or failing disk leaves the anchor behind, which is harmless.
 */
export function advanceAnchor(connection: Connection, head: JournalHead): void {
  const { file } = connection
  const text = anchorText(head)
  try {
    const isOwn = overwrite(file, text, (found) => found === written.get(connection))
    if (!isOwn) {
      const anchor = readAnchor(file)
      if (connection.read(() => anchorProblem(connection, anchor)) !== null) return
      if (anchor !== null && anchor !== 'unreadable' && anchor.number >= head.number) return
      if (!overwrite(file, text, ({ length }) => length === text.length)) writeAnew(file, text, { durable: false })
    }
    written.set(connection, text)
  } catch (error) {
    if (codeOf(error) === undefined) throw error
  }
}

/** Before another journal takes the place of this one. */
export const removeAnchor = (file: string): void => rmSync(anchorFile(file), { force: true })

/** Takes the journal as it is: the anchor names its newest event, whatever it named before. */
export function anchorAt(file: string, head: JournalHead): void {
  try {
    writeAnew(file, anchorText(head), { durable: true })
  } catch (cause) {
    throw new MemoryError('unavailable', `${anchorFile(file)} cannot be written.`, {
      hint: 'Check the permissions and the space of its directory.',
      cause,
    })
  }
}

/** As long as any anchor gets, so that one can be written over another. */
const anchorBytes = 128

const anchorText = ({ number, hash }: JournalHead): string =>
  `${JSON.stringify({ number, hash }).padEnd(anchorBytes - 1)}\n`

function writeAnew(file: string, text: string, { durable }: { readonly durable: boolean }): void {
  const path = anchorFile(file)
  const draft = join(dirname(path), leftoverName('tmp', basename(path)))
  try {
    const descriptor = openSync(draft, 'wx', 0o600)
    try {
      writeSync(descriptor, text)
      if (durable) fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
    renameSync(draft, path)
  } catch (error) {
    rmSync(draft, { force: true })
    throw error
  }
}

/**
 * Writes over an anchor in place, within one sector, which a power cut leaves as it was or as it is. A rename in its place
 * takes as long as the commit, because file systems then write the new file first. False where there is none yet, or another
 * one than `isExpected`.
 */
function overwrite(file: string, text: string, isExpected: (found: string) => boolean): boolean {
  try {
    const descriptor = openSync(anchorFile(file), constants.O_RDWR | noFollow)
    try {
      const found = Buffer.alloc(anchorBytes + 1)
      if (!isExpected(found.toString('latin1', 0, readSync(descriptor, found)))) return false
      writeSync(descriptor, text, 0)
    } finally {
      closeSync(descriptor)
    }
    return true
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false
    throw error
  }
}

function textAt(path: string): string | null {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    return '?'
  }
}
