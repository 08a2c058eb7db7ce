import { join } from 'node:path'
import { casesHolding, findPacks, loadPack, type Pack } from '../../../eval/kinds/retrieval/pack.ts'
import { compareBackends, type PackRun } from '../../../eval/kinds/retrieval/run-pack.ts'
import { type ComparisonRow, comparisonRow, overallTable, packTable } from '../../../eval/report/comparison.ts'
import { reportsOf } from '../../../eval/report/retrieval-report.ts'
import type { BackendName } from '../../../eval/system/backends.ts'
import { defaultEmbedder } from '../../../eval/system/open-embedder.ts'
import { backendNames, controlBackends } from '../../../eval/system/system.ts'
import { asJson } from '../../../files/atomic-write.ts'
import { writeFiles } from '../../../files/write-files.ts'
import { type Answer, defineCommand, exitCodes, UsageError, type ValuesOf } from '../../command/command.ts'
import { text, texts } from '../../command/options.ts'
import { counted, type Style, table } from '../../text/output.ts'
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
import { failureText, oneCase } from './explain-case.ts'

const options = {
  pack: texts('<id>', 'Only this pack. May be given several times.'),
  packs: packsOption,
  backend: backendsOption,
  filter: text('<text>', 'Only cases that contain this text in their id, message, category or description.'),
  editedPins: editedPinsOption,
  embedder: embedderOption,
  ...explainOptions,
  out: outOption,
}

export const evalAll = defineCommand({
  args: {},
  options,
  description: 'Runs all packs with all backends and the controls, prints a table and writes the reports.',
  exitCodes: [exitCodes.failed, exitCodes.nothingCompared],
  examples: {
    'credence eval all': 'Runs all packs on all backends; exits with 1 if bm25 fails a case.',
    'credence eval all --backend bm25 --filter supersession': 'Runs only some cases.',
    'credence eval all --backend http:http://127.0.0.1:8080':
      'Measures another memory that implements the contract of docs/systems.md.',
    'credence eval all --case alias-one-word --explain': 'Explains the result of one case.',
  },
  async run({ options: given }, session) {
    const evaluation = await session.evaluation()
    const packsDirectory = packsDirectoryOf(session, evaluation, given.packs)
    const packs = packsIn(packsDirectory, given)
    const backends = evaluation.backends({ packsDirectory, embedder: given.embedder ?? defaultEmbedder })
    if (given.case !== undefined) {
      const names: readonly BackendName[] = given.backend.length === 0 ? ['bm25'] : given.backend
      return oneCase(given.case, { backends, packs, names, explain: given.explain })
    }
    const wanted = new Map(packs.map((pack) => [pack, casesHolding(pack, given.filter ?? '')]))
    const chosen = packs.filter((pack) => (wanted.get(pack)?.size ?? 0) > 0)
    if (chosen.length === 0) return nothingCompared(`No case matches "${given.filter}".`)
    const results = await compareBackends(backends, {
      packs: chosen,
      isWanted: (pack, id) => wanted.get(pack)?.has(id) ?? false,
      // Controls are part of every table.
      backends: given.backend.length === 0 ? backendNames : [...new Set([...given.backend, ...controlBackends])],
      required: given.backend,
      onProgress: ({ backend, done, total }) => evaluation.progress.show(backend, done, total),
    }).finally(() => evaluation.progress.clear())
    const ran = results.flatMap((result) => ('runs' in result ? [result] : []))
    const skipped = results.flatMap((result) =>
      'skipped' in result ? [`${result.backend} did not run: ${result.skipped}`] : [],
    )
    const rows = ran.map(({ backend, runs }) => comparisonRow(backend, runs))
    const reports = ran.flatMap(({ runs }) => reportsOf(runs))
    const directory = outDirectory(session, given.out)
    // A part of a result must not take the place of the whole.
    const files = (given.filter === undefined ? reports : []).map(({ name, report }) => ({
      file: join(directory, name),
      text: asJson(report),
    }))
    writeFiles(files)
    const written = files.map(({ file }) => file)
    const notes = [...new Set(reports.flatMap(({ report }) => report.notes))]
    const ours = ran.flatMap(({ backend, runs }) => (backend === 'bm25' ? runs : []))
    const unanswered = ran.flatMap(({ backend, runs }) => errorsOf(backend, runs))
    const isFine = unanswered.length === 0 && ours.every((run) => run.records.every(({ entry }) => entry.passed))
    return {
      document: { ok: isFine, rows, skipped, unanswered, notes, reports: written },
      text: (style) => resultText(rows, ours, style),
      notes: [...notes, ...skipped, ...unanswered, ...(written.length === 0 ? [] : [`Reports: ${directory}`])],
      exitCode: isFine ? exitCodes.fine : exitCodes.failed,
    }
  },
})

const nothingCompared = (reason: string): Answer => ({
  document: { ok: false, rows: [], skipped: [], unanswered: [], notes: [reason], reports: [] },
  text: () => '',
  notes: [reason],
  exitCode: exitCodes.nothingCompared,
})

/** A system that does not answer was not measured, which is not the same as failing. */
function errorsOf(backend: string, runs: readonly PackRun[]): readonly string[] {
  const errors = runs.flatMap(({ records }) => records.flatMap(({ entry }) => entry.error ?? []))
  return errors.length === 0 ? [] : [`${backend} did not answer ${counted(errors.length, 'case')}: ${errors[0]}`]
}

function resultText(rows: readonly ComparisonRow[], ours: readonly PackRun[], style: Style): string {
  const legend = rows.map(({ backend, description }) => style.dim(`${backend}: ${description}`)).join('\n')
  const tables = [overallTable(rows), packTable(rows)].map((one) => table([one.titles, ...one.rows]))
  return [...tables, legend, failureText(ours, style)].filter((part) => part !== '').join('\n\n')
}

/** The packs to run; the calibration pack only if it is named. */
function packsIn(directory: string, { pack: wanted, editedPins }: ValuesOf<typeof options>): readonly Pack[] {
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
