import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { z } from 'zod'
import { beliefTypes } from '../../beliefs/belief.ts'
import { MemoryError } from '../../errors.ts'
import type { Memory } from '../../memory/memory.ts'
import { beliefLine } from '../../memory/recall/render.ts'
import { addUsage, type ChatMessage, type ChatModel, type ChatReply, noUsage } from '../../models/chat-model.ts'
import { type Agent, type AgentConversation, AgentFailure, errorMessage } from '../agent.ts'
import type { TranscriptMessage } from '../transcript.ts'
import { type AgentTool, defineTool, fileTools, ToolRefusal, useTool } from './tools.ts'

export type UsedMemory = Pick<Memory, 'search' | 'remember' | 'forget' | 'close'>

type ToolLoopParts = {
  readonly model: ChatModel
  /** Opens the memory in a directory; creates it if there is none. */
  readonly openMemory: (directory: string) => UsedMemory | Promise<UsedMemory>
}

const maxSteps = 24

const system = [
  'You are an assistant that works in a folder, the workspace, through tools.',
  'You remember nothing from one session to the next by yourself. What must outlast this session has to be written down, with the memory tools or in a file of the workspace, in the words you were told it.',
  'When you are asked about something that you may have been told before, look it up first. Give what you find exactly as it is written there.',
  'When it is nowhere to be found, say that you do not know. Never make anything up.',
  'When you are done, answer in plain words.',
].join('\n')

/** A model with tools for files and for Credence's memory, not embedded in another agent. */
export const toolLoopAgent = (parts: ToolLoopParts): Agent => ({
  name: parts.model.provider,
  version: '1',
  model: parts.model.model,
  unavailable: async () => null,
  start: async ({ workspace }) => ({
    open: async () => openConversation({ ...parts, workspace }),
    stop: async () => {},
  }),
})

function openConversation({ model, openMemory, workspace }: ToolLoopParts & { workspace: string }): AgentConversation {
  let opened: Promise<UsedMemory> | null = null
  // Opened per conversation and on first use, so that the store is closed when a control removes it.
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
      const failure = (fault: AgentFailure['fault'], message: string, cause?: unknown): AgentFailure =>
        new AgentFailure(fault, message, { messages, usage, cause })
      for (let step = 0; step < maxSteps; step += 1) {
        const request = { system, messages: [...history], tools: definitions, temperature: 0, signal }
        const reply = await model.reply(request).catch((cause: unknown) => {
          if (signal.aborted) throw failure('agent', 'The model was not done when the time was up.', cause)
          throw cause instanceof MemoryError ? failure('infrastructure', errorMessage(cause), cause) : cause
        })
        usage = addUsage(usage, reply.usage)
        messages.push(replyMessage(reply, model.provider))
        history.push({ role: 'assistant', text: reply.text, toolCalls: reply.toolCalls })
        if (reply.toolCalls.length === 0) {
          if (reply.stopReason !== 'refusal') return { messages, answer: reply.text, usage }
          throw failure('agent', `The model refused: ${reply.text || 'without a word'}.`)
        }
        for (const { id, name, arguments: given } of reply.toolCalls) {
          signal.throwIfAborted()
          const { text, isError } = await useTool(tools, name, given)
          const content = [{ type: 'text' as const, text }]
          messages.push({ role: 'toolResult', toolCallId: id, toolName: name, content, isError })
          history.push({ role: 'tool', callId: id, name, text, isError })
        }
      }
      throw failure('agent', `The model used tools ${maxSteps} times without coming to an answer.`)
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

/** Credence's memory as tools. A refusal by the memory becomes a tool result for the model. */
function memoryTools(open: () => Promise<UsedMemory>): readonly AgentTool[] {
  const withMemory = async (work: (memory: UsedMemory) => Promise<string>): Promise<string> => {
    try {
      return await work(await open())
    } catch (error) {
      if (!(error instanceof MemoryError) || error.code === 'unavailable') throw error
      throw new ToolRefusal(errorMessage(error))
    }
  }
  return [
    defineTool(
      'memory_search',
      'Look something up in what is remembered about the person and their work, also from earlier sessions.',
      z.strictObject({ query: z.string().min(1).describe('Words to look for, or a question.') }),
      ({ query }) =>
        withMemory(async (memory) => {
          const { beliefs } = await memory.search(query, { limit: 20 })
          return beliefs.map(({ belief }) => beliefLine(belief)).join('\n') || 'Nothing is remembered about that.'
        }),
    ),
    defineTool(
      'memory_remember',
      "Remember one statement, in the person's own words. The same name said again is a correction.",
      z.strictObject({
        name: z.string().describe('What it is about, in a few words: "favourite language".'),
        content: z.string().describe('What is true.'),
        aliases: z.array(z.string()).default([]).describe('Other words one would ask for it by.'),
        why: z.string().default('').describe('What follows from it for you; may be left out.'),
        type: z.enum(beliefTypes).optional(),
      }),
      ({ type, ...draft }) =>
        withMemory(async (memory) => {
          const { outcome, belief } = await memory.remember({ ...draft, ...(type === undefined ? {} : { type }) })
          return `${outcome}: ${beliefLine(belief)}`
        }),
    ),
    defineTool(
      'memory_forget',
      'Remove something from memory for good, when the person asks for it.',
      z.strictObject({ name: z.string().describe('The name it is remembered under.') }),
      ({ name }) =>
        withMemory(async (memory) => {
          await memory.forget(name)
          return `Forgotten: ${name}.`
        }),
    ),
  ]
}
