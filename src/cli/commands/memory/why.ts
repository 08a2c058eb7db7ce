import { visibleScopes } from '../../../beliefs/scope.ts'
import type { Why } from '../../../memory/explain/why.ts'
import type { Memory } from '../../../memory/memory.ts'
import { type Answer, defineCommand, one, oneText } from '../../command.ts'
import { placeOptions, readerOptions, viewOptions } from '../../common-options.ts'
import { called, dayOf } from '../../describe-belief.ts'
import { sharedText } from '../../describe-context.ts'
import { explanationLines, explanationTree, reasonText, rounded } from '../../describe-recall.ts'
import { harmless, type Style } from '../../output.ts'
import { columns, indented } from '../../text-layout.ts'

export const why = defineCommand({
  args: {
    message: oneText('What was said.'),
    belief: one('The belief: its id, the beginning of it, its name or an alias. Or the id of a turn.'),
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
    if (isTurnId(belief)) return whyTurn(memory, message, belief)
    const verdict = await memory.why(message, belief)
    return { document: verdict, text: (style) => verdictText(verdict, scopes, style) }
  },
})

const isTurnId = (reference: string): boolean => /^t-[0-9a-z]+$/u.test(reference)

/** Whether what was said in a turn is given to an agent for a message, and how near it comes. */
async function whyTurn(memory: Memory, message: string, id: string): Promise<Answer> {
  const turn = await memory.turn(id)
  const { quotes, quoteDecision } = await memory.recall(message, { nearMisses: true })
  const quote = quotes.find((one) => one.turn === id) ?? null
  const { quotes: found } = await memory.search(message, { in: 'turns', session: turn.session, limit: 100 })
  const hit = found.find((one) => one.turn === id) ?? null
  const shared =
    hit === null ? 'It shares no word with the message.' : `It shares: ${hit.found.map(harmless).join(', ')}.`
  const threshold = rounded(quoteDecision?.threshold ?? 0)
  return {
    document: { turn, quote, hit, threshold: quoteDecision?.threshold ?? null },
    text: (style) =>
      quote === null
        ? [
            `What was said on ${dayOf(turn.at)} is not shown for this message.`,
            indented(
              `${shared} A quote needs a score of ${threshold}; recall --explain shows the best one.`,
              2,
              style.width,
            ),
          ].join('\n')
        : [
            `It is shown, with a score of ${rounded(quote.score)}; it takes ${threshold}:`,
            indented(sharedText(quote, quoteDecision?.asked ?? []), 2, style.width),
            ...explanationTree(quote.explanation).map((line) => indented(line, 4)),
          ].join('\n'),
  }
}

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
