import { join } from 'node:path'
import { runFolder } from '../../../eval/store/layout.ts'
import { asJson, writeAtomically } from '../../../files/atomic-write.ts'
import { coverageOf, meanScores } from '../../../tasks/report/coverage.ts'
import { pinchbenchResult } from '../../../tasks/report/pinchbench-result.ts'
import { readTaskRun } from '../../../tasks/report/read-task-run.ts'
import { defaultPassAt } from '../../../tasks/task-benchmark.ts'
import { defineCommand, flag, option, rest, text, texts, wholeNumber } from '../../command.ts'
import { exitCodes } from '../../exit-codes.ts'
import type { Style } from '../../output.ts'
import { refuseChanges } from '../../resumed-run.ts'
import { UsageError } from '../../usage-error.ts'
import { evalStore, storeOptions } from '../evaluate/benchmark-store.ts'
import { type ControlResult, controlsText, liftOf, performControls } from './task-controls.ts'
import { type DoneJob, performTasks, requestOf, sandboxFor, type TaskRequest } from './task-job.ts'
import { gradesText } from './task-text.ts'

export const judgeOptions = {
  judge: text(
    '<judge>',
    'Who scores by rubric: openai:MODEL[@URL] or anthropic:MODEL[@URL]. Without one, nobody does.',
  ),
  votes: wholeNumber('How often the judge is asked about each task.', { min: 1, max: 25, default: 1 }),
  unsafeGraders: flag('Run Python graders even where they cannot be kept from the rest of the machine.'),
  passAt: {
    ...option('<share>', 'What every graded part must reach for a task to pass.', readShare),
    default: String(defaultPassAt),
  },
}

function readShare(given: string): number {
  const number = /^\d*\.?\d+$/u.test(given) ? Number(given) : Number.NaN
  if (number >= 0 && number <= 1) return number
  throw new UsageError(`"${given}" is not a number from 0 to 1.`)
}

function readMultiplier(given: string): number {
  const number = /^\d*\.?\d+$/u.test(given) ? Number(given) : Number.NaN
  if (number > 0 && number <= 100) return number
  throw new UsageError(`"${given}" is not a number above 0 and up to 100.`)
}

function readVariable(given: string): string {
  if (/^[A-Za-z_]\w*$/u.test(given)) return given
  // What follows the sign may be a key.
  const [name = ''] = given.split('=')
  throw new UsageError(
    given.includes('=') ? `"${name}=…" has a value.` : `"${given}" is not the name of a variable.`,
    'Give the name alone, such as MY_AGENT_KEY; the value is read from the environment.',
  )
}

const options = {
  agent: text('<agent>', 'Who does the work, such as reference, openai:MODEL or "command:my-agent {prompt}".'),
  passEnv: {
    ...texts('<name>', 'A variable of the environment that the agent gets, where it is a program. Its name alone.'),
    read: (given: readonly string[]) => given.map(readVariable),
  },
  repeats: wholeNumber('How often every task is carried out.', { min: 1, max: 1_000, default: 1 }),
  jobs: wholeNumber('How many tasks are carried out at once. The result is the same.', { min: 1, max: 64, default: 1 }),
  seed: wholeNumber('Decides what tasks that draw their facts draw.', { min: 0, max: 2 ** 31, default: 1 }),
  ...judgeOptions,
  controls: flag('Run the same without memory, without doing anything and knowing all answers, and compare.'),
  timeoutMultiplier: {
    ...option('<number>', 'Multiplies the time every task gives.', readMultiplier),
    default: '1',
  },
  strictUpstream: flag('Read task files exactly as the original runner does.'),
  resume: text('<run>', 'Complete this run instead, as it was begun.'),
  runId: text('<id>', 'The name of the run.'),
  notes: text('<text>', 'Kept with the run.'),
  ...storeOptions,
}

export const taskRun = defineCommand({
  args: { tasks: rest('Task files, folders of them, ids, or names of packs.') },
  options,
  description:
    'Every session is a conversation of its own where the task says so. All that happened is kept as evidence in the eval store, and graded: by the Python checks of the task in a sandbox, by our own checks of every answer, and by a judge where one is named.',
  exitCodes: [exitCodes.failed, exitCodes.interrupted],
  examples: [
    {
      command: 'credence task run second-brain --agent reference',
      effect: 'Runs one task with the agent that needs no model.',
    },
    {
      command: 'credence task run ./tasks --agent openai:gpt-5 --judge anthropic:claude-haiku-4-5',
      effect: 'Runs a folder of tasks, judged by another model.',
    },
    {
      command: 'credence task run second-brain --agent reference --controls',
      effect: 'Shows what the memory is worth.',
    },
  ],
  async run({ args: { tasks }, options: given }, session) {
    const isResuming = given.resume !== undefined
    if (isResuming) refuseChanges(given, decided)
    if (isResuming === tasks.length > 0) {
      throw new UsageError(
        isResuming ? '--resume names the run, and with it the tasks.' : 'No task is given.',
        isResuming ? 'Leave out the tasks.' : 'Give a file, an id or a pack; `credence task list` lists them.',
      )
    }
    if (!isResuming && given.agent === undefined) {
      throw new UsageError('--agent is missing.', 'Name who does the work, such as --agent reference.')
    }
    const { root } = evalStore(session, given)
    const request = given.resume === undefined ? requestFrom(tasks, given) : requestOf(root, given.resume)
    const [work, evaluation] = [await session.taskWork(), await session.evaluation()]
    const sandbox = await sandboxFor(request)
    const { signal, release } = session.interruption()
    try {
      const scene = { session, root, work, evaluation, signal, sandbox, jobs: given.jobs ?? 1 }
      const run =
        given.resume === undefined
          ? ({
              kind: 'new',
              runId: given.runId,
              notes: given.notes,
              given: withoutUndefined({ tasks, ...given }),
            } as const)
          : ({ kind: 'resumed', runId: given.resume } as const)
      const job = await performTasks(request, run, scene)
      const whole = await readTaskRun(root, job.summary.runId)
      const done = { ...job, grades: whole.tasks.map(({ grade }) => grade) }
      await keepResult(root, whole)
      const controls = given.controls && !signal.aborted ? await performControls(request, done, scene) : []
      return answerOf(done, controls, { root, isInterrupted: signal.aborted, evidence: whole })
    } finally {
      evaluation.progress.clear()
      release()
    }
  },
})

/** What is decided when a run begins. */
const decided = [
  'agent',
  'passEnv',
  'repeats',
  'seed',
  'judge',
  'votes',
  'unsafeGraders',
  'passAt',
  'timeoutMultiplier',
  'strictUpstream',
  'runId',
  'notes',
] as const satisfies (keyof typeof options)[]

type Given = {
  readonly agent: string | undefined
  readonly passEnv: readonly string[]
  readonly judge: string | undefined
  readonly votes: number | undefined
  readonly repeats: number | undefined
  readonly seed: number | undefined
  readonly timeoutMultiplier: number | undefined
  readonly passAt: number | undefined
  readonly unsafeGraders: boolean
  readonly strictUpstream: boolean
}

const requestFrom = (tasks: readonly string[], given: Given): TaskRequest => ({
  tasks,
  agent: given.agent ?? '',
  passEnv: given.passEnv,
  control: 'none',
  judge: given.judge ?? null,
  votes: given.votes ?? 1,
  repeats: given.repeats ?? 1,
  seed: given.seed ?? 1,
  timeoutMultiplier: given.timeoutMultiplier ?? 1,
  passAt: given.passAt ?? defaultPassAt,
  unsafeGraders: given.unsafeGraders,
  strictUpstream: given.strictUpstream,
})

const withoutUndefined = (values: object): object =>
  Object.fromEntries(
    Object.entries(values).filter(
      ([, value]) => value !== undefined && value !== false && !(Array.isArray(value) && value.length === 0),
    ),
  )

type Whole = Awaited<ReturnType<typeof readTaskRun>>

/** The result in the form of the original runner, beside our own. */
export async function keepResult(root: string, { run, tasks }: Whole): Promise<string> {
  const file = join(runFolder(root, run.runId), 'pinchbench.json')
  const byTask = [...Map.groupBy(tasks, ({ task }) => task.id).values()].flatMap((repeats) => {
    const [first] = repeats
    return first === undefined ? [] : [{ task: first.task, repeats }]
  })
  await writeAtomically(file, asJson(pinchbenchResult(run, byTask)), { existing: 'replace' })
  return file
}

/** What `--json` says about each task. */
export const taskDocuments = ({ tasks }: Whole) =>
  tasks.map(({ grade, evidence, record }) => ({
    ...grade,
    verdict: record.verdict,
    // Prompts and transcripts are long, and lie in the evidence.
    sessions: evidence.sessions.map(({ index, prompt, transcript, usage, deadlineMs, ...shown }) => shown),
    usage: evidence.usage,
  }))

function answerOf(
  { summary, grades }: DoneJob,
  controls: readonly ControlResult[],
  {
    root,
    isInterrupted,
    evidence,
  }: { readonly root: string; readonly isInterrupted: boolean; readonly evidence: Whole },
) {
  const { status, passedCases, totalCases, runId } = summary
  const holds = controls.every(({ problem }) => problem === null)
  const isFine = status === 'completed' && passedCases === totalCases && holds
  return {
    document: {
      ok: isFine && !isInterrupted,
      runId,
      run: summary,
      means: meanScores(grades),
      coverage: coverageOf(grades),
      tasks: taskDocuments(evidence),
      store: root,
      result: join(runFolder(root, runId), 'pinchbench.json'),
      ...(controls.length === 0 ? {} : { controls, lift: liftOf(controls) }),
    },
    text: (style: Style) =>
      [
        gradesText(grades, style),
        `run        ${runId}`,
        `store      ${root}`,
        ...(controls.length === 0 ? [] : ['', controlsText(controls, style)]),
      ].join('\n'),
    notes: status === 'partial' ? [`Complete it with \`credence task run --resume ${runId}\`.`] : [],
    exitCode: isInterrupted ? exitCodes.interrupted : isFine ? exitCodes.fine : exitCodes.failed,
  }
}
