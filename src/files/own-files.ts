import {
  closeSync,
  constants,
  lstatSync,
  openSync,
  readdirSync,
  realpathSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path'
import { type MemoryError, unavailable } from '../errors.ts'
import { makeDirectory } from './make-directory.ts'

/** Makes opening a symbolic link fail. Windows has no such flag. */
export const noFollow = constants.O_NOFOLLOW ?? 0

/** Whether a file belongs to another user of the machine. False on Windows, where Node reports no owners. */
export const isOfAnotherUser = ({ uid }: Stats): boolean => process.getuid !== undefined && uid !== process.getuid()

/** The permission bits of a file that are in `mask`. 0 on Windows, which has none. */
export const permissionsIn = ({ mode }: Stats, mask: number): number => (process.platform === 'win32' ? 0 : mode & mask)

/**
 * Returns the path of a file to write below the memory directory `root`, after creating missing directories with access for the owner only.
 * Throws a MemoryError if `checkOwn` does. Everything that writes a file in a memory must call this first.
 */
export function prepareOwnPath(root: string, path: string): string {
  checkOwn(root, path)
  makeDirectory(dirname(path))
  return path
}

/** Like `prepareOwnPath`, for a directory, which is created too. */
export function prepareOwnDirectory(root: string, path: string): string {
  checkOwn(root, path)
  makeDirectory(path)
  return path
}

/** Writes to a file that only the owner may access, and never through a symbolic link. */
export function writePrivate(path: string, content: string | Uint8Array, how: 'append' | 'replace'): void {
  const { O_WRONLY, O_CREAT, O_APPEND, O_TRUNC } = constants
  const descriptor = openSync(path, O_WRONLY | O_CREAT | (how === 'append' ? O_APPEND : O_TRUNC) | noFollow, 0o600)
  try {
    writeFileSync(descriptor, content)
  } finally {
    closeSync(descriptor)
  }
}

/**
 * Throws unless everything that exists from `root` down to `path` belongs to this account and is a plain file or a directory that no other
 * user may write to. A symbolic link is refused, because Credence would write through it to a file elsewhere. The result stays valid until
 * the write, because no other account may write to the directories. `root` itself may be a link, because the person chose it.
 */
export function checkOwn(root: string, path: string): void {
  refuseForeign(root, statSync(root, { throwIfNoEntry: false }))
  for (const [at, stats] of existingBelow(root, path)) refuseForeign(at, stats)
}

/** Rejects only links. Used for a directory that others may own or write to, such as an eval store in a shared checkout. */
export function checkPlain(root: string, path: string): void {
  for (const [at, stats] of existingBelow(root, path)) if (stats.isSymbolicLink()) throw linkRefused(at)
}

/** The existing files and directories on the path from `root` (exclusive) down to `path`. */
function* existingBelow(root: string, path: string): Generator<readonly [string, Stats]> {
  const below = relative(root, path)
  if (isAbsolute(below) || below.split(sep)[0] === '..')
    throw unavailable(`${path} is outside of ${root}.`, 'Delete the record that names this path.')
  let at = root
  for (const name of below === '' ? [] : below.split(sep)) {
    at = join(at, name)
    const stats = lstatSync(at, { throwIfNoEntry: false })
    if (stats === undefined) return
    yield [at, stats]
    if (!stats.isDirectory()) return
  }
}

function refuseForeign(at: string, stats: Stats | undefined): void {
  if (stats === undefined) return
  if (stats.isSymbolicLink()) throw linkRefused(at)
  if (isOfAnotherUser(stats))
    throw unavailable(
      `${at} belongs to another user of this machine (user id ${stats.uid}).`,
      'Use a memory of your own, or change the owner of the files to yourself.',
    )
  if (stats.isDirectory() && permissionsIn(stats, 0o022) !== 0)
    throw unavailable(
      `Other users may write to the directory ${at} (mode ${(stats.mode & 0o777).toString(8)}).`,
      `Run: chmod 700 ${shellWord(at)}`,
    )
  if (!stats.isFile() && !stats.isDirectory())
    throw unavailable(`${at} is neither a file nor a directory.`, 'Delete it, or use another memory directory.')
}

/**
 * Checks the directory `root` and everything in its subdirectory `inner`. Returns the paths that are symbolic links, belong to
 * another user, or are accessible to others. `root` itself may be a link.
 */
export function examineFiles(root: string, inner: string) {
  const links: string[] = []
  const foreign: string[] = []
  const loose: string[] = []
  const examine = (path: string, stats: Stats | undefined): void => {
    if (stats === undefined) return
    if (stats.isSymbolicLink()) links.push(path)
    else if (isOfAnotherUser(stats)) foreign.push(path)
    else if (permissionsIn(stats, 0o077) !== 0) loose.push(path)
    if (path === root || !stats.isDirectory()) return
    for (const name of readdirSync(path))
      examine(join(path, name), lstatSync(join(path, name), { throwIfNoEntry: false }))
  }
  examine(root, statSync(root))
  examine(inner, lstatSync(inner, { throwIfNoEntry: false }))
  return { links, foreign, loose }
}

const linkRefused = (at: string): MemoryError =>
  unavailable(`${at} is a symbolic link, and a memory contains no links.`, 'Delete the link.')

/** A path as one word of a shell command. */
export const shellWord = (path: string): string =>
  /^[\w@%+=:,./-]+$/u.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`

/** The path with links resolved; if it does not exist, just the absolute path. */
export function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return resolve(path)
  }
}
