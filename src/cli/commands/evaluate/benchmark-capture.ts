import { type Captured, captureCase } from '../../../eval/pack/capture.ts'
import { defaultEmbedder } from '../../../eval/system/open-embedder.ts'
import { defineCommand, UsageError } from '../../command/command.ts'
import { flag, readOptions, text, texts, words } from '../../command/options.ts'
import { harmless, type Style } from '../../text/output.ts'
import { evalStore, storeOptions } from './benchmark-store.ts'

export const benchmarkCapture = defineCommand({
  args: { message: words('What was said.') },
  options: {
    expect: texts('<belief>', 'Must be recalled. May be given several times.'),
    reject: texts('<belief>', 'Must not be recalled. May be given several times.'),
    exactly: flag('With --expect: nothing else may be found for the message.'),
    asIs: flag('What is recalled now is right: it must stay like that.'),
    note: text('<text>', 'Why; kept with the case.'),
    ...readOptions,
    store: storeOptions.store,
  },
  description:
    'Makes a recall that was wrong, or right and precious, a case of your own pack my-cases. The beliefs it needs are copied in as they are now, so that the case stays the same whatever becomes of them.',
  examples: {
    'credence benchmark capture "Is the boat ready?" --expect Albatross --reject "Sunday race"':
      'Keeps what should have been recalled, and what should not.',
    'credence benchmark capture "Is the boat ready?" --as-is': 'Keeps an answer that was right.',
  },
  async run({ args: { message }, options }, session) {
    const { expect, reject, exactly, asIs, note } = options
    const isJudged = expect.length + reject.length > 0
    if (asIs && (isJudged || exactly))
      throw new UsageError('--as-is takes the answer as it is.', 'Leave out the others.')
    if (!asIs && !isJudged && !exactly) {
      throw new UsageError('Nothing says what is right.', 'Give --expect or --reject with a belief, or --as-is.')
    }
    const { root } = evalStore(session, options)
    const memory = await session.reading(options)
    const evaluation = await session.evaluation()
    const { packsDirectory } = evaluation
    const subject = await evaluation.backends({ packsDirectory, embedder: defaultEmbedder }).open('bm25')
    try {
      const { scopes } = session.locate(options)
      const captured = await captureCase(
        memory,
        { message, scopes, expect, reject, exactly, asIs, note: note ?? null },
        { root, subject },
      )
      return {
        document: { ok: true, ...captured },
        text: (style) => capturedText(captured, style),
        notes: notesOf(captured),
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
    `  ${beliefsCopied} beliefs copied`,
  ].join('\n')
}

const notesOf = ({ packDir, isFaithful }: Captured): readonly string[] => [
  ...(isFaithful
    ? []
    : [
        'The copy does not answer as the memory does: something that plays a part was not copied. Look at the case before relying on it.',
      ]),
  `Kept in ${packDir}; run it with \`credence benchmark run my-cases\`.`,
]
