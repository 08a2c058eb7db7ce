import type { Settings } from '../../../config.ts'
import { type StoreStatus, storeStatus } from '../../../eval/store/status.ts'
import { defineCommand } from '../../command.ts'
import { harmless, type Style } from '../../output.ts'
import { columns } from '../../text-layout.ts'
import { evalStore, storeOptions } from './benchmark-store.ts'

export const benchmarkStatus = defineCommand({
  args: {},
  options: storeOptions,
  description: 'Reads the whole store once. Works while the harness is off.',
  examples: [
    {
      command: 'credence benchmark status',
      effect: 'Shows packs, runs, shadow records and baselines, and what is invalid.',
    },
    { command: 'credence benchmark status --store ./evals --json', effect: 'Prints the same as JSON.' },
  ],
  async run({ options }, session) {
    const { root, settings } = evalStore(session, options)
    const status = reported(await storeStatus(root), settings)
    return { document: status, text: (style) => statusText(status, style) }
  },
})

export type ReportedStatus = ReturnType<typeof reported>

/** What is in the store, beside the switches that decide what goes into it. */
export const reported = ({ baselines, ...status }: StoreStatus, settings: Settings) => ({
  enabled: settings.evalHarnessEnabled,
  shadowModeEnabled: settings.evalHarnessEnabled && settings.evalShadowModeEnabled,
  deltaReporterEnabled: settings.benchmarkDeltaReporterEnabled,
  ...status,
  baselines: { enabled: settings.benchmarkBaselineSnapshotsEnabled, ...baselines },
})

const onOff = (isOn: boolean, setting: string): string => (isOn ? 'on' : `off (${setting})`)

export function statusText(status: ReportedStatus, style: Style): string {
  const { benchmarks, runs, shadows, baselines, latestRun, latestShadow, latestBaseline } = status
  const redTeam =
    benchmarks.redTeam === 0
      ? ''
      : `, ${benchmarks.redTeam} red team (${benchmarks.attackClasses.join(', ')} against ${benchmarks.targetSurfaces.join(', ')})`
  const rows = [
    ['store', status.rootDir + (status.missingDirs.length === 4 ? ' (nothing there yet)' : '')],
    ['harness', onOff(status.enabled, 'evalHarnessEnabled')],
    ['shadow mode', onOff(status.shadowModeEnabled, 'evalHarnessEnabled and evalShadowModeEnabled')],
    ['packs', `${count(benchmarks)}, ${benchmarks.totalCases} cases${redTeam}`],
    [
      'runs',
      `${count(runs)}: ${runs.completed} completed, ${runs.failed} failed, ${runs.partial} partial, ${runs.running} running`,
    ],
    ['latest run', latestRun === null ? 'none' : runText(latestRun)],
    ['shadow records', count(shadows)],
    [
      'latest shadow',
      latestShadow === null
        ? 'none'
        : `${latestShadow.traceId}, ${latestShadow.recordedAt}, ${latestShadow.recalledMemoryCount} memories, ${latestShadow.durationMs} ms`,
    ],
    ['baselines', `${count(baselines)}, ${onOff(baselines.enabled, 'benchmarkBaselineSnapshotsEnabled')}`],
    [
      'latest baseline',
      latestBaseline === null
        ? 'none'
        : `${latestBaseline.snapshotId}, ${latestBaseline.createdAt}, ${latestBaseline.benchmarkCount} benchmarks`,
    ],
  ]
  return [columns(rows, { indent: 0, width: style.width }), ...invalidText(status, style)].map(harmless).join('\n')
}

const count = ({ total, invalid }: { readonly total: number; readonly invalid: number }): string =>
  invalid === 0 ? String(total) : `${total} (${invalid} invalid)`

const runText = ({
  runId,
  benchmarkId,
  status,
  passedCases,
  totalCases,
  completedAt,
}: NonNullable<ReportedStatus['latestRun']>): string =>
  `${runId} of ${benchmarkId}: ${status}, ${passedCases}/${totalCases} passed${completedAt === undefined ? '' : `, ${completedAt}`}`

function invalidText(status: ReportedStatus, style: Style): readonly string[] {
  const files = [
    ...status.invalidBenchmarks,
    ...status.invalidRuns,
    ...status.invalidShadows,
    ...status.invalidBaselines,
  ].map(({ path, error }) => `  ${path}: ${error}`)
  return files.length === 0 ? [] : ['', style.red('invalid'), ...files]
}
