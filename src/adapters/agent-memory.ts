import { universalScope } from '../beliefs/scope.ts'
import { invalid } from '../errors.ts'
import { type MemoryOptions, openMemory } from '../library.ts'
import type { Memory } from '../memory/memory.ts'

export type AgentMemoryOptions = Pick<MemoryOptions, 'dir' | 'store' | 'user' | 'busyTimeoutMs'> & {
  /** The name of the agent. The statements of its model are stored under this name, with an agent's authority. */
  readonly agent: string
  /** The scopes of the agent's statements. Default `agent:NAME`. Agents' statements in `user:universal` would wait for review. */
  readonly scopes?: readonly string[]
  /** Wraps the memory, for example with `withSpans` of `credence/telemetry`. */
  readonly wrap?: (memory: Memory) => Memory
}

/**
 * One memory, opened once for the person and once for the agent. Only messages of the person are stored with the person's
 * authority; everything that the model writes with a tool has the agent's.
 */
export function openForAgent({ agent, scopes, wrap = (memory) => memory, ...options }: AgentMemoryOptions) {
  // Checked for JavaScript programs, which have no types.
  if (typeof agent !== 'string' || agent.trim() === '')
    throw invalid('The option agent is missing.', "Name the agent, such as agent: 'support-bot'.")
  const home = scopes ?? [`agent:${encodeURIComponent(agent)}`]
  const inView = [...new Set([...home, universalScope])]
  const memories: { readonly person: Memory; readonly agent: Memory } = {
    person: wrap(openMemory({ ...options, scopes: inView, author: { actor: 'person', origin: agent } })),
    agent: wrap(openMemory({ ...options, scopes: inView, author: { actor: 'agent', origin: agent } })),
  }
  return {
    ...memories,
    home,
    scopes: inView,
    close: async (): Promise<void> => {
      await Promise.all([memories.person.close(), memories.agent.close()])
    },
  }
}
