import { readFileSync } from 'node:fs'
import type { LanguageModelMiddleware, ToolSet } from 'ai'
import { universalScope } from '../beliefs/scope.ts'
import { mcpTool } from '../mcp/tool.ts'
import type { Memory } from '../memory/memory.ts'
import type { AgentCall } from '../operations/operation.ts'
import { toolOperations } from '../operations/table.ts'
import type { MemoryView } from '../operations/view.ts'
import { memoryInjector, proxyBudget, type WithMemory } from '../proxy/add-memory.ts'
import { type HistoryMessage, ownText } from '../proxy/dialects.ts'
import { type AgentMemoryOptions, openForAgent } from './agent-memory.ts'

type CallOptions = Parameters<NonNullable<LanguageModelMiddleware['transformParams']>>[0]['params']

export type AiMemoryOptions = AgentMemoryOptions & {
  /** How long a request waits for the memory, in milliseconds. After that it is sent without memory. Default 3000. */
  readonly deadlineMs?: number
  /** Called with one line when a request was sent without memory, or a message could not be stored. */
  readonly onProblem?: (problem: string) => void
}

/** A memory for the AI SDK: a middleware that recalls before requests and stores messages, and tools for the model. */
export function aiMemory({ deadlineMs = 3_000, onProblem = () => {}, ...options }: AiMemoryOptions) {
  const memories = openForAgent(options)
  const { home, scopes } = memories
  const { user = 'local', agent } = options
  const injector = memoryInjector({
    memory: {
      recall: async (_view, message) => {
        // The messages of the previous request must be stored first, so that they can be recalled.
        await injector.settled()
        return memories.person.recall(message, { budget: proxyBudget })
      },
      keep: async (_view, turns) => {
        await memories.person.hear(turns, { scopes: options.scopes ?? [universalScope] })
      },
    },
    view: { user, scopes, homeScopes: home },
    isPaused: () => false,
    deadlineMs,
    now: () => new Date(),
    log: onProblem,
    host: agent,
  })
  return {
    /** For `wrapLanguageModel`. Name a conversation with `providerOptions: { credence: { session } }`. */
    middleware: memoryMiddleware(injector.addTo),
    /** For `tools` of `generateText` and `streamText`. The model writes with an agent's authority. */
    tools: agentTools(memories.agent, agent, { user, scopes, homeScopes: home, agent: null, hasFixedScopes: true }),
    /** Waits until all messages are stored, then closes the memory. */
    close: async (): Promise<void> => {
      await injector.settled()
      await memories.close()
    },
  }
}

function memoryMiddleware(addTo: ReturnType<typeof memoryInjector>['addTo']): LanguageModelMiddleware {
  /** The prepared requests, by the parameters that were returned to the SDK. */
  const requests = new WeakMap<CallOptions, WithMemory>()
  return {
    specificationVersion: 'v4',
    transformParams: async ({ params }) => {
      const prompt = params.prompt.map((message) =>
        message.role === 'user' ? { ...message, content: [...message.content] } : message,
      )
      const session = params.providerOptions?.credence?.session
      const added = await addTo({
        messages: historyOf(prompt),
        continues: null,
        session: typeof session === 'string' ? session : undefined,
      })
      const changed = { ...params, prompt }
      if (added !== null) requests.set(changed, added)
      return changed
    },
    wrapGenerate: async ({ doGenerate, params }) => {
      const result = await doGenerate()
      const text = result.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n\n')
      requests.get(params)?.onAnswer({ text, id: null, isComplete: true })
      return result
    },
    wrapStream: async ({ doStream, params }) => {
      const { stream, ...rest } = await doStream()
      let text = ''
      let isComplete = false
      const reader = new TransformStream<StreamPart, StreamPart>({
        transform(part, controller) {
          if (part.type === 'text-delta') text += part.delta
          if (part.type === 'finish') isComplete = true
          controller.enqueue(part)
        },
        flush() {
          requests.get(params)?.onAnswer({ text, id: null, isComplete })
        },
      })
      return { ...rest, stream: stream.pipeThrough(reader) }
    },
  }
}

type StreamResult = Awaited<ReturnType<NonNullable<LanguageModelMiddleware['wrapStream']>>>
type StreamPart = StreamResult['stream'] extends ReadableStream<infer Part> ? Part : never

/** The messages of the person and the model. Files, reasoning and results of tools are left out. */
function historyOf(prompt: CallOptions['prompt']): readonly HistoryMessage[] {
  return prompt.flatMap((message): readonly HistoryMessage[] => {
    if (message.role !== 'user' && message.role !== 'assistant') return []
    const { role, content } = message
    const texts = content.flatMap((part) => (part.type === 'text' ? [part.text] : []))
    if (role === 'assistant') return [{ role, text: texts.join('\n\n'), isTyped: false, author: null, add: () => {} }]
    const add = (text: string): void => {
      content.push({ type: 'text', text })
    }
    return [{ role, ...ownText(texts), author: null, add }]
  })
}

/** The tools of the MCP server, called in this process. */
function agentTools(memory: Memory, agent: string, view: MemoryView): ToolSet {
  const call = async (): Promise<AgentCall> => ({
    memory,
    author: { actor: 'agent', origin: agent },
    view,
    version: packageVersion(),
    isAgent: true,
    caller: { kind: 'installation' },
    idempotency: {},
    served: null,
  })
  const tools = toolOperations.map(({ operation, tool }) => mcpTool(operation, tool))
  return Object.fromEntries(
    tools.map(({ name, config, call: callTool }) => [
      name,
      {
        description: config.description,
        inputSchema: config.inputSchema,
        execute: async (input: unknown): Promise<unknown> => {
          let bug: unknown
          const { isError, content, structuredContent } = await callTool(input, call, (error) => {
            bug = error
          })
          if (bug !== undefined) throw bug
          if (isError !== true) return structuredContent
          throw new Error(content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join(' '))
        },
      },
    ]),
  ) as ToolSet
}

const packageVersion = (): string =>
  JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')).version
