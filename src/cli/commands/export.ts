import { resolve } from 'node:path'
import type { Belief } from '../../beliefs/belief.ts'
import { defineCommand, text } from '../command.ts'
import { filterOptions, placeOptions } from '../common-options.ts'
import { counted } from '../text-layout.ts'
import { writeFileWhole } from '../write-file.ts'

export const exportCommand = defineCommand({
  args: {},
  options: {
    out: text('<file>', 'Write to this file, which is complete or not there at all, and private.'),
    ...filterOptions,
    ...placeOptions,
  },
  description: 'Superseded and settled beliefs are written too, so that nothing is lost. With --json it is one array.',
  examples: [
    { command: 'credence export > beliefs.jsonl', effect: 'Writes every belief of yours, one a line.' },
    {
      command: 'credence export --scope project:ledger --out ledger.jsonl',
      effect: 'Writes those of one scope to a private file.',
    },
  ],
  async run({ options }, session) {
    const { out, scope } = options
    const memory = await session.reading(options)
    const beliefs = memory.export(scope.length === 0 ? {} : { scopes: scope })
    if (out === undefined) return { document: beliefs, text: () => linesOf(beliefs) }
    const file = resolve(session.workingDirectory(), out)
    let written = 0
    const counting = linesOf(beliefs, () => {
      written += 1
    })
    await writeFileWhole(file, counting, session.whenInterrupted)
    return { document: { file, beliefs: written }, text: () => `Wrote ${counted(written, 'belief')} to ${file}.` }
  },
})

async function* linesOf(beliefs: AsyncIterable<Belief>, onLine: () => void = () => {}): AsyncGenerator<string> {
  for await (const belief of beliefs) {
    yield `${JSON.stringify(belief)}\n`
    onLine()
  }
}
