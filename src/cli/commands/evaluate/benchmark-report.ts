import { reportAgainstBaseline } from '../../../eval/gate/ci-gate.ts'
import { defineCommand } from '../../command.ts'
import { exitCodes } from '../../exit-codes.ts'
import { UsageError } from '../../usage-error.ts'
import { acceptChangedOption, acceptedChanges, formatOption, reportAnswer } from './benchmark-report-format.ts'
import { snapshotIdOption } from './benchmark-snapshot.ts'
import { evalStore, requireSetting, storeOptions } from './benchmark-store.ts'

export const benchmarkReport = defineCommand({
  args: {},
  options: { snapshotId: snapshotIdOption, format: formatOption, acceptChanged: acceptChangedOption, ...storeOptions },
  description:
    'Fails on a worse figure, a vanished benchmark or an invalid document. Needs the setting benchmarkDeltaReporterEnabled.',
  exitCodes: [exitCodes.failed, exitCodes.nothingCompared],
  examples: [
    {
      command: 'credence benchmark report --snapshot-id main',
      effect: 'Compares the latest runs with the baseline "main".',
    },
    { command: 'credence benchmark report --snapshot-id main --format md', effect: 'Prints it for a pull request.' },
  ],
  async run({ options }, session) {
    const { snapshotId, format, acceptChanged } = options
    if (snapshotId === undefined) throw new UsageError('--snapshot-id is missing.')
    const { root, settings } = evalStore(session, options)
    requireSetting(settings, 'benchmarkDeltaReporterEnabled', 'Nothing was compared,')
    const report = await reportAgainstBaseline(root, snapshotId, { acceptedChanges: acceptedChanges(acceptChanged) })
    return reportAnswer(report, format)
  },
})
