import { readFileSync } from 'node:fs'
import { MemoryError } from '../errors.ts'
import type { Memory } from '../memory/memory.ts'
import type { ChatModel } from '../models/chat-model.ts'
import type { Agent } from '../tasks/agent.ts'
import { type AgentParts, agentFrom } from '../tasks/agents/agent-from.ts'
import type { PrerequisitePlaces } from '../tasks/run/prerequisites.ts'
import type { Surroundings } from './compose.ts'

/** What commands that put agents to work are made of. */
export type TaskWork = {
  /** `passThrough` are variables of the environment that an agent which is a program is to have. */
  readonly agent: (
    spec: string,
    passThrough: readonly string[],
    options?: { readonly isForgetful: boolean },
  ) => Promise<Agent>
  /** The model that a text such as `openai:gpt-5@http://127.0.0.1:8080/v1` names. */
  readonly judgeModel: (spec: string) => Promise<ChatModel>
  readonly places: PrerequisitePlaces
  /** Where workspaces are made while agents work. */
  readonly temporary: string
  readonly arenaKey: string | undefined
}

export function composeTaskWork(surroundings: Surroundings): TaskWork {
  const { env, temporary } = surroundings
  const workingDirectory = surroundings.workingDirectory()
  const openModel: AgentParts['openModel'] = async (wanted) => {
    const { openChatModel } = await import('../models/open-chat-model.ts')
    return openChatModel(wanted, env)
  }
  const partsFor = (change: (memory: Memory) => Memory): AgentParts => ({
    reference: async ({ hasMemory }) => {
      const { referenceAgent } = await import('../tasks/agents/reference/reference-agent.ts')
      const { openMemory } = await import('../open-memory.ts')
      const agent = referenceAgent({ openMemory: async (dir) => change(openMemory({ dir })), hasMemory })
      return { ...agent, version: packageVersion() }
    },
    openModel,
    openMemory: async (dir) => {
      const { openMemory } = await import('../open-memory.ts')
      return change(await openMemory({ dir, mirror: true, author: { actor: 'agent', origin: 'task' } }))
    },
    environment: env,
    workingDirectory,
  })
  return {
    agent: async (spec, passThrough, { isForgetful } = { isForgetful: false }) => {
      if (!isForgetful) return agentFrom(spec, { ...partsFor((memory) => memory), passThrough })
      if (/^(?:reference|openai:|anthropic:)/u.test(spec)) return agentFrom(spec, partsFor(forgetful))
      throw new MemoryError('invalid', `The memory of the agent "${spec}" cannot be switched off from outside.`, {
        hint: 'Recall can be switched off for reference, openai: and anthropic:.',
      })
    },
    judgeModel: async (spec) => (await import('../models/open-chat-model.ts')).openChatModel(spec, env),
    places: { searchPath: env.PATH ?? '', workingDirectory },
    temporary,
    arenaKey: env.CREDENCE_ARENA_KEY,
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

const packageVersion = (): string => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
    readonly version: string
  }
  return version
}
