import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'

/** Asks at a terminal; only y or yes means yes. Ctrl-C is an AbortError. */
export async function askYesOrNo(question: string, input: Readable, output: Writable): Promise<boolean> {
  const lines = createInterface({ input, output, terminal: true })
  try {
    return await new Promise((resolve, reject) => {
      lines.on('SIGINT', () => reject(new DOMException('The question was interrupted.', 'AbortError')))
      // The end of the input is no answer, which is not yes.
      lines.on('close', () => resolve(false))
      lines.question(`${question} [y/N] `, (answer) => resolve(/^\s*y(?:es)?\s*$/i.test(answer)))
    })
  } finally {
    lines.close()
  }
}
