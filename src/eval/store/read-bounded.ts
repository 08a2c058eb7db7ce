import { closeSync, constants, openSync, readSync } from 'node:fs'
import { codeOf } from '../../files/leftovers.ts'
import { type Checked, wholeDocument } from './parse-artifact.ts'

/** Larger documents are refused. */
export const largestDocument = 64 * 1024 * 1024

// Links are not followed, and a pipe without a writer does not make the reader wait.
const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

// Nearly every document fits, and is then read by one call.
const chunk = Buffer.allocUnsafeSlow(64 * 1024)

/**
 * Reads a plain file of bounded size; `file` is what a problem calls it. Synchronous because a store has up to a
 * hundred thousand small files, and a promise for each costs more than the reading.
 */
export function readBounded(path: string, file: string, largest: number = largestDocument): Checked<Uint8Array> {
  const refuse = (message: string): Checked<never> => ({
    ok: false,
    problems: [{ file, field: wholeDocument, message }],
  })
  let descriptor: number | undefined
  try {
    descriptor = openSync(path, flags)
    const bytes = readAll(descriptor, largest)
    return bytes === null ? refuse(`is larger than ${largest} bytes`) : { ok: true, value: bytes }
  } catch (error) {
    return refuse(reasons[codeOf(error) ?? ''] ?? `cannot be read: ${codeOf(error) ?? String(error)}`)
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ELOOP: 'is a symbolic link, which is not followed',
  EISDIR: 'is a folder and not a file',
  ENXIO: 'is not a plain file',
  EAGAIN: 'is not a plain file',
}

/** Null when there is more than `largest`. */
function readAll(descriptor: number, largest: number): Uint8Array | null {
  const parts: Buffer[] = []
  for (let total = 0; total <= largest; ) {
    const read = readSync(descriptor, chunk)
    total += read
    if (total > largest) return null
    parts.push(Buffer.from(chunk.subarray(0, read)))
    // A plain file gives all it has: less than asked for is the end.
    if (read < chunk.length) return parts.length === 1 ? (parts[0] ?? null) : Buffer.concat(parts)
  }
  return null
}
