import { resolve } from 'node:path'
import { type CaseDiff, diffRuns, type RunDiff } from '../../../eval/compare/diff.ts'
import { createSnapshot } from '../../../eval/gate/baselines.ts'
import { gateStores, reportAgainstBaseline, requiredSnapshot } from '../../../eval/gate/ci-gate.ts'
import { formatFigure } from '../../../eval/gate/gate.ts'
import {
  type DeltaReport,
  deltaGithub,
  deltaJunit,
  deltaMarkdown,
  takenRunText,
  verdictWords,
} from '../../../eval/report/delta-report.ts'
import { isSafeId } from '../../../eval/store/schemas/primitives.ts'
import { type CommandAnswer, defineCommand, exitCodes, UsageError, type ValuesOf } from '../../command/command.ts'
import { choice, flag, one, option, text, texts } from '../../command/options.ts'
import type { Session } from '../../session.ts'
import { type Style, table } from '../../text/output.ts'
import { evalStore, evalStoreOptions, portablePath, requireSetting } from './benchmark-store.ts'

/** An id that is also used as a file name. */
export const snapshotIdOption = option('<id>', 'The name of the baseline.', (given) => {
  if (isSafeId(given)) return given
  throw new UsageError(`"${given}" is not a safe id.`, 'Use letters, digits, dots, dashes and underscores.')
})

const snapshotOptions = {
  system: text('<name>', 'The system whose runs are used, if there are several.'),
  notes: text('<text>', 'Why these figures are accepted.'),
  gitRef: text('<ref>', 'The commit or branch they belong to.'),
  force: flag('Replace a baseline of the same name.'),
  acceptLower: text('<reason>', 'Why a figure may get worse; stored in the baseline.'),
}

export const benchmarkSnapshot = defineCommand({
  args: {},
  options: { snapshotId: snapshotIdOption, ...snapshotOptions, ...evalStoreOptions },
  description:
    'Takes the latest completed run of every benchmark. Refused if the setting benchmarkBaselineSnapshotsEnabled is off.',
  examples: {
    'credence benchmark snapshot --snapshot-id main': 'Stores the latest figures as the baseline "main".',
    'credence benchmark snapshot --snapshot-id main --force --accept-lower "the cases became harder"':
      'Replaces it with lower figures, and a reason.',
  },
  async run({ options }, session) {
    if (options.snapshotId === undefined) throw new UsageError('--snapshot-id is missing.')
    return takeSnapshot({ ...options, snapshotId: options.snapshotId }, session)
  },
})

/** `options` are the options of the command, plus a name for the baseline. */
export async function takeSnapshot(
  options: Partial<ValuesOf<typeof snapshotOptions>> &
    ValuesOf<typeof evalStoreOptions> & { readonly snapshotId: string },
  session: Session,
) {
  const { root, settings } = evalStore(session, options)
  requireSetting(settings, 'benchmarkBaselineSnapshotsEnabled', 'No baseline was stored,')
  const { targetPath, snapshot, overwritten, notes } = await createSnapshot(root, {
    ...options,
    createdAt: new Date().toISOString(),
    sourceRootDir: portablePath(session, root),
  })
  const shown = snapshot.benchmarks.map(({ benchmarkId, passRate, runId }) => {
    return { benchmark: benchmarkId, 'pass rate': formatFigure(passRate), run: runId }
  })
  return {
    document: { ok: true, targetPath, overwritten, snapshot, notes },
    shown,
    notes: [`${overwritten ? 'Replaced' : 'Stored as'} ${targetPath}`, ...notes],
  }
}

const formats = ['text', 'md', 'junit', 'github'] as const
type Format = (typeof formats)[number]

const reportOptions = {
  format: choice(
    '<format>',
    formats,
    'The format: for people, Markdown, JUnit XML, or a step summary with annotations on standard error.',
    'text',
  ),
  acceptChanged: texts(
    '<id: reason>',
    'Compare the cases that both sides have although the pack changed; the reason is in the report. May be given several times.',
  ),
}

export const benchmarkReport = defineCommand({
  args: {},
  options: { snapshotId: snapshotIdOption, ...reportOptions, ...evalStoreOptions },
  description:
    'Fails on a worse figure, a missing benchmark or an invalid file. Refused if the setting benchmarkDeltaReporterEnabled is off.',
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
    snapshotId: { ...snapshotIdOption, default: `${requiredSnapshot} if the base has it, else its latest runs` },
    bootstrap: flag('The base has no eval store yet: use the baseline of the candidate.'),
    requireClean: flag('Refuse runs made with uncommitted changes, or outside of a repository.'),
    ...reportOptions,
  },
  description:
    'Uses the baseline of the base; that of the candidate only if the base has none. Files that cannot be read or compared do not pass.',
  exitCodes: [exitCodes.failed, exitCodes.nothingCompared],
  examples: {
    'credence benchmark gate --base ../main/evals --candidate ./evals':
      'Decides whether the change passes, with reasons.',
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
    const at = (path: string): string => resolve(session.places.workingDirectory(), path)
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

/** Parses `retrieval-hard: two cases added` into entries by benchmark. */
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

/**
 * Refuses an id that the report does not contain: a mistyped id must not look like an accepted change. Refuses nothing if the
 * report has no benchmarks, because it gives the reason.
 */
function refuseUnknown(accepted: readonly string[], { verdicts }: DeltaReport): void {
  const known = [...new Set(verdicts.map(({ benchmarkId }) => benchmarkId))]
  const unknown = accepted.find((id) => !known.includes(id))
  if (unknown === undefined || known.length === 0) return
  throw new UsageError(
    `--accept-changed: the base has no benchmark "${unknown}".`,
    `Its benchmarks are ${known.join(', ')}.`,
  )
}

export function reportAnswer(report: DeltaReport, format: Format = 'text'): CommandAnswer {
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
    figures.map((figure) => [
      benchmarkId,
      system ?? '',
      figure.figure,
      formatFigure(figure.base),
      formatFigure(figure.candidate),
      figure.verdict,
    ]),
  )
  const title = ['benchmark', 'system', 'figure', 'base', 'now', 'verdict']
  const section = (heading: string, items: readonly string[]): readonly string[] =>
    items.length === 0 ? [] : ['', heading, ...items.map((item) => `  ${item}`)]
  const against = report.baselineSnapshotId === null ? 'the base' : `the baseline ${report.baselineSnapshotId}`
  const own = report.baselineResolvedFrom === 'candidate' ? " (the candidate's own: the base has none)" : ''
  const reasons = report.reasons.flatMap(({ line, next }) => [line, `  ${next}`])
  return [
    `${paint(verdictWords[report.verdict])}: ${report.comparedBenchmarks} compared with ${against}${own}`,
    ...(rows.length === 0 ? [] : ['', table([title, ...rows])]),
    ...section('reasons', reasons),
    ...section('new in the candidate', report.newBenchmarks),
    ...section('runs', report.verdicts.map(takenRunText)),
    ...section('better', report.improvements),
    ...section('notes', report.notes),
  ].join('\n')
}

export const benchmarkDiff = defineCommand({
  args: { base: one('A run.'), candidate: one('The run to compare it with.') },
  options: evalStoreOptions,
  description:
    'Lists the cases that were fixed, broke, still fail, are new, were removed or are flaky; for each broken case the changed results and the first stage of recall that differs.',
  exitCodes: [exitCodes.failed, exitCodes.nothingCompared],
  examples: {
    'credence benchmark diff run-1 run-2': 'Shows what changed from the first to the second.',
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
    items.length === 0 ? [] : [`${title} (${items.length})`, ...items.map((item) => `  ${item}`)]
  const fixed = diff.fixed.map(({ id }) => id)
  return [
    ...list(style.red('broken'), diff.broken.map(formatDiff)),
    ...list(style.green('fixed'), fixed),
    ...list('still failing', diff.stillFailing.map(caseText)),
    ...list('passes with another answer', diff.changed.map(caseText)),
    ...list('flaky', diff.flaky),
    ...list('new', diff.newCases),
    ...list('removed', diff.removedCases),
    `${diff.unchanged} the same`,
  ].join('\n')
}

const caseText = ({ id, firstStage }: CaseDiff): string => (firstStage === null ? id : `${id} (${firstStage} differs)`)

function formatDiff(diff: CaseDiff): string {
  const returned = diff.returned.map(({ id, tier, from, to }) => {
    const where = tier === '' ? '' : ` ${tier}`
    if (from === null) return `    + ${id}${where} ${to}`
    return to === null ? `    - ${id}${where} ${from}` : `    ~ ${id}${where} ${from} → ${to}`
  })
  return [caseText(diff), ...diff.failures.map((failure) => `    ${failure}`), ...returned].join('\n')
}
