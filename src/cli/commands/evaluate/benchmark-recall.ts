import { resolve } from 'node:path'
import { gateStores, reportAgainstBaseline } from '../../../eval/gate/ci-gate.ts'
import { storeStatus } from '../../../eval/store/status.ts'
import { type Answer, defineCommand, flag, text } from '../../command.ts'
import { exitCodes } from '../../exit-codes.ts'
import type { Session } from '../../session.ts'
import { UsageError } from '../../usage-error.ts'
import { reportAnswer } from './benchmark-report-format.ts'
import { snapshotIdOption, snapshotOptions, takeSnapshot } from './benchmark-snapshot.ts'
import { reported, statusText } from './benchmark-status.ts'
import { evalStore, requireSetting, storeOptions } from './benchmark-store.ts'
import { packText, validated } from './benchmark-validate.ts'

const options = {
  validate: text('<path>', 'Check this pack.'),
  snapshotId: { ...snapshotIdOption, help: 'Compare the latest runs with this baseline.' },
  createSnapshot: flag('With --snapshot-id: keep the latest runs as that baseline instead.'),
  base: text('<directory>', 'With --candidate: compare two eval stores.'),
  candidate: text('<directory>', 'With --base: the eval store that shall take its place.'),
  ...snapshotOptions,
  ...storeOptions,
}

export const benchmarkRecall = defineCommand({
  args: {},
  options,
  description: 'Without options it shows the status of the store. Options that do not belong together are refused.',
  exitCodes: [exitCodes.failed, exitCodes.nothingCompared],
  examples: [
    { command: 'credence benchmark recall', effect: 'Shows the status of the store.' },
    { command: 'credence benchmark recall --validate ./benchmarks/ama-memory', effect: 'Checks a pack.' },
    {
      command: 'credence benchmark recall --base ./base-evals --candidate ./candidate-evals',
      effect: 'Compares two stores.',
    },
  ],
  async run({ options: given }, session) {
    const mode = modeOf(given)
    const { root, settings } = evalStore(session, given)
    const status = reported(await storeStatus(root), settings)
    const answer = await answerFor(mode, root, given, session)
    return {
      document: {
        schemaVersion: 1,
        generatedAt: new Date().toISOString(),
        mode: mode.kind,
        status,
        ...documentOf(mode, answer),
      },
      text: (style) => (answer === null ? statusText(status, style) : answer.text(style)),
      ...(answer?.notes === undefined ? {} : { notes: answer.notes }),
      ...(answer?.exitCode === undefined ? {} : { exitCode: answer.exitCode }),
    }
  },
})

type Given = {
  readonly validate: string | undefined
  readonly snapshotId: string | undefined
  readonly createSnapshot: boolean
  readonly base: string | undefined
  readonly candidate: string | undefined
  readonly system: string | undefined
  readonly notes: string | undefined
  readonly gitRef: string | undefined
  readonly createdAt: string | undefined
  readonly force: boolean
  readonly acceptLower: string | undefined
  readonly store: string | undefined
  readonly dir: string | undefined
}

type Mode =
  | { readonly kind: 'status' }
  | { readonly kind: 'validate'; readonly path: string }
  | { readonly kind: 'baseline-report'; readonly snapshotId: string }
  | { readonly kind: 'snapshot'; readonly snapshotId: string }
  | { readonly kind: 'ci-gate'; readonly base: string; readonly candidate: string }

/** What is asked for. Half of a combination is a mistake, never a reason to do something else. */
function modeOf({ validate, snapshotId, createSnapshot, base, candidate, ...rest }: Given): Mode {
  if ((base === undefined) !== (candidate === undefined)) {
    throw new UsageError(
      `--${base === undefined ? 'candidate' : 'base'} needs --${base === undefined ? 'base' : 'candidate'}.`,
    )
  }
  if (createSnapshot && snapshotId === undefined) throw new UsageError('--create-snapshot needs --snapshot-id.')
  const asked = [
    ...(validate === undefined ? [] : ['--validate']),
    ...(snapshotId === undefined ? [] : ['--snapshot-id']),
    ...(base === undefined ? [] : ['--base']),
  ]
  if (asked.length > 1) throw new UsageError(`${asked.join(' and ')} do not go together.`, 'Give one of them.')
  const stray = Object.entries({
    '--system': rest.system,
    '--notes': rest.notes,
    '--git-ref': rest.gitRef,
    '--created-at': rest.createdAt,
    '--accept-lower': rest.acceptLower,
    '--force': rest.force || undefined,
  }).find(([, value]) => value !== undefined && !createSnapshot)
  if (stray !== undefined) throw new UsageError(`${stray[0]} needs --create-snapshot.`)

  if (base !== undefined && candidate !== undefined) return { kind: 'ci-gate', base, candidate }
  if (validate !== undefined) return { kind: 'validate', path: validate }
  if (snapshotId === undefined) return { kind: 'status' }
  return { kind: createSnapshot ? 'snapshot' : 'baseline-report', snapshotId }
}

async function answerFor(mode: Mode, root: string, given: Given, session: Session): Promise<Answer | null> {
  switch (mode.kind) {
    case 'status':
      return null
    case 'validate': {
      const { pack, warnings } = await validated(session, mode.path)
      return { document: pack, text: () => packText(pack), notes: warnings }
    }
    case 'baseline-report': {
      const { settings } = evalStore(session, given)
      requireSetting(settings, 'benchmarkDeltaReporterEnabled', 'Nothing was compared,')
      return reportAnswer(await reportAgainstBaseline(root, mode.snapshotId))
    }
    case 'snapshot':
      return takeSnapshot({ ...given, snapshotId: mode.snapshotId }, session)
    case 'ci-gate': {
      const at = (path: string): string => resolve(session.workingDirectory(), path)
      return reportAnswer(await gateStores({ base: at(mode.base), candidate: at(mode.candidate) }))
    }
  }
}

const documentNames = {
  validate: 'validate',
  'baseline-report': 'baselineReport',
  snapshot: 'snapshot',
  'ci-gate': 'ciGate',
} as const

const documentOf = (mode: Mode, answer: Answer | null): object =>
  mode.kind === 'status' || answer === null ? {} : { [documentNames[mode.kind]]: answer.document }
