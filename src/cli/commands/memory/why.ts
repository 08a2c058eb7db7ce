import { visibleScopes } from '../../../beliefs/scope.ts'
import type { Why } from '../../../memory/explain/why.ts'
import type { Memory } from '../../../memory/memory.ts'
import { type Answer, defineCommand } from '../../command/command.ts'
import { memoryOptions, one, oneText, readerOptions, viewOptions } from '../../command/options.ts'
import { called, dayOf } from '../../text/beliefs.ts'
import { columns, harmless, indented, lines, type Style } from '../../text/output.ts'
import { explanationLines, explanationTree, quoted, reasonText, rounded, sharedText } from '../../text/recall.ts'

export const why = defineCommand({
  args: {
    message: oneText('What was said.'),
    belief: one('The belief: its id, the beginning of it, its name or an alias. Or the id of a turn.'),
  },
  options: { ...viewOptions, ...readerOptions, ...memoryOptions },
  examples: {
    'credence why "When is the invoice due?" "payment terms"': 'Says which words are missing for it to be recalled.',
    'credence why "Ask Ada" ada --scope project:ledger': 'Says whether it is recalled where that scope is active.',
  },
  async run({ args: { message, belief }, options }, session) {
    const { scopes } = session.locate(options)
    const memory = await session.reading(options)
    if (/^t-[0-9a-z]+$/u.test(belief)) return whyTurn(memory, message, belief)
    const verdict = await memory.why(message, belief)
    return { document: verdict, text: (style) => verdictText(verdict, scopes, style) }
  },
})

/** Whether a turn is quoted for a message, and how near it comes to the threshold. */
async function whyTurn(memory: Memory, message: string, id: string): Promise<Answer> {
  const turn = await memory.turn(id)
  const { quotes, quoteDecision } = await memory.recall(message, { nearMisses: true })
  const quote = quotes.find((shown) => shown.turn === id) ?? null
  const { quotes: found } = await memory.search(message, { in: 'turns', session: turn.session, limit: 100 })
  const hit = found.find((shown) => shown.turn === id) ?? null
  const shared =
    hit === null ? 'It shares no word with the message.' : `It shares: ${hit.found.map(harmless).join(', ')}.`
  const threshold = rounded(quoteDecision?.threshold ?? 0)
  const advice = `${shared} A quote needs a score of ${threshold}; recall --explain shows the best one.`
  return {
    document: { turn, quote, hit, threshold: quoteDecision?.threshold ?? null },
    text: (style) =>
      quote === null
        ? lines(`What was said on ${dayOf(turn.at)} is not shown for this message.`, indented(advice, 2, style.width))
        : lines(
            `It is shown, with a score of ${rounded(quote.score)}; it takes ${threshold}:`,
            indented(sharedText(quote, quoteDecision?.asked ?? []), 2, style.width),
            explanationTree(quote.explanation).map((line) => indented(line, 4)),
          ),
  }
}

/** Whether and why one belief is recalled for one message, in words. */
export function verdictText({ belief, verdict }: Why, activeScopes: readonly string[], style: Style): string {
  const what = called(belief)
  switch (verdict.kind) {
    case 'relevant': {
      const { relevant, rank } = verdict
      return lines(
        `${what} is recalled, as number ${rank} of the relevant beliefs, with a score of ${rounded(relevant.score)}:`,
        explanationLines(relevant).map((line) => indented(line, 2, style.width)),
      )
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
      return lines(
        `${what} is not recalled: the message holds neither its name nor an alias.`,
        columns(forms, { width: style.width }),
        verdict.inPrelude && 'It is part of what is known about the person, which every recall begins with.',
        isElsewhere && `It also lives in ${harmless(belief.scopes.join(' and '))}, which is not in view here.`,
        `To have it found by other words: credence alias ${harmless(belief.id)} add "the words"`,
      )
    }
  }
}

function presence(present: readonly string[], missing: readonly string[]): string {
  if (missing.length === 0) return `has ${quoted(present)}, but not as one phrase`
  return present.length === 0 ? `lacks ${quoted(missing)}` : `has ${quoted(present)}, lacks ${quoted(missing)}`
}
