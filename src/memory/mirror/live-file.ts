import { createHmac } from 'node:crypto'
import { type BigIntStats, closeSync, constants, fstatSync, lstatSync, openSync, readFileSync } from 'node:fs'
import { codeOf } from '../../files/leftovers.ts'

/** A file of the mirror as it is on the disk. What cannot be read is not empty: nothing may follow from it. */
export type LiveFile =
  | { readonly kind: 'missing' }
  | {
      readonly kind: 'read'
      readonly bytes: Buffer
      readonly text: string
      readonly signature: string
      readonly mode: number
    }
  | { readonly kind: 'unreadable'; readonly reason: string }

/** No memory file is nearly as long; reading one that is would only hold everybody up. */
export const longestFile = 4 * 1024 * 1024

/** Tells two states of a file apart without reading it. */
export const signatureOf = ({ size, mtimeNs, ctimeNs, ino }: BigIntStats): string =>
  [size, mtimeNs, ctimeNs, ino].join(':')

/** The signature of a plain file, or null for anything else. */
export function signatureAt(path: string): string | null {
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false })
  return stats?.isFile() ? signatureOf(stats) : null
}

export function readLive(path: string): LiveFile {
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

/** A link would have us write, or believe, something that lies elsewhere. */
function reasonAgainst(stats: BigIntStats): string | null {
  if (stats.isSymbolicLink()) return 'it is a symbolic link'
  if (stats.isDirectory()) return 'it is a directory'
  if (!stats.isFile()) return 'it is not a plain file'
  if (stats.nlink > 1n) return 'it is a hard link: another name leads to the same file'
  if (stats.size > BigInt(longestFile)) return `it has ${stats.size} bytes; at most ${longestFile} are read`
  return null
}

function readPlain(path: string, seen: BigIntStats): LiveFile {
  const descriptor = openSync(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0))
  try {
    const stats = fstatSync(descriptor, { bigint: true })
    // Replaced between looking and opening: look again.
    if (stats.ino !== seen.ino) return readLive(path)
    const bytes = readFileSync(descriptor)
    const text = decode(bytes)
    if (text === null) return { kind: 'unreadable', reason: 'it is not UTF-8 text' }
    return { kind: 'read', bytes, text, signature: signatureOf(stats), mode: Number(stats.mode & 0o777n) }
  } finally {
    closeSync(descriptor)
  }
}

/** The text with its byte order mark, if it has one; null when it is not UTF-8. */
export function decode(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return null
  }
}

/** Stands for the bytes of a file. Keyed, so that nobody can guess from it what a forgotten text was. */
export const bytesHash = (key: string, bytes: Uint8Array): string =>
  createHmac('sha256', key).update(bytes).digest('base64url').slice(0, 22)
