import type { Context, Quote, QuoteDecision, RelevantBelief } from '../memory/recall/context.ts'
import { beliefBlock, dayOf } from './describe-belief.ts'
import { explanationLines, explanationTree, matchText, nearMissLines, rounded } from './describe-recall.ts'
import { harmless, type Style } from './output.ts'
import { indented } from './text-layout.ts'

/** A context for people: the same tiers as an agent gets, in the same order. */
export function contextText(context: Context, { explain }: { readonly explain: boolean }, style: Style): string {
  const { prelude, pinned, relevant, questions, quotes, quoteDecision, nearMisses = [] } = context
  const sections: readonly (readonly [string, readonly string[]])[] = [
    ['About the person', prelude === null ? [] : [indented(harmless(prelude.text), 2, style.width)]],
    ['Always holds here', pinned.map((belief) => beliefBlock(belief, style))],
    ['Relevant to this message', relevant.map((one) => relevantBlock(one, explain, style))],
    ['Still open', questions.map((question) => beliefBlock(question, style))],
    ['Said earlier', quotes.map((quote) => quoteBlock(quote, quoteDecision, explain, style))],
    ['Why nothing that was said is shown', silenceLines(quotes, quoteDecision, style)],
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

function quoteBlock(quote: Quote, decision: QuoteDecision | undefined, explain: boolean, style: Style): string {
  const { text, at, speaker, role, earlier } = quote
  const who = speaker ?? (role === 'user' ? 'you' : role)
  const reasons = [
    sharedText(quote, decision?.asked ?? []),
    ...(explain ? explanationTree(quote.explanation) : []),
    ...(explain && decision !== undefined ? [`shown from ${rounded(decision.threshold)} on`] : []),
  ]
  return [
    `  ${earlier ? 'earlier, ' : ''}${dayOf(at)}, ${harmless(who)}: "${harmless(text)}"`,
    ...reasons.map((line) => style.dim(indented(line, 4, style.width))),
  ].join('\n')
}

/** "You asked with 4 telling words; this sentence holds 3 of them: …" */
export function sharedText({ shared, nearby }: Quote, asked: readonly string[]): string {
  const listed = (words: readonly string[]): string => words.map((word) => `"${harmless(word)}"`).join(', ')
  const beside = nearby.length === 0 ? '' : `; right beside it: ${listed(nearby)}`
  const held = shared.length === 0 ? 'it holds none of them itself' : `this holds ${listed(shared)}`
  return asked.length === 0
    ? `It shares ${listed([...shared, ...nearby])} with the message.`
    : `You asked with ${asked.length} telling words (${listed(asked)}); ${held}${beside}.`
}

/** With `--explain`: how near the best quote came that was not shown. */
function silenceLines(quotes: readonly Quote[], decision: QuoteDecision | undefined, style: Style): readonly string[] {
  if (quotes.length > 0 || decision === undefined || decision.best === null) return []
  const { best, threshold } = decision
  return [
    indented(
      `The best was "${harmless(best.text)}" (${dayOf(best.at)}): ${rounded(best.score)} of the ${rounded(threshold)} that it takes.`,
      2,
      style.width,
    ),
    style.dim(indented(sharedText(best, decision.asked), 4, style.width)),
    style.dim(indented('`credence search` shows what was said all the same.', 4)),
  ]
}
