import { fileURLToPath } from 'node:url'
import { invalid } from '../errors.ts'
import type { Memory } from '../memory/memory.ts'
import type { Agent } from '../tasks/agent.ts'
import type { AgentParts } from '../tasks/agents/agent-from.ts'
import type { Graders } from '../tasks/grade/task-grade.ts'
import type { TaskPlaces } from '../tasks/parse/load-tasks.ts'
import { type ProcessEnvironment, packageVersion } from './compose.ts'
import { ProgressBar } from './text/progress-bar.ts'

/** The dependencies of the commands about tasks. */
export type TaskWork = {
  /** `passThrough` names variables of the environment for an agent that is a program. */
  readonly agent: (
    spec: string,
    passThrough: readonly string[],
    options?: { readonly isForgetful: boolean },
  ) => Promise<Agent>
  /** The sandbox for Python checks, and the judge that a text such as `openai:gpt-5@http://127.0.0.1:8080/v1` names. */
  readonly graders: (judge: string | null) => Promise<Graders>
  /** Where tasks are looked for: by path below the working directory, and by id in the packs that ship. */
  readonly taskPlaces: TaskPlaces
  /** Where programs are looked for that a task needs. */
  readonly searchPath: string
  /** Where workspaces are made while agents work. */
  readonly temporary: string
  readonly progress: ProgressBar
}

export function composeTaskWork(environment: ProcessEnvironment): TaskWork {
  const { env, temporary } = environment
  const workingDirectory = environment.workingDirectory()
  const openModel: AgentParts['openModel'] = async (wanted) => {
    const { openChatModel } = await import('../models/open-chat-model.ts')
    return openChatModel(wanted, env)
  }
  const openJudgeOf = async (spec: string) => {
    const { openChatModel } = await import('../models/open-chat-model.ts')
    const { openJudge } = await import('../tasks/judge/judge.ts')
    return openJudge(await openChatModel(spec, env))
  }
  const partsFor = (change: (memory: Memory) => Memory): AgentParts => ({
    reference: async () => {
      const { referenceAgent } = await import('../tasks/agents/reference/reference-agent.ts')
      const { openMemory } = await import('../open-memory.ts')
      const agent = referenceAgent({ openMemory: async (dir) => change(openMemory({ dir })) })
      return { ...agent, version: packageVersion() }
    },
    openModel,
    openMemory: async (dir) => {
      const { openMemory } = await import('../open-memory.ts')
      return change(
        await openMemory({ dir, mirror: true, scopes: ['project:task'], author: { actor: 'agent', origin: 'task' } }),
      )
    },
    environment: env,
    workingDirectory,
  })
  return {
    agent: async (spec, passThrough, { isForgetful } = { isForgetful: false }) => {
      const { agentFrom } = await import('../tasks/agents/agent-from.ts')
      if (!isForgetful) return agentFrom(spec, { ...partsFor((memory) => memory), passThrough })
      if (/^(?:reference|openai:|anthropic:)/u.test(spec)) return agentFrom(spec, partsFor(forgetful))
      throw invalid(
        `The memory of the agent "${spec}" cannot be switched off from outside.`,
        'Recall can be switched off for reference, openai: and anthropic:.',
      )
    },
    graders: async (judge) => {
      const { findPython, openSandbox } = await import('../tasks/grade/sandbox.ts')
      return {
        judge: judge === null ? null : await openJudgeOf(judge),
        sandbox: await openSandbox({ python: await findPython() }),
      }
    },
    taskPlaces: { workingDirectory, packs: [fileURLToPath(new URL('../../packs', import.meta.url))] },
    searchPath: env.PATH ?? '',
    temporary,
    progress: new ProgressBar(environment.stderr, env, { isShown: environment.showsProgress ?? true }),
  }
}

/** The same memory, which keeps everything and finds nothing. */
const forgetful = (memory: Memory): Memory => ({
  ...memory,
  recall: async (message, options) => ({
    ...(await memory.recall(message, options)),
    prelude: null,
    pinned: [],
    relevant: [],
    questions: [],
    quotes: [],
  }),
  search: async () => ({ beliefs: [], total: 0, quotes: [] }),
})
