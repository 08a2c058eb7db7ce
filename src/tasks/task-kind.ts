import { defineKind, type Kind, type PackContent, type PackPlace, type Tested } from '../eval/kinds/kind.ts'
import { refuseUnlike } from '../eval/pack/manifest.ts'
import type { Agent } from './agent.ts'
import type { Control } from './evidence.ts'
import type { Graders } from './grade/task-grade.ts'
import { byAgent, type Workers } from './obtain-evidence.ts'
import { loadTasks } from './parse/load-tasks.ts'
import type { Task } from './task.ts'
import { carryOutTasks, defaultPassAt, gradingHashes, promptOf, signalsOf } from './task-benchmark.ts'

export type TaskKindParts = Required<Pick<Workers, 'places' | 'temporary'>> & {
  /** `isForgetful`: the same agent whose memory answers every recall and every search with nothing. */
  readonly agent: (spec: string, options: { readonly isForgetful: boolean }) => Promise<Agent>
  readonly graders: () => Promise<Graders>
  readonly now: () => Date
}

type TaskContent = PackContent & { readonly tasks: readonly Task[] }
type Worker = Tested & {
  readonly agent: () => Promise<Agent>
  readonly forgetful: () => Promise<Agent>
  readonly control: Control
  readonly graders: Graders
}

/** The kind of pack that has an agent carry out tasks: a case is a task, and what is run is the agent. */
export const taskKind = (parts: TaskKindParts): Kind =>
  defineKind<TaskContent, Worker>({
    name: 'task',
    defaultSystem: 'reference',
    read: readContent,
    open: async (spec) => {
      const [agent, graders] = [await parts.agent(spec, { isForgetful: false }), await parts.graders()]
      return {
        name: agent.model === null ? agent.name : `${agent.name}:${agent.model}`,
        version: agent.version,
        isDeterministic: isDeterministic(agent) && graders.judge === null,
        agent: async () => agent,
        forgetful: () => parts.agent(spec, { isForgetful: true }),
        control: 'none',
        graders,
        hashed: gradingHashes({ graders, passAt: defaultPassAt }),
        close: async () => {},
      }
    },
    ablate: {
      'recall off': (worker) => ({ ...worker, agent: worker.forgetful }),
      'memory off': (worker) => ({ ...worker, control: 'no-memory' }),
    },
    carryOut: async function* ({ tasks }, worker, request) {
      const { folder } = request
      if (folder === null) throw new Error('Tasks keep their evidence, so they need a folder.')
      const agent = await worker.agent()
      const { places, temporary, now } = parts
      yield* carryOutTasks(
        {
          tasks,
          graders: worker.graders,
          passAt: defaultPassAt,
          now,
          obtain: byAgent({
            agentFor: () => agent,
            control: worker.control,
            runFolder: folder,
            places,
            temporary,
            now,
          }),
        },
        request,
      )
    },
  })

/** Agents that do the same every time. */
export const isDeterministic = ({ name }: Agent): boolean =>
  ['reference', 'reference:no-memory', 'none', 'scripted'].includes(name)

function readContent(place: PackPlace): TaskContent {
  const tasks = loadTasks([place.directory], { workingDirectory: place.directory, packs: [] })
  const cases = tasks.map((task) => ({
    id: task.id,
    prompt: promptOf(task),
    // Every task tells something and asks for it again.
    expectsSomething: true,
    words: signalsOf(task),
  }))
  refuseUnlike(place, cases)
  return { tasks, cases, warnings: [], isShuffled: false }
}
