import { existsSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { findNearestName } from '../../../did-you-mean.ts'
import { manifestOf, packsById } from '../../../eval/pack/manifest.ts'
import { optionsOf } from '../../../eval/run/run.ts'
import { type About, readPackFolder } from '../../../eval/runners/runner.ts'
import { manifestName, treePath } from '../../../eval/store/documents.ts'
import { redTeamControls, turnBaselines, turnSystemNames } from '../../../eval/system/system.ts'
import { interfaceNameOf, isOutsideName, outsideForms, systemForms } from '../../../eval/system/systems.ts'
import { defaultEmbedder } from '../../../memory/meaning/open-embedder.ts'
import { omitUndefined } from '../../../omit-undefined.ts'
import { defineCommand, exitCodes, UsageError, type ValuesOf } from '../../command/command.ts'
import { extractorForms, flag, rest, text, texts, wholeNumber } from '../../command/options.ts'
import { packRunners } from '../../evaluation.ts'
import { type RunResult, runsText } from './benchmark-run-text.ts'
import {
  embedderOption,
  evalStore,
  evalStoreOptions,
  fixedOptions,
  refuseChanges,
  seedOption,
} from './benchmark-store.ts'
import { type Measuring, measure, measureWith } from './measure.ts'

/** The locations to search for packs. */
export type PackSearch = Pick<Measuring, 'root' | 'session' | 'evaluation'>

/** The folder of a pack, given as a path or as an id of a pack in the eval store or in the shipped packs. */
export function packDirectory(given: string, { session, root, evaluation }: PackSearch): string {
  const path = resolve(session.places.workingDirectory(), given)
  const known = packsIn(root, evaluation.packsDirectory)
  const found = known.get(given) ?? (existsSync(join(path, manifestName)) ? path : undefined)
  if (found !== undefined) return found
  if (statSync(path, { throwIfNoEntry: false })?.isFile())
    throw new UsageError(`${given} is a file.`, 'Give the folder of the pack.')
  const ids = [...known.keys()]
  const meant = findNearestName(given, ids)
  throw new UsageError(
    `There is no pack "${given}".`,
    meant === undefined ? `Give a folder with a manifest.json, or one of ${listShort(ids)}.` : `Did you mean ${meant}?`,
  )
}

/** The ids for a hint. The many red-team packs are shortened to the one pattern that runs them all. */
const listShort = (ids: readonly string[]): string =>
  [...new Set(ids.map((id) => id.replace(/^red-team-.*/u, 'red-team-*')))].join(', ')

/** The folders of the packs by id. A pack in the store overrides a shipped one. */
function packsIn(root: string, shipped: string): ReadonlyMap<string, string> {
  const own = treePath(root, 'benchmarks')
  return new Map([...packsById(shipped), ...(existsSync(own) ? packsById(own) : [])])
}

/** Expands a trailing star to the ids with that prefix; any other name is returned unchanged. */
function expandStar(given: string, { root, evaluation }: PackSearch): readonly string[] {
  if (!given.endsWith('*')) return [given]
  const ids = [...packsIn(root, evaluation.packsDirectory).keys()]
  const named = ids.filter((id) => id.startsWith(given.slice(0, -1)))
  if (named.length > 0) return named
  throw new UsageError(`No pack is called "${given}".`, `There are ${listShort(ids)}.`)
}

export const runOptions = {
  system: texts(
    '<name>',
    `The system under test. May be given several times, to compare. A memory: ${systemForms}. For tasks: an agent. For conversations: ${[...turnSystemNames, ...outsideForms].join(', ')}. For attacks: credence, ${redTeamControls.join(', ')}.`,
    'bm25; reference for tasks; credence for attacks; credence and plain baselines for conversations',
  ),
  extractor: text(
    '<name>',
    `The extractor for packs of messages: ${extractorForms}; none and everything are the controls.`,
    'rules',
  ),
  data: text('<path>', 'The published data of a conversation suite. Without it the sample of the pack is run.'),
  repeats: wholeNumber('How often every case is run.', { min: 1, max: 1_000, default: 1 }),
  seed: seedOption('Decides the order of static cases and the ids that the system sees.'),
  filter: text(
    '<text>',
    'Only cases that contain this text in id, prompt, signals, category or description. Such a run is never compared.',
  ),
  jobs: wholeNumber('How many cases run in parallel. The result is the same.', { min: 1, max: 64, default: 1 }),
  ablations: flag(
    'Also run every pack with each of its declared parts switched off, and fail if the score hardly changes.',
  ),
  explain: flag('Store with every case which mentioned beliefs were left out. Recall is slower.'),
  resume: text('<run>', 'Complete this run, with its original options.'),
  runId: text('<id>', 'The name of the run; only for one pack and one system.'),
  notes: text('<text>', 'Stored with the run.'),
  gitRef: text('<ref>', 'Stored with the run.'),
  embedder: embedderOption,
  ...evalStoreOptions,
}
type RunOptions = ValuesOf<typeof runOptions>

export const benchmarkRun = defineCommand({
  args: { packs: rest('Pack folders, or ids of packs in the store or shipped with Credence. An id may end in *.') },
  options: runOptions,
  description:
    'Stores a summary, every case and the environment. An interrupted run is partial, and --resume completes it without repeating a case.',
  exitCodes: [exitCodes.failed, exitCodes.interrupted],
  examples: {
    'credence benchmark run retrieval-precision session-drift': 'Runs two packs on Credence.',
    'credence benchmark run ./packs/mine --system bm25 --system http:http://127.0.0.1:8080':
      'Runs a pack on Credence and on another memory.',
    'credence benchmark run learning': 'Measures what is learned from messages.',
    'credence benchmark run retrieval-hard --ablations': 'Also shows that the cases fail without recall.',
    'credence benchmark run longmemeval --data longmemeval_s.json':
      'Measures search over conversations on a public suite.',
    'credence benchmark run "red-team-*" --jobs 4':
      'Attacks the memory through all its interfaces, and shows which attacks succeed.',
    'credence benchmark run --resume 20260306-100000-session-drift-bm25-1a2b': 'Completes a run.',
  },
  async run({ args: { packs }, options: given }, session) {
    const { root } = evalStore(session, given)
    const { resume } = given
    if (resume !== undefined && packs.length > 0)
      throw new UsageError('--resume takes no packs; it uses the pack of the run.', 'Leave out the packs.')
    if (resume === undefined && packs.length === 0)
      throw new UsageError('No pack is given.', 'Give ids or folders, such as retrieval-precision.')
    if (resume !== undefined) refuseChanges(given)
    if (given.runId !== undefined && (packs.length > 1 || packs[0]?.endsWith('*') || given.system.length > 1))
      throw new UsageError('--run-id can be given with one pack and one system only.')
    return measureWith(session, root, (setup) => {
      if (resume !== undefined) return resumeJob(resume, given.jobs, setup)
      const named = packs.flatMap((pack) => expandStar(pack, setup))
      return runJobs(newJobs(named, given, setup), { ...given, given: fixedOptions(given) }, setup)
    })
  },
})

/** A pack and a system to run it on. */
type Job = {
  readonly directory: string
  /** Undefined for the default of the pack. */
  readonly system: string | undefined
  /** Whether the system is only a baseline to compare the measured systems with. */
  readonly isBaseline: boolean
}

/** The options that all jobs of a command share. */
type JobOptions = Partial<Omit<RunOptions, 'system' | 'extractor'>> & {
  /** The options as they were given. */
  readonly given?: Record<string, unknown>
  readonly ablation?: string | undefined
}

type AskedJobs = Pick<RunOptions, 'system'> & Pick<JobOptions, 'data' | 'runId' | 'ablations'>

export function newJobs(
  packs: readonly string[],
  { extractor, ...asked }: AskedJobs & { readonly extractor?: string | undefined },
  setup: PackSearch,
): readonly Job[] {
  return packs.flatMap((pack) => {
    const directory = packDirectory(pack, setup)
    const { runner, benchmarkId, suite, ablations = [] } = manifestOf(directory)
    if (asked.ablations && ablations.length === 0) {
      throw new UsageError(
        `The pack ${benchmarkId} declares no ablations.`,
        'Add them to its manifest; docs/evaluation.md lists those of each kind of pack.',
      )
    }
    if (asked.data !== undefined && runner !== 'conversation')
      throw new UsageError(`The pack ${benchmarkId} takes no --data.`, 'Its cases are in its folder.')
    const named = runner === 'learning' ? [extractor] : asked.system.length === 0 ? [undefined] : asked.system
    // If only our own systems are named, no baselines are added.
    const isAlone = asked.system.length > 0 && !asked.system.some(isOutsideName)
    const hasBaselines = runner === 'conversation' && asked.runId === undefined && !isAlone
    const baselines = hasBaselines ? turnBaselines(suite).filter((name) => !named.includes(name)) : []
    return [
      ...named.map((system) => ({ directory, system, isBaseline: false })),
      ...baselines.map((system) => ({ directory, system, isBaseline: true })),
    ]
  })
}

/** Completes an interrupted run, with the pack at its original path. The run fails if the pack has changed. */
function resumeJob(runId: string, jobs: number | undefined, setup: Measuring) {
  const { settings } = optionsOf(setup.root, runId)
  const textIn = (name: string): string | undefined => {
    const setting = settings[name]
    return typeof setting === 'string' ? setting : undefined
  }
  const kept = textIn('directory') ?? ''
  const directory = packDirectory(existsSync(kept) ? kept : String(settings.benchmarkId), setup)
  const [embedder, data, ablation] = ['embedder', 'data', 'ablation'].map(textIn)
  const options = { embedder, data, ablation, jobs, explain: settings.explain === true, resume: runId }
  return runJobs([{ directory, system: textIn('system'), isBaseline: false }], options, setup)
}

/** Runs the jobs of a command one after the other, and returns their figures. */
export async function runJobs(jobs: readonly Job[], options: JobOptions, setup: Measuring) {
  const results: RunResult[] = []
  for (const job of jobs) results.push(...(await runJob(job, options, setup)))
  const { root, signal } = setup
  const measured = results.filter(({ ablation, isBaseline }) => ablation === null && !isBaseline)
  const ablations = results.flatMap(({ summary, ablation }) =>
    ablation === null ? [] : [{ benchmarkId: summary.benchmarkId, runId: summary.runId, ...ablation }],
  )
  const isFine =
    measured.every(({ summary }) => summary.status === 'completed' && summary.passedCases === summary.totalCases) &&
    ablations.every(({ problem }) => problem === null)
  const warnings = [...new Set(results.flatMap((result) => result.warnings))]
  const unfinished = results.filter(({ summary }) => summary.status === 'partial').map(({ summary }) => summary.runId)
  const runs = results.map(({ summary }) => summary)
  const doors = Object.fromEntries(results.map(({ summary, door }) => [summary.runId, door]))
  return {
    document: {
      ok: isFine && !signal.aborted,
      runs,
      doors,
      warnings,
      ...(ablations.length === 0 ? {} : { ablations }),
    },
    text: await runsText(root, results),
    notes: [...warnings, ...unfinished.map((id) => `Complete it with \`credence benchmark run --resume ${id}\`.`)],
    exitCode: signal.aborted ? exitCodes.interrupted : isFine ? exitCodes.fine : exitCodes.failed,
  }
}

async function runJob(job: Job, options: JobOptions, setup: Measuring): Promise<readonly RunResult[]> {
  const { directory, system, isBaseline } = job
  const { repeats = 1, seed = 1, filter, notes, gitRef, explain = false, embedder = defaultEmbedder } = options
  const { jobs, ablation, runId, resume, given = {} } = options
  const data = options.data && resolve(setup.session.places.workingDirectory(), options.data)
  const { runner } = manifestOf(directory)
  const pack = await readPackFolder(directory, await packRunners(setup.session, runner, embedder, data))
  const { benchmarkId } = pack.manifest
  const asked = { repeats, seed, filter, notes, gitRef }
  const stored = { ...asked, benchmarkId, directory, system: system ?? null }
  const ablations = options.ablations === true && !isBaseline
  const settings = (of: { readonly ablation: string | undefined; readonly about: About }) => {
    const systemNotes = of.about.notes.length === 0 ? undefined : of.about.notes
    return omitUndefined({ ...stored, ablation: of.ablation, embedder, explain, data, systemNotes })
  }
  const request = { ...asked, explain, jobs, ablation, ablations, runId, resume, given, settings }
  const results = await measure(setup, [pack], system, request)
  const about = { directory, warnings: pack.warnings, isBaseline, door: interfaceNameOf(system, runner) }
  return results.map(({ summary, ablation: judged }) => ({ summary, ablation: judged, ...about }))
}
