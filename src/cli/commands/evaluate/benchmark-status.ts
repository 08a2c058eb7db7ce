import { resolve } from 'node:path'
import type { Settings } from '../../../config.ts'
import { gateStores, reportAgainstBaseline } from '../../../eval/gate/ci-gate.ts'
import { type ShadowSummary, summariseShadows } from '../../../eval/shadow/shadow-summary.ts'
import { type StoreStatus, storeStatus } from '../../../eval/store/status.ts'
import {
  type CommandAnswer,
  type DefaultAnswer,
  defineCommand,
  exitCodes,
  UsageError,
  type ValuesOf,
} from '../../command/command.ts'
import { flag, text } from '../../command/options.ts'
import { recordsShadows } from '../../memory-location.ts'
import type { Session } from '../../session.ts'
import { type Style, table } from '../../text/output.ts'
import { packText, validateFolder } from './benchmark-pack.ts'
import { reportAnswer, snapshotIdOption, takeSnapshot } from './benchmark-report.ts'
import { evalStore, evalStoreOptions, requireSetting } from './benchmark-store.ts'

export const benchmarkStatus = defineCommand({
  args: {},
  options: evalStoreOptions,
  examples: {
    'credence benchmark status': 'Shows packs, runs, shadow records, baselines and invalid files.',
  },
  async run({ options }, session) {
    const { root, settings } = evalStore(session, options)
    const status = statusDocument(await storeStatus(root), settings)
    return { document: status, text: (style) => statusText(status, style) }
  },
})

export type ReportedStatus = ReturnType<typeof statusDocument>

/** The contents of the store, and the settings that control it. */
export const statusDocument = ({ baselines, ...status }: StoreStatus, settings: Settings) => ({
  enabled: settings.evalHarnessEnabled,
  shadowModeEnabled: recordsShadows(settings),
  deltaReporterEnabled: settings.benchmarkDeltaReporterEnabled,
  ...status,
  baselines: { enabled: settings.benchmarkBaselineSnapshotsEnabled, ...baselines },
})

const shadowSettings = 'evalHarnessEnabled and evalShadowModeEnabled'
const onOff = (isOn: boolean, setting: string): string => (isOn ? 'on' : `off (setting ${setting})`)

export function statusText(status: ReportedStatus, style: Style): string {
  const { benchmarks, runs, shadows, baselines, latestRun: run, latestShadow: shadow, latestBaseline } = status
  const { redTeam, attackClasses, targetSurfaces } = benchmarks
  const attacks = `, ${redTeam} red team (${attackClasses.join(', ')} against ${targetSurfaces.join(', ')})`
  const states = `${runs.completed} completed, ${runs.failed} failed, ${runs.partial} partial, ${runs.running} running`
  const facts = {
    store: status.rootDir + (status.missingDirs.length === 4 ? ' (nothing there yet)' : ''),
    harness: onOff(status.enabled, 'evalHarnessEnabled'),
    'shadow mode': onOff(status.shadowModeEnabled, shadowSettings),
    packs: `${countText(benchmarks)}, ${benchmarks.totalCases} cases${redTeam === 0 ? '' : attacks}`,
    runs: `${countText(runs)}: ${states}`,
    'latest run':
      run &&
      `${run.runId} of ${run.benchmarkId}: ${run.status}, ${run.passedCases}/${run.totalCases} passed${run.completedAt === undefined ? '' : `, ${run.completedAt}`}`,
    'shadow records': countText(shadows),
    'latest shadow':
      shadow &&
      `${shadow.traceId}, ${shadow.recordedAt}, ${shadow.recalledMemoryCount} memories, ${shadow.durationMs} ms`,
    baselines: `${countText(baselines)}, ${onOff(baselines.enabled, 'benchmarkBaselineSnapshotsEnabled')}`,
    'latest baseline':
      latestBaseline &&
      `${latestBaseline.snapshotId}, ${latestBaseline.createdAt}, ${latestBaseline.benchmarkCount} benchmarks`,
  }
  const rows = Object.entries(facts).map(([label, fact]) => [label, fact ?? 'none'])
  return [table(rows, style.width), ...invalidText(status, style)].join('\n')
}

const countText = ({ total, invalid }: { readonly total: number; readonly invalid: number }): string =>
  invalid === 0 ? String(total) : `${total} (${invalid} invalid)`

function invalidText(status: ReportedStatus, style: Style): readonly string[] {
  const files = [
    ...status.invalidBenchmarks,
    ...status.invalidRuns,
    ...status.invalidShadows,
    ...status.invalidBaselines,
  ].map(({ path, error }) => `  ${path}: ${error}`)
  return files.length === 0 ? [] : ['', style.red('invalid'), ...files]
}

export const shadowStatus = defineCommand({
  args: {},
  options: evalStoreOptions,
  description: 'Needs the settings evalHarnessEnabled and evalShadowModeEnabled to record recalls.',
  examples: {
    'credence shadow status': 'Shows how many recalls were recorded, and their sizes and times.',
  },
  async run({ options }, session) {
    const { root, settings } = evalStore(session, options)
    const isRecording = recordsShadows(settings)
    const summary = await summariseShadows(root)
    return {
      document: { recording: isRecording, rootDir: root, ...summary },
      shown: { recording: onOff(isRecording, shadowSettings), ...shadowSummary(summary) },
    }
  },
})

function shadowSummary({ records, invalid, injectedShare, byDay, bySource, ...summary }: ShadowSummary) {
  const days = Object.keys(byDay)
  const counts = {
    days: `${days.length}, ${days[0]} to ${days.at(-1)}`,
    'with memories': `${((injectedShare ?? 0) * 100).toFixed(1)} %`,
    source: Object.entries(bySource).map(([source, count]) => `${source} ${count}`),
    memories: spreadText(summary.recalledMemoryCount, 1),
    characters: spreadText(summary.contextChars, 0),
    milliseconds: spreadText(summary.durationMs, 2),
  }
  return { records: countText({ total: records, invalid }), ...(records === 0 ? {} : counts) }
}

const spreadText = ({ mean, p50, p95 }: ShadowSummary['durationMs'], digits: number): string =>
  `mean ${mean?.toFixed(digits)}, half below ${p50?.toFixed(digits)}, 95 % below ${p95?.toFixed(digits)}`

const options = {
  validate: text('<path>', 'Check this pack.'),
  snapshotId: { ...snapshotIdOption, help: 'Compare the latest runs with this baseline.' },
  createSnapshot: flag('With --snapshot-id: store the latest runs as that baseline.'),
  base: text('<directory>', 'With --candidate: compare two eval stores.'),
  candidate: text('<directory>', 'With --base: the eval store of the change.'),
  ...evalStoreOptions,
}

type RecallOptions = ValuesOf<typeof options>

export const benchmarkRecall = defineCommand({
  args: {},
  options,
  description: 'Without options it shows the status of the store. Incompatible options are refused.',
  exitCodes: [exitCodes.failed, exitCodes.nothingCompared],
  examples: {
    'credence benchmark recall': 'Shows the status of the store.',
    'credence benchmark recall --validate ./benchmarks/ama-memory': 'Checks a pack.',
    'credence benchmark recall --base ./base-evals --candidate ./candidate-evals': 'Compares two stores.',
  },
  async run({ options: given }, session) {
    refuseMixtures(given)
    const { root, settings } = evalStore(session, given)
    const status = statusDocument(await storeStatus(root), settings)
    const { mode, name, answer } = await answerFor(root, given, session)
    const document = { schemaVersion: 1, generatedAt: new Date().toISOString(), mode, status }
    if (answer === null) return { document, text: (style) => statusText(status, style) }
    return { ...answer, document: { ...document, [name]: answer.document } }
  },
})

/** Rejects incomplete or conflicting combinations of options instead of ignoring them. */
function refuseMixtures({ validate, snapshotId, createSnapshot, base, candidate }: RecallOptions): void {
  if (base === undefined && candidate !== undefined) throw new UsageError('--candidate needs --base.')
  if (base !== undefined && candidate === undefined) throw new UsageError('--base needs --candidate.')
  if (createSnapshot && snapshotId === undefined) throw new UsageError('--create-snapshot needs --snapshot-id.')
  const modes = { '--validate': validate, '--snapshot-id': snapshotId, '--base': base }
  const asked = Object.entries(modes).flatMap(([option, value]) => (value === undefined ? [] : [option]))
  if (asked.length > 1) throw new UsageError(`${asked.join(' and ')} cannot be combined.`, 'Give only one of them.')
}

type ModeAnswer = {
  readonly mode: string
  readonly name: string
  readonly answer: CommandAnswer | DefaultAnswer | null
}

/** The answer of the mode that the options choose; `name` is the field of the answer in the JSON document. */
async function answerFor(root: string, given: RecallOptions, session: Session): Promise<ModeAnswer> {
  const { validate, snapshotId, createSnapshot, base, candidate } = given
  if (base !== undefined && candidate !== undefined) {
    const at = (path: string): string => resolve(session.places.workingDirectory(), path)
    const report = await gateStores({ base: at(base), candidate: at(candidate), now: new Date() })
    return { mode: 'ci-gate', name: 'ciGate', answer: reportAnswer(report) }
  }
  if (validate !== undefined) {
    const { pack, warnings } = await validateFolder(session, validate)
    const answer = { document: pack, text: () => packText(pack), notes: warnings }
    return { mode: 'validate', name: 'validate', answer }
  }
  if (snapshotId === undefined) return { mode: 'status', name: 'status', answer: null }
  if (createSnapshot)
    return { mode: 'snapshot', name: 'snapshot', answer: await takeSnapshot({ ...given, snapshotId }, session) }
  requireSetting(evalStore(session, given).settings, 'benchmarkDeltaReporterEnabled', 'Nothing was compared,')
  const answer = reportAnswer(await reportAgainstBaseline(root, snapshotId, { now: new Date() }))
  return { mode: 'baseline-report', name: 'baselineReport', answer }
}
