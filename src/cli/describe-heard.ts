import type { Taken } from '../memory/learn/learn.ts'
import { called, short } from './describe-belief.ts'
import { harmless, type Style } from './output.ts'
import { counted } from './text-layout.ts'
import type { HeardLines } from './turn-lines.ts'

/** What was learned, and where it is kept. */
export const takenText = ({ outcome, belief, because }: Taken, style: Style): string =>
  [
    `  ${outcome} ${called(belief)} in ${style.cyan(harmless(belief.scopes.join(' and ')))}`,
    `    ${short(belief.content)}`,
    `    ${harmless(because)}`,
  ].join('\n')

/** The counts of a file or stream of turns, and what was learned from it. */
export function heardLinesText(heard: HeardLines, isDryRun: boolean, style: Style): string {
  const { kept, known, leftOut, learned, learnedCount } = heard
  const would = isDryRun ? 'would be ' : ''
  const more = learnedCount - learned.length
  return [
    `${style.green(`${counted(kept, 'turn')} ${would}kept`)}, ${known} known already, ${leftOut} left out, ${counted(heard.problemCount, 'line')} could not be read.`,
    ...(learnedCount === 0 ? [] : [`${counted(learnedCount, 'statement')} found:`]),
    ...learned.map((one) => takenText(one, style)),
    ...(more > 0 ? [`  and ${more} more`] : []),
  ].join('\n')
}

/** One line for each line that could not be read. */
export function problemLines({ problems, problemCount, warnings }: HeardLines, source: string): readonly string[] {
  const more = problemCount - problems.length
  return [
    ...warnings.map((warning) => `warning: ${source}, ${harmless(warning)}`),
    ...problems.map(({ line, reason }) => `${source}, line ${line}: ${harmless(reason)}`),
    ...(more > 0 ? [`and ${counted(more, 'more line')} that could not be read`] : []),
  ]
}
