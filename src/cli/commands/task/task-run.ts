import { createHash } from 'node:crypto'
import { basename, dirname } from 'node:path'
import { z } from 'zod'
import { MemoryError } from '../../../errors.ts'
import { optionsOf, slug } from '../../../eval/run/run.ts'
import { runPacks } from '../../../eval/run/run-packs.ts'
import type { RunSummary } from '../../../eval/store/schemas/run.ts'
import { loadTasks } from '../../../tasks/parse/load-tasks.ts'
import { coverageOf, meanScores, type ReadTaskRun, readTaskRun } from '../../../tasks/report/read-task-run.ts'
import type { Task } from '../../../tasks/task.ts'
import { defaultPassAt, taskPack, taskRunner } from '../../../tasks/task-runner.ts'
import { defineCommand, exitCodes, UsageError, type ValuesOf } from '../../command/command.ts'
import { option, rest, share, text, texts, wholeNumber } from '../../command/options.ts'
import type { Session } from '../../session.ts'
import type { Style } from '../../text/output.ts'
import {
  evalStore,
  evalStoreOptions,
  fixedOptions,
  machineOf,
  refuseChanges,
  seedOption,
} from '../evaluate/benchmark-store.ts'
import { gradesText } from './task-text.ts'

export const judgeOptions = {
  judge: text(
    '<judge>',
    'The model that scores by rubric: openai:MODEL[@URL] or anthropic:MODEL[@URL]. Without one, rubrics are not applied.',
  ),
  passAt: share('<share>', 'The score that every graded part needs for a task to pass.', String(defaultPassAt)),
}

function readMultiplier(given: string): number {
  const number = Number(given.trim() || Number.NaN)
  if (number > 0 && number <= 100) return number
  throw new UsageError(`"${given}" is not a number above 0 and up to 100.`)
}

function readVariable(given: string): string {
  if (/^[A-Za-z_]\w*$/u.test(given)) return given
  // The error leaves out the text after `=`, which may be a key.
  const [name = ''] = given.split('=')
  throw new UsageError(
    given.includes('=') ? `"${name}=…" has a value.` : `"${given}" is not the name of a variable.`,
    'Give the name alone, such as MY_AGENT_KEY; the value is read from the environment.',
  )
}

const options = {
  agent: text('<agent>', 'The agent, such as reference, openai:MODEL or "command:my-agent {prompt}".'),
  passEnv: {
    ...texts('<name>', 'The name of an environment variable to pass to a command agent.'),
    read: (given: readonly string[]) => given.map(readVariable),
  },
  repeats: wholeNumber('How many times to run every task.', { min: 1, max: 1_000, default: 1 }),
  jobs: wholeNumber('How many tasks run in parallel. The result is the same.', { min: 1, max: 64, default: 1 }),
  seed: seedOption('The random seed for tasks that draw values.'),
  ...judgeOptions,
  timeoutMultiplier: option('<number>', 'Multiplies the time limit of every task.', readMultiplier, '1'),
  resume: text('<run>', 'Complete this run, with its original options.'),
  runId: text('<id>', 'The name of the run.'),
  notes: text('<text>', 'Stored with the run.'),
  ...evalStoreOptions,
}

export const taskRun = defineCommand({
  args: { tasks: rest('Task files, folders of them, ids, or names of packs.') },
  options,
  description:
    'A task has one or more sessions; one that is marked as new begins a new conversation. Transcripts and files are stored as evidence in the eval store and graded by the Python checks of the task in a sandbox, by its answer checks, and by a judge if --judge names one.',
  exitCodes: [exitCodes.failed, exitCodes.interrupted],
  examples: {
    'credence task run second-brain --agent reference': 'Runs one task with the agent that needs no model.',
    'credence task run ./tasks --agent openai:gpt-5 --judge anthropic:claude-haiku-4-5':
      'Runs a folder of tasks, judged by another model.',
  },
  async run({ args: { tasks }, options: given }, session) {
    const isResuming = given.resume !== undefined
    if (isResuming) refuseChanges(given)
    if (isResuming === tasks.length > 0) {
      throw new UsageError(
        isResuming ? '--resume takes no tasks; it uses the tasks of the run.' : 'No task is given.',
        isResuming ? 'Leave out the tasks.' : 'Give a file, an id or a pack; `credence task list` lists them.',
      )
    }
    if (!isResuming && given.agent === undefined) {
      throw new UsageError('--agent is missing.', 'Name the agent, such as --agent reference.')
    }
    const { root } = evalStore(session, given)
    const { signal, release } = session.program.interruption()
    try {
      const summary = await performTasks(tasks, given, { session, root, signal })
      const whole = await readTaskRun(root, summary.runId)
      return answerOf(whole, root, signal.aborted)
    } finally {
      release()
    }
  },
})

/** All settings of a run of tasks. Stored with the run, so that it can be resumed. */
const TaskRequest = z.object({
  kind: z.literal('tasks'),
  /** Files, folders, ids or packs. */
  tasks: z.array(z.string()).min(1),
  agent: z.string(),
  /** Names of environment variables to pass to the agent. */
  passEnv: z.array(z.string()).default([]),
  judge: z.string().nullable().default(null),
  repeats: z.int().default(1),
  seed: z.int().default(1),
  timeoutMultiplier: z.number().default(1),
  passAt: z.number().default(defaultPassAt),
})

function readTaskRequest(root: string, runId: string): z.infer<typeof TaskRequest> {
  const request = TaskRequest.safeParse(optionsOf(root, runId).settings)
  if (request.success) return request.data
  throw new MemoryError('invalid', `The run "${runId}" is not a run of tasks.`, {
    hint: 'Other runs are resumed by `credence benchmark run --resume`.',
  })
}

/** Starts a run of tasks, or continues an interrupted run. */
async function performTasks(
  paths: readonly string[],
  given: ValuesOf<typeof options>,
  { session, root, signal }: { readonly session: Session; readonly root: string; readonly signal: AbortSignal },
): Promise<RunSummary> {
  const request =
    given.resume === undefined
      ? TaskRequest.parse({ kind: 'tasks', tasks: paths, ...fixedOptions(given) })
      : readTaskRequest(root, given.resume)
  const work = await session.taskWork()
  const tasks = loadTasks(request.tasks, work.taskPlaces)
  const graders = await work.graders(request.judge)
  const { agent, passEnv, repeats, seed, timeoutMultiplier, passAt } = request
  const { searchPath, temporary, progress } = work
  const now = (): Date => new Date()
  let done = 0
  const show = (label: string): void => progress.show(label, done, tasks.length * repeats)
  const runner = taskRunner({
    agent: (spec) => work.agent(spec, passEnv),
    graders: async () => graders,
    passAt,
    now,
    timeoutMultiplier,
    searchPath,
    temporary,
    onBegin: (task) => show(`${agent}: ${task.id}`),
  })
  const pack = taskPack(runner, benchmarkIdOf(tasks), tasks)
  try {
    const [result] = await runPacks([pack], [agent], {
      root,
      now,
      signal,
      jobs: given.jobs ?? 1,
      repeats,
      seed,
      notes: given.notes,
      runId: given.runId,
      resume: given.resume,
      environment: () => ({
        given: { ...(paths.length === 0 ? {} : { tasks: paths }), ...fixedOptions(given) },
        settings: { ...request, sandbox: graders.sandbox.state },
        ...machineOf(session.places.workingDirectory()),
      }),
      onProgress: (_, count) => {
        done = count
        show(agent)
      },
    })
    if (result === undefined) throw signal.reason
    return result.summary
  } finally {
    progress.clear()
  }
}

/** The benchmark id, made from the task if there is only one, else from the folder if all are in one, else from their ids. */
function benchmarkIdOf(tasks: readonly Task[]): string {
  const [first] = tasks
  if (first === undefined)
    throw new MemoryError('invalid', 'There are no tasks to run.', { hint: 'See `credence task list`.' })
  if (tasks.length === 1) return `tasks-${slug(first.id, 100)}`
  const [folder = '', ...others] = new Set(tasks.map(({ file }) => dirname(file)))
  const digest = createHash('sha256')
    .update(tasks.map(({ id }) => id).join('\n'))
    .digest('hex')
  return others.length === 0
    ? `tasks-${slug(basename(folder), 80)}-${tasks.length}-${digest.slice(0, 4)}`
    : `tasks-${digest.slice(0, 8)}`
}

/** The JSON fields that all commands for task runs share. */
export const taskRunDocument = ({ run, tasks }: ReadTaskRun) => {
  const grades = tasks.map(({ grade }) => grade)
  return {
    runId: run.runId,
    run,
    means: meanScores(grades),
    coverage: coverageOf(grades),
    tasks: tasks.map(({ grade, evidence, record }) => ({
      ...grade,
      verdict: record.verdict,
      // Omits prompts and transcripts, which are long and stored in the evidence.
      sessions: evidence.sessions.map(({ index, prompt, transcript, usage, ...shown }) => shown),
      usage: evidence.usage,
    })),
  }
}

function answerOf(whole: ReadTaskRun, root: string, isInterrupted: boolean) {
  const { status, passedCases, totalCases, runId } = whole.run
  const grades = whole.tasks.map(({ grade }) => ({ before: null, after: grade }))
  const isFine = status === 'completed' && passedCases === totalCases
  return {
    document: { ok: isFine && !isInterrupted, ...taskRunDocument(whole), store: root },
    text: (style: Style) => [gradesText(grades, style), `run       ${runId}`, `store     ${root}`].join('\n'),
    notes: status === 'partial' ? [`Complete it with \`credence task run --resume ${runId}\`.`] : [],
    exitCode: isInterrupted ? exitCodes.interrupted : isFine ? exitCodes.fine : exitCodes.failed,
  }
}
