import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { learningRunner } from '../../eval/kinds/learning/learning-pack.ts'
import { manifestOf, runnablePack } from '../../eval/pack/load-pack.ts'
import {
  optionsOf,
  type RunContext,
  type RunnableBenchmark,
  resumeBenchmark,
  runBenchmark,
} from '../../eval/run/run.ts'
import { casesOf } from '../../eval/store/case-log.ts'
import type { RunSummary } from '../../eval/store/schemas/run-summary.ts'
import type { BackendName } from '../../eval/system/backends.ts'
import { defaultEmbedder } from '../../eval/system/embedders/open-embedder.ts'
import { defineCommand, flag, rest, text, wholeNumber } from '../command.ts'
import type { Evaluation } from '../evaluation.ts'
import { exitCodes } from '../exit-codes.ts'
import { harmless, type Style } from '../output.ts'
import { refuseChanges } from '../resumed-run.ts'
import type { Session } from '../session.ts'
import { columns } from '../text-layout.ts'
import { UsageError } from '../usage-error.ts'
import { defaultExtractor, extractorOption, listener } from './benchmark-listener.ts'
import { packDirectory } from './benchmark-packs.ts'
import { evalStore, requireSetting, storeOptions } from './benchmark-store.ts'
import { machine } from './benchmark-surroundings.ts'
import { backendOption, embedderOption } from './eval-options.ts'

const options = {
  system: backendOption,
  repeats: wholeNumber('How often every case is asked.', { min: 1, max: 1_000, default: 1 }),
  seed: wholeNumber('Decides the order of static cases and the ids that the system sees.', {
    min: 0,
    max: 2 ** 31,
    default: 1,
  }),
  filter: text(
    '<text>',
    'Only cases that hold this text in their id, prompt or signals. Such a run is never compared.',
  ),
  explain: flag('Keep with every case what was mentioned but left out; recall is slower then.'),
  resume: text('<run>', 'Complete this run instead, as it was begun.'),
  runId: text('<id>', 'The name of the run; only for one pack.'),
  notes: text('<text>', 'Kept with the run.'),
  gitRef: text('<ref>', 'Kept with the run.'),
  embedder: embedderOption,
  extractor: extractorOption,
  ...storeOptions,
}

/** What is decided when a run begins. */
const decided = [
  'system',
  'repeats',
  'seed',
  'filter',
  'explain',
  'runId',
  'notes',
  'gitRef',
  'embedder',
  'extractor',
] as const satisfies (keyof typeof options)[]

export const benchmarkRun = defineCommand({
  args: { packs: rest('Ids of packs in the store or among those that ship, or folders.') },
  options,
  description:
    'Keeps a summary, every case and the environment in the store. An interrupted run is partial, and --resume completes it without repeating a case. Needs the setting evalHarnessEnabled.',
  exitCodes: [exitCodes.failed, exitCodes.interrupted],
  examples: [
    {
      command: 'credence benchmark run retrieval-precision session-drift',
      effect: 'Runs two packs on our own recall.',
    },
    {
      command: 'credence benchmark run ./packs/mine --system http:http://127.0.0.1:8080',
      effect: 'Runs a pack on another memory.',
    },
    { command: 'credence benchmark run learning', effect: 'Measures what is learned from messages.' },
    { command: 'credence benchmark run --resume 20260306-100000-session-drift-bm25-1a2b', effect: 'Completes a run.' },
  ],
  async run({ args: { packs }, options: given }, session) {
    const { root, settings } = evalStore(session, given)
    requireSetting(settings, 'evalHarnessEnabled', 'Nothing was run,')
    const isResuming = given.resume !== undefined
    if (isResuming === packs.length > 0) {
      throw new UsageError(
        isResuming ? '--resume names the run, and with it the pack.' : 'No pack is given.',
        isResuming ? 'Leave out the packs.' : 'Give ids or folders, such as retrieval-precision.',
      )
    }
    if (isResuming) refuseChanges(given, decided)
    if (given.runId !== undefined && packs.length > 1) throw new UsageError('--run-id is for one pack.')
    const evaluation = await session.evaluation()
    const { signal, release } = session.interruption()
    try {
      const scene = { root, session, evaluation, signal }
      const jobs = given.resume === undefined ? newJobs(packs, given, scene) : [resumedJob(given.resume, scene)]
      const runs: RunSummary[] = []
      const warnings: string[] = []
      for (const job of jobs) {
        if (signal.aborted) break
        const { summary, warnings: own } = await performed(job, scene)
        runs.push(summary)
        warnings.push(...own)
      }
      return await answerOf(runs, { root, warnings, isInterrupted: signal.aborted })
    } finally {
      evaluation.progress.clear()
      release()
    }
  },
})

type Options = {
  readonly system: BackendName | undefined
  readonly repeats: number | undefined
  readonly seed: number | undefined
  readonly filter: string | undefined
  readonly explain: boolean
  readonly runId: string | undefined
  readonly notes: string | undefined
  readonly gitRef: string | undefined
  readonly embedder: string | undefined
  readonly extractor: string | undefined
}

type Scene = {
  readonly root: string
  readonly session: Session
  readonly evaluation: Evaluation
  readonly signal: AbortSignal
}

/** What came of it, and what the pack says that nobody checks. */
type Performed = { readonly summary: RunSummary; readonly warnings: readonly string[] }

/** One pack and how it is run. */
type Job = {
  readonly directory: string
  readonly system: BackendName
  readonly embedder: string
  readonly extractor: string
  readonly explain: boolean
  readonly run:
    | {
        readonly kind: 'new'
        readonly runId: string
        readonly options: Parameters<typeof runBenchmark>[2]
        readonly given: object
      }
    | { readonly kind: 'resumed'; readonly runId: string }
}

function newJobs(packs: readonly string[], options: Options, { session, root, evaluation }: Scene): readonly Job[] {
  const { system = 'bm25', embedder = defaultEmbedder, extractor = defaultExtractor } = options
  const { explain, repeats = 1, seed = 1, filter, notes, gitRef } = options
  const given = Object.fromEntries(
    Object.entries(options).filter(([, value]) => value !== undefined && value !== false),
  )
  return packs.map((pack) => {
    const directory = packDirectory(pack, { session, root, shipped: evaluation.packsDirectory })
    const { benchmarkId, runner } = manifestOf(directory)
    const runId = options.runId ?? newRunId(benchmarkId, runner === learningRunner ? extractor : system)
    const run = { kind: 'new', runId, options: { repeats, seed, filter, notes, gitRef }, given } as const
    return { directory, system, embedder, extractor, explain, run }
  })
}

/** The pack is found again where it was, and refused if it is no longer the same. */
function resumedJob(runId: string, { session, root, evaluation }: Scene): Job {
  const { settings } = optionsOf(root, runId)
  const { directory, system, embedder, extractor, explain } = settings
  const pack = typeof directory === 'string' && existsSync(directory) ? directory : String(settings.benchmarkId)
  return {
    directory: packDirectory(pack, { session, root, shipped: evaluation.packsDirectory }),
    system: backendOption.read([String(system)]) ?? 'bm25',
    embedder: typeof embedder === 'string' ? embedder : defaultEmbedder,
    extractor: typeof extractor === 'string' ? extractor : defaultExtractor,
    explain: explain === true,
    run: { kind: 'resumed', runId },
  }
}

/** A pack with whoever it is run on: a memory, or for messages to learn from a listener. */
async function opened(
  { directory, system, embedder, extractor, explain }: Job,
  { session, evaluation }: Scene,
): Promise<{
  readonly benchmark: RunnableBenchmark & { readonly warnings: readonly string[] }
  readonly close: () => Promise<void>
}> {
  if (manifestOf(directory).runner === learningRunner) {
    const { learningBenchmark } = await import('../../eval/kinds/learning/learning-benchmark.ts')
    const benchmark = await learningBenchmark(directory, {
      extractor: await listener(extractor, session),
      version: session.machine.version(),
      clock: () => performance.now(),
    })
    return { benchmark, close: async () => {} }
  }
  const subject = await evaluation.backends({ packsDirectory: evaluation.packsDirectory, embedder }).open(system)
  try {
    return { benchmark: await runnablePack(directory, subject, { explain }), close: () => subject.close() }
  } catch (error) {
    await subject.close()
    throw error
  }
}

async function performed(job: Job, scene: Scene): Promise<Performed> {
  const { directory, system, embedder, extractor, explain, run } = job
  const { root, session, evaluation, signal } = scene
  const { benchmark, close } = await opened(job, scene)
  try {
    const { benchmarkId } = benchmark.manifest
    const resolved = run.kind === 'new' ? run.options : {}
    const context: RunContext = {
      root,
      now: () => new Date(),
      signal,
      surroundings: {
        given: run.kind === 'new' ? { ...run.given } : {},
        settings: { ...withoutUndefined(resolved), benchmarkId, directory, system, embedder, extractor, explain },
        ...machine(session.workingDirectory()),
      },
      onProgress: (done, total) => evaluation.progress.show(benchmarkId, done, total),
    }
    const summary =
      run.kind === 'new'
        ? await runBenchmark(benchmark, run.runId, run.options, context)
        : await resumeBenchmark(benchmark, run.runId, context)
    return { summary, warnings: benchmark.warnings }
  } finally {
    evaluation.progress.clear()
    await close()
  }
}

const withoutUndefined = (values: object): object =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))

/** Sorts by time, can be read, and is never given twice. */
function newRunId(benchmarkId: string, system: string): string {
  const stamp = new Date().toISOString().slice(0, 19).replaceAll(/[-:]/gu, '').replace('T', '-')
  const slug = (text: string, most: number): string => text.replaceAll(/[^A-Za-z0-9]+/gu, '-').slice(0, most)
  return `${stamp}-${slug(benchmarkId, 60)}-${slug(system, 24)}-${randomBytes(2).toString('hex')}`
}

async function answerOf(
  runs: readonly RunSummary[],
  {
    root,
    warnings,
    isInterrupted,
  }: { readonly root: string; readonly warnings: readonly string[]; readonly isInterrupted: boolean },
) {
  const failures: string[] = []
  for (const { runId } of runs) failures.push(...(await failuresOf(root, runId)))
  const isFine = runs.every(
    ({ status, passedCases, totalCases }) => status === 'completed' && passedCases === totalCases,
  )
  const unfinished = runs.filter(({ status }) => status === 'partial').map(({ runId }) => runId)
  return {
    document: { ok: isFine && !isInterrupted, runs, warnings },
    text: (style: Style) => runsText(runs, failures, style),
    notes: [
      ...warnings,
      ...unfinished.map((runId) => `Complete it with \`credence benchmark run --resume ${runId}\`.`),
    ],
    exitCode: isInterrupted ? exitCodes.interrupted : isFine ? exitCodes.fine : exitCodes.failed,
  }
}

/** By case, so that they read the same whatever order the seed chose. */
async function failuresOf(root: string, runId: string): Promise<readonly string[]> {
  const { records } = await casesOf(root, runId)
  return [...records]
    .sort((one, other) => (one.caseId < other.caseId ? -1 : 1))
    .flatMap(({ caseId, failures, error }) =>
      [...failures, ...(error === undefined ? [] : [error.message])].map((failure) => `${caseId}: ${failure}`),
    )
}

const mostFailures = 20

function runsText(runs: readonly RunSummary[], failures: readonly string[], style: Style): string {
  const rows = runs.map(({ benchmarkId, status, passedCases, totalCases, errorCases = 0, latency, runId }) => [
    benchmarkId,
    status,
    `${passedCases}/${totalCases}${errorCases === 0 ? '' : `, ${errorCases} errors`}`,
    latency === undefined ? '' : `${latency.p50Ms.toFixed(2)} / ${latency.p95Ms.toFixed(2)} ms`,
    runId,
  ])
  const table = columns([['benchmark', 'status', 'passed', 'p50 / p95', 'run'], ...rows], { indent: 0 })
  const shown = failures.slice(0, mostFailures).map((failure) => style.red(harmless(failure)))
  const more =
    failures.length > mostFailures ? [`and ${failures.length - mostFailures} more; see the case records`] : []
  return [harmless(table), ...(failures.length === 0 ? [] : ['', ...shown, ...more])].join('\n')
}
