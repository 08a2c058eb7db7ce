import { basename } from 'node:path'
import { defineCommand, flag, one } from '../../command.ts'
import { authorOptions, placeOptions, targetOptions } from '../../common-options.ts'
import { readTextFile } from '../../read-text.ts'
import { columns } from '../../text-layout.ts'
import { UsageError } from '../../usage-error.ts'

export const importCommand = defineCommand({
  args: { file: one('A JSON array of beliefs or JSON Lines, or Markdown. - reads standard input.') },
  options: {
    markdown: flag('The file is Markdown: notes, a CLAUDE.md, the MEMORY.md of another agent.'),
    ...targetOptions,
    ...placeOptions,
    ...authorOptions,
  },
  description:
    'When any of it is wrong nothing is changed. Doing it again changes nothing. --scope is for beliefs that name no scope of their own. Of Markdown every list item, paragraph and row of a table becomes a belief, named by its bold part, its key, its heading or its own words. `credence import chats` keeps conversations.',
  examples: [
    { command: 'credence import beliefs.jsonl', effect: 'Takes in a file that `credence export` has written.' },
    {
      command: 'credence export --scope project:old | credence import - --dir ./memory',
      effect: 'Copies beliefs from one memory to another.',
    },
    {
      command: 'credence import --markdown MEMORY.md',
      effect: 'Takes in what another agent has written down, statement by statement.',
    },
  ],
  async run({ args: { file }, options }, session) {
    const isStdin = file === '-'
    if (!options.markdown && /\.(?:md|markdown)$/iu.test(file)) {
      throw new UsageError(`${file} is Markdown by its name.`, `Say so: credence import --markdown ${file}`)
    }
    const text = isStdin ? await session.readStdin() : readTextFile(file)
    const { homeScopes } = session.place(options)
    const memory = await session.memory(options)
    const imported = await memory.import(text, {
      source: isStdin ? 'standard input' : basename(file),
      scopes: homeScopes,
      format: options.markdown ? 'markdown' : 'records',
    })
    const { added, unchanged, reinforced, corrected, proposed, warnings } = imported
    const counts = Object.entries({ added, unchanged, reinforced, corrected, proposed })
    return {
      document: imported,
      text: () =>
        columns(
          counts.map(([what, count]) => [what, String(count)]),
          { indent: 0 },
        ),
      notes: warnings.map((warning) => `warning: ${warning}`),
    }
  },
})
