import { resolve } from 'node:path'
import type { ExportedTurn } from '../../../beliefs/turn-store.ts'
import { defineCommand, flag, text } from '../../command.ts'
import { filterOptions, placeOptions } from '../../common-options.ts'
import { counted } from '../../text-layout.ts'
import { writeFileWhole } from '../../write-file.ts'

export const exportCommand = defineCommand({
  args: {},
  options: {
    turns: flag('Write out what was said, turn by turn, instead of beliefs.'),
    out: text('<file>', 'Write to this file, which is complete or not there at all, and private.'),
    ...filterOptions,
    ...placeOptions,
  },
  description:
    'Superseded and settled beliefs are written too, so that nothing is lost. `credence import` takes in beliefs again, and `credence import chats` takes in turns. With --json it is one array.',
  examples: [
    { command: 'credence export > beliefs.jsonl', effect: 'Writes every belief of yours, one a line.' },
    {
      command: 'credence export --scope project:ledger --out ledger.jsonl',
      effect: 'Writes those of one scope to a private file.',
    },
    { command: 'credence export --turns > turns.jsonl', effect: 'Writes everything that was said, one turn a line.' },
  ],
  async run({ options }, session) {
    const { out, scope } = options
    const memory = await session.reading(options)
    const filter = scope.length === 0 ? {} : { scopes: scope }
    const records = options.turns ? turnRecords(memory.exportTurns(filter)) : memory.export(filter)
    if (out === undefined) return { document: records, text: () => linesOf(records) }
    const file = resolve(session.workingDirectory(), out)
    let written = 0
    const counting = linesOf(records, () => {
      written += 1
    })
    await writeFileWhole(file, counting, session.whenInterrupted)
    const what = options.turns ? 'turn' : 'belief'
    return {
      document: { file, [`${what}s`]: written },
      text: () => `Wrote ${counted(written, what)} to ${file}.`,
    }
  },
})

async function* linesOf(records: AsyncIterable<unknown>, onLine: () => void = () => {}): AsyncGenerator<string> {
  for await (const record of records) {
    yield `${JSON.stringify(record)}\n`
    onLine()
  }
}

/** As `credence import chats` reads them. */
async function* turnRecords(turns: AsyncIterable<ExportedTurn>): AsyncGenerator<object> {
  for await (const { session, role, speaker, at, scope, host, origin, messageId, text: words } of turns) {
    yield {
      session,
      role,
      ...(speaker === null ? {} : { speaker }),
      at,
      scope,
      host,
      ...(messageId === null ? {} : { messageId }),
      // What is not the person's own word must not come back as such.
      ...(role === 'user' && origin !== 'person' ? { origin: 'document' } : {}),
      text: words,
    }
  }
}
