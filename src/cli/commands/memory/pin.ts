import { omitUndefined } from '../../../omit-undefined.ts'
import { defineCommand, flag, one } from '../../command.ts'
import { authorOptions, keyOptions, placeOptions, referenceOptions } from '../../common-options.ts'
import { editedText } from '../../describe-edit.ts'

export const pin = defineCommand({
  args: { belief: one('The belief: its id, the beginning of it, its name or an alias.') },
  options: {
    off: flag('Recall it only when it is mentioned again.'),
    ...referenceOptions,
    ...placeOptions,
    ...authorOptions,
    ...keyOptions,
  },
  examples: [
    { command: 'credence pin "payment terms"', effect: 'It is now part of every context in its scope.' },
    { command: 'credence pin "payment terms" --off', effect: 'It is recalled only when it is mentioned again.' },
  ],
  async run({ args: { belief }, options }, session) {
    const memory = await session.memory(options)
    const key = omitUndefined({ key: options.key })
    const edited = options.off ? await memory.unpin(belief, key) : await memory.pin(belief, key)
    const [done, unchanged] = options.off ? ['Unpinned', 'It was not pinned'] : ['Pinned', 'It was pinned already']
    return { document: edited, text: (style) => editedText(edited, done, unchanged, style) }
  },
})
