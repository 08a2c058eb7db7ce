import { basename, join, resolve } from 'node:path'
import { type Pack, readPack } from '../../../eval/kinds/retrieval/pack.ts'
import { askedIn } from '../../../eval/kinds/retrieval/read-folder.ts'
import type { PackRun } from '../../../eval/kinds/retrieval/run-pack.ts'
import { comparisonRow, overallTable, tableText } from '../../../eval/report/comparison.ts'
import { reportsOf } from '../../../eval/report/retrieval-report.ts'
import { writeFiles } from '../../../eval/report/write-files.ts'
import { compareBackends } from '../../../eval/run/compare-backends.ts'
import { controlBackends } from '../../../eval/system/backend-names.ts'
import type { BackendName } from '../../../eval/system/backends.ts'
import { defaultEmbedder } from '../../../eval/system/embedders/open-embedder.ts'
import { type Answer, defineCommand, flag, text } from '../../command.ts'
import { exitCodes } from '../../exit-codes.ts'
import type { Session } from '../../session.ts'
import { UsageError } from '../../usage-error.ts'
import {
  backendOption,
  editedPinsOption,
  embedderOption,
  explainOptions,
  outDirectory,
  outOption,
} from './eval-options.ts'
import { explanationText, failureText } from './eval-text.ts'

type Kind = Pack['kind']

/** Runs one backend on a corpus and a case file that lie anywhere. */
export const evalFilesCommand = (kind: Kind) =>
  defineCommand({
    args: {},
    options: {
      beliefs: text('<file>', 'The corpus: a JSON array of beliefs or JSON Lines. Needed.'),
      cases: text('<file>', `The ${kind === 'session' ? 'sessions' : 'cases'}: a JSON array. Needed.`),
      backend: backendOption,
      user: {
        ...text('<name>', 'Whose beliefs are asked for where a case does not say.'),
        default: 'the user with most beliefs',
      },
      editedPins: editedPinsOption,
      strict: flag('Take every warning about the files for an error.'),
      embedder: embedderOption,
      ...explainOptions,
      out: outOption,
    },
    description: `Writes the report when all cases have been asked; docs/evaluation.md describes files and report.`,
    exitCodes: [exitCodes.failed],
    examples: examplesFor(kind),
    run: ({ options }, session) => run(kind, options, session),
  })

type Options = {
  readonly beliefs: string | undefined
  readonly cases: string | undefined
  readonly backend: BackendName | undefined
  readonly user: string | undefined
  readonly editedPins: 'in-scope' | 'everywhere' | undefined
  readonly strict: boolean
  readonly embedder: string | undefined
  readonly case: string | undefined
  readonly explain: boolean
  readonly out: string | undefined
}

async function run(kind: Kind, options: Options, session: Session): Promise<Answer> {
  const { backend = 'bm25', embedder = defaultEmbedder } = options
  const pack = packOf(kind, options, session)
  const evaluation = await session.evaluation()
  const backends = evaluation.backends({ packsDirectory: evaluation.packsDirectory, embedder })
  const compare = (names: readonly BackendName[], isWanted = (_pack: Pack, _id: string): boolean => true) =>
    compareBackends(backends, {
      packs: [pack],
      isWanted,
      backends: names,
      required: [backend],
      onProgress: ({ backend: name, done, total }) => evaluation.progress.show(name, done, total),
      ...(options.explain && options.case !== undefined ? { explain: options.case } : {}),
    }).finally(() => evaluation.progress.clear())

  if (options.case !== undefined)
    return oneCase(pack, options.case, options.explain, async (isWanted) => runsIn(await compare([backend], isWanted)))
  const runs = runsIn(await compare([backend]))
  const [made] = reportsOf(runs)
  if (made === undefined) throw new Error('a run without a report')
  const controls = await compare(controlBackends.filter((name) => name !== backend))
  const file = join(outDirectory(session, options.out), made.name)
  writeFiles([{ file, text: `${JSON.stringify(made.report, null, 2)}\n` }])

  const rows = [{ backend, runs }, ...controls].flatMap((result) =>
    'runs' in result ? [comparisonRow(result.backend, result.runs)] : [],
  )
  const isFine = made.report.retrieval.totalPassed === made.report.retrieval.totalCases
  return {
    document: made.report,
    text: (style) =>
      [tableText(overallTable(rows)), failureText(runs, style), `Report: ${file}`]
        .filter((part) => part !== '')
        .join('\n\n'),
    notes: [...pack.warnings.map((warning) => `warning: ${warning}`), ...made.report.notes],
    exitCode: isFine ? exitCodes.fine : exitCodes.failed,
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

/** One case, and no report: a part of a result must not take the place of the whole. */
export async function oneCase(
  pack: Pack,
  id: string,
  explain: boolean,
  runOnly: (isWanted: (pack: Pack, asked: string) => boolean) => Promise<readonly PackRun[]>,
): Promise<Answer> {
  if (!askedIn(pack).some((asked) => asked.id === id))
    throw new UsageError(`There is no case "${id}".`, 'A turn of a session is written session#turn.')
  const runs = await runOnly((_, asked) => asked === id)
  const found = casesOf(runs, id)
  return {
    document: found.length === 1 ? found[0] : found,
    text: (style) => runs.map((run) => explanationText(run, id, { style, explain })).join('\n\n'),
    exitCode: found.every(({ entry }) => entry.passed) ? exitCodes.fine : exitCodes.failed,
  }
}

const casesOf = (runs: readonly PackRun[], id: string) =>
  runs.flatMap(({ subject, records }) => {
    const record = records.find((one) => one.id === id)
    return record === undefined ? [] : [{ backend: subject.name, entry: record.entry, answer: record.answer }]
  })

const runsIn = (results: Awaited<ReturnType<typeof compareBackends>>): readonly PackRun[] =>
  results.flatMap((result) => ('runs' in result ? result.runs : []))

const examplesFor = (kind: Kind) => {
  const files = '--beliefs beliefs.json --cases cases.json'
  return [
    {
      command: `credence eval ${kind} ${files}`,
      effect: 'Runs every case with Credence and shows the controls beside it.',
    },
    {
      command: `credence eval ${kind} ${files} --backend vector --out results --json`,
      effect: 'The same with similarity search; the report goes to results/ and to standard output.',
    },
  ] as const
}
