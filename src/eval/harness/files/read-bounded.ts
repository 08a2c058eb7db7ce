import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { type Checked, wholeDocument } from '../parse-artifact.ts'
import { codeOf } from './leftovers.ts'

/** Larger documents are refused unread. */
export const largestDocument = 64 * 1024 * 1024

// Links are not followed, and a pipe without a writer does not make the reader wait.
const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

/**
 * Reads a plain file of bounded size; `file` is what a problem calls it. Synchronous because a store has up to a
 * hundred thousand small files, and a promise for each costs more than the reading.
 */
export function readBounded(path: string, file: string, largest: number = largestDocument): Checked<Uint8Array> {
  const refuse = (message: string): Checked<never> => ({
    ok: false,
    problems: [{ file, field: wholeDocument, message }],
  })
  let descriptor: number
  try {
    descriptor = openSync(path, flags)
  } catch (error) {
    switch (codeOf(error)) {
      case 'ENOENT':
        return refuse('does not exist')
      case 'ELOOP':
        return refuse('is a symbolic link, which is not followed')
      default:
        return refuse(`cannot be read: ${codeOf(error) ?? String(error)}`)
    }
  }
  try {
    const stats = fstatSync(descriptor)
    if (!stats.isFile()) return refuse('is not a plain file')
    if (stats.size > largest) return refuse(`has ${stats.size} bytes; at most ${largest} are read`)
    return { ok: true, value: readAll(descriptor, stats.size) }
  } catch (error) {
    return refuse(`cannot be read: ${codeOf(error) ?? String(error)}`)
  } finally {
    closeSync(descriptor)
  }
}

function readAll(descriptor: number, size: number): Uint8Array {
  const bytes = Buffer.allocUnsafe(size)
  let filled = 0
  while (filled < size) {
    const read = readSync(descriptor, bytes, filled, size - filled, filled)
    if (read === 0) break
    filled += read
  }
  return bytes.subarray(0, filled)
}
