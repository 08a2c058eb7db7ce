import { fileURLToPath } from 'node:url'
import { invalid } from '../errors.ts'
import type { Memory } from '../memory/memory.ts'
import type { ModelSpec } from '../models/model-spec.ts'
import type { AgentParts } from '../tasks/agents/agent-from.ts'
import type { Graders } from '../tasks/grade/task-grade.ts'
import { type ProcessEnvironment, packageVersion } from './compose.ts'
import { ProgressBar } from './text/progress-bar.ts'

export type TaskWork = ReturnType<typeof composeTaskWork>

export function composeTaskWork(environment: ProcessEnvironment) {
  const { env, temporary } = environment
  const workingDirectory = environment.workingDirectory()
  const openModel = async (wanted: string | ModelSpec) => {
    const { openChatModel } = await import('../models/open-chat-model.ts')
    return openChatModel(wanted, env)
  }
  const partsFor = (change: (memory: Memory) => Memory): AgentParts => ({
    reference: async () => {
      const { referenceAgent } = await import('../tasks/agents/reference-agent.ts')
      const { openMemory } = await import('../open-memory.ts')
      const agent = referenceAgent({ openMemory: async (dir) => change(openMemory({ dir })) })
      return { ...agent, version: packageVersion() }
    },
    openModel,
    openMemory: async (dir) => {
      const { openMemory } = await import('../open-memory.ts')
      const author = { actor: 'agent', origin: 'task' } as const
      return change(openMemory({ dir, mirror: true, scopes: ['project:task'], author }))
    },
    environment: env,
    workingDirectory,
  })
  return {
    /** Opens an agent. `passThrough` names environment variables for an agent that is a program. */
    agent: async (spec: string, passThrough: readonly string[], { isForgetful } = { isForgetful: false }) => {
      const { openAgent } = await import('../tasks/agents/agent-from.ts')
      if (!isForgetful) return openAgent(spec, { ...partsFor((memory) => memory), passThrough })
      if (/^(?:reference|openai:|anthropic:)/u.test(spec)) return openAgent(spec, partsFor(withoutRecall))
      throw invalid(
        `The memory of the agent "${spec}" cannot be switched off from outside.`,
        'Recall can be switched off for reference, openai: and anthropic:.',
      )
    },
    /** The sandbox for Python checks, and a judge such as `openai:gpt-5@http://127.0.0.1:8080/v1`. */
    graders: async (judge: string | null): Promise<Graders> => {
      const { findPython, openSandbox } = await import('../tasks/grade/sandbox.ts')
      const { openJudge } = await import('../tasks/judge/judge.ts')
      return {
        judge: judge === null ? null : openJudge(await openModel(judge)),
        sandbox: await openSandbox({ python: await findPython() }),
      }
    },
    /** Where tasks are found: by path below the working directory, and by id in the shipped packs. */
    taskPlaces: { workingDirectory, packs: [fileURLToPath(new URL('../../packs', import.meta.url))] },
    /** The PATH for finding the programs that a task needs. */
    searchPath: env.PATH ?? '',
    /** The key for submitting runs to an arena; null if it is not set. */
    arenaKey: env.CREDENCE_ARENA_KEY?.trim() || null,
    /** The directory for temporary workspaces of agents. */
    temporary,
    progress: new ProgressBar(environment.stderr, env, { isShown: environment.showsProgress ?? true }),
  }
}

/** A memory that stores everything and recalls nothing. */
const withoutRecall = (memory: Memory): Memory => ({
  ...memory,
  recall: async (message, options) => ({
    ...(await memory.recall(message, options)),
    prelude: null,
    pinned: [],
    relevant: [],
    questions: [],
    quotes: [],
    perhaps: [],
  }),
  search: async () => ({ beliefs: [], total: 0, quotes: [], meaning: 'words', isQueryCut: false }),
})
