import { basename, join, resolve } from 'node:path'
import { askedIn, type Pack, readPack } from '../../../eval/kinds/retrieval/pack.ts'
import type { PackRun } from '../../../eval/kinds/retrieval/run-pack.ts'
import { compareBackends } from '../../../eval/kinds/retrieval/run-pack.ts'
import { comparisonRow, overallTable } from '../../../eval/report/comparison.ts'
import { reportsOf } from '../../../eval/report/retrieval-report.ts'
import { writeFiles } from '../../../eval/report/write-files.ts'
import type { BackendName } from '../../../eval/system/backends.ts'
import { defaultEmbedder } from '../../../eval/system/open-embedder.ts'
import { controlBackends } from '../../../eval/system/system.ts'
import { asJson } from '../../../files/atomic-write.ts'
import { type Answer, defineCommand, exitCodes, UsageError, type ValuesOf } from '../../command/command.ts'
import { flag, text } from '../../command/options.ts'
import type { Session } from '../../session.ts'
import { harmless, type Style, table } from '../../text/output.ts'
import {
  backendOption,
  editedPinsOption,
  embedderOption,
  explainOptions,
  outDirectory,
  outOption,
} from './eval-options.ts'
import { explainCase } from './explain-case.ts'

const mostFailuresShown = 20

/** The cases that did not pass, and why. */
export function failureText(runs: readonly PackRun[], style: Style): string {
  const failed = runs.flatMap(({ subject, pack, records }) =>
    records.flatMap(({ id, entry }) => {
      if (entry.passed) return []
      const reasons = entry.error === null ? entry.failures : [`error: ${entry.error}`]
      return [
        `${style.red(`${subject.name} ${pack.id} ${id}`)}\n${reasons.map((reason) => `  ${harmless(reason)}`).join('\n')}`,
      ]
    }),
  )
  const shown = failed.slice(0, mostFailuresShown)
  const more = failed.length - shown.length
  return [...shown, ...(more > 0 ? [`… and ${more} more; the report has them all.`] : [])].join('\n')
}

/** One case: whole with `explain`, else only how it ended. */
export function explanationText(
  run: PackRun,
  id: string,
  { style, explain }: { readonly style: Style; readonly explain: boolean },
): string {
  // Without colours brackets show which words were matched.
  const paints = style.bold('x') !== 'x'
  const whole = explainCase(run, id, (words) => (paints ? style.bold(style.underline(words)) : `[${words}]`))
  if (explain) return whole === null ? '' : paints ? whole : harmless(whole)
  const record = run.records.find((one) => one.id === id)
  if (record === undefined) return ''
  const { status, failures, error } = record.entry
  return [
    `${run.subject.name} ${id}: ${status}`,
    ...(error === null ? failures : [error]).map((line) => `  ${harmless(line)}`),
  ].join('\n')
}

type Kind = Pack['kind']

const optionsFor = (kind: Kind) => ({
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
})

type Options = ValuesOf<ReturnType<typeof optionsFor>>

/** Runs one backend on a corpus and a case file anywhere on the disk. */
const evalFilesCommand = (kind: Kind) =>
  defineCommand({
    args: {},
    options: optionsFor(kind),
    description: `Writes the report when all cases have been asked; docs/evaluation.md describes files and report.`,
    exitCodes: [exitCodes.failed],
    examples: examplesFor(kind),
    run: ({ options }, session) => run(kind, options, session),
  })

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
  writeFiles([{ file, text: asJson(made.report) }])

  const rows = [{ backend, runs }, ...controls].flatMap((result) =>
    'runs' in result ? [comparisonRow(result.backend, result.runs)] : [],
  )
  const { titles, rows: lines } = overallTable(rows)
  const isFine = made.report.retrieval.totalPassed === made.report.retrieval.totalCases
  return {
    document: made.report,
    text: (style) =>
      [table([titles, ...lines]), failureText(runs, style), `Report: ${file}`]
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

/** One case, without a report: a partial report must not replace a whole one. */
export async function oneCase(
  pack: Pack,
  id: string,
  explain: boolean,
  runOnly: (isWanted: (pack: Pack, asked: string) => boolean) => Promise<readonly PackRun[]>,
): Promise<Answer> {
  if (!askedIn(pack).some((asked) => asked.id === id)) throw unknownCase(id)
  const runs = await runOnly((_, asked) => asked === id)
  const found = runs.flatMap(({ subject, records }) => {
    const record = records.find((one) => one.id === id)
    return record === undefined ? [] : [{ backend: subject.name, entry: record.entry, answer: record.answer }]
  })
  return {
    document: found.length === 1 ? found[0] : found,
    text: (style) => runs.map((run) => explanationText(run, id, { style, explain })).join('\n\n'),
    exitCode: found.every(({ entry }) => entry.passed) ? exitCodes.fine : exitCodes.failed,
  }
}

export const unknownCase = (id: string): UsageError =>
  new UsageError(`There is no case "${id}".`, 'A turn of a session is written session#turn.')

export const runsIn = (results: Awaited<ReturnType<typeof compareBackends>>): readonly PackRun[] =>
  results.flatMap((result) => ('runs' in result ? result.runs : []))

const examplesFor = (kind: Kind): Readonly<Record<string, string>> => {
  const command = `credence eval ${kind} --beliefs beliefs.json --cases cases.json`
  return {
    [command]: 'Runs every case with Credence and shows the controls beside it.',
    [`${command} --backend vector --out results --json`]:
      'The same with similarity search; the report goes to results/ and to standard output.',
  }
}

export const evalRetrieval = evalFilesCommand('retrieval')

export const evalSession = evalFilesCommand('session')
