import { MemoryError } from '../../errors.ts'

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
