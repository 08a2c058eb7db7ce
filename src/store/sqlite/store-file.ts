import { randomFillSync } from 'node:crypto'
import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  type Stats,
  statfsSync,
  statSync,
  truncateSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { MemoryError } from '../../errors.ts'
import { writePrivate } from '../../files/own-files.ts'

/**
 * Makes sure there is a private file for SQLite to open. Called before a connection exists and never opens a file that
 * was there already: closing any descriptor of a database drops the locks the whole process holds on it.
 */
export function prepareFile(file: string): void {
  const directory = dirname(file)
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    refuseNetworkDisk(directory)
    const known = statOf(file)
    if (known === null) createPrivate(file)
    else if (!known.isFile()) throw notAFile(file)
    else if (known.size === 0) chmodSync(file, 0o600)
  } catch (error) {
    if (error instanceof MemoryError) throw error
    throw new MemoryError('unavailable', `The store ${file} cannot be created.`, {
      hint: `Check that ${directory} may be written to.`,
      cause: error,
    })
  }
}

/** For reading only: the file must be there. */
export function requireFile(file: string): void {
  const known = statOf(file)
  if (known === null) {
    throw new MemoryError('not_found', `There is no store at ${file}.`, {
      hint: 'Store something first with `credence remember`, or name another directory.',
    })
  }
  if (!known.isFile()) throw notAFile(file)
}

/** Whether all of these may be written to. */
export function mayBeWritten(...paths: readonly string[]): boolean {
  try {
    for (const path of paths) accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** Whether there is a store that may only be read. */
export const isReadOnlyStore = (file: string): boolean => existsSync(file) && !mayBeWritten(dirname(file), file)

/** The endings of the store's own files: SQLite's, the head of the journal, and the reserve. */
export const storeSuffixes = ['', '-wal', '-shm', '-journal', '-head', '-reserve'] as const

/** Which files a connection has open, so that a swap under it can be noticed. */
export const identityOf = (file: string): string =>
  [file, `${file}-wal`].map((name) => statOf(name)?.ino ?? 'none').join(' ')

export const sizeOf = (file: string): number => statOf(file)?.size ?? 0

/** Where SQLite marks, in the file beside the log, that a process is reading: https://sqlite.org/walformat.html */
const readLocks = { first: 123, last: 127 }

/** The ids of the other processes that are reading a state of the store now, where the system lists locks. */
export function readersOf(file: string): readonly number[] {
  const shared = statOf(`${file}-shm`)?.ino
  if (shared === undefined || !existsSync('/proc/locks')) return []
  const readers = readFileSync('/proc/locks', 'latin1')
    .split('\n')
    .flatMap((line) => {
      const [, reader, inode, start] = /\bREAD +(\d+) +[\da-f]+:[\da-f]+:(\d+) +(\d+)/u.exec(line)?.map(Number) ?? []
      if (reader === undefined || start === undefined || inode !== shared) return []
      return start >= readLocks.first && start <= readLocks.last ? [reader] : []
    })
  return [...new Set(readers)].filter((reader) => reader > 0 && reader !== process.pid)
}

/**
 * Moves a damaged store out of the way, together with its side files, and returns the new name. Nothing is deleted.
 * No process may have it open.
 */
export function setAsideCorruptStore(file: string, at: Date = new Date()): string {
  if (sizeOf(`${file}-head`) === 0) requireFile(file)
  const target = `${file}.corrupt-${at.toISOString().replace(/[:.]/g, '-')}`
  const moves = ['', '-wal', '-shm', '-head'].filter((suffix) => existsSync(file + suffix))
  const taken = moves.find((suffix) => existsSync(target + suffix))
  if (taken !== undefined) {
    throw new MemoryError('conflict', `${target}${taken} already exists.`, { hint: 'Move it away, or try again.' })
  }
  for (const suffix of moves) renameSync(file + suffix, target + suffix)
  return target
}

/** Enough for the log of one forget and a new MEMORY.md. */
export const reserveBytes = 1024 * 1024

export const reserveOf = (file: string): string => `${file}-reserve`

export const freeBytes = (file: string): number => {
  const { bavail, bsize } = statfsSync(dirname(file))
  return bavail * bsize
}

/** SQLite needs this much beside the store to open it, also for reading. */
export const openingBytes = 128 * 1024

/**
 * Before the store is opened: on a disk without any room a part of the reserve makes some. The rest is for forgetting. Returns a
 * function that puts back what was taken, for when the store is closed: its log, and SQLite's list of it, are gone by then.
 */
export function makeRoomToOpen(file: string): () => void {
  const size = sizeOf(reserveOf(file))
  if (size >= reserveBytes / 2 + openingBytes && freeBytes(file) < openingBytes)
    truncateSync(reserveOf(file), size - openingBytes)
  return () => {
    const taken = size - sizeOf(reserveOf(file))
    if (taken <= 0) return
    try {
      const room = Math.min(taken, freeBytes(file))
      writePrivate(reserveOf(file), randomFillSync(Buffer.allocUnsafe(room)), 'append')
    } catch {
      // Another program was faster. What was written of it is a reserve too.
    }
  }
}

const statOf = (file: string): Stats | null => statSync(file, { throwIfNoEntry: false }) ?? null

function createPrivate(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600))
  } catch (error) {
    // Another process was faster, which is as good.
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}

const notAFile = (file: string): MemoryError =>
  new MemoryError('unavailable', `${file} is not a file.`, { hint: 'Move it away, or name another directory.' })

/** Linux's numbers for file systems on which several processes cannot share a write-ahead log. */
const networkDisks: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
  [0x65735546, 'FUSE or virtiofs'],
  [0x01021997, '9p'],
])

function refuseNetworkDisk(directory: string): void {
  if (process.platform !== 'linux') return
  const disk = networkDisks.get(statfsSync(directory).type >>> 0)
  if (disk === undefined) return
  throw new MemoryError('unavailable', `${directory} is on a ${disk} file system, where a store would be damaged.`, {
    hint: 'Keep the memory on a local disk; set its directory with --dir or CREDENCE_DIR.',
  })
}
