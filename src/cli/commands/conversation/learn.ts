import type { Refusal } from '../../../memory/learn/extraction.ts'
import type { Learned } from '../../../memory/learn/learn.ts'
import { defineCommand, flag, text, texts, words } from '../../command.ts'
import { authorOptions, placeOptions, targetOptions } from '../../common-options.ts'
import { short } from '../../describe-belief.ts'
import { takenText } from '../../describe-heard.ts'
import { extractorForms } from '../../open-extractor.ts'
import { harmless, type Style } from '../../output.ts'
import { counted } from '../../text-layout.ts'

export const learn = defineCommand({
  args: { message: words('The message to learn from.') },
  options: {
    dryRun: flag('Show what would be learned, and change nothing.'),
    extractor: {
      ...text(
        '<what>',
        `How to find statements: ${extractorForms}. What a model finds is only a candidate for review.`,
      ),
      default: 'rules',
    },
    earlier: texts('<message>', 'An earlier message of the conversation, oldest first. May be given several times.'),
    source: text('<id>', 'The id of the message, kept with every belief.'),
    ...targetOptions,
    ...placeOptions,
    ...authorOptions,
  },
  description:
    'Learns what a message asks to be remembered, standing instructions, who the person is, and preferences as candidates for review. Everything else is left out. See docs/learning.md.',
  examples: [
    {
      command: 'credence learn "Remember that our staging port is 5433. Is it up?"',
      effect: 'Remembers the port, and leaves out the question.',
    },
    { command: 'credence learn - --dry-run < message.txt', effect: 'Shows what would be learned from a file.' },
  ],
  async run({ args: { message }, options }, session) {
    const extractor = await session.extractor(options.extractor ?? 'rules')
    const { homeScopes } = session.place(options)
    const memory = await (options.dryRun ? session.reading(options) : session.memory(options))
    const { signal, release } = session.interruption()
    try {
      const learned = await memory.learn(message, {
        earlier: options.earlier,
        scopes: homeScopes,
        dryRun: options.dryRun,
        extractor,
        ...(options.source === undefined ? {} : { sourceId: options.source }),
        ...(extractor.model === undefined
          ? {}
          : { signal: AbortSignal.any([signal, AbortSignal.timeout(modelTimeoutMs)]) }),
      })
      return {
        document: { dryRun: options.dryRun, ...learned },
        text: (style) => learnedText(learned, options.dryRun, style),
      }
    } finally {
      release()
    }
  },
})

/** Longer than any model takes for a message. */
const modelTimeoutMs = 120_000

function learnedText({ taken, refused }: Learned, isDryRun: boolean, style: Style): string {
  const head = isDryRun ? 'Nothing was changed. This would be learned:' : 'Learned:'
  const nothing = isDryRun ? 'Nothing would be learned.' : 'Nothing was learned.'
  return [
    ...(taken.length === 0
      ? [style.yellow(nothing)]
      : [style.green(head), ...taken.map((one) => takenText(one, style))]),
    ...(refused.length === 0
      ? []
      : ['', `Left out ${counted(refused.length, 'part')}:`, ...refused.flatMap(refusedText)]),
  ].join('\n')
}

const refusedText = ({ text: words_, reason, explanation }: Refusal): readonly string[] => [
  `  ${reason.replaceAll('_', ' ')}: ${short(words_)}`,
  `    ${harmless(explanation)}`,
]
