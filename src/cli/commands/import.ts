import { basename } from 'node:path'
import { defineCommand, one } from '../command.ts'
import { authorOptions, placeOptions, targetOptions } from '../common-options.ts'
import { readTextFile } from '../read-text.ts'
import { columns } from '../text-layout.ts'

export const importCommand = defineCommand({
  args: { file: one('A JSON array of beliefs or JSON Lines. - reads standard input.') },
  options: { ...targetOptions, ...placeOptions, ...authorOptions },
  description:
    'When any of it is wrong nothing is changed. Doing it again changes nothing. --scope is for beliefs that name no scope of their own.',
  examples: [
    { command: 'credence import beliefs.jsonl', effect: 'Takes in a file that `credence export` has written.' },
    {
      command: 'credence export --scope project:old | credence import - --dir ./memory',
      effect: 'Copies beliefs from one memory to another.',
    },
  ],
  async run({ args: { file }, options }, session) {
    const isStdin = file === '-'
    const text = isStdin ? await session.readStdin() : readTextFile(file)
    const { homeScopes } = session.place(options)
    const memory = await session.memory(options)
    const imported = await memory.import(text, {
      source: isStdin ? 'standard input' : basename(file),
      scopes: homeScopes,
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
