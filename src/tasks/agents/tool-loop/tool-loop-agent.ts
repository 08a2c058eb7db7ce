import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { MemoryError } from '../../../errors.ts'
import {
  type ChatMessage,
  type ChatModel,
  type ChatReply,
  noUsage,
  type ToolCall,
  type Usage,
} from '../../../models/chat-model.ts'
import { type Agent, AgentFailure, type Conversation, type Turn } from '../../agent.ts'
import type { TranscriptMessage } from '../../transcript.ts'
import { fileTools } from './file-tools.ts'
import { memoryTools, type Tool, ToolRefusal, type UsedMemory } from './tools.ts'

export type ToolLoopParts = {
  readonly model: ChatModel
  /** Opens the memory in a directory, making it when there is none. */
  readonly openMemory: (directory: string) => UsedMemory | Promise<UsedMemory>
  /** How often the model may be asked for one prompt. Default 24. */
  readonly maxSteps?: number
}

/** Says what the tools are for; nothing in it knows of any task. */
const system = [
  'You are an assistant that works in a folder, the workspace, through tools.',
  'You remember nothing from one session to the next by yourself. What must outlast this session has to be written down, with the memory tools or in a file of the workspace, in the words you were told it.',
  'When you are asked about something that you may have been told before, look it up first. Give what you find exactly as it is written there.',
  'When it is nowhere to be found, say that you do not know. Never make anything up.',
  'When you are done, answer in plain words.',
].join('\n')

/** A model with tools for files and for memory: what a model makes of Credence, without anybody else's agent around it. */
export function toolLoopAgent({ model, openMemory, maxSteps = 24 }: ToolLoopParts): Agent {
  return {
    name: model.provider,
    version: '1',
    model: model.model,
    unavailable: async () => null,
    start: async ({ workspace }) => ({
      open: async () => openConversation({ model, openMemory, maxSteps, workspace }),
      stop: async () => {},
    }),
  }
}

type Place = Required<ToolLoopParts> & { readonly workspace: string }

function openConversation({ model, openMemory, maxSteps, workspace }: Place): Conversation {
  let opened: Promise<UsedMemory> | null = null
  // Opened per conversation and on first use, so that nothing holds the store while a control takes it away.
  const memory = (): Promise<UsedMemory> => {
    opened ??= Promise.resolve(openMemory(join(workspace, 'memory')))
    return opened
  }
  const tools = [...fileTools(workspace), ...memoryTools(memory)]
  const history: ChatMessage[] = []
  return {
    id: randomUUID(),
    process: null,
    messageCount: () => history.length,
    send: async (prompt, signal) => {
      history.push({ role: 'user', text: prompt })
      const turn = new TurnInProgress()
      for (let step = 0; step < maxSteps; step += 1) {
        const reply = await askModel({ model, history, tools, signal, turn })
        turn.heard(reply, model)
        history.push({ role: 'assistant', text: reply.text, toolCalls: reply.toolCalls })
        if (reply.toolCalls.length === 0) return turn.ended(reply)
        for (const call of reply.toolCalls) {
          signal.throwIfAborted()
          const { text, isError } = await useTool(tools, call)
          turn.used(call, text, isError)
          history.push({ role: 'tool', callId: call.id, name: call.name, text, isError })
        }
      }
      throw turn.failed('agent', `The model used tools ${maxSteps} times without coming to an answer.`)
    },
    close: async () => {
      const open = opened
      opened = null
      if (open !== null) await (await open).close()
    },
  }
}

async function askModel({
  model,
  history,
  tools,
  signal,
  turn,
}: {
  readonly model: ChatModel
  readonly history: readonly ChatMessage[]
  readonly tools: readonly Tool[]
  readonly signal: AbortSignal
  readonly turn: TurnInProgress
}): Promise<ChatReply> {
  const definitions = tools.map(({ name, description, parameters }) => ({ name, description, parameters }))
  try {
    return await model.reply({ system, messages: [...history], tools: definitions, temperature: 0, signal })
  } catch (cause) {
    if (signal.aborted) throw turn.failed('agent', 'The model was not done when the time was up.', cause)
    if (!(cause instanceof MemoryError)) throw cause
    const message = cause.hint === undefined ? cause.message : `${cause.message} ${cause.hint}`
    throw turn.failed('infrastructure', message, cause)
  }
}

async function useTool(
  tools: readonly Tool[],
  call: ToolCall,
): Promise<{ readonly text: string; readonly isError: boolean }> {
  const tool = tools.find(({ name }) => name === call.name)
  if (tool === undefined) {
    const known = tools.map(({ name }) => name).join(', ')
    return { text: `There is no tool ${call.name}. There are ${known}.`, isError: true }
  }
  try {
    return { text: await tool.use(call.arguments), isError: false }
  } catch (error) {
    if (error instanceof ToolRefusal) return { text: error.message, isError: true }
    throw error
  }
}

/** What has been said and done since the prompt. */
class TurnInProgress {
  readonly #messages: TranscriptMessage[] = []
  #usage: Usage = noUsage

  heard({ text, toolCalls, usage, stopReason, model }: ChatReply, { provider }: ChatModel): void {
    this.#usage = sum(this.#usage, usage)
    const totalTokens = usage.input + usage.output + usage.cacheRead + usage.cacheWrite
    this.#messages.push({
      role: 'assistant',
      content: [
        ...(text === '' ? [] : [{ type: 'text' as const, text }]),
        ...toolCalls.map(({ id, name, arguments: given }) => ({
          type: 'toolCall' as const,
          id,
          name,
          arguments: given,
          params: given,
        })),
      ],
      model,
      provider,
      stopReason,
      usage: { ...usage, totalTokens },
    })
  }

  used({ id, name }: ToolCall, text: string, isError: boolean): void {
    this.#messages.push({
      role: 'toolResult',
      toolCallId: id,
      toolName: name,
      content: [{ type: 'text', text }],
      isError,
    })
  }

  ended({ text, stopReason }: ChatReply): Turn {
    if (stopReason === 'refusal') throw this.failed('agent', `The model refused: ${text || 'without a word'}.`)
    return { messages: this.#messages, answer: text, usage: this.#usage }
  }

  failed(fault: 'agent' | 'infrastructure', message: string, cause?: unknown): AgentFailure {
    const details = { messages: this.#messages, usage: this.#usage }
    return new AgentFailure(fault, message, cause === undefined ? details : { ...details, cause })
  }
}

const sum = (one: Usage, other: Usage): Usage => ({
  input: one.input + other.input,
  output: one.output + other.output,
  cacheRead: one.cacheRead + other.cacheRead,
  cacheWrite: one.cacheWrite + other.cacheWrite,
})
