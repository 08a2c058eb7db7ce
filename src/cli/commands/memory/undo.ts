import { omitUndefined } from '../../../omit-undefined.ts'
import { type Argument, defineCommand } from '../../command/command.ts'
import { authorOptions, keyOptions, memoryOptions, readWholeNumber } from '../../command/options.ts'
import { called, short } from '../../text/beliefs.ts'
import { harmless, lines } from '../../text/output.ts'

const changeNumber: Argument<number | undefined> = {
  help: 'The number of the change, from `credence history`. Without one, the latest change.',
  count: 'optional',
  takesStdin: false,
  read: ([text]) => (text === undefined ? undefined : readWholeNumber(text, { min: 1 })),
}

export const undo = defineCommand({
  args: { change: changeNumber },
  options: { ...memoryOptions, ...authorOptions, ...keyOptions },
  description: 'Undoing an undo does it again. What was forgotten cannot be brought back.',
  examples: {
    'credence undo': 'Takes back the latest change.',
    'credence undo 12': 'Takes back change 12, unless a later change depends on it.',
  },
  async run({ args: { change }, options }, session) {
    const memory = await session.memory(options)
    const done = await memory.undo(change, omitUndefined({ key: options.key }))
    const { undone, restored, withdrawn, event } = done
    return {
      document: done,
      text: (style) =>
        lines(
          `${style.green('Undone')}: change ${undone.number}, ${undone.kind} by ${undone.actor} ${harmless(undone.origin)}.`,
          restored.map((belief) => `  As before: ${called(belief)}: ${short(belief.content)}`),
          withdrawn.map((id) => `  Withdrawn: ${harmless(id)}`),
          `  \`credence undo ${event}\` does it again.`,
        ),
    }
  },
})
