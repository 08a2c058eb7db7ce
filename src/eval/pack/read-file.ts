import { readFileSync } from 'node:fs'
import { MemoryError } from '../../errors.ts'

/** A file's text, or a sentence about why there is none. */
export function readTextFile(file: string): string {
  let bytes: Buffer
  try {
    bytes = readFileSync(file)
  } catch (cause) {
    throw new MemoryError('invalid', `${file}: ${reasonOf(cause)}.`, { hint: 'Check the path.', cause })
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    throw new MemoryError('invalid', `${file}: not UTF-8 text.`, { hint: 'Save the file as UTF-8.', cause })
  }
}

/** A file's value. A syntax error says where it is. */
export function parseJsonFile(file: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    // Parsers name the place as "position 17" or "line 2 column 3"; either way it is in the message.
    throw new MemoryError('invalid', `${file}: not JSON (${(cause as Error).message}).`, {
      hint: 'Correct the file and try again.',
      cause,
    })
  }
}

function reasonOf(cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
  switch (code) {
    case 'ENOENT':
      return 'no such file'
    case 'EISDIR':
      return 'is a directory, not a file'
    case 'EACCES':
      return 'may not be read'
    default:
      return `cannot be read (${code ?? cause})`
  }
}
