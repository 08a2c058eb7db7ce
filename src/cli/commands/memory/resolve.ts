import { parseForm } from '../../../memory/change/draft.ts'
import type { ResolveRequest } from '../../../memory/change/resolve.ts'
import { omitUndefined } from '../../../omit-undefined.ts'
import { defineCommand, one, option, text } from '../../command.ts'
import { authorOptions, keyOptions, placeOptions, referenceOptions } from '../../common-options.ts'
import { called, short } from '../../describe-belief.ts'
import { UsageError } from '../../usage-error.ts'

export const resolve = defineCommand({
  args: { question: one('The open question: its id, the beginning of it, its name or an alias.') },
  options: {
    by: text('<belief>', 'The belief that settles it, by id or name.'),
    decision: text('<text>', 'The decision that settles it, to be remembered with it; needs --name.'),
    name: option('<name>', 'What people will call the decision.', (name) => parseForm('name', name)),
    why: text('<text>', 'What an agent should do about the decision.'),
    ...referenceOptions,
    ...placeOptions,
    ...authorOptions,
    ...keyOptions,
  },
  examples: [
    {
      command: 'credence resolve "which queue" --decision "We use NATS." --name "message queue"',
      effect: 'Closes the question and remembers the decision, in one change.',
    },
    {
      command: 'credence resolve "which queue" --by "message queue"',
      effect: 'Closes it by a decision that is known already.',
    },
  ],
  async run({ args: { question }, options }, session) {
    const by = settledBy(options)
    const memory = await session.memory(options)
    const resolved = await memory.resolve(question, by, omitUndefined({ key: options.key }))
    const { decision } = resolved
    return {
      document: resolved,
      text: (style) =>
        [
          `${style.green('Closed')} the question ${called(resolved.question)}.`,
          ...(decision === null ? [] : [`  Settled by ${called(decision)}: ${short(decision.content)}`]),
        ].join('\n'),
    }
  },
})

type Settling = {
  readonly by?: string | undefined
  readonly decision?: string | undefined
  readonly name?: string | undefined
  readonly why?: string | undefined
}

function settledBy({ by, decision, name, why }: Settling): ResolveRequest['by'] {
  if (by !== undefined) {
    if (decision !== undefined || name !== undefined || why !== undefined) {
      throw new UsageError(
        '--by names a belief there is, so it needs no --decision, --name or --why.',
        'Give one or the other.',
      )
    }
    return { reference: by }
  }
  if (decision === undefined && name === undefined && why === undefined) return undefined
  if (decision === undefined || name === undefined) {
    throw new UsageError(
      'A new decision needs both --decision and --name.',
      'For example: --decision "We use NATS." --name "message queue"',
    )
  }
  return { name, content: decision, ...(why === undefined ? {} : { why }) }
}
