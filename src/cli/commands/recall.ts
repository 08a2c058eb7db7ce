import { type Budget, type Context, defaultBudget, type RelevantBelief } from '../../memory/context.ts'
import { renderContext } from '../../memory/render.ts'
import { defineCommand, flag, wholeNumber, words } from '../command.ts'
import { placeOptions, readerOptions, viewOptions } from '../common-options.ts'
import { beliefBlock } from '../describe-belief.ts'
import { explanationLines, matchText, nearMissLines, rounded } from '../describe-recall.ts'
import { given } from '../given.ts'
import { harmless, type Style } from '../output.ts'
import { indented } from '../text-layout.ts'
import { UsageError } from '../usage-error.ts'

const limit = (name: keyof Budget, help: string) => wholeNumber(help, { min: 0, default: defaultBudget[name] })

export const recall = defineCommand({
  args: { message: words('What was said.') },
  options: {
    explain: flag('Show how each score was reached, and what was mentioned but left out.'),
    nearMisses: flag('Show what was mentioned but left out, and why.'),
    render: flag('Print the block for a prompt instead.'),
    maxBeliefs: limit('maxBeliefs', 'Pinned and relevant beliefs together.'),
    maxPinned: limit('maxPinned', 'Pinned beliefs.'),
    maxQuestions: limit('maxQuestions', 'Open questions.'),
    maxCharacters: limit('maxCharacters', 'Characters of all beliefs and questions.'),
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
    const { explain, nearMisses, render, maxBeliefs, maxPinned, maxQuestions, maxCharacters } = options
    if (render && (explain || nearMisses)) {
      throw new UsageError(
        '--render prints what an agent reads, which explains nothing.',
        'Leave out --render, or --explain and --near-misses.',
      )
    }
    const memory = await session.reading(options)
    const context = await memory.recall(message, {
      budget: given({ maxBeliefs, maxPinned, maxQuestions, maxCharacters }),
      nearMisses: explain || nearMisses,
    })
    const isEmpty =
      context.prelude === null && context.pinned.length + context.relevant.length + context.questions.length === 0
    return {
      document: render ? { prompt: renderContext(context) } : context,
      text: (style) => (render ? renderContext(context) : contextText(context, { explain }, style)),
      notes: isEmpty ? [`Nothing in ${context.scopes.join(' and ')} belongs to this message.`] : [],
    }
  },
})

/** A context for people: the same tiers as an agent gets, in the same order. */
export function contextText(context: Context, { explain }: { readonly explain: boolean }, style: Style): string {
  const { prelude, pinned, relevant, questions, nearMisses = [] } = context
  const sections: readonly (readonly [string, readonly string[]])[] = [
    ['About the person', prelude === null ? [] : [indented(harmless(prelude.text), 2, style.width)]],
    ['Always holds here', pinned.map((belief) => beliefBlock(belief, style))],
    ['Relevant to this message', relevant.map((one) => relevantBlock(one, explain, style))],
    ['Still open', questions.map((question) => beliefBlock(question, style))],
    ['Mentioned, but left out', nearMissLines(nearMisses, style)],
  ]
  return sections
    .filter(([, items]) => items.length > 0)
    .map(([title, items]) => `${style.underline(title)}\n${items.join('\n')}\n`)
    .join('\n')
}

function relevantBlock(relevant: RelevantBelief, explain: boolean, style: Style): string {
  const { belief, score, matches, explanation } = relevant
  const block = beliefBlock(belief, style, { before: `${style.cyan(rounded(score))}  ` })
  const found = matches.length === 0 ? harmless(explanation.label) : matches.map(matchText).join('; ')
  const lines = explain ? explanationLines(relevant) : [`Because ${found}.`]
  return [block, ...lines.map((line) => style.dim(indented(line, 4, style.width)))].join('\n')
}
