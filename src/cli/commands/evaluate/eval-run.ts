import { basename, join, resolve } from 'node:path'
import { invalid, MemoryError } from '../../../errors.ts'
import { type ComparisonRow, comparisonRow, overallTable, packTable } from '../../../eval/report/comparison.ts'
import { reportsOf } from '../../../eval/report/retrieval-report.ts'
import { casesContaining, findPacks, loadPack, type Pack, readPack } from '../../../eval/runners/retrieval/pack.ts'
import { recallPack } from '../../../eval/runners/retrieval/retrieval-runner.ts'
import { type PackRun, readPackRun } from '../../../eval/runners/retrieval/run-pack.ts'
import { controlSystems, systemNames } from '../../../eval/system/system.ts'
import { isSystemName, readSystemName, type SystemName, systemForms } from '../../../eval/system/systems.ts'
import { formatJson } from '../../../files/atomic-write.ts'
import { writeFiles } from '../../../files/write-files.ts'
import { defaultEmbedder } from '../../../memory/meaning/open-embedder.ts'
import { omitUndefined } from '../../../omit-undefined.ts'
import { type CommandAnswer, defineCommand, exitCodes, UsageError, type ValuesOf } from '../../command/command.ts'
import { choice, flag, option, text, texts } from '../../command/options.ts'
import type { Session } from '../../session.ts'
import { pluralize, type Style, table } from '../../text/output.ts'
import { embedderOption, evalStore, evalStoreOptions } from './benchmark-store.ts'
import { measure, measureWith } from './measure.ts'

/** The default folder for reports. */
const defaultOut = 'test-results'

function readBackend(given: string): SystemName {
  if (isSystemName(given)) return given
  throw new UsageError(`"${given}" is not one of ${systemForms}.`)
}

const backendHelp = (what: string): string =>
  `${what} One of ${systemForms}. bm25 is Credence itself; none, everything, exact and oracle are controls.`

const sharedOptions = {
  editedPins: choice(
    '<where>',
    ['in-scope', 'everywhere'] as const,
    'Recall pinned beliefs that a person edited only in their scope, or everywhere, as the published suite did.',
  ),
  embedder: embedderOption,
  out: text('<directory>', 'The directory for the reports.', defaultOut),
  ...evalStoreOptions,
}

const allOptions = {
  pack: texts('<id>', 'Only this pack. May be given several times.'),
  packs: text('<directory>', 'The directory of the packs.', 'those that ship with Credence'),
  backend: {
    ...option('<name>', backendHelp('Only this backend, and the controls. May be given several times.'), readBackend),
    isRepeatable: true,
    read: (given: readonly string[]): readonly SystemName[] => given.map(readBackend),
    default: 'all of them',
  },
  filter: text('<text>', 'Only cases that contain this text in their id, message, category or description.'),
  ...sharedOptions,
}

export const evalAll = defineCommand({
  args: {},
  options: allOptions,
  description:
    'Runs all packs with all backends and the controls, stores every run, prints a table and writes the reports.',
  exitCodes: [exitCodes.failed, exitCodes.nothingCompared, exitCodes.interrupted],
  examples: {
    'credence eval all': 'Runs all packs on all backends; exits with 1 if bm25 fails a case.',
    'credence eval all --backend bm25 --filter supersession': 'Runs only some cases.',
    'credence eval all --backend http:http://127.0.0.1:8080':
      'Measures another memory that implements the contract of docs/systems.md.',
  },
  async run({ options }, session) {
    const { backend, filter, out } = options
    const directory =
      options.packs === undefined
        ? (await session.evaluation()).packsDirectory
        : resolve(session.places.workingDirectory(), options.packs)
    const packs = packsIn(directory, options).filter(({ pack }) => casesContaining(pack, filter ?? '').size > 0)
    if (packs.length === 0) return nothingCompared(`No case matches "${filter}".`)
    const systems = backend.length === 0 ? systemNames : withControls(backend)
    const compared = await compare(session, packs, systems, { ...options, packsDirectory: directory, named: backend })
    const { ran, skipped, isInterrupted } = compared
    const rows = ran.map(({ name, runs }) => comparisonRow(name, runs))
    const reports = ran.flatMap(({ runs }) => reportsOf(runs))
    // The reports of a partial run must not replace those of a full run.
    const written = filter === undefined && !isInterrupted ? writeReports(session, out, reports) : []
    const notes = [...new Set(reports.flatMap(({ report }) => report.notes))]
    const ours = ran.flatMap(({ name, runs }) => (name === 'bm25' ? runs : []))
    const unanswered = ran.flatMap(({ name, runs }) => errorsOf(name, runs))
    const isFine = unanswered.length === 0 && ours.every(passes) && !isInterrupted
    const where =
      written.length === 0 ? [] : [`Reports: ${resolve(session.places.workingDirectory(), out ?? defaultOut)}`]
    return {
      document: { ok: isFine, rows, skipped, unanswered, notes, reports: written },
      text: (style) => resultText(rows, ours, style),
      notes: [...notes, ...skipped, ...unanswered, ...where],
      exitCode: isInterrupted ? exitCodes.interrupted : isFine ? exitCodes.fine : exitCodes.failed,
    }
  },
})

const nothingCompared = (reason: string): CommandAnswer => ({
  document: { ok: false, rows: [], skipped: [], unanswered: [], notes: [reason], reports: [] },
  text: () => '',
  notes: [reason],
  exitCode: exitCodes.nothingCompared,
})

type FoundPack = { readonly pack: Pack; readonly directory: string | null }

/** The packs to run. The calibration pack runs only if it is named. */
function packsIn(directory: string, { pack: wanted, editedPins }: ValuesOf<typeof allOptions>): readonly FoundPack[] {
  const found = findPacks(directory).map((path) =>
    loadPack(path, editedPins === undefined ? {} : { recall: { editedPins } }),
  )
  if (found.length === 0) throw invalid(`${directory} has no packs.`, 'Packs are folders with a manifest.json.')
  const missing = wanted.find((id) => !found.some(({ pack }) => pack.id === id))
  if (missing !== undefined)
    throw new UsageError(`There is no pack "${missing}".`, `There are ${found.map(({ pack }) => pack.id).join(', ')}.`)
  return found.filter(({ pack, runner }) => (wanted.length === 0 ? runner !== 'calibration' : wanted.includes(pack.id)))
}

const optionsFor = (kind: Pack['kind']) => ({
  beliefs: text('<file>', 'The corpus: a JSON array of beliefs or JSON Lines. Required.'),
  cases: text('<file>', `The ${kind === 'session' ? 'sessions' : 'cases'}: a JSON array. Required.`),
  backend: option('<name>', backendHelp('The backend.'), readBackend, 'bm25'),
  user: text('<name>', 'The user whose beliefs are searched if a case names none.', 'the user with most beliefs'),
  strict: flag('Treat every warning about the files as an error.'),
  ...sharedOptions,
})

/** Runs one backend on any corpus and case file. */
const evalFilesCommand = (kind: Pack['kind']) => {
  const command = `credence eval ${kind} --beliefs beliefs.json --cases cases.json`
  return defineCommand({
    args: {},
    options: optionsFor(kind),
    description: 'Writes the report when all cases are done; docs/retrieval.md describes files and report.',
    exitCodes: [exitCodes.failed],
    examples: {
      [command]: 'Runs every case with Credence and the controls.',
      [`${command} --backend vector --out results --json`]:
        'The same with similarity search; the report goes to results/ and to standard output.',
    },
    async run({ options }, session) {
      const { backend = 'bm25', out } = options
      const pack = packOf(kind, options, session)
      const { packsDirectory } = await session.evaluation()
      const asked = { ...options, packsDirectory, named: [backend], filter: undefined }
      const { ran } = await compare(session, [{ pack, directory: null }], withControls([backend]), asked)
      const own = ran[0]?.runs ?? []
      const [made] = reportsOf(own)
      if (made === undefined) throw new Error('a run without a report')
      const [file] = writeReports(session, out, [made])
      const { titles, rows: cells } = overallTable(ran.map(({ name, runs }) => comparisonRow(name, runs)))
      return {
        document: made.report,
        text: (style) => joinParts([table([titles, ...cells]), failureText(own, style), `Report: ${file}`]),
        notes: [...pack.warnings.map((warning) => `warning: ${warning}`), ...made.report.notes],
        exitCode: own.every(passes) ? exitCodes.fine : exitCodes.failed,
      }
    },
  })
}

export const evalRetrieval = evalFilesCommand('retrieval')
export const evalSession = evalFilesCommand('session')

function packOf(kind: Pack['kind'], options: ValuesOf<ReturnType<typeof optionsFor>>, session: Session): Pack {
  const { beliefs, cases, user: defaultUser, editedPins, strict } = options
  if (beliefs === undefined) throw new UsageError('--beliefs is missing.', 'Write --beliefs <file>.')
  if (cases === undefined) throw new UsageError('--cases is missing.', 'Write --cases <file>.')
  const at = (file: string): string => resolve(session.places.workingDirectory(), file)
  return readPack({
    kind,
    defaultUser,
    strict,
    id: basename(cases).replace(/\.json$/u, ''),
    title: `${basename(cases)} over ${basename(beliefs)}`,
    beliefsFile: at(beliefs),
    casesFile: at(cases),
    recall: editedPins === undefined ? {} : { editedPins },
  })
}

/** Every comparison table includes the control systems. */
const withControls = (backends: readonly SystemName[]): readonly SystemName[] => [
  ...new Set([...backends, ...controlSystems]),
]

type Asked = {
  /** The packs whose calibration the vector backends use. */
  readonly packsDirectory: string
  readonly embedder: string | undefined
  /** Backends given by name: failing to open one of these is an error. */
  readonly named: readonly SystemName[]
  readonly filter: string | undefined
  readonly evals: string | undefined
  readonly dir: string | undefined
}

/** Runs the packs on every backend, and reads the runs from the store. Skips a backend whose model is missing. */
const compare = (
  session: Session,
  found: readonly FoundPack[],
  systems: readonly SystemName[],
  { packsDirectory, embedder = defaultEmbedder, named, filter, ...places }: Asked,
) =>
  measureWith(session, evalStore(session, places).root, async (setup) => {
    const opened = setup.evaluation.systems({ packsDirectory, embedder })
    const open = (name: string) => opened.open(readSystemName(name))
    const packs = await Promise.all(found.map(({ pack, directory }) => recallPack(pack, directory, open)))
    const ran: { readonly name: string; readonly runs: readonly PackRun[] }[] = []
    const skipped: string[] = []
    for (const system of systems) {
      try {
        const results = await measure(setup, packs, system, {
          repeats: 1,
          seed: 1,
          filter,
          given: omitUndefined({ filter }),
          settings: ({ about }) => ({ system, embedder, ...about }),
        })
        const runs = await Promise.all(
          results.map(({ summary }, at) => readPackRun(setup.root, summary.runId, (found[at] as FoundPack).pack)),
        )
        if (runs.length > 0) ran.push({ name: runs[0]?.system.name ?? system, runs })
      } catch (error) {
        const isMissing = error instanceof MemoryError && error.code === 'unavailable'
        if (!isMissing || named.includes(system)) throw error
        skipped.push(`${system} did not run: ${[error.message, error.hint ?? ''].join(' ').trim()}`)
      }
    }
    return { ran, skipped, isInterrupted: setup.signal.aborted }
  })

const passes = ({ outcomes }: PackRun): boolean => outcomes.every(({ verdict }) => verdict === 'pass')

function writeReports(session: Session, out: string | undefined, reports: ReturnType<typeof reportsOf>) {
  const directory = resolve(session.places.workingDirectory(), out ?? defaultOut)
  const files = reports.map(({ name, report }) => ({ file: join(directory, name), text: formatJson(report) }))
  writeFiles(files)
  return files.map(({ file }) => file)
}

/** A system that does not answer is reported as not measured, rather than as failed. */
function errorsOf(backend: string, runs: readonly PackRun[]): readonly string[] {
  const errors = runs.flatMap(({ outcomes }) => outcomes.flatMap(({ error }) => error?.message ?? []))
  return errors.length === 0 ? [] : [`${backend} did not answer ${pluralize(errors.length, 'case')}: ${errors[0]}`]
}

function resultText(rows: readonly ComparisonRow[], ours: readonly PackRun[], style: Style): string {
  const legend = rows.map(({ backend, description }) => style.dim(`${backend}: ${description}`)).join('\n')
  const tables = [overallTable(rows), packTable(rows)].map((one) => table([one.titles, ...one.rows]))
  return joinParts([...tables, legend, failureText(ours, style)])
}

const maxFailures = 20

function failureText(runs: readonly PackRun[], style: Style): string {
  const failed = runs.flatMap(({ system, pack, outcomes }) =>
    outcomes.flatMap(({ caseId, verdict, error, failures }) => {
      if (verdict === 'pass') return []
      const reasons = error === undefined ? failures : [`error: ${error.message}`]
      const title = style.red(`${system.name} ${pack.id} ${caseId}`)
      return [[title, ...reasons.map((reason) => `  ${reason}`)].join('\n')]
    }),
  )
  const more = failed.length - maxFailures
  return [...failed.slice(0, maxFailures), ...(more > 0 ? [`… and ${more} more; the report has them all.`] : [])].join(
    '\n',
  )
}

const joinParts = (parts: readonly string[]): string => parts.filter((part) => part !== '').join('\n\n')
