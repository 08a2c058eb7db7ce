import { omitUndefined } from '../../../omit-undefined.ts'
import { defineCommand, one, optionalChoice, rest } from '../../command.ts'
import { authorOptions, keyOptions, placeOptions, referenceOptions } from '../../common-options.ts'
import { called, foundBy } from '../../describe-belief.ts'
import { editedText } from '../../describe-edit.ts'
import { UsageError } from '../../usage-error.ts'

export const alias = defineCommand({
  args: {
    belief: one('The belief: its id, the beginning of it, its name or an alias.'),
    action: optionalChoice(['list', 'add', 'remove'], 'What to do with its aliases; without it they are listed.'),
    aliases: rest('The aliases to add or remove.'),
  },
  options: { ...referenceOptions, ...placeOptions, ...authorOptions, ...keyOptions },
  examples: [
    {
      command: 'credence alias "payment terms" add "due date" "net 14"',
      effect: 'From now on it is recalled for these words too.',
    },
    { command: 'credence alias "payment terms"', effect: 'Lists what it can be found by.' },
  ],
  async run({ args: { belief: reference, action = 'list', aliases }, options }, session) {
    if (action === 'list') {
      if (aliases.length > 0) throw new UsageError('Listing takes no aliases.', 'Write add or remove before them.')
      const memory = await session.reading(options)
      const belief = await memory.get(reference)
      return {
        document: { id: belief.id, name: belief.name, aliases: belief.aliases },
        text: () => `${called(belief)}\n  ${foundBy(belief)}`,
      }
    }
    if (aliases.length === 0)
      throw new UsageError(
        `Which aliases are to be ${action === 'add' ? 'added' : 'removed'}?`,
        `Name at least one after ${action}.`,
      )
    const memory = await session.memory(options)
    const change = action === 'add' ? memory.addAliases : memory.removeAliases
    const edited = await change(reference, aliases, omitUndefined({ key: options.key }))
    return {
      document: edited,
      text: (style) =>
        `${editedText(edited, 'The aliases are changed', 'Its aliases were like that already', style)}\n  ${foundBy(edited.belief)}`,
    }
  },
})
