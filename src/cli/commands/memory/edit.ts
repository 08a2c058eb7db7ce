import { parseForm } from '../../../memory/change/draft.ts'
import type { ResolveRequest } from '../../../memory/change/resolve.ts'
import { omitUndefined } from '../../../omit-undefined.ts'
import { aliasHints } from '../../../operations/remember-hints.ts'
import { defineCommand, UsageError, type ValuesOf } from '../../command/command.ts'
import { belief, changeOptions, flag, one, option, optionalChoice, rest, text } from '../../command/options.ts'
import { editedText, formsText, nameText, shortenText } from '../../text/beliefs.ts'
import { lines } from '../../text/output.ts'

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
      const found = await (await session.memories.reading(options)).get(reference)
      return {
        document: { id: found.id, name: found.name, aliases: found.aliases },
        text: () => `${nameText(found)}\n  ${formsText(found)}`,
      }
    }
    if (aliases.length === 0)
      throw new UsageError(`No aliases to ${action} were given.`, `Give at least one after ${action}.`)
    const memory = await session.memories.writing(options)
    const change = action === 'add' ? memory.addAliases : memory.removeAliases
    const edited = await change(reference, aliases, omitUndefined({ key: options.key }))
    const hints = action === 'add' ? aliasHints(edited.belief, aliases) : []
    return {
      document: edited,
      notes: hints.map(({ text }) => `warning: ${text}`),
      text: (style) =>
        `${editedText(edited, 'Aliases changed', 'Aliases unchanged', style)}\n  ${formsText(edited.belief)}`,
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
    const memory = await session.memories.writing(options)
    const change = options.off ? memory.unpin : memory.pin
    const edited = await change(args.belief, omitUndefined({ key: options.key }))
    const [done, unchanged] = options.off ? ['Unpinned', 'Not pinned'] : ['Pinned', 'Already pinned']
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
    const edited = await (await session.memories.writing(options)).confirm(
      args.belief,
      omitUndefined({ key: options.key }),
    )
    return { document: edited, text: (style) => editedText(edited, 'Confirmed', 'Already confirmed', style) }
  },
})

const answerOptions = {
  by: text('<belief>', 'The belief that resolves it, by id or name.'),
  decision: text('<text>', 'The decision that resolves it, stored as a new belief; needs --name.'),
  name: option('<name>', 'The name of the decision.', (name) => parseForm('name', name)),
  why: text('<text>', 'What an agent should do about the decision.'),
}

export const resolve = defineCommand({
  args: { question: one('The open question: its id, the beginning of its id, its name or an alias.') },
  options: { ...answerOptions, ...changeOptions },
  examples: {
    'credence resolve "which queue" --decision "We use NATS." --name "message queue"':
      'Closes the question and remembers the decision, in one change.',
    'credence resolve "which queue" --by "message queue"': 'Closes it with a decision that is already stored.',
  },
  async run({ args: { question }, options }, session) {
    const by = readResolution(options)
    const memory = await session.memories.writing(options)
    const resolved = await memory.resolve(question, by, omitUndefined({ key: options.key }))
    const { decision } = resolved
    return {
      document: resolved,
      text: (style) =>
        lines(
          `${style.green('Closed')} the question ${nameText(resolved.question)}.`,
          decision !== null && `  Settled by ${nameText(decision)}: ${shortenText(decision.content)}`,
        ),
    }
  },
})

function readResolution({ by, decision, name, why }: ValuesOf<typeof answerOptions>): ResolveRequest['by'] {
  const isNew = decision !== undefined || name !== undefined || why !== undefined
  if (by !== undefined) {
    if (!isNew) return { reference: by }
    throw new UsageError(
      '--by names an existing belief, so it needs no --decision, --name or --why.',
      'Give one or the other.',
    )
  }
  if (!isNew) return undefined
  if (decision !== undefined && name !== undefined) return { name, content: decision, ...omitUndefined({ why }) }
  throw new UsageError(
    'A new decision needs both --decision and --name.',
    'For example: --decision "We use NATS." --name "message queue"',
  )
}
