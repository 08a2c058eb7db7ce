import { createSnapshot } from '../../../eval/gate/baselines.ts'
import { shown } from '../../../eval/gate/gate.ts'
import { isSafeId, Timestamp } from '../../../eval/store/schemas/primitives.ts'
import { defineCommand, flag, option, text } from '../../command.ts'
import { harmless } from '../../output.ts'
import { columns } from '../../text-layout.ts'
import { UsageError } from '../../usage-error.ts'
import { evalStore, portablePath, requireSetting, storeOptions } from './benchmark-store.ts'

/** A name that may become a file. */
export const snapshotIdOption = option('<id>', 'The name of the baseline.', (given) => {
  if (isSafeId(given)) return given
  throw new UsageError(`"${given}" is not a safe id.`, 'Use letters, digits, dots, dashes and underscores.')
})

export const snapshotOptions = {
  system: text('<name>', 'Whose runs are taken, where several systems were run.'),
  notes: text('<text>', 'Why these figures are accepted.'),
  gitRef: text('<ref>', 'The commit or branch they belong to.'),
  createdAt: option('<time>', 'The time to write into it, in ISO 8601.', (given) => {
    if (Timestamp.safeParse(given).success) return given
    throw new UsageError(`"${given}" is not a time.`, 'Write for example 2026-03-06T10:00:00Z.')
  }),
  force: flag('Replace a baseline of the same name.'),
  acceptLower: text('<reason>', 'Why a figure may get worse; kept in the baseline.'),
}

export const benchmarkSnapshot = defineCommand({
  args: {},
  options: { snapshotId: snapshotIdOption, ...snapshotOptions, ...storeOptions },
  description:
    'Takes the latest completed run of every benchmark. Needs the setting benchmarkBaselineSnapshotsEnabled.',
  examples: [
    {
      command: 'credence benchmark snapshot --snapshot-id main',
      effect: 'Keeps the latest figures as the baseline "main".',
    },
    {
      command: 'credence benchmark snapshot --snapshot-id main --force --accept-lower "the cases became harder"',
      effect: 'Replaces it by lower figures, and says why.',
    },
  ],
  async run({ options }, session) {
    if (options.snapshotId === undefined) throw new UsageError('--snapshot-id is missing.')
    return takeSnapshot({ ...options, snapshotId: options.snapshotId }, session)
  },
})

type Options = {
  readonly snapshotId: string
  readonly system: string | undefined
  readonly notes: string | undefined
  readonly gitRef: string | undefined
  readonly createdAt: string | undefined
  readonly force: boolean
  readonly acceptLower: string | undefined
  readonly store: string | undefined
  readonly dir: string | undefined
}

export async function takeSnapshot(options: Options, session: Parameters<typeof evalStore>[0]) {
  const { root, settings } = evalStore(session, options)
  requireSetting(settings, 'benchmarkBaselineSnapshotsEnabled', 'No baseline was kept,')
  const { targetPath, snapshot, overwritten, notes } = await createSnapshot(root, {
    ...options,
    createdAt: options.createdAt ?? new Date().toISOString(),
    sourceRootDir: portablePath(session, root),
  })
  const rows = snapshot.benchmarks.map(({ benchmarkId, passRate, runId }) => [benchmarkId, shown(passRate), runId])
  return {
    document: { ok: true, targetPath, overwritten, snapshot, notes },
    text: () => harmless(columns([['benchmark', 'pass rate', 'run'], ...rows], { indent: 0 })),
    notes: [`${overwritten ? 'Replaced' : 'Kept as'} ${targetPath}`, ...notes],
  }
}
