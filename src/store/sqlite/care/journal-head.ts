import { closeSync, constants, fsyncSync, ftruncateSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { MemoryError } from '../../../errors.ts'
import { codeOf } from '../../../files/leftovers.ts'
import { noFollow } from '../../../files/own-files.ts'
import type { Connection } from '../connection.ts'

/** Number and hash of an event. */
type JournalHead = { readonly number: number; readonly hash: string }

/**
 * A small file next to the store with the newest event that is known to be committed. A journal that lost events at its end still has a
 * valid chain of hashes, so only a head outside the database shows the loss. The file is written after a commit, without waiting for the
 * disk. If the process dies or the power fails before that, the file names an earlier event, never a later one. Until the next commit, a
 * loss of only the events after the named one would go unnoticed.
 */
const headFile = (file: string): string => `${file}-head`

type KnownHead = JournalHead | 'unreadable' | null

/** Null if the file is missing, or empty after a power cut. */
export function readHead(file: string): KnownHead {
  try {
    return parseHead(readFileSync(headFile(file), 'utf8'))
  } catch (error) {
    return codeOf(error) === 'ENOENT' ? null : 'unreadable'
  }
}

function parseHead(text: string): KnownHead {
  if (text === '') return null
  try {
    const { number, hash } = JSON.parse(text)
    return Number.isSafeInteger(number) && typeof hash === 'string' ? { number, hash } : 'unreadable'
  } catch {
    return 'unreadable'
  }
}

/**
 * How the journal contradicts the head; null if it does not. The caller must read the head before its transaction begins; otherwise
 * another process may move the head beyond the state that the transaction sees.
 */
export function headProblem(connection: Connection, head: KnownHead): string | null {
  if (head === null || (head !== 'unreadable' && head.number === 0)) return null
  if (head === 'unreadable') return `${headFile(connection.file)} cannot be read`
  const found = connection.value<string>('SELECT lower(hex(hash)) FROM events WHERE number = ?', [head.number])
  if (found === head.hash) return null
  if (found !== undefined) return `event ${head.number} is not the event that was committed under this number`
  const last = connection.value<number | null>('SELECT max(number) FROM events') ?? 0
  return `the journal ends with event ${last}, but event ${head.number} was committed; the events after ${last} are missing`
}

/** Throws if events are missing, because rebuilding the tables from such a journal would remove existing beliefs. */
export function requireWholeJournal(connection: Connection): void {
  const head = readHead(connection.file)
  const problem = connection.read(() => headProblem(connection, head))
  if (problem === null) return
  throw new MemoryError('conflict', `The journal of ${connection.file} is not whole: ${problem}.`, {
    hint: 'Nothing was changed. Restore a backup, or accept the journal as it is with `credence doctor --accept-loss`.',
  })
}

/**
 * Moves the head to an event that was just committed. A head that contradicts the journal is kept, so that the loss is still reported.
 * On a full or failing disk the head stays one event behind, which is harmless.
 */
export function advanceHead(connection: Connection, head: JournalHead): void {
  try {
    withHeadFile(connection.file, (descriptor) => {
      const known = parseHead(readFileSync(descriptor, 'utf8'))
      if (connection.read(() => headProblem(connection, known)) !== null) return
      if (known === null || known === 'unreadable' || known.number < head.number) write(descriptor, head)
    })
  } catch (error) {
    if (codeOf(error) === undefined) throw error
  }
}

/** Overwrites the head, so that the journal counts as complete. */
export function setHead(file: string, head: JournalHead): void {
  try {
    withHeadFile(file, (descriptor) => {
      ftruncateSync(descriptor)
      write(descriptor, head)
      fsyncSync(descriptor)
    })
  } catch (cause) {
    throw new MemoryError('unavailable', `${headFile(file)} cannot be written.`, {
      hint: 'Check the permissions and the space of its directory.',
      cause,
    })
  }
}

/** Must be called before a different journal replaces this one. */
export const removeHead = (file: string): void => rmSync(headFile(file), { force: true })

function withHeadFile(file: string, work: (descriptor: number) => void): void {
  const descriptor = openSync(headFile(file), constants.O_RDWR | constants.O_CREAT | noFollow, 0o600)
  try {
    work(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

/** Every head is padded to this length. It fits one sector of the disk, so that a power cut leaves the old head or the new one. */
const headBytes = 128

function write(descriptor: number, { number, hash }: JournalHead): void {
  writeSync(descriptor, `${JSON.stringify({ number, hash }).padEnd(headBytes - 1)}\n`, 0)
}
