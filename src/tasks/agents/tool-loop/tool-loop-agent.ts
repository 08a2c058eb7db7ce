import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { MemoryError } from '../../../errors.ts'
import { addUsage, type ChatMessage, type ChatModel, type ChatReply, noUsage } from '../../../models/chat-model.ts'
import { type Agent, AgentFailure, type Conversation } from '../../agent.ts'
import type { TranscriptMessage } from '../../transcript.ts'
import { fileTools } from './file-tools.ts'
import { memoryTools, type UsedMemory, useTool } from './tools.ts'

type ToolLoopParts = {
  readonly model: ChatModel
  /** Opens the memory in a directory, making it when there is none. */
  readonly openMemory: (directory: string) => UsedMemory | Promise<UsedMemory>
  /** How often the model may be asked for one prompt. Default 24. */
  readonly maxSteps?: number
}

/** Says what the tools are for. It knows of no task. */
const system = [
  'You are an assistant that works in a folder, the workspace, through tools.',
  'You remember nothing from one session to the next by yourself. What must outlast this session has to be written down, with the memory tools or in a file of the workspace, in the words you were told it.',
  'When you are asked about something that you may have been told before, look it up first. Give what you find exactly as it is written there.',
  'When it is nowhere to be found, say that you do not know. Never make anything up.',
  'When you are done, answer in plain words.',
].join('\n')

/** A model with tools for files and for Credence's memory, without another agent around it. */
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
  const definitions = tools.map(({ name, description, parameters }) => ({ name, description, parameters }))
  const history: ChatMessage[] = []
  return {
    id: randomUUID(),
    process: null,
    messageCount: () => history.length,
    send: async (prompt, signal) => {
      history.push({ role: 'user', text: prompt })
      const messages: TranscriptMessage[] = []
      let usage = noUsage
      const failed = (fault: AgentFailure['fault'], message: string, cause?: unknown): AgentFailure =>
        new AgentFailure(fault, message, { messages, usage, ...(cause === undefined ? {} : { cause }) })
      for (let step = 0; step < maxSteps; step += 1) {
        const request = { system, messages: [...history], tools: definitions, temperature: 0, signal }
        const reply = await model.reply(request).catch((cause: unknown) => {
          if (signal.aborted) throw failed('agent', 'The model was not done when the time was up.', cause)
          if (!(cause instanceof MemoryError)) throw cause
          const { message, hint } = cause
          throw failed('infrastructure', hint === undefined ? message : `${message} ${hint}`, cause)
        })
        usage = addUsage(usage, reply.usage)
        messages.push(replyMessage(reply, model.provider))
        history.push({ role: 'assistant', text: reply.text, toolCalls: reply.toolCalls })
        if (reply.toolCalls.length === 0) {
          if (reply.stopReason !== 'refusal') return { messages, answer: reply.text, usage }
          throw failed('agent', `The model refused: ${reply.text || 'without a word'}.`)
        }
        for (const { id, name, arguments: given } of reply.toolCalls) {
          signal.throwIfAborted()
          const { text, isError } = await useTool(tools, name, given)
          const content = [{ type: 'text' as const, text }]
          messages.push({ role: 'toolResult', toolCallId: id, toolName: name, content, isError })
          history.push({ role: 'tool', callId: id, name, text, isError })
        }
      }
      throw failed('agent', `The model used tools ${maxSteps} times without coming to an answer.`)
    },
    close: async () => {
      const open = opened
      opened = null
      if (open !== null) await (await open).close()
    },
  }
}

function replyMessage({ text, toolCalls, usage, stopReason, model }: ChatReply, provider: string): TranscriptMessage {
  const totalTokens = usage.input + usage.output + usage.cacheRead + usage.cacheWrite
  const calls = toolCalls.map(({ id, name, arguments: given }) => {
    return { type: 'toolCall' as const, id, name, arguments: given, params: given }
  })
  return {
    role: 'assistant',
    content: [...(text === '' ? [] : [{ type: 'text' as const, text }]), ...calls],
    model,
    provider,
    stopReason,
    usage: { ...usage, totalTokens },
  }
}
