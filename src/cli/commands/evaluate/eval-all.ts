import { join, resolve } from 'node:path'
import type { Pack } from '../../../eval/kinds/retrieval/pack.ts'
import { askedIn, casesHolding, findPacks, loadPack } from '../../../eval/kinds/retrieval/read-folder.ts'
import type { PackRun } from '../../../eval/kinds/retrieval/run-pack.ts'
import { manifestOf } from '../../../eval/pack/manifest.ts'
import { readTextFile } from '../../../eval/pack/read-file.ts'
import {
  type BackendResult,
  comparisonRow,
  overallTable,
  packTable,
  tableText,
} from '../../../eval/report/comparison.ts'
import { measuredMarkdown, withMeasured } from '../../../eval/report/docs-table.ts'
import { reportsOf } from '../../../eval/report/retrieval-report.ts'
import { writeFiles } from '../../../eval/report/write-files.ts'
import { type ComparisonOptions, compareBackends } from '../../../eval/run/compare-backends.ts'
import { backendNames, controlBackends } from '../../../eval/system/backend-names.ts'
import type { BackendName, Backends } from '../../../eval/system/backends.ts'
import { defaultEmbedder } from '../../../eval/system/embedders/open-embedder.ts'
import { type Answer, defineCommand, flag, text, texts } from '../../command.ts'
import type { Evaluation } from '../../evaluation.ts'
import { exitCodes } from '../../exit-codes.ts'
import type { Style } from '../../output.ts'
import type { Session } from '../../session.ts'
import { counted } from '../../text-layout.ts'
import { UsageError } from '../../usage-error.ts'
import { oneCase } from './eval-files.ts'
import {
  backendsOption,
  editedPinsOption,
  embedderOption,
  explainOptions,
  outDirectory,
  outOption,
} from './eval-options.ts'
import { failureText } from './eval-text.ts'

const options = {
  pack: texts('<id>', 'Only this pack. May be given several times.'),
  packs: { ...text('<directory>', 'Where the packs are.'), default: 'those that ship with Credence' },
  backend: backendsOption,
  filter: text('<text>', 'Only cases that hold this text in their id, message, category or description.'),
  editedPins: editedPinsOption,
  embedder: embedderOption,
  ...explainOptions,
  updateDocs: flag('Write the table into docs/evaluation.md.'),
  out: outOption,
}

/** Everything that was measured, side by side. */
export const evalAll = defineCommand({
  args: {},
  options,
  description: 'Runs all packs with all backends and the controls, prints a table and writes the reports.',
  exitCodes: [exitCodes.failed, exitCodes.nothingCompared],
  examples: [
    { command: 'credence eval all', effect: 'Compares everything with everything; ends with 1 if bm25 fails a case.' },
    { command: 'credence eval all --backend bm25 --filter supersession', effect: 'Runs some cases only.' },
    {
      command: 'credence eval all --backend http:http://127.0.0.1:8080',
      effect: 'Measures another memory, which speaks the contract of docs/systems.md.',
    },
    { command: 'credence eval all --case alias-one-word --explain', effect: 'Shows how one case was decided.' },
  ],
  run: ({ options: given }, session) => run(given, session),
})

type Options = {
  readonly pack: readonly string[]
  readonly packs: string | undefined
  readonly backend: readonly BackendName[]
  readonly filter: string | undefined
  readonly editedPins: 'in-scope' | 'everywhere' | undefined
  readonly embedder: string | undefined
  readonly case: string | undefined
  readonly explain: boolean
  readonly updateDocs: boolean
  readonly out: string | undefined
}

async function run(given: Options, session: Session): Promise<Answer> {
  const evaluation = await session.evaluation()
  const packsDirectory =
    given.packs === undefined ? evaluation.packsDirectory : resolve(session.workingDirectory(), given.packs)
  const packs = packsIn(packsDirectory, given)
  const backends = evaluation.backends({ packsDirectory, embedder: given.embedder ?? defaultEmbedder })
  if (given.case !== undefined) return explainOne(given.case, given, packs, backends)

  const isPartial = given.filter !== undefined || given.pack.length > 0 || given.backend.length > 0
  if (given.updateDocs && isPartial)
    throw new UsageError('--update-docs needs everything to be measured.', 'Leave out --pack, --backend and --filter.')
  const wanted = new Map(packs.map((pack) => [pack, casesHolding(pack, given.filter ?? '')]))
  const chosen = packs.filter((pack) => (wanted.get(pack)?.size ?? 0) > 0)
  if (chosen.length === 0) return nothingCompared(`No case matches "${given.filter}".`)
  // Documentation of a part would be taken for the whole.
  const required = given.updateDocs ? backendNames : given.backend
  const isWanted = (pack: Pack, id: string): boolean => wanted.get(pack)?.has(id) ?? false
  const results = await compared(backends, { packs: chosen, required, isWanted }, evaluation)
  return answer(results, { ...given, isPartial }, evaluation, session)
}

function answer(
  results: readonly BackendResult[],
  given: Options & { readonly isPartial: boolean },
  evaluation: Evaluation,
  session: Session,
): Answer {
  const ran = results.flatMap((result) => ('runs' in result ? [result] : []))
  const skipped = results.flatMap((result) =>
    'skipped' in result ? [`${result.backend} did not run: ${result.skipped}`] : [],
  )
  const rows = ran.map(({ backend, runs }) => comparisonRow(backend, runs))
  const reports = ran.flatMap(({ runs }) => reportsOf(runs))
  const notes = [...new Set(reports.flatMap(({ report }) => report.notes))]
  const directory = outDirectory(session, given.out)
  // A part of a result must not take the place of the whole.
  const files =
    given.filter === undefined
      ? reports.map(({ name, report }) => ({
          file: join(directory, name),
          text: `${JSON.stringify(report, null, 2)}\n`,
        }))
      : []
  const documents = given.updateDocs
    ? [documented(evaluation.documentFile, measuredMarkdown(rows, notes, provenanceIn(evaluation.packsDirectory)))]
    : []
  writeFiles([...files, ...documents])

  const ours = ran.flatMap(({ backend, runs }) => (backend === 'bm25' ? runs : []))
  const unanswered = ran.flatMap(({ backend, runs }) => errorsOf(backend, runs))
  const isFine = unanswered.length === 0 && ours.every((run) => run.records.every(({ entry }) => entry.passed))
  return {
    document: { ok: isFine, rows, skipped, unanswered, notes, reports: files.map(({ file }) => file) },
    text: (style) => resultText(rows, ours, style),
    notes: [...notes, ...skipped, ...unanswered, ...(files.length === 0 ? [] : [`Reports: ${directory}`])],
    exitCode: isFine ? exitCodes.fine : exitCodes.failed,
  }
}

/** A system that does not answer was not measured, which is another thing than failing. */
function errorsOf(backend: string, runs: readonly PackRun[]): readonly string[] {
  const errors = runs.flatMap(({ records }) => records.flatMap(({ entry }) => entry.error ?? []))
  return errors.length === 0 ? [] : [`${backend} did not answer ${counted(errors.length, 'case')}: ${errors[0]}`]
}

function resultText(rows: ReturnType<typeof comparisonRow>[], ours: readonly PackRun[], style: Style): string {
  const legend = rows.map(({ backend, description }) => style.dim(`${backend}: ${description}`)).join('\n')
  return [tableText(overallTable(rows)), tableText(packTable(rows)), legend, failureText(ours, style)]
    .filter((part) => part !== '')
    .join('\n\n')
}

const documented = (file: string, measured: string) => ({
  file,
  text: withMeasured(readTextFile(file), file, measured),
})

/** Of the packs that count. */
const provenanceIn = (directory: string) =>
  findPacks(directory).flatMap((path) => {
    const { benchmarkId: id, provenance, runner } = manifestOf(path)
    return runner === 'calibration' ? [] : [{ id, provenance }]
  })

const nothingCompared = (reason: string): Answer => ({
  document: { ok: false, rows: [], skipped: [], unanswered: [], notes: [reason], reports: [] },
  text: () => '',
  notes: [reason],
  exitCode: exitCodes.nothingCompared,
})

/** Controls are part of every table. */
const backendsFor = (given: readonly BackendName[]): readonly BackendName[] =>
  given.length === 0 ? backendNames : [...new Set([...given, ...controlBackends])]

/** Packs that count: one that settings are chosen on does not, unless it is asked for by name. */
function packsIn(directory: string, { pack: wanted, editedPins }: Options): readonly Pack[] {
  const found = findPacks(directory).map((path) =>
    loadPack(path, editedPins === undefined ? {} : { recall: { editedPins } }),
  )
  const missing = wanted.find((id) => !found.some(({ pack }) => pack.id === id))
  if (missing !== undefined)
    throw new UsageError(`There is no pack "${missing}".`, `There are ${found.map(({ pack }) => pack.id).join(', ')}.`)
  return found
    .filter(({ pack, runner }) => (wanted.length === 0 ? runner !== 'calibration' : wanted.includes(pack.id)))
    .map(({ pack }) => pack)
}

async function compared(
  backends: Backends,
  {
    required,
    ...options
  }: Pick<ComparisonOptions, 'packs' | 'isWanted'> & { readonly required: readonly BackendName[] },
  { progress }: Evaluation,
) {
  try {
    return await compareBackends(backends, {
      ...options,
      backends: backendsFor(required),
      required,
      onProgress: ({ backend, done, total }) => progress.show(backend, done, total),
    })
  } finally {
    progress.clear()
  }
}

async function explainOne(id: string, given: Options, packs: readonly Pack[], backends: Backends): Promise<Answer> {
  const pack = packs.find((one) => askedIn(one).some((asked) => asked.id === id))
  if (pack === undefined)
    throw new UsageError(`There is no case "${id}".`, 'A turn of a session is written session#turn.')
  const names: readonly BackendName[] = given.backend.length === 0 ? ['bm25'] : given.backend
  return oneCase(pack, id, given.explain, async (isWanted) => {
    const results = await compareBackends(backends, {
      packs: [pack],
      isWanted,
      backends: names,
      required: names,
      ...(given.explain ? { explain: id } : {}),
    })
    return results.flatMap((result) => ('runs' in result ? result.runs : []))
  })
}
