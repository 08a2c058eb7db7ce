import type { DeltaReport } from '../../../eval/gate/delta-report.ts'
import { shown } from '../../../eval/gate/gate.ts'
import { deltaGithub, deltaJunit, deltaMarkdown, takenText, verdictWords } from '../../../eval/report/delta-formats.ts'
import { type Answer, choice, texts } from '../../command.ts'
import { type ExitCode, exitCodes } from '../../exit-codes.ts'
import { harmless, type Style } from '../../output.ts'
import { columns } from '../../text-layout.ts'
import { UsageError } from '../../usage-error.ts'

export const formatOption = {
  ...choice(
    '<format>',
    ['text', 'md', 'junit', 'github'] as const,
    'How it is printed: for people, as Markdown, as JUnit XML, or as a step summary with annotations on standard error.',
  ),
  default: 'text',
}

export const acceptChangedOption = texts(
  '<id: reason>',
  'Compare the cases that both sides have although the pack changed, and say why. May be given several times.',
)

/** `retrieval-hard: two cases added` as an entry of a table. */
export function acceptedChanges(given: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    given.map((text) => {
      const [, id, reason] = text.match(/^\s*([^:]+?)\s*:\s*(\S.*)$/u) ?? []
      if (id !== undefined && reason !== undefined) return [id, reason]
      throw new UsageError(
        `--accept-changed: "${text}" gives no reason.`,
        'Write "retrieval-hard: two cases were added".',
      )
    }),
  )
}

export type Format = 'text' | 'md' | 'junit' | 'github'

const codes: Readonly<Record<DeltaReport['verdict'], ExitCode>> = {
  pass: exitCodes.fine,
  regression: exitCodes.failed,
  invalid: exitCodes.invalid,
  'cannot tell': exitCodes.nothingCompared,
}

/** A comparison as the answer of a command. */
export function reportAnswer(report: DeltaReport, format: Format = 'text'): Answer {
  return {
    document: { ...report, markdownReport: deltaMarkdown(report) },
    text: (style) => printed(report, format, style),
    ...(format === 'github' ? { notes: deltaGithub(report).annotations } : {}),
    exitCode: codes[report.verdict],
  }
}

function printed(report: DeltaReport, format: Format, style: Style): string {
  switch (format) {
    case 'text':
      return reportText(report, style)
    case 'md':
    case 'github':
      return deltaMarkdown(report)
    case 'junit':
      return deltaJunit(report)
  }
}

export function reportText(report: DeltaReport, style: Style): string {
  const paint = report.passed ? style.green : style.red
  const rows = report.deltas.flatMap(({ benchmarkId, system, figures }) =>
    figures.map(({ figure, base, candidate, verdict }) => [
      benchmarkId,
      system ?? '',
      figure,
      shown(base),
      shown(candidate),
      verdict,
    ]),
  )
  const lines = (title: string, texts: readonly string[]): readonly string[] =>
    texts.length === 0 ? [] : ['', title, ...texts.map((text) => `  ${text}`)]
  const against = report.baselineSnapshotId === null ? 'the base' : `the baseline ${report.baselineSnapshotId}`
  const own = report.baselineResolvedFrom === 'candidate' ? " (the candidate's own: the base has none)" : ''
  return [
    `${paint(verdictWords[report.verdict])}: ${report.comparedBenchmarks} compared with ${against}${own}`,
    ...(rows.length === 0
      ? []
      : ['', columns([['benchmark', 'system', 'figure', 'base', 'now', 'verdict'], ...rows], { indent: 0 })]),
    ...lines(
      'why not',
      report.reasons.flatMap(({ line, next }) => [line, `  ${next}`]),
    ),
    ...lines('runs', report.verdicts.map(takenText)),
    ...lines('better', report.improvements),
    ...lines('notes', report.notes),
  ]
    .map(harmless)
    .join('\n')
}
