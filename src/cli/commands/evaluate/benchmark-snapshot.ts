import { createSnapshot } from '../../../eval/gate/baselines.ts'
import { shown } from '../../../eval/gate/gate.ts'
import { isSafeId, Timestamp } from '../../../eval/store/schemas/primitives.ts'
import { defineCommand, UsageError, type ValuesOf } from '../../command/command.ts'
import { flag, option, text } from '../../command/options.ts'
import type { Session } from '../../session.ts'
import { harmless, table } from '../../text/output.ts'
import { evalStore, portablePath, requireSetting, storeOptions } from './benchmark-store.ts'

/** A name that may become a file. */
export const snapshotIdOption = option('<id>', 'The name of the baseline.', (given) => {
  if (isSafeId(given)) return given
  throw new UsageError(`"${given}" is not a safe id.`, 'Use letters, digits, dots, dashes and underscores.')
})

export const snapshotOptions = {
  system: text('<name>', 'The system whose runs are used, if there are several.'),
  notes: text('<text>', 'Why these figures are accepted.'),
  gitRef: text('<ref>', 'The commit or branch they belong to.'),
  createdAt: option('<time>', 'Its creation time, in ISO 8601.', (given) => {
    if (Timestamp.safeParse(given).success) return given
    throw new UsageError(`"${given}" is not a time.`, 'Write for example 2026-03-06T10:00:00Z.')
  }),
  force: flag('Replace a baseline of the same name.'),
  acceptLower: text('<reason>', 'Why a figure may get worse; stored in the baseline.'),
}

export const benchmarkSnapshot = defineCommand({
  args: {},
  options: { snapshotId: snapshotIdOption, ...snapshotOptions, ...storeOptions },
  description:
    'Takes the latest completed run of every benchmark. Needs the setting benchmarkBaselineSnapshotsEnabled.',
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

/** `options` are those of the command, with a name for the baseline. */
export async function takeSnapshot(
  options: ValuesOf<typeof snapshotOptions & typeof storeOptions> & { readonly snapshotId: string },
  session: Session,
) {
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
    text: () => harmless(table([['benchmark', 'pass rate', 'run'], ...rows])),
    notes: [`${overwritten ? 'Replaced' : 'Stored as'} ${targetPath}`, ...notes],
  }
}
