import { existsSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { didYouMean } from '../../../did-you-mean.ts'
import { type Kind, kindOf, openBenchmark } from '../../../eval/kinds/kind.ts'
import { manifestOf, packFolders } from '../../../eval/pack/manifest.ts'
import {
  newRunId,
  optionsOf,
  type RunContext,
  type RunOptions,
  resumeBenchmark,
  runBenchmark,
} from '../../../eval/run/run.ts'
import { judgeAblation } from '../../../eval/score/figures.ts'
import { casesOf } from '../../../eval/store/case-log.ts'
import { manifestName, packPath } from '../../../eval/store/documents.ts'
import { isSafeId } from '../../../eval/store/schemas/primitives.ts'
import { backendForms, isOutsideName, outsideForms } from '../../../eval/system/backends.ts'
import { defaultEmbedder } from '../../../eval/system/open-embedder.ts'
import { isControlName, redTeamControls, turnBaselines, turnSystemNames } from '../../../eval/system/system.ts'
import { omitUndefined } from '../../../omit-undefined.ts'
import { defineCommand, exitCodes, UsageError, type ValuesOf } from '../../command/command.ts'
import { extractorForms, flag, rest, text, wholeNumber } from '../../command/options.ts'
import { type Evaluation, packKinds } from '../../evaluation.ts'
import type { Session } from '../../session.ts'
import { type RunResult, runsText } from './benchmark-run-text.ts'
import {
  embedderOption,
  evalStore,
  evalStoreOptions,
  machine,
  refuseChanges,
  seedOption,
  settledOptions,
} from './benchmark-store.ts'

/** The folder of a pack: a path, or the id of a pack in the eval store or among the shipped ones. */
function packDirectory(given: string, { session, root, evaluation }: RunSetup): string {
  const path = resolve(session.places.workingDirectory(), given)
  const shipped = evaluation.packsDirectory
  const byId = isSafeId(given) ? [packPath(root, given), join(shipped, given)] : []
  const found = [...byId, path].find((candidate) => existsSync(join(candidate, manifestName)))
  if (found !== undefined) return found
  if (statSync(path, { throwIfNoEntry: false })?.isFile())
    throw new UsageError(`${given} is a file.`, 'Give the folder of the pack.')
  const ids = idsIn(root, shipped)
  const meant = didYouMean(given, ids)
  throw new UsageError(
    `There is no pack "${given}".`,
    meant === undefined ? `Give a folder with a manifest.json, or one of ${listed(ids)}.` : `Did you mean ${meant}?`,
  )
}

/** The ids for a hint; the many packs of attacks by the one name that runs them all. */
const listed = (ids: readonly string[]): string =>
  [...new Set(ids.map((id) => id.replace(/^red-team-.*/u, 'red-team-*')))].join(', ')

function idsIn(root: string, shipped: string): readonly string[] {
  const own = join(root, 'benchmarks')
  const directories = [...(existsSync(own) ? packFolders(own) : []), ...packFolders(shipped)]
  return [...new Set(directories.map((path) => path.split(/[\\/]/u).at(-1) ?? path))]
}

/** The ids that begin like a name with a star at its end; else the name as it is. */
function namedBy(given: string, { root, evaluation }: RunSetup): readonly string[] {
  if (!given.endsWith('*')) return [given]
  const ids = idsIn(root, evaluation.packsDirectory)
  const named = ids.filter((id) => id.startsWith(given.slice(0, -1)))
  if (named.length > 0) return named
  throw new UsageError(`No pack is called "${given}".`, `There are ${listed(ids)}.`)
}

const options = {
  system: text(
    '<name>',
    `The system under test. A memory: ${backendForms}. For tasks: an agent. For conversations: ${[...turnSystemNames, ...outsideForms].join(', ')}. For attacks: credence, ${redTeamControls.join(', ')}.`,
    'bm25; reference for tasks; credence for attacks and, beside plain baselines, for conversations',
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
  runId: text('<id>', 'The name of the run; only for one pack.'),
  notes: text('<text>', 'Stored with the run.'),
  gitRef: text('<ref>', 'Stored with the run.'),
  embedder: embedderOption,
  ...evalStoreOptions,
}

export const benchmarkRun = defineCommand({
  args: { packs: rest('Pack folders, or ids of packs in the store or shipped with Credence. An id may end in *.') },
  options,
  description:
    'Stores a summary, every case and the environment. An interrupted run is partial, and --resume completes it without repeating a case.',
  exitCodes: [exitCodes.failed, exitCodes.interrupted],
  examples: {
    'credence benchmark run retrieval-precision session-drift': 'Runs two packs on Credence.',
    'credence benchmark run ./packs/mine --system http:http://127.0.0.1:8080': 'Runs a pack on another memory.',
    'credence benchmark run learning': 'Measures what is learned from messages.',
    'credence benchmark run retrieval-hard --ablations': 'Also shows that the cases fail without recall.',
    'credence benchmark run longmemeval --data longmemeval_s.json':
      'Measures search over conversations on a public suite.',
    'credence benchmark run "red-team-*" --jobs 4':
      'Attacks the memory through all its interfaces, and shows which attacks succeed.',
    'credence benchmark run --resume 20260306-100000-session-drift-bm25-1a2b': 'Completes a run.',
  },
  async run({ args: { packs }, options: given }, session) {
    // The times of packs are in UTC, and a result must not depend on the time zone of the machine.
    process.env.TZ = 'UTC'
    const { root } = evalStore(session, given)
    const isResuming = given.resume !== undefined
    if (isResuming && packs.length > 0)
      throw new UsageError('--resume takes no packs; it uses the pack of the run.', 'Leave out the packs.')
    if (!isResuming && packs.length === 0)
      throw new UsageError('No pack is given.', 'Give ids or folders, such as retrieval-precision.')
    if (isResuming) refuseChanges(given)
    if (given.runId !== undefined && (packs.length > 1 || packs[0]?.endsWith('*')))
      throw new UsageError('--run-id can be given with one pack only.')
    const evaluation = await session.evaluation()
    const { signal } = session.program.interruption()
    try {
      const setup = { root, session, evaluation, signal, jobs: given.jobs ?? 1 }
      const jobs =
        given.resume === undefined
          ? newJobs(
              packs.flatMap((pack) => namedBy(pack, setup)),
              given,
              setup,
            )
          : [resumedJob(given.resume, setup)]
      const results: RunResult[] = []
      for (const job of jobs) {
        if (signal.aborted) break
        const result = await runJob(job, setup)
        results.push(result)
        if (given.ablations && !job.isBaseline && result.summary.status === 'completed') {
          results.push(...(await runAblations(job, result, setup)))
        }
      }
      return await answerOf(results, root, signal.aborted)
    } finally {
      evaluation.progress.clear()
    }
  },
})

type RunSetup = {
  readonly root: string
  readonly session: Session
  readonly evaluation: Evaluation
  readonly signal: AbortSignal
  readonly jobs: number
}

type Job = {
  readonly directory: string
  /** Null for the default of the pack's kind. */
  readonly system: string | null
  readonly ablation?: string
  readonly embedder: string
  readonly explain: boolean
  readonly data: string | undefined
  /** Run beside the system that is measured, to compare with. */
  readonly isBaseline: boolean
  readonly run:
    | { readonly kind: 'new'; readonly runId: string | undefined; readonly options: RunOptions; readonly given: object }
    | { readonly kind: 'resumed'; readonly runId: string }
}

function newJobs(packs: readonly string[], asked: ValuesOf<typeof options>, setup: RunSetup): readonly Job[] {
  const { embedder = defaultEmbedder, explain, repeats = 1, seed = 1, filter, notes, gitRef, runId } = asked
  const given = settledOptions(asked)
  const data = asked.data === undefined ? undefined : resolve(setup.session.places.workingDirectory(), asked.data)
  return packs.flatMap((pack) => {
    const directory = packDirectory(pack, setup)
    const { runner, benchmarkId, suite, ablations = [] } = manifestOf(directory)
    if (asked.ablations && ablations.length === 0) {
      throw new UsageError(
        `The pack ${benchmarkId} declares no ablations.`,
        'Add them to its manifest, such as "ablations": ["recall off"].',
      )
    }
    const system = (runner === 'learning' ? asked.extractor : asked.system) ?? null
    const run = { kind: 'new', runId, options: { repeats, seed, filter, notes, gitRef }, given } as const
    if (data !== undefined && runner !== 'conversation')
      throw new UsageError(`The pack ${benchmarkId} takes no --data.`, 'Its cases are in its folder.')
    const job = { directory, system, embedder, explain, data, isBaseline: false, run }
    const isAlone = system !== null && !isOutsideName(system)
    if (runner !== 'conversation' || isAlone || runId !== undefined) return [job]
    return [job, ...turnBaselines(suite).map((baseline) => ({ ...job, system: baseline, isBaseline: true }))]
  })
}

/** Finds the pack where it was; the run refuses a pack that has changed. */
function resumedJob(runId: string, setup: RunSetup): Job {
  const { settings } = optionsOf(setup.root, runId)
  const { directory, system, ablation, embedder, explain, data } = settings
  const pack = typeof directory === 'string' && existsSync(directory) ? directory : String(settings.benchmarkId)
  return {
    directory: packDirectory(pack, setup),
    system: typeof system === 'string' ? system : null,
    ...(typeof ablation === 'string' ? { ablation } : {}),
    embedder: typeof embedder === 'string' ? embedder : defaultEmbedder,
    explain: explain === true,
    data: typeof data === 'string' ? data : undefined,
    isBaseline: false,
    run: { kind: 'resumed', runId },
  }
}

const kindsFor = ({ directory, embedder, data }: Job, { session }: RunSetup): Promise<readonly Kind[]> =>
  packKinds(session, manifestOf(directory).runner, embedder, data)

async function runJob(job: Job, setup: RunSetup): Promise<RunResult> {
  const { directory, system, ablation, embedder, explain, data, isBaseline, run } = job
  const { root, session, evaluation, signal, jobs } = setup
  const kinds = await kindsFor(job, setup)
  const benchmark = await openBenchmark(directory, kinds, { system: system ?? undefined, explain, ablation })
  try {
    const { benchmarkId } = benchmark.manifest
    const role = ablation !== undefined ? 'ablation' : isControlName(benchmark.system.name) ? 'control' : undefined
    const resolved = run.kind === 'new' ? run.options : {}
    const settings = { ...resolved, benchmarkId, directory, system, ablation, embedder, explain, data }
    const context: RunContext = {
      root,
      now: () => new Date(),
      signal,
      jobs,
      environment: {
        given: run.kind === 'new' ? { ...run.given } : {},
        settings: omitUndefined(settings),
        ...machine(session.places.workingDirectory()),
      },
      onProgress: (done, total) => evaluation.progress.show(`${benchmarkId}, ${benchmark.system.name}`, done, total),
    }
    const runId = run.runId ?? newRunId(benchmarkId, benchmark.system.name, new Date())
    const summary =
      run.kind === 'new'
        ? await runBenchmark(benchmark, runId, { ...run.options, role }, context)
        : await resumeBenchmark(benchmark, runId, context)
    return { summary, directory, warnings: benchmark.warnings, ablation: null, isBaseline }
  } finally {
    evaluation.progress.clear()
    await benchmark.close()
  }
}

/** Runs a pack with each part switched off that it declares, and says whether the cases notice. */
async function runAblations(job: Job, whole: RunResult, setup: RunSetup): Promise<readonly RunResult[]> {
  const { root, signal } = setup
  const manifest = manifestOf(job.directory)
  const place = { directory: job.directory, manifest }
  const { cases } = kindOf(place, await kindsFor(job, setup)).read(place)
  const wholeRecords = (await casesOf(root, whole.summary.runId)).records
  const results: RunResult[] = []
  for (const ablation of manifest.ablations ?? []) {
    if (signal.aborted || job.run.kind !== 'new') break
    const result = await runJob({ ...job, ablation, run: { ...job.run, runId: undefined } }, setup)
    const { records } = await casesOf(root, result.summary.runId)
    results.push({ ...result, ablation: judgeAblation(ablation, cases, { whole: wholeRecords, without: records }) })
  }
  return results
}

async function answerOf(results: readonly RunResult[], root: string, isInterrupted: boolean) {
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
  const text = await runsText(root, results)
  return {
    document: { ok: isFine && !isInterrupted, runs, warnings, ...(ablations.length === 0 ? {} : { ablations }) },
    text,
    notes: [...warnings, ...unfinished.map((id) => `Complete it with \`credence benchmark run --resume ${id}\`.`)],
    exitCode: isInterrupted ? exitCodes.interrupted : isFine ? exitCodes.fine : exitCodes.failed,
  }
}
