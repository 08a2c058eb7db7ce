import { type CaseDiff, diffRuns, type RunDiff } from '../../../eval/compare/diff.ts'
import { defineCommand, exitCodes } from '../../command/command.ts'
import { one } from '../../command/options.ts'
import { harmless, type Style } from '../../text/output.ts'
import { evalStore, storeOptions } from './benchmark-store.ts'

export const benchmarkDiff = defineCommand({
  args: { base: one('A run.'), candidate: one('The run to compare it with.') },
  options: storeOptions,
  description:
    'Lists the cases that were fixed, broke, still fail, are new, were removed or are flaky; for each broken case the changed results and the first stage of recall that differs.',
  exitCodes: [exitCodes.failed, exitCodes.nothingCompared],
  examples: {
    'credence benchmark diff run-1 run-2': 'Shows what changed from the first to the second.',
    'credence benchmark diff run-1 run-2 --json': 'Prints the same as JSON.',
  },
  async run({ args, options }, session) {
    const { root } = evalStore(session, options)
    const diff = await diffRuns(root, args.base, args.candidate)
    const { fixed, broken, stillFailing, changed, unchanged } = diff
    const shared = fixed.length + broken.length + stillFailing.length + changed.length + unchanged
    return {
      document: { ok: shared > 0 && diff.broken.length === 0, ...diff },
      text: (style) => diffText(diff, style),
      notes: diff.notes,
      exitCode: shared === 0 ? exitCodes.nothingCompared : diff.broken.length > 0 ? exitCodes.failed : exitCodes.fine,
    }
  },
})

function diffText(diff: RunDiff, style: Style): string {
  const list = (title: string, items: readonly string[]): readonly string[] =>
    items.length === 0 ? [] : [`${title} (${items.length})`, ...items.map((item) => `  ${harmless(item)}`)]
  const fixed = diff.fixed.map(({ id }) => id)
  return [
    ...list(style.red('broken'), diff.broken.map(detailed)),
    ...list(style.green('fixed'), fixed),
    ...list('still failing', diff.stillFailing.map(brief)),
    ...list('passes with another answer', diff.changed.map(brief)),
    ...list('flaky', diff.flaky),
    ...list('new', diff.newCases),
    ...list('removed', diff.removedCases),
    `${diff.unchanged} the same`,
  ].join('\n')
}

const brief = ({ id, firstStage }: CaseDiff): string => (firstStage === null ? id : `${id} (${firstStage} differs)`)

function detailed(diff: CaseDiff): string {
  const returned = diff.returned.map(({ id, tier, from, to }) => {
    const where = tier === '' ? '' : ` ${tier}`
    if (from === null) return `    + ${id}${where} ${to}`
    return to === null ? `    - ${id}${where} ${from}` : `    ~ ${id}${where} ${from} → ${to}`
  })
  return [brief(diff), ...diff.failures.map((failure) => `    ${failure}`), ...returned].join('\n')
}
