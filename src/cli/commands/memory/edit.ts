import { omitUndefined } from '../../../omit-undefined.ts'
import { defineCommand, UsageError } from '../../command/command.ts'
import { belief, changeOptions, flag, optionalChoice, rest } from '../../command/options.ts'
import { called, editedText, foundBy } from '../../text/beliefs.ts'
import { confirmAliases } from './remember.ts'

export const alias = defineCommand({
  args: {
    belief,
    action: optionalChoice(['list', 'add', 'remove'], 'What to do with its aliases. Default: list.'),
    aliases: rest('The aliases to add or remove.'),
  },
  options: changeOptions,
  examples: {
    'credence alias "payment terms" add "due date" "net 14"': 'From now on these words recall it too.',
    'credence alias "payment terms"': 'Lists its name and aliases.',
  },
  async run({ args: { belief: reference, action = 'list', aliases }, options }, session) {
    if (action === 'list') {
      if (aliases.length > 0) throw new UsageError('`list` takes no aliases.', 'Write add or remove before them.')
      const found = await (await session.reading(options)).get(reference)
      return {
        document: { id: found.id, name: found.name, aliases: found.aliases },
        text: () => `${called(found)}\n  ${foundBy(found)}`,
      }
    }
    if (aliases.length === 0)
      throw new UsageError(`No aliases to ${action} were given.`, `Give at least one after ${action}.`)
    const memory = await session.memory(options)
    const change = action === 'add' ? memory.addAliases : memory.removeAliases
    const notes = action === 'add' ? await confirmAliases(aliases, options.as, session) : []
    const edited = await change(reference, aliases, omitUndefined({ key: options.key }))
    return {
      document: edited,
      notes,
      text: (style) =>
        `${editedText(edited, 'The aliases are changed', 'Its aliases are unchanged', style)}\n  ${foundBy(edited.belief)}`,
    }
  },
})

export const pin = defineCommand({
  args: { belief },
  options: { off: flag('Unpin it: recall it only if a message names it.'), ...changeOptions },
  examples: {
    'credence pin "payment terms"': 'It is now part of every context in its scope.',
    'credence pin "payment terms" --off': 'Unpins it: it is recalled only if a message names it.',
  },
  async run({ args, options }, session) {
    const memory = await session.memory(options)
    const change = options.off ? memory.unpin : memory.pin
    const edited = await change(args.belief, omitUndefined({ key: options.key }))
    const [done, unchanged] = options.off ? ['Unpinned', 'It was not pinned'] : ['Pinned', 'It was pinned already']
    return { document: edited, text: (style) => editedText(edited, done, unchanged, style) }
  },
})

export const confirm = defineCommand({
  args: { belief },
  options: changeOptions,
  description: 'Only a person can do this. `credence mirror status` lists unconfirmed beliefs from MEMORY.md.',
  examples: {
    'credence confirm "payment terms"': 'Gives the belief your authority: agents can only propose to change it.',
    'credence confirm b-7k2m': 'The same, by the beginning of its id.',
  },
  async run({ args, options }, session) {
    const edited = await (await session.memory(options)).confirm(args.belief, omitUndefined({ key: options.key }))
    return { document: edited, text: (style) => editedText(edited, 'Confirmed', 'Confirmed already', style) }
  },
})
