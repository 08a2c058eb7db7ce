import { parseForm } from '../../../memory/change/draft.ts'
import type { ResolveRequest } from '../../../memory/change/resolve.ts'
import { omitUndefined } from '../../../omit-undefined.ts'
import { defineCommand, UsageError, type ValuesOf } from '../../command/command.ts'
import { changeOptions, one, option, text } from '../../command/options.ts'
import { called, short } from '../../text/beliefs.ts'
import { lines } from '../../text/output.ts'

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
    const by = settledBy(options)
    const memory = await session.memory(options)
    const resolved = await memory.resolve(question, by, omitUndefined({ key: options.key }))
    const { decision } = resolved
    return {
      document: resolved,
      text: (style) =>
        lines(
          `${style.green('Closed')} the question ${called(resolved.question)}.`,
          decision !== null && `  Settled by ${called(decision)}: ${short(decision.content)}`,
        ),
    }
  },
})

function settledBy({ by, decision, name, why }: ValuesOf<typeof answerOptions>): ResolveRequest['by'] {
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
