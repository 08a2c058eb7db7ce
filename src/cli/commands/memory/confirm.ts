import { omitUndefined } from '../../../omit-undefined.ts'
import { defineCommand, one } from '../../command.ts'
import { authorOptions, keyOptions, placeOptions, referenceOptions } from '../../common-options.ts'
import { editedText } from '../../describe-edit.ts'

export const confirm = defineCommand({
  args: { belief: one('The belief: its id, the beginning of it, its name or an alias.') },
  options: { ...referenceOptions, ...placeOptions, ...authorOptions, ...keyOptions },
  description: 'Only a person can. `credence mirror status` lists what came in through MEMORY.md and is unconfirmed.',
  examples: [
    {
      command: 'credence confirm "payment terms"',
      effect: 'Makes it your own word: it is settled, and agents can only propose to change it.',
    },
    { command: 'credence confirm b-7k2m', effect: 'The same, by the beginning of its id.' },
  ],
  async run({ args: { belief: reference }, options }, session) {
    const memory = await session.memory(options)
    const edited = await memory.confirm(reference, omitUndefined({ key: options.key }))
    return {
      document: edited,
      text: (style) => editedText(edited, 'Confirmed', 'Confirmed already', style),
    }
  },
})
