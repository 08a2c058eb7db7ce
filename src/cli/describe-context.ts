import type { Context, RelevantBelief } from '../memory/context.ts'
import { beliefBlock } from './describe-belief.ts'
import { explanationLines, matchText, nearMissLines, rounded } from './describe-recall.ts'
import { harmless, type Style } from './output.ts'
import { indented } from './text-layout.ts'

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
