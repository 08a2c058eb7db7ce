import { resolve } from 'node:path'
import { gateStores, reportAgainstBaseline, requiredSnapshot } from '../../../eval/gate/ci-gate.ts'
import { shown } from '../../../eval/gate/gate.ts'
import type { DeltaReport } from '../../../eval/report/delta-report.ts'
import { deltaGithub, deltaJunit, deltaMarkdown, takenText, verdictWords } from '../../../eval/report/delta-report.ts'
import { type Answer, defineCommand, exitCodes, UsageError } from '../../command/command.ts'
import { choice, flag, text, texts } from '../../command/options.ts'
import { harmless, type Style, table } from '../../text/output.ts'
import { snapshotIdOption } from './benchmark-snapshot.ts'
import { evalStore, requireSetting, storeOptions } from './benchmark-store.ts'

const formats = ['text', 'md', 'junit', 'github'] as const
type Format = (typeof formats)[number]

const reportOptions = {
  format: {
    ...choice(
      '<format>',
      formats,
      'The format: for people, Markdown, JUnit XML, or a step summary with annotations on standard error.',
    ),
    default: 'text',
  },
  acceptChanged: texts(
    '<id: reason>',
    'Compare the cases that both sides have although the pack changed; the reason is in the report. May be given several times.',
  ),
}

export const benchmarkReport = defineCommand({
  args: {},
  options: { snapshotId: snapshotIdOption, ...reportOptions, ...storeOptions },
  description:
    'Fails on a worse figure, a missing benchmark or an invalid file. Needs the setting benchmarkDeltaReporterEnabled.',
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
    const accepted = acceptedChanges(acceptChanged)
    const report = await reportAgainstBaseline(root, snapshotId, { acceptedChanges: accepted, now: new Date() })
    refuseUnknown(Object.keys(accepted), report)
    return reportAnswer(report, format)
  },
})

export const benchmarkGate = defineCommand({
  args: {},
  options: {
    base: text('<directory>', 'The eval store before the change.'),
    candidate: text('<directory>', 'The eval store with the change.'),
    snapshotId: { ...snapshotIdOption, default: `${requiredSnapshot} where the base has it, else its latest runs` },
    bootstrap: flag('The base has no eval store yet: use the baseline of the candidate.'),
    requireClean: flag('Refuse runs made with uncommitted changes, or outside of a repository.'),
    ...reportOptions,
  },
  description:
    'Uses the baseline of the base; that of the candidate only if the base has none. Files that cannot be read or compared do not pass.',
  exitCodes: [exitCodes.failed, exitCodes.nothingCompared],
  examples: {
    'credence benchmark gate --base ../main/evals --candidate ./evals':
      'Decides whether the change passes, and says why.',
    'credence benchmark gate --base base --candidate evals --format github >> "$GITHUB_STEP_SUMMARY"':
      'The same in GitHub Actions.',
  },
  async run({ options }, session) {
    const { base, candidate, snapshotId, bootstrap, requireClean, acceptChanged, format } = options
    if (base === undefined || candidate === undefined)
      throw new UsageError(
        `--${base === undefined ? 'base' : 'candidate'} is missing.`,
        'Name two eval stores, as in --base ../main/evals --candidate ./evals.',
      )
    const at = (path: string): string => resolve(session.workingDirectory(), path)
    const accepted = acceptedChanges(acceptChanged)
    const report = await gateStores({
      base: at(base),
      candidate: at(candidate),
      snapshotId,
      bootstrap,
      requireCleanTree: requireClean,
      now: new Date(),
      acceptedChanges: accepted,
    })
    refuseUnknown(Object.keys(accepted), report)
    return reportAnswer(report, format)
  },
})

/** `retrieval-hard: two cases added` as an entry of a table. */
function acceptedChanges(given: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    given.map((accepted) => {
      const [, id, reason] = accepted.match(/^\s*([^:]+?)\s*:\s*(\S.*)$/u) ?? []
      if (id !== undefined && reason !== undefined) return [id, reason]
      const hint = 'Write "retrieval-hard: two cases were added".'
      throw new UsageError(`--accept-changed: "${accepted}" gives no reason.`, hint)
    }),
  )
}

/** A mistyped id must not look like an accepted change. Where no base was found, the report says so first. */
function refuseUnknown(accepted: readonly string[], { verdicts }: DeltaReport): void {
  const known = [...new Set(verdicts.map(({ benchmarkId }) => benchmarkId))]
  const unknown = accepted.find((id) => !known.includes(id))
  if (unknown === undefined || known.length === 0) return
  throw new UsageError(
    `--accept-changed: the base has no benchmark "${unknown}".`,
    `Its benchmarks are ${known.join(', ')}.`,
  )
}

/** A comparison as the answer of a command. */
export function reportAnswer(report: DeltaReport, format: Format = 'text'): Answer {
  const markdown = deltaMarkdown(report)
  return {
    document: { ...report, markdownReport: markdown },
    text: (style) =>
      format === 'text' ? reportText(report, style) : format === 'junit' ? deltaJunit(report) : markdown,
    ...(format === 'github' ? { notes: deltaGithub(report).annotations } : {}),
    exitCode: report.exitCode,
  }
}

function reportText(report: DeltaReport, style: Style): string {
  const paint = report.passed ? style.green : style.red
  const rows = report.deltas.flatMap(({ benchmarkId, system, figures }) =>
    figures.map((one) => [benchmarkId, system ?? '', one.figure, shown(one.base), shown(one.candidate), one.verdict]),
  )
  const title = ['benchmark', 'system', 'figure', 'base', 'now', 'verdict']
  const section = (heading: string, items: readonly string[]): readonly string[] =>
    items.length === 0 ? [] : ['', heading, ...items.map((item) => `  ${item}`)]
  const against =
    report.baselineSnapshotId === null ? 'the base' : `the baseline ${harmless(report.baselineSnapshotId)}`
  const own = report.baselineResolvedFrom === 'candidate' ? " (the candidate's own: the base has none)" : ''
  const reasons = report.reasons.flatMap(({ line, next }) => [line, `  ${next}`])
  return [
    `${paint(verdictWords[report.verdict])}: ${report.comparedBenchmarks} compared with ${against}${own}`,
    ...[
      ...(rows.length === 0 ? [] : ['', table([title, ...rows])]),
      ...section('why not', reasons),
      ...section('new in the candidate', report.newBenchmarks),
      ...section('runs', report.verdicts.map(takenText)),
      ...section('better', report.improvements),
      ...section('notes', report.notes),
    ].map(harmless),
  ].join('\n')
}
