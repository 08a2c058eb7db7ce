import type { Readable, Writable } from 'node:stream'

/** Says that somebody pressed Ctrl-C at a question. */
export class Interrupted extends Error {
  override readonly name = 'Interrupted'
}

/** Asks at a terminal; only y or yes means yes. */
export async function askYesOrNo(question: string, input: Readable, output: Writable): Promise<boolean> {
  const { createInterface } = await import('node:readline')
  const lines = createInterface({ input, output, terminal: true })
  try {
    return await new Promise((resolve, reject) => {
      lines.on('SIGINT', () => reject(new Interrupted()))
      // The end of the input is no answer, which is not yes.
      lines.on('close', () => resolve(false))
      lines.question(`${question} [y/N] `, (answer) => resolve(/^\s*y(?:es)?\s*$/i.test(answer)))
    })
  } finally {
    lines.close()
  }
}
