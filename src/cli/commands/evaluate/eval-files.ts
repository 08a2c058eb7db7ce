import { basename, join, resolve } from 'node:path'
import { type Pack, readPack } from '../../../eval/kinds/retrieval/pack.ts'
import { compareBackends } from '../../../eval/kinds/retrieval/run-pack.ts'
import { comparisonRow, overallTable } from '../../../eval/report/comparison.ts'
import { reportsOf } from '../../../eval/report/retrieval-report.ts'
import { defaultEmbedder } from '../../../eval/system/open-embedder.ts'
import { controlBackends } from '../../../eval/system/system.ts'
import { asJson } from '../../../files/atomic-write.ts'
import { writeFiles } from '../../../files/write-files.ts'
import { type Answer, defineCommand, exitCodes, UsageError, type ValuesOf } from '../../command/command.ts'
import { flag, text } from '../../command/options.ts'
import type { Session } from '../../session.ts'
import { table } from '../../text/output.ts'
import {
  backendOption,
  editedPinsOption,
  embedderOption,
  explainOptions,
  outDirectory,
  outOption,
} from './eval-options.ts'
import { failureText, oneCase } from './explain-case.ts'

type Kind = Pack['kind']

const optionsFor = (kind: Kind) => ({
  beliefs: text('<file>', 'The corpus: a JSON array of beliefs or JSON Lines. Required.'),
  cases: text('<file>', `The ${kind === 'session' ? 'sessions' : 'cases'}: a JSON array. Required.`),
  backend: backendOption,
  user: {
    ...text('<name>', 'The user whose beliefs are searched if a case names none.'),
    default: 'the user with most beliefs',
  },
  editedPins: editedPinsOption,
  strict: flag('Treat every warning about the files as an error.'),
  embedder: embedderOption,
  ...explainOptions,
  out: outOption,
})

type Options = ValuesOf<ReturnType<typeof optionsFor>>

/** Runs one backend on a corpus and a case file anywhere on the disk. */
const evalFilesCommand = (kind: Kind) => {
  const command = `credence eval ${kind} --beliefs beliefs.json --cases cases.json`
  return defineCommand({
    args: {},
    options: optionsFor(kind),
    description: 'Writes the report when all cases are done; docs/evaluation.md describes files and report.',
    exitCodes: [exitCodes.failed],
    examples: {
      [command]: 'Runs every case with Credence and the controls.',
      [`${command} --backend vector --out results --json`]:
        'The same with similarity search; the report goes to results/ and to standard output.',
    },
    run: ({ options }, session) => run(packOf(kind, options, session), options, session),
  })
}

export const evalRetrieval = evalFilesCommand('retrieval')
export const evalSession = evalFilesCommand('session')

async function run(pack: Pack, options: Options, session: Session): Promise<Answer> {
  const { backend = 'bm25', embedder = defaultEmbedder, explain } = options
  const { backends: open, packsDirectory, progress } = await session.evaluation()
  const backends = open({ packsDirectory, embedder })
  if (options.case !== undefined) return oneCase(options.case, { backends, packs: [pack], names: [backend], explain })

  const results = await compareBackends(backends, {
    packs: [pack],
    backends: [...new Set([backend, ...controlBackends])],
    required: [backend],
    onProgress: ({ backend: name, done, total }) => progress.show(name, done, total),
  }).finally(() => progress.clear())
  const [own, ...controls] = results.flatMap((result) => ('runs' in result ? [result] : []))
  const [made] = reportsOf(own?.runs ?? [])
  if (own === undefined || made === undefined) throw new Error('a run without a report')
  const file = join(outDirectory(session, options.out), made.name)
  writeFiles([{ file, text: asJson(made.report) }])

  const { titles, rows } = overallTable([
    comparisonRow(backend, own.runs),
    ...controls.map((control) => comparisonRow(control.backend, control.runs)),
  ])
  const { totalPassed, totalCases } = made.report.retrieval
  return {
    document: made.report,
    text: (style) =>
      [table([titles, ...rows]), failureText(own.runs, style), `Report: ${file}`]
        .filter((part) => part !== '')
        .join('\n\n'),
    notes: [...pack.warnings.map((warning) => `warning: ${warning}`), ...made.report.notes],
    exitCode: totalPassed === totalCases ? exitCodes.fine : exitCodes.failed,
  }
}

function packOf(kind: Kind, options: Options, session: Session): Pack {
  const { beliefs, cases } = options
  if (beliefs === undefined) throw new UsageError('--beliefs is missing.', 'Write --beliefs <file>.')
  if (cases === undefined) throw new UsageError('--cases is missing.', 'Write --cases <file>.')
  const at = (file: string): string => resolve(session.workingDirectory(), file)
  return readPack({
    kind,
    id: basename(cases).replace(/\.json$/u, ''),
    title: `${basename(cases)} over ${basename(beliefs)}`,
    beliefsFile: at(beliefs),
    casesFile: at(cases),
    defaultUser: options.user,
    recall: options.editedPins === undefined ? {} : { editedPins: options.editedPins },
    strict: options.strict,
  })
}
