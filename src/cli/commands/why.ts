import { visibleScopes } from '../../beliefs/scope.ts'
import type { Why } from '../../memory/why.ts'
import { defineCommand, one, oneText } from '../command.ts'
import { placeOptions, readerOptions, viewOptions } from '../common-options.ts'
import { called } from '../describe-belief.ts'
import { explanationLines, reasonText, rounded } from '../describe-recall.ts'
import { harmless, type Style } from '../output.ts'
import { columns, indented } from '../text-layout.ts'

export const why = defineCommand({
  args: {
    message: oneText('What was said.'),
    belief: one('The belief: its id, the beginning of it, its name or an alias.'),
  },
  options: { ...viewOptions, ...readerOptions, ...placeOptions },
  examples: [
    {
      command: 'credence why "When is the invoice due?" "payment terms"',
      effect: 'Says which words are missing for it to be recalled.',
    },
    {
      command: 'credence why "Ask Ada" ada --scope project:ledger',
      effect: 'Says whether it is recalled where that scope is active.',
    },
  ],
  async run({ args: { message, belief }, options }, session) {
    const { scopes } = session.place(options)
    const memory = await session.reading(options)
    const verdict = await memory.why(message, belief)
    return { document: verdict, text: (style) => verdictText(verdict, scopes, style) }
  },
})

/** What became of one belief for one message, in words. */
export function verdictText({ belief, verdict }: Why, activeScopes: readonly string[], style: Style): string {
  const what = called(belief)
  switch (verdict.kind) {
    case 'relevant': {
      const { relevant, rank } = verdict
      const lines = explanationLines(relevant).map((line) => indented(line, 2, style.width))
      return [
        `${what} is recalled, as number ${rank} of the relevant beliefs, with a score of ${rounded(relevant.score)}:`,
        ...lines,
      ].join('\n')
    }
    case 'pinned':
      return `${what} is recalled whatever the message says, because it is pinned.`
    case 'question':
      return `${what} is shown whatever the message says, because it is an open question that is pinned.`
    case 'left-out':
      return `${what} is mentioned, but left out: ${reasonText(verdict.reason)}.`
    case 'not-mentioned': {
      const inView = visibleScopes(activeScopes)
      const isElsewhere = !belief.scopes.some((scope) => inView.includes(scope))
      const forms = verdict.forms.map(({ form, present, missing }) => [harmless(form), presence(present, missing)])
      return [
        `${what} is not recalled: the message holds nothing that it can be found by.`,
        columns(forms, { width: style.width }),
        ...(verdict.inPrelude ? ['It is part of what is known about the person, which every recall begins with.'] : []),
        ...(isElsewhere
          ? [`It also lives in ${harmless(belief.scopes.join(' and '))}, which is not in view here.`]
          : []),
        `To have it found by other words: credence alias ${harmless(belief.id)} add "the words"`,
      ].join('\n')
    }
  }
}

function presence(present: readonly string[], missing: readonly string[]): string {
  const quoted = (words: readonly string[]): string => words.map((word) => `"${harmless(word)}"`).join(', ')
  if (missing.length === 0) return `has ${quoted(present)}, but not as one phrase`
  return present.length === 0 ? `lacks ${quoted(missing)}` : `has ${quoted(present)}, lacks ${quoted(missing)}`
}
