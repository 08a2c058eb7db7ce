import type { Learned } from '../../../memory/learn/learn.ts'
import { omitUndefined } from '../../../omit-undefined.ts'
import { defineCommand } from '../../command/command.ts'
import { extractorForms, flag, text, texts, words, writeOptions } from '../../command/options.ts'
import { short } from '../../text/beliefs.ts'
import { counted, harmless, lines, type Style } from '../../text/output.ts'
import { takenText } from './hear-lines.ts'

/** Longer than any model takes for a message. */
const modelTimeoutMs = 120_000

const extractorHelp = `How to find statements: ${extractorForms}. Statements found by a model become candidates for review.`

export const learn = defineCommand({
  args: { message: words('The message to learn from.') },
  options: {
    dryRun: flag('Show what would be learned, and change nothing.'),
    extractor: { ...text('<what>', extractorHelp), default: 'rules' },
    earlier: texts('<message>', 'An earlier message of the conversation, oldest first. May be given several times.'),
    source: text('<id>', 'The id of the message, stored with every belief.'),
    ...writeOptions,
  },
  description:
    "Also learns the person's name and similar facts, and preferences as candidates for review. Ignores everything else. See docs/learning.md.",
  examples: {
    'credence learn "Remember that our staging port is 5433. Is it up?"':
      'Remembers the port and ignores the question.',
    'credence learn - --dry-run < message.txt': 'Shows what would be learned from a file.',
  },
  async run({ args: { message }, options }, session) {
    const { dryRun, earlier, source: sourceId } = options
    const extractor = await session.extractor(options.extractor ?? 'rules')
    const { homeScopes: scopes } = session.locate(options)
    const memory = await (dryRun ? session.reading(options) : session.memory(options))
    const { signal } = session.interruption()
    const limits =
      extractor.model === undefined ? {} : { signal: AbortSignal.any([signal, AbortSignal.timeout(modelTimeoutMs)]) }
    const learned = await memory.learn(message, {
      earlier,
      scopes,
      dryRun,
      extractor,
      ...omitUndefined({ sourceId }),
      ...limits,
    })
    return { document: { dryRun, ...learned }, text: (style) => learnedText(learned, dryRun, style) }
  },
})

function learnedText({ taken, refused }: Learned, isDryRun: boolean, style: Style): string {
  const head = isDryRun ? 'Nothing was changed. This would be learned:' : 'Learned:'
  const nothing = isDryRun ? 'Nothing would be learned.' : 'Nothing was learned.'
  return lines(
    taken.length === 0 ? style.yellow(nothing) : style.green(head),
    taken.map((one) => takenText(one, style)),
    refused.length > 0 && ['', `Left out ${counted(refused.length, 'part')}:`],
    refused.flatMap(({ text: part, reason, explanation }) => [
      `  ${reason.replaceAll('_', ' ')}: ${short(part)}`,
      `    ${harmless(explanation)}`,
    ]),
  )
}
