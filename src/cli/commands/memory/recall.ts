import { type Budget, type Context, defaultBudget } from '../../../memory/recall/context.ts'
import { omitUndefined } from '../../../omit-undefined.ts'
import { defineCommand, flag, text, wholeNumber, words } from '../../command.ts'
import { placeOptions, readerOptions, viewOptions } from '../../common-options.ts'
import type { Style } from '../../output.ts'
import type { PlaceOptions, Session } from '../../session.ts'
import { UsageError } from '../../usage-error.ts'

const limit = (name: keyof Budget, help: string) => wholeNumber(help, { min: 0, default: defaultBudget[name] })

export const recall = defineCommand({
  args: { message: words('What was said.') },
  options: {
    explain: flag('Show how each score was reached, and what was mentioned but left out.'),
    nearMisses: flag('Show what was mentioned but left out, and why.'),
    render: flag('Print the block for a prompt instead.'),
    logQueries: flag('Keep the message, readable by you alone, for `credence shadow replay`.'),
    maxBeliefs: limit('maxBeliefs', 'Pinned and relevant beliefs together.'),
    maxPinned: limit('maxPinned', 'Pinned beliefs.'),
    maxQuestions: limit('maxQuestions', 'Open questions.'),
    maxCharacters: limit('maxCharacters', 'Characters of all beliefs and questions.'),
    maxQuotes: limit('maxQuotes', 'Quotes of what was said.'),
    asOf: text('<date>', 'What was known on this day.'),
    ...viewOptions,
    ...readerOptions,
    ...placeOptions,
  },
  description: 'Says nothing when nothing belongs there.',
  examples: [
    {
      command: 'credence recall "When is the invoice due?" --explain',
      effect: 'Shows what is recalled, and how each score was reached.',
    },
    { command: 'credence recall --render - < message.txt', effect: 'Prints the block to put into a prompt.' },
  ],
  async run({ args: { message }, options }, session) {
    const { explain, nearMisses, render, maxBeliefs, maxPinned, maxQuestions, maxCharacters, maxQuotes, asOf } = options
    if (render && (explain || nearMisses)) {
      throw new UsageError(
        '--render prints what an agent reads, which explains nothing.',
        'Leave out --render, or --explain and --near-misses.',
      )
    }
    const memory = await session.reading(options)
    const context = await memory.recall(message, {
      budget: omitUndefined({ maxBeliefs, maxPinned, maxQuestions, maxCharacters, maxQuotes }),
      ...omitUndefined({ asOf }),
      nearMisses: explain || nearMisses,
    })
    if (options.logQueries) await logged(message, options, session)
    const isEmpty =
      context.prelude === null &&
      context.pinned.length + context.relevant.length + context.questions.length + context.quotes.length === 0
    return {
      document: render ? { prompt: await promptOf(context) } : context,
      text: (style) => shown(context, { render, explain }, style),
      notes: isEmpty ? [`Nothing in ${context.scopes.join(' and ')} belongs to this message.`] : [],
    }
  },
})

// Recall is run for every message, by programs that read only one of its forms, so each is loaded only when asked for.
const promptOf = async (context: Context): Promise<string> =>
  (await import('../../../memory/recall/render.ts')).renderContext(context)

async function logged(message: string, options: PlaceOptions, session: Session): Promise<void> {
  const { evalStore } = await import('../evaluate/benchmark-store.ts')
  const { logQuery, queryLogPath } = await import('../../../eval/shadow/query-log.ts')
  const { user, scopes } = session.place(options)
  const { root } = evalStore(session, { store: undefined, dir: options.dir })
  await logQuery(queryLogPath(root), { at: new Date().toISOString(), user, scopes: [...scopes], message })
}

async function* shown(
  context: Context,
  { render, explain }: { readonly render: boolean; readonly explain: boolean },
  style: Style,
): AsyncGenerator<string> {
  if (render) yield promptOf(context)
  else yield (await import('../../describe-context.ts')).contextText(context, { explain }, style)
}
