import type { Memory } from '../../../memory/memory.ts'
import { type Budget, type Context, defaultBudget } from '../../../memory/recall/context.ts'
import { omitUndefined } from '../../../omit-undefined.ts'
import type { RecallHints } from '../../../operations/recall-hints.ts'
import { cutNote } from '../../../search/message.ts'
import { defineCommand, UsageError } from '../../command/command.ts'
import { date, flag, memoryOptions, readerOptions, viewOptions, wholeNumber, words } from '../../command/options.ts'
import { waitingNotes } from '../../new-vectors.ts'
import { nameText, shortenText } from '../../text/beliefs.ts'
import { pluralize } from '../../text/output.ts'

const limitOption = (name: keyof Budget, help: string) => wholeNumber(help, { min: 0, default: defaultBudget[name] })

export const recall = defineCommand({
  args: { message: words('The message.') },
  options: {
    explain: flag('Explain each score, and show which mentioned beliefs were left out.'),
    nearMisses: flag('Show which mentioned beliefs were left out, and why.'),
    render: flag('Print the text for a prompt instead, as an agent gets it.'),
    maxBeliefs: limitOption('maxBeliefs', 'Maximum number of pinned and relevant beliefs together.'),
    maxPinned: limitOption('maxPinned', 'Maximum number of pinned beliefs.'),
    maxFromAgents: wholeNumber(
      'Maximum number of beliefs written by agents, tools and models. Default: by the setting agentShare.',
      {
        min: 0,
      },
    ),
    maxQuestions: limitOption('maxQuestions', 'Maximum number of open questions.'),
    maxCharacters: limitOption('maxCharacters', 'Maximum number of characters of all beliefs and questions.'),
    maxQuotes: limitOption('maxQuotes', 'Maximum number of quotes.'),
    asOf: date('<date>', 'Use only what was stored by this day.'),
    ...viewOptions,
    ...readerOptions,
    ...memoryOptions,
  },
  description:
    'If nothing matches, standard error names your other scopes that match, and the nearest beliefs, with the command that adds an alias if the message has words for one.',
  examples: {
    'credence recall "When is the invoice due?" --explain': 'Shows the recalled beliefs and explains each score.',
    'credence recall --render - < message.txt': 'Prints the text for a prompt.',
  },
  async run({ args: { message }, options }, session) {
    const { explain, nearMisses, render, asOf } = options
    const { maxBeliefs, maxPinned, maxFromAgents, maxQuestions, maxCharacters, maxQuotes } = options
    if (render && (explain || nearMisses))
      throw new UsageError(
        '--render cannot be combined with --explain or --near-misses.',
        'Leave out --render, or --explain and --near-misses.',
      )
    const memory = await session.memories.reading({ ...options, waitsForModel: true })
    const context = await memory.recall(message, {
      budget: omitUndefined({ maxBeliefs, maxPinned, maxFromAgents, maxQuestions, maxCharacters, maxQuotes }),
      ...omitUndefined({ asOf }),
      nearMisses: explain || nearMisses,
    })
    const { prelude, pinned, relevant, questions, quotes, perhaps } = context
    const meaning = explain ? context.quoteDecision?.meaning : undefined
    const isFound = relevant.length + quotes.length + perhaps.length > 0
    const isLookedFor = !render && !isFound && asOf === undefined
    const hints = isLookedFor ? await hintsFor(memory, message, context) : null
    const isEmpty = prelude === null && pinned.length + questions.length === 0
    return {
      document: render
        ? { prompt: await promptOf(context) }
        : { ...context, ...omitUndefined({ meaning }), ...(hints === null ? {} : { suggestions: hints.suggestions }) },
      text: async function* (style) {
        if (render) yield promptOf(context)
        else
          yield (await import('../../text/recall.ts')).contextText(
            context,
            { explain, ages: await readAges(context) },
            style,
          )
      },
      notes: [
        ...(context.isMessageCut ? [cutNote] : []),
        ...(isFound || (render && !isEmpty) ? [] : [nothingFoundText(context.scopes, { isEmpty, maxQuotes })]),
        ...(hints === null ? [] : hintLines(hints)),
        ...(hints === null ? [] : await waitingNotes(memory)),
        ...(hints === null ? [] : await session.places.formerProjectNotes(options, memory)),
      ],
    }
  },
})

const hintsFor = async (memory: Memory, message: string, context: Context): Promise<RecallHints | null> =>
  (await import('../../../operations/recall-hints.ts')).recallHints(memory, message, context)

/** Names the searched scopes. Also printed below pinned beliefs if the message matched nothing else. */
function nothingFoundText(
  scopes: readonly string[],
  { isEmpty, maxQuotes }: { readonly isEmpty: boolean; readonly maxQuotes: number | undefined },
): string {
  const what = maxQuotes === 0 ? 'belief' : 'belief or quote'
  return `No ${isEmpty ? '' : 'other '}${what} in ${scopes.join(' and ')} matches this message.`
}

const nextSteps = '`credence search` looks in every scope; `credence remember` adds a belief.'

function hintLines({ suggestions, otherScopes }: RecallHints): readonly string[] {
  const elsewhere = otherScopes.map(({ scope, beliefs, quotes }) => {
    const counts = [quotes > 0 && pluralize(quotes, 'quote'), beliefs > 0 && pluralize(beliefs, 'belief')]
    const verb = quotes + beliefs === 1 ? 'matches' : 'match'
    return `${counts.filter((count) => count !== false).join(' and ')} in ${scope} ${verb}, but that scope is not active here (--scope ${scope}).`
  })
  if (suggestions.length === 0) return [...elsewhere, nextSteps]
  return [
    ...elsewhere,
    'The message names no belief. These beliefs share words with it:',
    ...suggestions.flatMap(({ beliefId, name, content, alias }) => [
      `  ${nameText({ id: beliefId, name })}: ${shortenText(content)}`,
      ...(alias === null ? [] : [`    credence alias ${beliefId} add "${alias}"`]),
    ]),
  ]
}

/** Ages by belief id. A single item needs none: an age is only shown to compare it with another belief or quote. */
const readAges = async (context: Context): Promise<ReadonlyMap<string, readonly string[]>> =>
  context.pinned.length + context.relevant.length + context.perhaps.length + context.quotes.length < 2
    ? new Map()
    : (await import('../../../memory/recall/render.ts')).agesOf(context)

// Hosts run recall for every message and read only one format, so the module of each format is loaded on demand.
const promptOf = async (context: Context): Promise<string> =>
  (await import('../../../memory/recall/render.ts')).renderContext(context)
