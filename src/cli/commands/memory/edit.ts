import { omitUndefined } from '../../../omit-undefined.ts'
import { defineCommand, flag, one, optionalChoice, rest, UsageError } from '../../command/command.ts'
import { authorOptions, keyOptions, placeOptions, referenceOptions } from '../../command/common-options.ts'
import { called, editedText, foundBy } from '../../text/beliefs.ts'

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
