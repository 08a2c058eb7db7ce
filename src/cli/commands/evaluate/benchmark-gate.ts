import { resolve } from 'node:path'
import { gateStores, requiredSnapshot } from '../../../eval/gate/ci-gate.ts'
import { defineCommand, flag, text } from '../../command.ts'
import { exitCodes } from '../../exit-codes.ts'
import { UsageError } from '../../usage-error.ts'
import { acceptChangedOption, acceptedChanges, formatOption, reportAnswer } from './benchmark-report-format.ts'
import { snapshotIdOption } from './benchmark-snapshot.ts'

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
  examples: [
    {
      command: 'credence benchmark gate --base ../main/evals --candidate ./evals',
      effect: 'Lets a change through, or says why not.',
    },
    {
      command: 'credence benchmark gate --base base --candidate evals --format github >> "$GITHUB_STEP_SUMMARY"',
      effect: 'The same in GitHub Actions.',
    },
  ],
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
