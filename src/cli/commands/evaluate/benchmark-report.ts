import { resolve } from 'node:path'
import { gateStores, reportAgainstBaseline, requiredSnapshot } from '../../../eval/gate/ci-gate.ts'
import type { DeltaReport } from '../../../eval/gate/delta-report.ts'
import { shown } from '../../../eval/gate/gate.ts'
import { deltaGithub, deltaJunit, deltaMarkdown, takenText, verdictWords } from '../../../eval/report/delta-formats.ts'
import { type Answer, defineCommand, type ExitCode, exitCodes, UsageError } from '../../command/command.ts'
import { choice, flag, text, texts } from '../../command/options.ts'
import { columns, harmless, type Style } from '../../text/output.ts'
import { snapshotIdOption } from './benchmark-snapshot.ts'
import { evalStore, requireSetting, storeOptions } from './benchmark-store.ts'

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

export const benchmarkReport = defineCommand({
  args: {},
  options: { snapshotId: snapshotIdOption, format: formatOption, acceptChanged: acceptChangedOption, ...storeOptions },
  description:
    'Fails on a worse figure, a vanished benchmark or an invalid document. Needs the setting benchmarkDeltaReporterEnabled.',
  exitCodes: [exitCodes.failed, exitCodes.nothingCompared],
  examples: {
    'credence benchmark report --snapshot-id main': 'Compares the latest runs with the baseline "main".',
    'credence benchmark report --snapshot-id main --format md': 'Prints it for a pull request.',
  },
  async run({ options }, session) {
    const { snapshotId, format, acceptChanged } = options
    if (snapshotId === undefined) throw new UsageError('--snapshot-id is missing.')
    const { root, settings } = evalStore(session, options)
    requireSetting(settings, 'benchmarkDeltaReporterEnabled', 'Nothing was compared,')
    const report = await reportAgainstBaseline(root, snapshotId, { acceptedChanges: acceptedChanges(acceptChanged) })
    return reportAnswer(report, format)
  },
})

export const benchmarkGate = defineCommand({
  args: {},
  options: {
    base: text('<directory>', 'The eval store of what is there now.'),
    candidate: text('<directory>', 'The eval store of what shall take its place.'),
    snapshotId: { ...snapshotIdOption, default: `${requiredSnapshot} where the base has it, else its latest runs` },
    bootstrap: flag('The base has no eval store yet: begin with the baseline of the candidate.'),
    requireClean: flag('Refuse runs made with uncommitted changes, or outside of a repository.'),
    acceptChanged: acceptChangedOption,
    format: formatOption,
  },
  description:
    'The baseline of the base decides; that of the candidate only where the base has never had one. What cannot be read or compared does not pass.',
  exitCodes: [exitCodes.failed, exitCodes.nothingCompared],
  examples: {
    'credence benchmark gate --base ../main/evals --candidate ./evals': 'Lets a change through, or says why not.',
    'credence benchmark gate --base base --candidate evals --format github >> "$GITHUB_STEP_SUMMARY"':
      'The same in GitHub Actions.',
  },
  async run({ options }, session) {
    const { base, candidate, snapshotId, bootstrap, requireClean, acceptChanged, format } = options
    if (base === undefined || candidate === undefined) {
      throw new UsageError(`--${base === undefined ? 'base' : 'candidate'} is missing.`, 'Give both stores.')
    }
    const at = (path: string): string => resolve(session.workingDirectory(), path)
    const report = await gateStores({
      base: at(base),
      candidate: at(candidate),
      snapshotId,
      bootstrap,
      requireCleanTree: requireClean,
      acceptedChanges: acceptedChanges(acceptChanged),
    })
    return reportAnswer(report, format)
  },
})
