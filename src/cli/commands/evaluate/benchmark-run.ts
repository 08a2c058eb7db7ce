import { existsSync } from 'node:fs'
import { type Kind, kindOf } from '../../../eval/kinds/kind.ts'
import { manifestOf } from '../../../eval/pack/manifest.ts'
import { saturated } from '../../../eval/report/comparison.ts'
import { openBenchmark } from '../../../eval/run/open-benchmark.ts'
import { optionsOf, type RunContext, type RunOptions, resumeBenchmark, runBenchmark } from '../../../eval/run/run.ts'
import { newRunId } from '../../../eval/run/run-id.ts'
import { type AblationResult, judgeAblation, type Share } from '../../../eval/score/ablation.ts'
import { casesOf } from '../../../eval/store/case-log.ts'
import type { RunSummary } from '../../../eval/store/schemas/run.ts'
import { isControlName } from '../../../eval/system/backend-names.ts'
import { backendForms } from '../../../eval/system/backends.ts'
import { defaultEmbedder } from '../../../eval/system/embedders/open-embedder.ts'
import { defineCommand, flag, option, rest, text, wholeNumber } from '../../command.ts'
import type { Evaluation } from '../../evaluation.ts'
import { exitCodes } from '../../exit-codes.ts'
import { extractorForms } from '../../open-extractor.ts'
import { harmless, type Style } from '../../output.ts'
import { packKinds } from '../../pack-kinds.ts'
import { refuseChanges } from '../../resumed-run.ts'
import type { Session } from '../../session.ts'
import { columns } from '../../text-layout.ts'
import { UsageError } from '../../usage-error.ts'
import { packDirectory } from './benchmark-packs.ts'
import { evalStore, requireSetting, storeOptions } from './benchmark-store.ts'
import { machine } from './benchmark-surroundings.ts'
import { embedderOption } from './eval-options.ts'

const options = {
  system: {
    ...text('<name>', `What the packs are run on. A memory: ${backendForms}. For tasks: an agent.`),
    default: 'bm25, or reference for tasks',
  },
  extractor: {
    ...text('<name>', `What listens in packs of messages: ${extractorForms}; none and everything are the controls.`),
    default: 'rules',
  },
  repeats: wholeNumber('How often every case is asked.', { min: 1, max: 1_000, default: 1 }),
  seed: wholeNumber('Decides the order of static cases and the ids that the system sees.', {
    min: 0,
    max: 2 ** 31,
    default: 1,
  }),
  filter: text(
    '<text>',
    'Only cases that hold this text in their id, prompt, signals, category or description. Such a run is never compared.',
  ),
  shard: option('<k/n>', 'Only the kth of n equal parts of the cases, to be joined by `benchmark merge`.', readShard),
  jobs: wholeNumber('How many cases are carried out at once. The result is the same.', { min: 1, max: 64, default: 1 }),
  ablations: flag(
    'Also run every pack with the parts switched off that it declares, and fail if that makes no difference.',
  ),
  explain: flag('Keep with every case what was mentioned but left out; recall is slower then.'),
  resume: text('<run>', 'Complete this run instead, as it was begun.'),
  runId: text('<id>', 'The name of the run; only for one pack.'),
  notes: text('<text>', 'Kept with the run.'),
  gitRef: text('<ref>', 'Kept with the run.'),
  embedder: embedderOption,
  ...storeOptions,
}

function readShard(given: string): { readonly index: number; readonly count: number } {
  const [, index, count] = (given.match(/^(\d{1,4})\/(\d{1,4})$/u) ?? []).map(Number)
  if (index !== undefined && count !== undefined && index >= 1 && index <= count) return { index, count }
  throw new UsageError(`"${given}" is not a shard.`, 'Write the number of the part and of all parts, such as 2/5.')
}

/** What is decided when a run begins. */
const decided = [
  'system',
  'extractor',
  'repeats',
  'seed',
  'filter',
  'shard',
  'ablations',
  'explain',
  'runId',
  'notes',
  'gitRef',
  'embedder',
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
    {
      command: 'credence benchmark run retrieval-hard --ablations',
      effect: 'Also shows that the cases fail without recall.',
    },
    { command: 'credence benchmark run retrieval-hard --shard 2/5', effect: 'Runs a fifth of the cases.' },
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
    if (given.ablations && given.shard !== undefined)
      throw new UsageError('--ablations needs the whole pack.', 'Leave out --shard.')
    const evaluation = await session.evaluation()
    const { signal, release } = session.interruption()
    try {
      const scene = { root, session, evaluation, signal, jobs: given.jobs ?? 1 }
      const jobs = given.resume === undefined ? newJobs(packs, given, scene) : [resumedJob(given.resume, scene)]
      const results: Result[] = []
      for (const job of jobs) {
        if (signal.aborted) break
        const result = await performed(job, scene)
        results.push(result)
        if (given.ablations && result.summary.status === 'completed') {
          results.push(...(await performedAblations(job, result, scene)))
        }
      }
      return await answerOf(results, { root, isInterrupted: signal.aborted })
    } finally {
      evaluation.progress.clear()
      release()
    }
  },
})

type Options = {
  readonly system: string | undefined
  readonly extractor: string | undefined
  readonly repeats: number | undefined
  readonly seed: number | undefined
  readonly filter: string | undefined
  readonly shard: RunOptions['shard']
  readonly explain: boolean
  readonly runId: string | undefined
  readonly notes: string | undefined
  readonly gitRef: string | undefined
  readonly embedder: string | undefined
  readonly ablations: boolean
}

type Scene = {
  readonly root: string
  readonly session: Session
  readonly evaluation: Evaluation
  readonly signal: AbortSignal
  readonly jobs: number
}

/** What came of a run, and what is to be said about it. */
type Result = {
  readonly summary: RunSummary
  /** What the pack says that nothing checks. */
  readonly warnings: readonly string[]
  /** Of a run with a part switched off: what that shows. */
  readonly ablation: AblationResult | null
}

/** One pack and how it is run. */
type Job = {
  readonly directory: string
  /** Null for what the kind of the pack is run on by default. */
  readonly system: string | null
  readonly ablation?: string
  readonly embedder: string
  readonly explain: boolean
  readonly run:
    | { readonly kind: 'new'; readonly runId: string | undefined; readonly options: RunOptions; readonly given: object }
    | { readonly kind: 'resumed'; readonly runId: string }
}

function newJobs(packs: readonly string[], options: Options, { session, root, evaluation }: Scene): readonly Job[] {
  const { embedder = defaultEmbedder, explain, repeats = 1, seed = 1, filter, shard, notes, gitRef, runId } = options
  // Where the run is kept and how many cases are under way at once decide nothing about it.
  const given = Object.fromEntries(
    decided.map((name) => [name, options[name]]).filter(([, value]) => value !== undefined && value !== false),
  )
  return packs.map((pack) => {
    const directory = packDirectory(pack, { session, root, shipped: evaluation.packsDirectory })
    const { runner, benchmarkId, ablations = [] } = manifestOf(directory)
    if (options.ablations && ablations.length === 0) {
      throw new UsageError(
        `The pack ${benchmarkId} declares no ablations.`,
        'List in its manifest what it must fail without, such as "ablations": ["recall off"].',
      )
    }
    const system = (runner === 'learning' ? options.extractor : options.system) ?? null
    const run = { kind: 'new', runId, options: { repeats, seed, filter, shard, notes, gitRef }, given } as const
    return { directory, system, embedder, explain, run }
  })
}

/** The pack is found again where it was, and refused if it is no longer the same. */
function resumedJob(runId: string, { session, root, evaluation }: Scene): Job {
  const { settings } = optionsOf(root, runId)
  const { directory, system, ablation, embedder, explain } = settings
  const pack = typeof directory === 'string' && existsSync(directory) ? directory : String(settings.benchmarkId)
  return {
    directory: packDirectory(pack, { session, root, shipped: evaluation.packsDirectory }),
    system: typeof system === 'string' ? system : null,
    ...(typeof ablation === 'string' ? { ablation } : {}),
    embedder: typeof embedder === 'string' ? embedder : defaultEmbedder,
    explain: explain === true,
    run: { kind: 'resumed', runId },
  }
}

const kindsFor = ({ directory, embedder }: Job, { session }: Scene): Promise<readonly Kind[]> =>
  packKinds(session, { runner: manifestOf(directory).runner, embedder })

async function performed(job: Job, scene: Scene): Promise<Result> {
  const { directory, system, ablation, embedder, explain, run } = job
  const { root, session, evaluation, signal, jobs } = scene
  const kinds = await kindsFor(job, scene)
  const benchmark = await openBenchmark(directory, kinds, { system: system ?? undefined, explain, ablation })
  try {
    const { benchmarkId } = benchmark.manifest
    const role = ablation !== undefined ? 'ablation' : isControlName(benchmark.system.name) ? 'control' : undefined
    const resolved = run.kind === 'new' ? run.options : {}
    const settings = { ...resolved, benchmarkId, directory, system, ablation, embedder, explain }
    const context: RunContext = {
      root,
      now: () => new Date(),
      signal,
      jobs,
      surroundings: {
        given: run.kind === 'new' ? { ...run.given } : {},
        settings: withoutUndefined(settings),
        ...machine(session.workingDirectory()),
      },
      onProgress: (done, total) => evaluation.progress.show(`${benchmarkId}, ${benchmark.system.name}`, done, total),
    }
    const summary =
      run.kind === 'new'
        ? await runBenchmark(
            benchmark,
            run.runId ?? newRunId(benchmarkId, benchmark.system.name, new Date()),
            { ...run.options, role },
            context,
          )
        : await resumeBenchmark(benchmark, run.runId, context)
    return { summary, warnings: benchmark.warnings, ablation: null }
  } finally {
    evaluation.progress.clear()
    await benchmark.close()
  }
}

/** Runs a pack with each part switched off that it declares, and says whether the cases notice. */
async function performedAblations(job: Job, whole: Result, scene: Scene): Promise<readonly Result[]> {
  const { root, signal } = scene
  const manifest = manifestOf(job.directory)
  const place = { directory: job.directory, manifest }
  const { cases } = kindOf(place, await kindsFor(job, scene)).read(place)
  const wholeRecords = (await casesOf(root, whole.summary.runId)).records
  const results: Result[] = []
  for (const ablation of manifest.ablations ?? []) {
    if (signal.aborted || job.run.kind !== 'new') break
    const result = await performed({ ...job, ablation, run: { ...job.run, runId: undefined } }, scene)
    const { records } = await casesOf(root, result.summary.runId)
    results.push({ ...result, ablation: judgeAblation(ablation, cases, { whole: wholeRecords, without: records }) })
  }
  return results
}

const withoutUndefined = (values: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))

async function answerOf(
  results: readonly Result[],
  { root, isInterrupted }: { readonly root: string; readonly isInterrupted: boolean },
) {
  const measured = results.filter(({ ablation }) => ablation === null)
  const failures: string[] = []
  for (const { summary } of measured) failures.push(...(await failuresOf(root, summary.runId)))
  const ablations = results.flatMap(({ summary, ablation }) =>
    ablation === null ? [] : [{ benchmarkId: summary.benchmarkId, runId: summary.runId, ...ablation }],
  )
  const isFine =
    measured.every(({ summary }) => summary.status === 'completed' && summary.passedCases === summary.totalCases) &&
    ablations.every(({ problem }) => problem === null)
  const warnings = [...new Set(results.flatMap((result) => result.warnings))]
  const unfinished = results.filter(({ summary }) => summary.status === 'partial').map(({ summary }) => summary.runId)
  const runs = results.map(({ summary }) => summary)
  return {
    document: { ok: isFine && !isInterrupted, runs, warnings, ...(ablations.length === 0 ? {} : { ablations }) },
    text: (style: Style) => [runsText(runs, failures, style), ...ablationText(ablations, style)].join('\n'),
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
  const rows = runs.map((run) => {
    const { benchmarkId, system, status, passedCases, totalCases, errorCases = 0, latency, runId } = run
    return [
      benchmarkId,
      system?.name ?? '',
      status,
      `${passedCases}/${totalCases}${errorCases === 0 ? '' : `, ${errorCases} errors`}`,
      latency === undefined ? '' : `${latency.p50Ms.toFixed(2)} / ${latency.p95Ms.toFixed(2)} ms`,
      runId,
      isSaturated(run) ? saturated : '',
    ]
  })
  const table = columns([['benchmark', 'system', 'status', 'passed', 'p50 / p95', 'run', ''], ...rows], { indent: 0 })
  const shown = failures.slice(0, mostFailures).map((failure) => style.red(harmless(failure)))
  const more =
    failures.length > mostFailures ? [`and ${failures.length - mostFailures} more; see the case records`] : []
  return [harmless(table), ...(failures.length === 0 ? [] : ['', ...shown, ...more])].join('\n')
}

/** A pack that is passed whole can only show that nothing broke. */
const isSaturated = ({ status, passedCases, totalCases, filter, shard, role }: RunSummary): boolean =>
  status === 'completed' &&
  passedCases === totalCases &&
  filter === undefined &&
  shard === undefined &&
  role === undefined

function ablationText(
  ablations: readonly (AblationResult & { readonly benchmarkId: string })[],
  style: Style,
): readonly string[] {
  if (ablations.length === 0) return []
  const share = ({ passed, total }: Share): string => `${passed}/${total}`
  const rows = ablations.map(({ benchmarkId, ablation, whole, without, silent }) => [
    benchmarkId,
    ablation,
    share(whole),
    share(without),
    share(silent),
  ])
  const title = ['benchmark', 'ablation', 'all on', 'without', 'silence expected']
  const problems = ablations.flatMap(({ benchmarkId, problem }) =>
    problem === null ? [] : [style.red(`${benchmarkId}: ${problem}`)],
  )
  return ['', harmless(columns([title, ...rows], { indent: 0 })), ...problems]
}
