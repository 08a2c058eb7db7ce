import { statSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import type { ExportedTurn } from '../../../beliefs/turn-store.ts'
import { invalid } from '../../../errors.ts'
import { readTextFile } from '../../../files/read-text.ts'
import { withOffset } from '../../../local-time.ts'
import type { ImportFinding } from '../../../memory/transfer/import-findings.ts'
import { defineCommand, UsageError } from '../../command/command.ts'
import { filterOptions, flag, memoryOptions, one, text, writeOptions } from '../../command/options.ts'
import { shortenText } from '../../text/beliefs.ts'
import { defaultText } from '../../text/default-text.ts'
import { lines, pluralize } from '../../text/output.ts'
import { writeOut } from '../../write-out.ts'

export const importCommand = defineCommand({
  args: { file: one('A JSON array of beliefs or JSON Lines, or Markdown. - reads standard input.') },
  options: {
    markdown: flag('The file is Markdown: notes, a CLAUDE.md, the MEMORY.md of another agent.'),
    dryRun: flag(
      'Change nothing. Show what would be imported, and problems of the file: contradictions, duplicates, stale dates, secrets, and beliefs that no message or every message would find.',
    ),
    trusted: flag('The file is your own, such as an export: beliefs keep the authority they were written with.'),
    ...writeOptions,
  },
  description:
    'If any part is invalid, nothing is changed. Importing a file again changes nothing. Pinned beliefs, beliefs of user:universal and standing instructions wait until you accept them (`credence review`), unless you vouch for the file with --trusted. --scope applies to beliefs without a scope. In Markdown every list item, paragraph and table row becomes a belief, named by its bold part, its key, its heading or its own words. For conversations use `credence import chats`.',
  examples: {
    'credence import beliefs.jsonl --trusted': 'Imports a file that `credence export` has written.',
    'credence export --scope project:old | credence import - --trusted --dir ./memory':
      'Copies beliefs from one memory to another.',
    'credence import --markdown MEMORY.md': 'Imports the notes of another agent, one belief for each statement.',
    'credence import --markdown CLAUDE.md --dry-run': 'Reports the problems of the file.',
  },
  async run({ args: { file }, options }, session) {
    const isStdin = file === '-'
    const path = resolve(session.places.workingDirectory(), file)
    const stats = isStdin ? undefined : statSync(path, { throwIfNoEntry: false })
    if (!options.markdown && stats?.isFile() && /\.(?:md|markdown)$/iu.test(file))
      throw new UsageError(`${file} is a Markdown file.`, `Run credence import --markdown ${file}`)
    if (stats?.isDirectory())
      throw invalid(
        `${file} cannot be read: it is a directory.`,
        'Give a file of beliefs. For conversations use `credence import chats`.',
      )
    const text = isStdin ? await session.terminal.readStdin() : readTextFile(file)
    const { homeScopes } = session.places.locate(options)
    const { dryRun } = options
    const memory = await (dryRun ? session.memories.reading(options) : session.memories.writing(options))
    const imported = await memory.import(text, {
      source: isStdin ? 'standard input' : basename(file),
      scopes: homeScopes,
      format: options.markdown ? 'markdown' : 'records',
      trusted: options.trusted,
      dryRun,
    })
    const { added, unchanged, reinforced, corrected, proposed, warnings, findings = [] } = imported
    const counts = { added, unchanged, reinforced, corrected, proposed }
    const shown = { ...counts, problems: findings.flatMap(shownFinding) }
    return {
      document: imported,
      text: (style) =>
        lines(dryRun && style.bold('Nothing was changed. An import would count:'), defaultText(shown, style)),
      notes: [
        ...warnings.map((warning) => `warning: ${warning}`),
        !dryRun &&
          proposed > 0 &&
          `${pluralize(proposed, 'belief')} not recalled yet: pinned beliefs, beliefs of user:universal, standing instructions and changes of your beliefs wait for your consent when they come from a file. If the file is your own, import it again with --trusted; otherwise decide on each with \`credence review\`.`,
      ],
    }
  },
})

const shownFinding = ({ kind, entries: [first, ...others], reason }: ImportFinding): readonly object[] => [
  { kind, place: first?.place, problem: `${reason} ${shortenText(first?.text ?? '')}` },
  ...others.map(({ place, text }) => ({ place, problem: shortenText(text) })),
]

export const exportCommand = defineCommand({
  args: {},
  options: {
    turns: flag('Export turns instead of beliefs.'),
    out: text('<file>', 'Write to this file, which only you can read; it is written completely or not at all.'),
    ...filterOptions,
    ...memoryOptions,
  },
  description:
    'Includes superseded and settled beliefs. `credence import` imports beliefs, `credence import chats` imports turns. With --json the output is one array.',
  examples: {
    'credence export > beliefs.jsonl': 'Writes all your beliefs, one per line.',
    'credence export --scope project:ledger --out ledger.jsonl': 'Writes the beliefs of one scope to a private file.',
    'credence export --turns > turns.jsonl': 'Writes all turns, one per line.',
  },
  async run({ options }, session) {
    const { out, scope } = options
    const memory = await session.memories.reading(options)
    const filter = scope.length === 0 ? {} : { scopes: scope }
    const records = options.turns ? turnRecords(memory.exportTurns(filter)) : memory.export(filter)
    if (out === undefined) return { document: records, isData: true, text: () => linesOf(records) }
    const file = resolve(session.places.workingDirectory(), out)
    const { signal } = session.program.interruption()
    let written = 0
    const counting = linesOf(records, () => {
      signal.throwIfAborted()
      written += 1
    })
    await writeOut(file, counting)
    const what = options.turns ? 'turn' : 'belief'
    return { document: { file, [`${what}s`]: written }, text: () => `Wrote ${pluralize(written, what)} to ${file}.` }
  },
})

async function* linesOf(records: AsyncIterable<unknown>, onLine: () => void = () => {}): AsyncGenerator<string> {
  for await (const record of records) {
    yield `${JSON.stringify(record)}\n`
    onLine()
  }
}

/** The fields that `credence import chats` reads. */
async function* turnRecords(turns: AsyncIterable<ExportedTurn>): AsyncGenerator<object> {
  for await (const { session, role, speaker, at, utcOffset, scope, host, origin, messageId, text: words } of turns) {
    yield {
      session,
      role,
      ...(speaker === null ? {} : { speaker }),
      at: withOffset(at, utcOffset),
      scope,
      host,
      ...(messageId === null ? {} : { messageId }),
      // A quoted document must not be imported again as the person's own words.
      ...(role === 'user' && origin !== 'person' ? { origin: 'document' } : {}),
      text: words,
    }
  }
}
