import { given } from '../../given.ts'
import { defineCommand, flag, one } from '../command.ts'
import { authorOptions, keyOptions, placeOptions, referenceOptions } from '../common-options.ts'
import { beliefBlock } from '../describe-belief.ts'
import { harmless, plain } from '../output.ts'
import { counted } from '../text-layout.ts'
import { UsageError } from '../usage-error.ts'

export const forget = defineCommand({
  args: { belief: one('The belief: its id, the beginning of it, its name or an alias.') },
  options: {
    chain: flag('Also forget everything it superseded, was superseded by, and what is proposed for it.'),
    yes: flag('Do not ask.'),
    ...referenceOptions,
    ...placeOptions,
    ...authorOptions,
    ...keyOptions,
  },
  description:
    'Cannot be undone: the text leaves the journal too. What remains is that something was forgotten, when and by whom.',
  examples: [
    { command: 'credence forget "home address"', effect: 'Shows the belief and asks before it is gone.' },
    {
      command: 'credence forget b-7k2m --chain --yes',
      effect: 'Forgets it and every earlier version of it without asking.',
    },
  ],
  async run({ args: { belief: reference }, options }, session) {
    const { chain, yes, key } = options
    if (!yes && !session.isInteractive()) {
      throw new UsageError(
        'Forgetting cannot be undone, and nobody can be asked here.',
        'Give --yes to forget without being asked.',
      )
    }
    const memory = await session.memory(options)
    const found = await memory.history(reference)
    if (!yes) {
      const doomed = chain ? found.chain : [found.belief]
      const shown = doomed.map((one) => beliefBlock(one, plain(80))).join('\n')
      if (!(await session.confirm(`${shown}\nForget ${doomed.length === 1 ? 'this' : 'these'} for good?`))) {
        return { document: { forgotten: false }, text: () => 'Nothing was forgotten.' }
      }
    }
    // By id from here on: what was shown is what is forgotten.
    const receipt = await memory.forget(found.belief.id, { wholeChain: chain, ...given({ key }) })
    return {
      document: receipt,
      text: (style) =>
        [
          `${style.green('Forgotten')}: ${counted(receipt.beliefIds.length, 'belief')} (${receipt.beliefIds.map(harmless).join(', ')}).`,
          `  Receipt: change ${receipt.event}, ${receipt.hash.slice(0, 16)}`,
        ].join('\n'),
      notes: found.chain
        .filter(({ id }) => !receipt.beliefIds.includes(id))
        .map(
          ({ id }) => `${harmless(id)} of the same chain is kept; \`credence forget ${harmless(id)}\` forgets it too.`,
        ),
    }
  },
})
