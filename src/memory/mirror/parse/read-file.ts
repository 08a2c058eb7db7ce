import { hash } from 'node:crypto'
import { type BigIntStats, closeSync, constants, fstatSync, lstatSync, openSync, readFileSync } from 'node:fs'
import { codeOf } from '../../../files/leftovers.ts'

/** A file of the mirror as it is on disk. An unreadable file is not treated as an empty one. */
export type FileRead =
  | { readonly kind: 'missing' }
  | ({ readonly kind: 'read' } & LiveFile)
  | { readonly kind: 'unreadable'; readonly reason: string }

export type LiveFile = {
  readonly text: string
  readonly hash: string
  readonly signature: string
  readonly mode: number
}

/** Max bytes of a file. Memory files are much shorter. */
const maxFileLength = 4 * 1024 * 1024

export const contentHashOf = (content: string | Uint8Array): string => hash('sha256', content, 'base64url')

const signatureOf = ({ size, mtimeNs, ctimeNs, ino }: BigIntStats): string => [size, mtimeNs, ctimeNs, ino].join(':')

/** A signature that changes whenever the file does; null if there is no regular file. Does not read the file. */
export function signatureAt(path: string): string | null {
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false })
  return stats?.isFile() ? signatureOf(stats) : null
}

export function readLiveFile(path: string): FileRead {
  try {
    const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false })
    if (stats === undefined) return { kind: 'missing' }
    const reason = reasonAgainst(stats)
    return reason === null ? readPlain(path, stats) : { kind: 'unreadable', reason }
  } catch (error) {
    const code = codeOf(error)
    if (code === 'ENOENT') return { kind: 'missing' }
    if (code === undefined) throw error
    return { kind: 'unreadable', reason: code === 'EACCES' ? 'it may not be read' : `reading it failed (${code})` }
  }
}

/** The reason why a file cannot be used; null if it can. Refuses links, because they lead to files elsewhere. */
function reasonAgainst(stats: BigIntStats): string | null {
  if (stats.isSymbolicLink()) return 'it is a symbolic link'
  if (stats.isDirectory()) return 'it is a directory'
  if (!stats.isFile()) return 'it is not a plain file'
  if (stats.nlink > 1n) return 'it is a hard link: another name leads to the same file'
  if (stats.size > BigInt(maxFileLength)) return `it has ${stats.size} bytes; at most ${maxFileLength} are read`
  return null
}

function readPlain(path: string, seen: BigIntStats): FileRead {
  const descriptor = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0))
  try {
    const stats = fstatSync(descriptor, { bigint: true })
    // Another program replaced the file after it was checked, so the new file is read.
    if (stats.ino !== seen.ino) return readLiveFile(path)
    const bytes = readFileSync(descriptor)
    const text = decode(bytes)
    if (text === null) return { kind: 'unreadable', reason: 'it is not UTF-8 text' }
    const mode = Number(stats.mode & 0o777n)
    return { kind: 'read', text, hash: contentHashOf(bytes), signature: signatureOf(stats), mode }
  } finally {
    closeSync(descriptor)
  }
}

/** The text with its byte order mark, if it has one; null if it is not UTF-8. */
export function decode(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return null
  }
}
