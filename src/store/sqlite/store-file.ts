import {
  accessSync,
  chmodSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statfsSync,
  statSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { conflict, MemoryError, notFound, unavailable } from '../../errors.ts'
import { makeDirectory } from '../../files/make-directory.ts'

/**
 * Creates a private file for SQLite to open, if there is none. Never opens an existing file, because closing any descriptor of a
 * database drops all locks of the process on it.
 */
export function prepareFile(file: string): void {
  const directory = dirname(file)
  try {
    makeDirectory(directory)
    refuseNetworkDisk(directory)
    const known = statOf(file)
    if (known === null) createPrivate(file)
    else if (!known.isFile()) throw notAFile(file)
    else if (known.size === 0) chmodSync(file, 0o600)
    // Versions up to 0.2 reserved 1 MB of disk space with this file.
    rmSync(`${file}-reserve`, { force: true })
  } catch (error) {
    if (error instanceof MemoryError) throw error
    throw unavailable(`The store ${file} cannot be created.`, `Check that ${directory} may be written to.`, error)
  }
}

/** Throws if there is no store at `file`: a store that is only read is never created. */
export function requireFile(file: string): void {
  const known = statOf(file)
  if (known === null) {
    throw notFound(
      `There is no store at ${file}.`,
      'Store something first with `credence remember`, or name another directory.',
    )
  }
  if (!known.isFile()) throw notAFile(file)
}

/** Whether all of these paths are writable. */
export function mayBeWritten(...paths: readonly string[]): boolean {
  try {
    for (const path of paths) accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** Whether there is a store that can only be read, because its permissions forbid writing or its disk is full. */
export const isReadOnlyStore = (file: string): boolean =>
  existsSync(file) && (!mayBeWritten(dirname(file), file) || isDiskFull(file))

/** The suffixes of the store's files: those of SQLite, and the head of the journal. */
export const storeSuffixes = ['', '-wal', '-shm', '-journal', '-head'] as const

/** Identifies the files of a store by their inodes, to detect that they were replaced. */
export const identityOf = (file: string): string =>
  [file, `${file}-wal`].map((name) => statOf(name)?.ino ?? 'none').join(' ')

export const sizeOf = (file: string): number => statOf(file)?.size ?? 0

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
    throw conflict(`${target}${taken} already exists.`, 'Move it away, or try again.')
  }
  for (const suffix of moves) renameSync(file + suffix, target + suffix)
  return target
}

const freeBytes = (file: string): number => {
  const { bavail, bsize } = statfsSync(dirname(file))
  return bavail * bsize
}

/** Min free space next to a store for SQLite to open it for writing. */
const openingBytes = 128 * 1024

/** Whether SQLite could not create its files next to a store that no process has open. */
export const isDiskFull = (file: string): boolean => !existsSync(`${file}-shm`) && freeBytes(file) < openingBytes

const statOf = (file: string): Stats | null => statSync(file, { throwIfNoEntry: false }) ?? null

function createPrivate(file: string): void {
  try {
    closeSync(openSync(file, 'wx', 0o600))
  } catch (error) {
    // Another process created it first.
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
}

const notAFile = (file: string): MemoryError =>
  unavailable(`${file} is not a file.`, 'Move it away, or name another directory.')

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
  throw unavailable(
    `${directory} is on a ${disk} file system, where a store would be damaged.`,
    'Keep the memory on a local disk; set its directory with --dir or CREDENCE_DIR.',
  )
}

/** The other programs of this account that have a file open, as "node (4711)". Only Linux shows them. */
export function programsWith(file: string): readonly string[] {
  if (process.platform !== 'linux') return []
  const path = realpathSync(file)
  const others = readdirSync('/proc').filter((name) => /^\d+$/u.test(name) && name !== String(process.pid))
  return others.flatMap((pid) => {
    try {
      const isOpen = readdirSync(`/proc/${pid}/fd`).some((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`) === path)
      return isOpen ? [`${readFileSync(`/proc/${pid}/comm`, 'utf8').trim()} (${pid})`] : []
    } catch {
      // It has ended, or belongs to another account.
      return []
    }
  })
}
