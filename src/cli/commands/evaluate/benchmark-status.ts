import type { Settings } from '../../../config.ts'
import { type StoreStatus, storeStatus } from '../../../eval/store/status.ts'
import { defineCommand } from '../../command/command.ts'
import { harmless, type Style, table } from '../../text/output.ts'
import { evalStore, storeOptions } from './benchmark-store.ts'

export const benchmarkStatus = defineCommand({
  args: {},
  options: storeOptions,
  description: 'Reads the whole store once. Needs no setting.',
  examples: {
    'credence benchmark status': 'Shows packs, runs, shadow records, baselines and invalid files.',
    'credence benchmark status --store ./evals --json': 'Prints the same as JSON.',
  },
  async run({ options }, session) {
    const { root, settings } = evalStore(session, options)
    const status = statusDocument(await storeStatus(root), settings)
    return { document: status, text: (style) => statusText(status, style) }
  },
})

export type ReportedStatus = ReturnType<typeof statusDocument>

/** The contents of the store and the settings that decide what goes into it. */
export const statusDocument = ({ baselines, ...status }: StoreStatus, settings: Settings) => ({
  enabled: settings.evalHarnessEnabled,
  shadowModeEnabled: settings.evalHarnessEnabled && settings.evalShadowModeEnabled,
  deltaReporterEnabled: settings.benchmarkDeltaReporterEnabled,
  ...status,
  baselines: { enabled: settings.benchmarkBaselineSnapshotsEnabled, ...baselines },
})

const onOff = (isOn: boolean, setting: string): string => (isOn ? 'on' : `off (${setting})`)

export function statusText(status: ReportedStatus, style: Style): string {
  const { benchmarks, runs, shadows, baselines, latestRun: run, latestShadow: shadow, latestBaseline } = status
  const { redTeam, attackClasses, targetSurfaces } = benchmarks
  const attacks = `, ${redTeam} red team (${attackClasses.join(', ')} against ${targetSurfaces.join(', ')})`
  const states = `${runs.completed} completed, ${runs.failed} failed, ${runs.partial} partial, ${runs.running} running`
  const facts = {
    store: status.rootDir + (status.missingDirs.length === 4 ? ' (nothing there yet)' : ''),
    harness: onOff(status.enabled, 'evalHarnessEnabled'),
    'shadow mode': onOff(status.shadowModeEnabled, 'evalHarnessEnabled and evalShadowModeEnabled'),
    packs: `${count(benchmarks)}, ${benchmarks.totalCases} cases${redTeam === 0 ? '' : attacks}`,
    runs: `${count(runs)}: ${states}`,
    'latest run':
      run &&
      `${run.runId} of ${run.benchmarkId}: ${run.status}, ${run.passedCases}/${run.totalCases} passed${run.completedAt === undefined ? '' : `, ${run.completedAt}`}`,
    'shadow records': count(shadows),
    'latest shadow':
      shadow &&
      `${shadow.traceId}, ${shadow.recordedAt}, ${shadow.recalledMemoryCount} memories, ${shadow.durationMs} ms`,
    baselines: `${count(baselines)}, ${onOff(baselines.enabled, 'benchmarkBaselineSnapshotsEnabled')}`,
    'latest baseline':
      latestBaseline &&
      `${latestBaseline.snapshotId}, ${latestBaseline.createdAt}, ${latestBaseline.benchmarkCount} benchmarks`,
  }
  const rows = Object.entries(facts).map(([label, fact]) => [label, fact ?? 'none'])
  return [harmless(table(rows, style.width)), ...invalidText(status, style)].join('\n')
}

const count = ({ total, invalid }: { readonly total: number; readonly invalid: number }): string =>
  invalid === 0 ? String(total) : `${total} (${invalid} invalid)`

function invalidText(status: ReportedStatus, style: Style): readonly string[] {
  const files = [
    ...status.invalidBenchmarks,
    ...status.invalidRuns,
    ...status.invalidShadows,
    ...status.invalidBaselines,
  ].map(({ path, error }) => harmless(`  ${path}: ${error}`))
  return files.length === 0 ? [] : ['', style.red('invalid'), ...files]
}
