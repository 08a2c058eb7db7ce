import { join } from 'node:path'
import type { Pack } from '../../../eval/kinds/retrieval/pack.ts'
import { askedIn, casesHolding, findPacks, loadPack } from '../../../eval/kinds/retrieval/pack.ts'
import type { PackRun } from '../../../eval/kinds/retrieval/run-pack.ts'
import { compareBackends } from '../../../eval/kinds/retrieval/run-pack.ts'
import { manifestOf } from '../../../eval/pack/manifest.ts'
import {
  type BackendResult,
  comparisonRow,
  measuredMarkdown,
  overallTable,
  packTable,
  withMeasured,
} from '../../../eval/report/comparison.ts'
import { reportsOf } from '../../../eval/report/retrieval-report.ts'
import { writeFiles } from '../../../eval/report/write-files.ts'
import type { BackendName, Backends } from '../../../eval/system/backends.ts'
import { defaultEmbedder } from '../../../eval/system/open-embedder.ts'
import { backendNames, controlBackends } from '../../../eval/system/system.ts'
import { asJson } from '../../../files/atomic-write.ts'
import { readTextFile } from '../../../files/read-text.ts'
import { type Answer, defineCommand, exitCodes, UsageError, type ValuesOf } from '../../command/command.ts'
import { flag, text, texts } from '../../command/options.ts'
import type { Evaluation } from '../../evaluation.ts'
import type { Session } from '../../session.ts'
import { counted, type Style, table } from '../../text/output.ts'
import { failureText, oneCase, runsIn, unknownCase } from './eval-files.ts'
import {
  backendsOption,
  editedPinsOption,
  embedderOption,
  explainOptions,
  outDirectory,
  outOption,
  packsDirectoryOf,
  packsOption,
} from './eval-options.ts'

const options = {
  pack: texts('<id>', 'Only this pack. May be given several times.'),
  packs: packsOption,
  backend: backendsOption,
  filter: text('<text>', 'Only cases that hold this text in their id, message, category or description.'),
  editedPins: editedPinsOption,
  embedder: embedderOption,
  ...explainOptions,
  updateDocs: flag('Write the table into docs/evaluation.md.'),
  out: outOption,
}

export const evalAll = defineCommand({
  args: {},
  options,
  description: 'Runs all packs with all backends and the controls, prints a table and writes the reports.',
  exitCodes: [exitCodes.failed, exitCodes.nothingCompared],
  examples: {
    'credence eval all': 'Compares everything with everything; ends with 1 if bm25 fails a case.',
    'credence eval all --backend bm25 --filter supersession': 'Runs some cases only.',
    'credence eval all --backend http:http://127.0.0.1:8080':
      'Measures another memory, which speaks the contract of docs/systems.md.',
    'credence eval all --case alias-one-word --explain': 'Shows how one case was decided.',
  },
  run: ({ options: given }, session) => run(given, session),
})

type Options = ValuesOf<typeof options>

async function run(given: Options, session: Session): Promise<Answer> {
  const evaluation = await session.evaluation()
  const packsDirectory = packsDirectoryOf(session, evaluation, given.packs)
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
  const results = await compareBackends(backends, {
    packs: chosen,
    isWanted,
    backends: backendsFor(required),
    required,
    onProgress: ({ backend, done, total }) => evaluation.progress.show(backend, done, total),
  }).finally(() => evaluation.progress.clear())
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
  const files = (given.filter === undefined ? reports : []).map(({ name, report }) => ({
    file: join(directory, name),
    text: asJson(report),
  }))
  const written = files.map(({ file }) => file)
  if (given.updateDocs) {
    const file = evaluation.documentFile
    const measured = measuredMarkdown(rows, notes, provenanceIn(evaluation.packsDirectory))
    files.push({ file, text: withMeasured(readTextFile(file), file, measured) })
  }
  writeFiles(files)

  const ours = ran.flatMap(({ backend, runs }) => (backend === 'bm25' ? runs : []))
  const unanswered = ran.flatMap(({ backend, runs }) => errorsOf(backend, runs))
  const isFine = unanswered.length === 0 && ours.every((run) => run.records.every(({ entry }) => entry.passed))
  return {
    document: { ok: isFine, rows, skipped, unanswered, notes, reports: written },
    text: (style) => resultText(rows, ours, style),
    notes: [...notes, ...skipped, ...unanswered, ...(written.length === 0 ? [] : [`Reports: ${directory}`])],
    exitCode: isFine ? exitCodes.fine : exitCodes.failed,
  }
}

/** A system that does not answer was not measured, which is not the same as failing. */
function errorsOf(backend: string, runs: readonly PackRun[]): readonly string[] {
  const errors = runs.flatMap(({ records }) => records.flatMap(({ entry }) => entry.error ?? []))
  return errors.length === 0 ? [] : [`${backend} did not answer ${counted(errors.length, 'case')}: ${errors[0]}`]
}

function resultText(rows: ReturnType<typeof comparisonRow>[], ours: readonly PackRun[], style: Style): string {
  const legend = rows.map(({ backend, description }) => style.dim(`${backend}: ${description}`)).join('\n')
  const tables = [overallTable(rows), packTable(rows)].map((one) => table([one.titles, ...one.rows]))
  return [...tables, legend, failureText(ours, style)].filter((part) => part !== '').join('\n\n')
}

/** Of all packs but the calibration pack. */
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

/** The packs to run; the calibration pack only if it is named. */
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

async function explainOne(id: string, given: Options, packs: readonly Pack[], backends: Backends): Promise<Answer> {
  const pack = packs.find((one) => askedIn(one).some((asked) => asked.id === id))
  if (pack === undefined) throw unknownCase(id)
  const names: readonly BackendName[] = given.backend.length === 0 ? ['bm25'] : given.backend
  return oneCase(pack, id, given.explain, async (isWanted) => {
    const results = await compareBackends(backends, {
      packs: [pack],
      isWanted,
      backends: names,
      required: names,
      ...(given.explain ? { explain: id } : {}),
    })
    return runsIn(results)
  })
}
