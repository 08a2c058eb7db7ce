import { environmentName, type Settings } from '../../../config.ts'
import { type Captured, captureCase } from '../../../eval/pack/capture.ts'
import { defaultEmbedder } from '../../../eval/system/open-embedder.ts'
import { defineCommand, UsageError } from '../../command/command.ts'
import { flag, readOptions, text, texts, words } from '../../command/options.ts'
import { counted, harmless, type Style } from '../../text/output.ts'
import { evalStore, storeOptions } from './benchmark-store.ts'

export const benchmarkCapture = defineCommand({
  args: { message: words('The message.') },
  options: {
    expect: texts('<belief>', 'Must be recalled. May be given several times.'),
    reject: texts('<belief>', 'Must not be recalled. May be given several times.'),
    exactly: flag('With --expect: nothing else may be found for the message.'),
    asIs: flag('Expect exactly what is recalled now.'),
    replace: flag('Replace the cases that were captured for this message in these scopes.'),
    note: text('<text>', 'A reason, stored with the case.'),
    ...readOptions,
    store: storeOptions.store,
  },
  description:
    'Adds a wrong recall, or a right one that must stay right, as a case to your own pack my-cases. Its beliefs are copied, so that later changes do not affect the case: when you have mended your memory, capture the message again with --replace.',
  examples: {
    'credence benchmark capture "Is the boat ready?" --expect Albatross --reject "Sunday race"':
      'Stores which belief should be recalled, and which should not.',
    'credence benchmark capture "Is the boat ready?" --as-is': 'Stores a recall that was right.',
  },
  async run({ args: { message }, options }, session) {
    const { expect, reject, exactly, asIs, replace, note } = options
    const isJudged = expect.length + reject.length > 0
    if (asIs && (isJudged || exactly))
      throw new UsageError(
        '--as-is cannot be combined with --expect, --reject or --exactly.',
        'Leave out one or the other.',
      )
    if (!asIs && !isJudged && !exactly) {
      throw new UsageError('No expectation is given.', 'Give --expect or --reject with a belief, or --as-is.')
    }
    const { root, settings } = evalStore(session, options)
    const place = { ...options, store: undefined }
    const memory = await session.reading(place)
    const evaluation = await session.evaluation()
    const { packsDirectory } = evaluation
    const subject = await evaluation.backends({ packsDirectory, embedder: defaultEmbedder }).open('bm25')
    try {
      const { scopes } = session.locate(place)
      const captured = await captureCase(
        memory,
        { message, scopes, expect, reject, exactly, asIs, replace, note: note ?? null },
        { root, subject },
      )
      return {
        document: { ok: true, ...captured },
        text: (style) => capturedText(captured, style),
        notes: notesOf(captured, settings),
      }
    } finally {
      await subject.close()
    }
  },
})

function capturedText(
  { caseId, case: { description }, passesNow, failures, beliefsCopied }: Captured,
  style: Style,
): string {
  const verdict = passesNow ? style.green('passes today') : style.red('fails today')
  return [
    `${style.bold(caseId)}: ${verdict}`,
    `  ${harmless(description)}`,
    ...failures.map((failure) => `  ${harmless(failure)}`),
    `  ${counted(beliefsCopied, 'belief')} copied`,
  ].join('\n')
}

const notesOf = ({ packDir, isFaithful, passesNow }: Captured, { evalHarnessEnabled }: Settings): readonly string[] => [
  ...(isFaithful
    ? []
    : [
        'The copied beliefs give another answer than the memory: one that matters was not copied. Check the case before you rely on it.',
      ]),
  ...(passesNow
    ? []
    : ['The case tests the copies. When you have changed the beliefs themselves, capture it again with --replace.']),
  `Stored in ${packDir}. Run it with \`${evalHarnessEnabled ? '' : `${environmentName('evalHarnessEnabled')}=true `}credence benchmark run my-cases\`.`,
]
