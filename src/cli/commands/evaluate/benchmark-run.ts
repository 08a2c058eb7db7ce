import { createWriteStream, existsSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { didYouMean } from '../../../did-you-mean.ts'
import { manifestOf, packsById } from '../../../eval/pack/manifest.ts'
import { optionsOf } from '../../../eval/run/run.ts'
import { type RunRequest, run } from '../../../eval/run/run-packs.ts'
import { rankingsSystem } from '../../../eval/runners/conversation/rankings.ts'
import { type PackPlace, readPackFolder } from '../../../eval/runners/runner.ts'
import { casesOf } from '../../../eval/store/case-log.ts'
import { manifestName, requireRun, treePath } from '../../../eval/store/documents.ts'
import { redTeamControls, turnBaselines, turnSystemNames } from '../../../eval/system/system.ts'
import { doorOf, isOutsideName, outsideForms, systemForms } from '../../../eval/system/systems.ts'
import { defaultEmbedder } from '../../../memory/meaning/open-embedder.ts'
import { omitUndefined } from '../../../omit-undefined.ts'
import { defineCommand, exitCodes, UsageError, type ValuesOf } from '../../command/command.ts'
import { extractorForms, flag, one, rest, text, wholeNumber } from '../../command/options.ts'
import { type Evaluation, packRunners } from '../../evaluation.ts'
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
function packDirectory(given: string, { session, root, evaluation }: PackSearch): string {
  const path = resolve(session.places.workingDirectory(), given)
  const known = packsIn(root, evaluation.packsDirectory)
  const found = known.get(given) ?? (existsSync(join(path, manifestName)) ? path : undefined)
  if (found !== undefined) return found
  if (statSync(path, { throwIfNoEntry: false })?.isFile())
    throw new UsageError(`${given} is a file.`, 'Give the folder of the pack.')
  const ids = [...known.keys()]
  const meant = didYouMean(given, ids)
  throw new UsageError(
    `There is no pack "${given}".`,
    meant === undefined ? `Give a folder with a manifest.json, or one of ${listShort(ids)}.` : `Did you mean ${meant}?`,
  )
}

/** The ids for a hint; the many packs of attacks by the one name that runs them all. */
const listShort = (ids: readonly string[]): string =>
  [...new Set(ids.map((id) => id.replace(/^red-team-.*/u, 'red-team-*')))].join(', ')

/** The folders of the packs by id. A pack in the store hides a shipped one. */
function packsIn(root: string, shipped: string): ReadonlyMap<string, string> {
  const own = treePath(root, 'benchmarks')
  return new Map([...packsById(shipped), ...(existsSync(own) ? packsById(own) : [])])
}

/** The ids that begin like a name with a star at its end; else the name as it is. */
function namedBy(given: string, { root, evaluation }: RunSetup): readonly string[] {
  if (!given.endsWith('*')) return [given]
  const ids = [...packsIn(root, evaluation.packsDirectory).keys()]
  const named = ids.filter((id) => id.startsWith(given.slice(0, -1)))
  if (named.length > 0) return named
  throw new UsageError(`No pack is called "${given}".`, `There are ${listShort(ids)}.`)
}

const options = {
  system: text(
    '<name>',
    `The system under test. A memory: ${systemForms}. For tasks: an agent. For conversations: ${[...turnSystemNames, ...outsideForms].join(', ')}. For attacks: credence, ${redTeamControls.join(', ')}.`,
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
    return runJobs({ root, session, jobs: given.jobs ?? 1 }, (setup) =>
      given.resume === undefined
        ? newJobs(
            packs.flatMap((pack) => namedBy(pack, setup)),
            given,
            setup,
          )
        : [resumedJob(given.resume, setup)],
    )
  },
})

export const benchmarkScore = defineCommand({
  args: { suite: one('A conversation pack: its folder, or its id.') },
  options: {
    rankings: text('<file>', 'JSON Lines: for each question the ids of sessions or turns, best first. Required.'),
    ...{ data: options.data, notes: options.notes, gitRef: options.gitRef, runId: options.runId },
    ...evalStoreOptions,
  },
  description:
    'Scores the answers of any memory without running it, and stores a run like every other. A file with an unknown or repeated id, a missing question or a field for labels is refused.',
  exitCodes: [exitCodes.failed, exitCodes.interrupted],
  examples: {
    'credence benchmark score longmemeval --data longmemeval_s.json --rankings theirs.jsonl':
      'Prints the same table as a run of the suite.',
    'credence benchmark score locomo --rankings theirs.jsonl': 'Scores rankings of the sample of the pack.',
  },
  async run({ args: { suite }, options: given }, session) {
    const { root } = evalStore(session, given)
    if (given.rankings === undefined)
      throw new UsageError(
        'No rankings are given.',
        'Give the file with --rankings; docs/evaluation.md has its format.',
      )
    const file = resolve(session.places.workingDirectory(), given.rankings)
    const asked = { ...noRunOptions, ...given, system: rankingsSystem(file) }
    return runJobs({ root, session, jobs: 1 }, (setup) => {
      const { runner, benchmarkId } = manifestOf(packDirectory(suite, setup))
      if (runner !== 'conversation')
        throw new UsageError(`${benchmarkId} is not a conversation pack.`, 'Rankings are scored on conversations only.')
      return newJobs([suite], asked, setup)
    })
  },
})

export const benchmarkExport = defineCommand({
  args: { suite: one('A conversation pack: its folder, or its id.') },
  options: {
    out: text('<file>', 'The file to write, in JSON Lines. Required.'),
    run: text('<run>', 'Write the rankings of this run, in the format of `benchmark score`, instead of the documents.'),
    ...{ data: options.data, ...evalStoreOptions },
  },
  description:
    'Writes the conversations and questions of a suite with neutral ids and without labels, for a memory that is run elsewhere.',
  examples: {
    'credence benchmark export longmemeval --data longmemeval_s.json --out documents.jsonl':
      'Writes one line per conversation: turns and questions.',
    'credence benchmark export longmemeval --run 20260306-100000-longmemeval-credence-1a2b --out rankings.jsonl':
      'Writes what a run found, for `benchmark score`.',
  },
  async run({ args: { suite }, options: given }, session) {
    const { root } = evalStore(session, given)
    if (given.out === undefined) throw new UsageError('No file to write is given.', 'Name it with --out.')
    const setup = { root, session, evaluation: await session.evaluation() }
    const directory = packDirectory(suite, setup)
    const manifest = manifestOf(directory)
    const out = resolve(session.places.workingDirectory(), given.out)
    const data = given.data === undefined ? undefined : resolve(session.places.workingDirectory(), given.data)
    const lines = given.run === undefined ? documentLines({ directory, manifest }, data) : rankingLines(root, given.run)
    const count = await writeLines(out, lines)
    return { document: { ok: true, file: out, lines: count }, text: () => `${count} lines written to ${given.out}.` }
  },
})

/** The options of `benchmark run` that `benchmark score` does not have. */
const noRunOptions = {
  ...{ extractor: undefined, repeats: 1, seed: 1, filter: undefined, jobs: 1, ablations: false, explain: false },
  ...{ resume: undefined, embedder: undefined },
}

async function* documentLines(place: PackPlace, data: string | undefined): AsyncGenerator<object> {
  const { conversationsOf } = await import('../../../eval/runners/conversation/conversation-runner.ts')
  for (const { id: conversation, turns, questions } of conversationsOf(place, data))
    yield { conversation, turns, questions: questions.map(({ id, text, askedAt }) => ({ id, text, askedAt })) }
}

async function* rankingLines(root: string, runId: string): AsyncGenerator<object> {
  const { records } = await casesOf(root, requireRun(root, runId).runId)
  for (const { caseId, repeat, ranking } of records) {
    if (repeat > 0) continue
    if (typeof ranking !== 'object' || ranking === null)
      throw new UsageError(`The run ${runId} has no ranking for ${caseId}.`, 'Run the suite again with this version.')
    yield ranking
  }
}

async function writeLines(file: string, lines: AsyncIterable<object>): Promise<number> {
  let count = 0
  const texts = async function* () {
    for await (const line of lines) {
      count += 1
      yield `${JSON.stringify(line)}\n`
    }
  }
  await pipeline(texts, createWriteStream(file))
  return count
}

/** Runs the jobs of a command one after the other, and answers with their figures. */
async function runJobs(
  { root, session, jobs }: Pick<RunSetup, 'root' | 'session' | 'jobs'>,
  jobsOf: (setup: RunSetup) => readonly Job[],
) {
  const evaluation = await session.evaluation()
  const { signal } = session.program.interruption()
  try {
    const setup = { root, session, evaluation, signal, jobs }
    const results: RunResult[] = []
    for (const job of jobsOf(setup)) results.push(...(await runJob(job, setup)))
    return await answerOf(results, root, signal.aborted)
  } finally {
    evaluation.progress.clear()
  }
}

/** Where packs are looked for. */
type PackSearch = { readonly root: string; readonly session: Session; readonly evaluation: Evaluation }

type RunSetup = PackSearch & {
  readonly signal: AbortSignal
  readonly jobs: number
}

type Job = Omit<RunRequest, 'root' | 'now' | 'signal' | 'jobs' | 'environment' | 'onProgress'> & {
  readonly directory: string
  /** Null for the default of the pack. */
  readonly system: string | null
  readonly embedder: string
  readonly data: string | undefined
  /** Run with the system that is measured, to compare with. */
  readonly isBaseline: boolean
  /** The options as they were given. */
  readonly given: Record<string, unknown>
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
    const run = { runId, repeats, seed, filter, notes, gitRef, explain, ablations: asked.ablations }
    if (data !== undefined && runner !== 'conversation')
      throw new UsageError(`The pack ${benchmarkId} takes no --data.`, 'Its cases are in its folder.')
    const job = { directory, system, embedder, data, isBaseline: false, given, ...run }
    const isAlone = system !== null && !isOutsideName(system)
    if (runner !== 'conversation' || isAlone || runId !== undefined) return [job]
    const baseline = { ...job, ablations: false, isBaseline: true }
    return [job, ...turnBaselines(suite).map((name) => ({ ...baseline, system: name }))]
  })
}

/** Finds the pack at its old place; the run refuses a changed pack. */
function resumedJob(runId: string, setup: RunSetup): Job {
  const { settings } = optionsOf(setup.root, runId)
  const { directory, system, ablation, embedder, explain, data } = settings
  const pack = typeof directory === 'string' && existsSync(directory) ? directory : String(settings.benchmarkId)
  return {
    directory: packDirectory(pack, setup),
    system: typeof system === 'string' ? system : null,
    ablation: typeof ablation === 'string' ? ablation : undefined,
    embedder: typeof embedder === 'string' ? embedder : defaultEmbedder,
    explain: explain === true,
    data: typeof data === 'string' ? data : undefined,
    isBaseline: false,
    given: {},
    resume: runId,
    repeats: 1,
    seed: 1,
  }
}

async function runJob(job: Job, { root, session, evaluation, signal, jobs }: RunSetup): Promise<readonly RunResult[]> {
  const { directory, system, embedder, data, isBaseline, given, ...request } = job
  const { repeats, seed, filter, notes, gitRef, explain } = request
  const runners = await packRunners(session, manifestOf(directory).runner, embedder, data)
  const pack = await readPackFolder(directory, runners)
  const { benchmarkId } = pack.manifest
  const results = await run([pack], [system ?? undefined], {
    ...request,
    root,
    now: () => new Date(),
    signal,
    jobs,
    environment: ({ ablation }) => ({
      given,
      settings: omitUndefined({
        repeats,
        seed,
        filter,
        notes,
        gitRef,
        benchmarkId,
        directory,
        system,
        ablation,
        embedder,
        explain,
        data,
      }),
      ...machine(session.places.workingDirectory()),
    }),
    onProgress: (label, done, total) => evaluation.progress.show(label, done, total),
  })
  const door = doorOf(system, manifestOf(directory).runner)
  return results.map(({ summary, ablation }) => ({
    ...{ summary, ablation, directory, warnings: pack.warnings, isBaseline, door },
  }))
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
