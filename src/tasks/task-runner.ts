import { refuseUnlike, sha256 } from '../eval/pack/manifest.ts'
import type { PackWithSystem } from '../eval/run/run.ts'
import { defineRunner, type PackPlace, type RunnablePack } from '../eval/runners/runner.ts'
import type { MetricDeclaration } from '../eval/store/schemas/primitives.ts'
import { canonicalJson } from '../json.ts'
import type { Agent } from './agent.ts'
import type { Control } from './evidence.ts'
import { type Graders, gradingVersion } from './grade/task-grade.ts'
import type { Judge } from './judge/judge.ts'
import { loadTasks } from './parse/load-tasks.ts'
import type { Task } from './task.ts'
import { executeTasks, obtainByAgent, obtainFromRun, type TaskWorkParts, type Workers } from './task-outcomes.ts'

/** A task passes if every graded part scores at least this. */
export const defaultPassAt = 0.9

type TaskRunnerParts = Omit<Workers, 'agent' | 'control' | 'runFolder'> &
  Pick<TaskWorkParts, 'onBegin'> & {
    /** `isForgetful`: the same agent, but its memory returns nothing for every recall and search. */
    readonly agent: (spec: string, options: { readonly isForgetful: boolean }) => Promise<Agent>
    readonly graders: () => Promise<Graders>
    /** Default `defaultPassAt`. */
    readonly passAt?: number
    /** The folder of a run whose evidence is graded again; no agent works then. */
    readonly regraded?: string
  }

/** The runner for packs of tasks: a case is a task, and the system is the agent. */
export const taskRunner = (given: TaskRunnerParts) => {
  const { agent: openAgent, graders: openGraders, passAt = defaultPassAt, onBegin, regraded, ...parts } = given
  return defineRunner({
    name: 'task',
    defaultSystem: 'reference',
    read: readContent,
    open: async (spec) => {
      const agent = await openAgent(spec, { isForgetful: false })
      const graders = await openGraders()
      return {
        ...systemOf(agent),
        isDeterministic: isDeterministic(agent, graders.judge),
        agent: async () => agent,
        forgetful: () => openAgent(spec, { isForgetful: true }),
        control: 'none' as Control,
        graders,
        hashed: gradingHashes({ graders, passAt }),
        close: async () => {},
      }
    },
    ablate: {
      'recall off': (worker) => ({ ...worker, agent: worker.forgetful }),
      'memory off': (worker) => ({ ...worker, control: 'no-memory' as const }),
    },
    execute: async function* ({ tasks }, { agent: open, graders, control }, request) {
      const { folder } = request
      if (folder === null) throw new Error('Tasks keep their evidence, so they need a folder.')
      const obtain =
        regraded === undefined
          ? obtainByAgent({ ...parts, agent: await open(), control, runFolder: folder })
          : obtainFromRun(regraded)
      yield* executeTasks({ tasks, graders, passAt, now: parts.now, obtain, onBegin }, request)
    },
  })
}

function readContent(place: PackPlace) {
  const tasks = loadTasks([place.directory], { workingDirectory: place.directory, packs: [] })
  const content = contentOf(tasks)
  refuseUnlike(place, content.cases)
  return content
}

const contentOf = (tasks: readonly Task[]) => ({
  tasks,
  cases: tasks.map((task) => ({
    id: task.id,
    prompt: promptOf(task),
    // Every task states something and asks for it later, so every case expects something.
    expectsSomething: true,
    words: signalsOf(task),
  })),
  places: tasks.map(({ file }) => file),
  warnings: [],
  isShuffled: false,
})

/** A pack made of single task files, which have no manifest. */
export const taskPack = (
  runner: ReturnType<typeof taskRunner>,
  benchmarkId: string,
  tasks: readonly Task[],
): RunnablePack => ({
  ...runner.over(contentOf(tasks)),
  manifest: {
    benchmarkId,
    cases: tasks.map((task) => ({ id: task.id, prompt: promptOf(task), expectedSignals: signalsOf(task) })),
    deterministic: true,
    metrics,
  },
  packFiles: Object.fromEntries(tasks.map(({ id, sha256: digest }) => [`tasks/${id}.md`, `sha256:${digest}`])),
})

const metrics = ['score', 'automatedScore', 'answerScore', 'recallScore', 'judgeScore'].map(
  (name): MetricDeclaration => ({
    name,
    direction: 'higher',
    range: [0, 1],
    ...(name === 'score' ? { primary: true } : {}),
  }),
)

const systemOf = ({ name, model, version }: Agent): PackWithSystem['system'] => ({
  name: model === null ? name : `${name}:${model}`,
  version,
})

/** Whether the same agent must earn the same score every time. */
const isDeterministic = ({ name }: Agent, judge: Judge | null): boolean =>
  judge === null && ['reference', 'none'].includes(name)

/** Digests of everything except the task that affects a grade. Runs with different digests are not compared. */
function gradingHashes({ graders: { judge }, passAt }: Pick<TaskWorkParts, 'graders' | 'passAt'>) {
  const asked = judge === null ? 'none' : { model: judge.name, prompt: judge.promptHash }
  return { grading: sha256(canonicalJson({ gradingVersion, passAt })), judge: sha256(canonicalJson(asked)) }
}

/** The first prompt of a task, as a manifest lists it. */
export const promptOf = ({ sessions, name }: Task): string =>
  sessions.find(({ prompt }) => prompt.trim() !== '')?.prompt ?? name
const signalsOf = ({ category, name }: Task): string[] => [category, name].filter((text) => text.trim() !== '')
