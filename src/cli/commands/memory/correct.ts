import { beliefTypes } from '../../../beliefs/belief.ts'
import { parseForm } from '../../../memory/change/draft.ts'
import { omitUndefined } from '../../../omit-undefined.ts'
import { choice, defineCommand, one, option, text, texts, words } from '../../command.ts'
import { authorOptions, keyOptions, placeOptions, referenceOptions } from '../../common-options.ts'
import { rememberedText } from './remember.ts'

export const correct = defineCommand({
  args: {
    belief: one('The belief: its id, the beginning of it, its name or an alias.'),
    statement: words('What is true now.'),
  },
  options: {
    name: option('<name>', 'A new name; the old one stays as an alias.', (name) => parseForm('name', name)),
    alias: texts('<alias>', 'Something else it is called. May be given several times.'),
    why: text('<text>', 'What an agent should do about it now.'),
    type: choice('<type>', beliefTypes, 'What kind of belief it is now.'),
    status: { ...choice('<status>', ['active', 'inferred', 'exploratory'], 'How settled it is.'), default: 'active' },
    ...referenceOptions,
    ...placeOptions,
    ...authorOptions,
    ...keyOptions,
  },
  examples: [
    {
      command: 'credence correct "payment terms" "Invoices are due after 30 days."',
      effect: 'The old statement is kept for the record and never recalled again.',
    },
    {
      command: 'credence correct b-7k2m "Ada runs payroll." --name Ada --as agent:codex',
      effect: 'An agent that contradicts a person makes a proposal.',
    },
  ],
  async run({ args: { belief, statement }, options }, session) {
    const { name, alias, why, type, status, key } = options
    const memory = await session.memory(options)
    const corrected = await memory.correct(belief, {
      content: statement,
      ...omitUndefined({ name, why, type, status, key }),
      ...(alias.length === 0 ? {} : { aliases: alias }),
    })
    return { document: corrected, text: (style) => rememberedText(corrected, style) }
  },
})
