import { resolve } from 'node:path'
import { gateStores, reportAgainstBaseline } from '../../../eval/gate/ci-gate.ts'
import { storeStatus } from '../../../eval/store/status.ts'
import { type Answer, defineCommand, exitCodes, UsageError, type ValuesOf } from '../../command/command.ts'
import { flag, text } from '../../command/options.ts'
import type { Session } from '../../session.ts'
import { packText, validateFolder } from './benchmark-pack.ts'
import { reportAnswer } from './benchmark-report.ts'
import { snapshotIdOption, snapshotOptions, takeSnapshot } from './benchmark-snapshot.ts'
import { statusDocument, statusText } from './benchmark-status.ts'
import { evalStore, requireSetting, storeOptions } from './benchmark-store.ts'

const options = {
  validate: text('<path>', 'Check this pack.'),
  snapshotId: { ...snapshotIdOption, help: 'Compare the latest runs with this baseline.' },
  createSnapshot: flag('With --snapshot-id: store the latest runs as that baseline.'),
  base: text('<directory>', 'With --candidate: compare two eval stores.'),
  candidate: text('<directory>', 'With --base: the eval store of the change.'),
  ...snapshotOptions,
  ...storeOptions,
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
    return {
      ...answer,
      document: {
        schemaVersion: 1,
        generatedAt: new Date().toISOString(),
        mode,
        status,
        ...(answer === null ? {} : { [name]: answer.document }),
      },
      text: (style) => (answer === null ? statusText(status, style) : answer.text(style)),
    }
  },
})

/** Refuses half of a combination instead of ignoring it. */
function refuseMixtures({ validate, snapshotId, createSnapshot, base, candidate, ...given }: RecallOptions): void {
  if (base === undefined && candidate !== undefined) throw new UsageError('--candidate needs --base.')
  if (base !== undefined && candidate === undefined) throw new UsageError('--base needs --candidate.')
  if (createSnapshot && snapshotId === undefined) throw new UsageError('--create-snapshot needs --snapshot-id.')
  const modes = { '--validate': validate, '--snapshot-id': snapshotId, '--base': base }
  const asked = Object.entries(modes).flatMap(([option, value]) => (value === undefined ? [] : [option]))
  if (asked.length > 1) throw new UsageError(`${asked.join(' and ')} cannot be combined.`, 'Give only one of them.')
  if (createSnapshot) return
  const ofSnapshots = {
    '--system': given.system,
    '--notes': given.notes,
    '--git-ref': given.gitRef,
    '--created-at': given.createdAt,
    '--accept-lower': given.acceptLower,
    '--force': given.force || undefined,
  }
  const stray = Object.entries(ofSnapshots).find(([, value]) => value !== undefined)
  if (stray !== undefined) throw new UsageError(`${stray[0]} needs --create-snapshot.`)
}

type ModeAnswer = { readonly mode: string; readonly name: string; readonly answer: Answer | null }

/** The answer of the mode that the options choose; `name` is its field in the document. */
async function answerFor(root: string, given: RecallOptions, session: Session): Promise<ModeAnswer> {
  const { validate, snapshotId, createSnapshot, base, candidate } = given
  if (base !== undefined && candidate !== undefined) {
    const at = (path: string): string => resolve(session.workingDirectory(), path)
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
