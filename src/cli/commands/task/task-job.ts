import { createHash } from 'node:crypto'
import { basename, dirname, join } from 'node:path'
import { MemoryError } from '../../../errors.ts'
import { optionsOf, type RunContext, resumeBenchmark, runBenchmark } from '../../../eval/run/run.ts'
import { newRunId, slug } from '../../../eval/run/run-id.ts'
import { runFolder } from '../../../eval/store/layout.ts'
import type { RunSummary } from '../../../eval/store/schemas/run.ts'
import { parseModelSpec } from '../../../models/model-spec.ts'
import type { Agent } from '../../../tasks/agent.ts'
import type { Control } from '../../../tasks/evidence.ts'
import { findPython, openSandbox, type Sandbox } from '../../../tasks/grade/sandbox.ts'
import type { TaskGrade } from '../../../tasks/grade/task-grade.ts'
import type { Judge } from '../../../tasks/judge/judge.ts'
import { byAgent } from '../../../tasks/obtain-evidence.ts'
import { oracleFor } from '../../../tasks/oracle.ts'
import { loadTasks } from '../../../tasks/parse/load-tasks.ts'
import type { Task } from '../../../tasks/task.ts'
import { defaultPassAt, taskBenchmark } from '../../../tasks/task-benchmark.ts'
import { isDeterministic } from '../../../tasks/task-kind.ts'
import type { Evaluation } from '../../evaluation.ts'
import type { Session } from '../../session.ts'
import type { TaskWork } from '../../task-work.ts'
import { machine } from '../evaluate/benchmark-surroundings.ts'
import { taskPlaces } from './task-places.ts'

/** Everything that decides what a run of tasks does. Kept with the run, so that it can be resumed. */
export type TaskRequest = {
  /** Files, folders, ids or packs. */
  readonly tasks: readonly string[]
  readonly agent: string
  /** Names of variables of the environment that the agent gets. */
  readonly passEnv: readonly string[]
  readonly control: Control
  readonly judge: string | null
  readonly votes: number
  readonly repeats: number
  readonly seed: number
  readonly timeoutMultiplier: number
  readonly passAt: number
  readonly unsafeGraders: boolean
  readonly strictUpstream: boolean
}

export type TaskScene = {
  readonly session: Session
  readonly root: string
  readonly work: TaskWork
  readonly evaluation: Evaluation
  readonly signal: AbortSignal
  readonly sandbox: Sandbox
  /** How many tasks are carried out at once. */
  readonly jobs: number
}

export type DoneJob = { readonly summary: RunSummary; readonly grades: readonly TaskGrade[] }

/** `oracle` is no agent that can be named: it is told what the checks look for. */
export const oracleName = 'oracle'

/** The sandbox is looked for once, whatever is run in it. */
export async function sandboxFor({ unsafeGraders }: Pick<TaskRequest, 'unsafeGraders'>): Promise<Sandbox> {
  return openSandbox({ python: await findPython(), allowUnsafe: unsafeGraders })
}

/** Runs tasks from their beginning, or what is left of a run that was interrupted. */
export async function performTasks(
  request: TaskRequest,
  run:
    | {
        readonly kind: 'new'
        readonly runId?: string | undefined
        readonly notes?: string | undefined
        readonly given: object
      }
    | { readonly kind: 'resumed'; readonly runId: string },
  scene: TaskScene,
): Promise<DoneJob> {
  const { session, root, work, evaluation, signal, sandbox, jobs } = scene
  const tasks = loadTasks(request.tasks, await taskPlaces(session), { strictUpstream: request.strictUpstream })
  const agent = request.agent === oracleName ? null : await work.agent(request.agent, request.passEnv)
  const system = systemOf(agent, request.control)
  const benchmarkId = benchmarkIdOf(tasks)
  const runId = run.runId ?? newRunId(benchmarkId, system.name, new Date())
  const judge = await judgeFor(request, scene)
  const grades: TaskGrade[] = []
  const total = tasks.length * request.repeats
  const benchmark = taskBenchmark({
    benchmarkId,
    tasks,
    system,
    isDeterministic: agent === null || isDeterministic(agent),
    obtain: byAgent({
      agentFor: (task) => agent ?? oracleFor(task),
      control: request.control,
      runFolder: runFolder(root, runId),
      now: () => new Date(),
      timeoutMultiplier: request.timeoutMultiplier,
      places: work.places,
      temporary: work.temporary,
    }),
    graders: { sandbox, judge },
    passAt: request.passAt,
    now: () => new Date(),
    onGrade: (grade) => grades.push(grade),
    onBegin: (task) => evaluation.progress.show(`${system.name}: ${task.id}`, grades.length, total),
  })
  const context: RunContext = {
    root,
    now: () => new Date(),
    signal,
    jobs,
    surroundings: {
      given: run.kind === 'new' ? { ...run.given } : {},
      settings: {
        kind: 'tasks',
        ...request,
        sandbox: sandbox.state === 'ready' ? sandbox.confinement.isolation : 'none',
      },
      ...machine(session.workingDirectory()),
    },
    onProgress: (done) => evaluation.progress.show(system.name, done, total),
  }
  const { repeats, seed } = request
  try {
    const summary =
      run.kind === 'new'
        ? await runBenchmark(benchmark, runId, { repeats, seed, notes: run.notes }, context)
        : await resumeBenchmark(benchmark, runId, context)
    return { summary, grades }
  } finally {
    evaluation.progress.clear()
  }
}

/** What an interrupted run was begun with. */
export function requestOf(root: string, runId: string): TaskRequest {
  const { settings } = optionsOf(root, runId)
  if (settings.kind !== 'tasks' || !Array.isArray(settings.tasks)) {
    throw new MemoryError('invalid', `The run "${runId}" is not a run of tasks.`, {
      hint: 'Other runs are resumed by `credence benchmark run --resume`.',
    })
  }
  const text = (name: string): string | null => (typeof settings[name] === 'string' ? settings[name] : null)
  const number = (name: string, otherwise: number): number =>
    typeof settings[name] === 'number' ? settings[name] : otherwise
  return {
    tasks: settings.tasks.map(String),
    agent: text('agent') ?? '',
    passEnv: Array.isArray(settings.passEnv) ? settings.passEnv.map(String) : [],
    control: settings.control === 'no-memory' ? 'no-memory' : 'none',
    judge: text('judge'),
    votes: number('votes', 1),
    repeats: number('repeats', 1),
    seed: number('seed', 1),
    timeoutMultiplier: number('timeoutMultiplier', 1),
    passAt: number('passAt', defaultPassAt),
    unsafeGraders: settings.unsafeGraders === true,
    strictUpstream: settings.strictUpstream === true,
  }
}

export async function judgeFor(
  { judge, votes }: Pick<TaskRequest, 'judge' | 'votes'>,
  { work, root }: Pick<TaskScene, 'work' | 'root'>,
): Promise<Judge | null> {
  if (judge === null) return null
  return {
    model: await work.judgeModel(judge),
    endpoint: parseModelSpec(judge).url,
    votes,
    cacheFolder: join(root, 'judge-cache'),
  }
}

const systemOf = (agent: Agent | null, control: Control): { readonly name: string; readonly version: string } => {
  const name = agent === null ? oracleName : agent.model === null ? agent.name : `${agent.name}:${agent.model}`
  return { name: control === 'none' ? name : `${name} (${control})`, version: agent?.version ?? '1' }
}

/** Named after the task or the folder of all of them; else after what they are. */
export function benchmarkIdOf(tasks: readonly Task[]): string {
  const [first] = tasks
  if (first === undefined)
    throw new MemoryError('invalid', 'There are no tasks to run.', { hint: 'See `credence task list`.' })
  if (tasks.length === 1) return `tasks-${slug(first.id, 100)}`
  const folders = new Set(tasks.map(({ file }) => dirname(file)))
  const [folder = ''] = folders
  const digest = createHash('sha256')
    .update(tasks.map(({ id }) => id).join('\n'))
    .digest('hex')
    .slice(0, 8)
  return folders.size === 1
    ? `tasks-${slug(basename(folder), 80)}-${tasks.length}-${digest.slice(0, 4)}`
    : `tasks-${digest}`
}
