import { randomUUID } from 'node:crypto'
import { MemoryError } from '../errors.ts'
import { noUsage, type Usage } from '../models/chat-model.ts'
import type { TranscriptMessage } from './transcript.ts'

/** An agent's work on one prompt. */
export type AgentTurn = {
  readonly messages: readonly TranscriptMessage[]
  readonly answer: string
  readonly usage: Usage
}

/** One conversation. Conversations share only the workspace. */
export type AgentConversation = {
  readonly id: string
  /** The id of the conversation's process, if it has one. */
  readonly process: number | null
  /** The number of messages so far: 0 in a new conversation. */
  readonly messageCount: () => number
  /** Rejects with an `AgentFailure` that contains the work so far, or with the signal's reason when time is up. */
  send(prompt: string, signal: AbortSignal): Promise<AgentTurn>
  close(): Promise<void>
}

/** An agent at work on one task. */
export type AgentAtWork = {
  open(): Promise<AgentConversation>
  stop(): Promise<void>
}

export type Agent = {
  readonly name: string
  /** `version` and `model` may be placeholders until `unavailable` has run, or until the first answer. */
  readonly version: string
  readonly model: string | null
  /** Why the agent cannot be used here; null if it can. */
  unavailable(): Promise<string | null>
  start(options: { readonly workspace: string; readonly signal: AbortSignal }): Promise<AgentAtWork>
}

/** `agent`: the agent broke or gave up. `infrastructure`: the agent was never reached (no program, no endpoint, no key). */
export class AgentFailure extends Error {
  override readonly name = 'AgentFailure'
  readonly fault: 'agent' | 'infrastructure'
  /** The messages before the failure, for the evidence. */
  readonly messages: readonly TranscriptMessage[]
  readonly usage: Usage

  constructor(
    fault: 'agent' | 'infrastructure',
    message: string,
    {
      messages = [],
      usage = noUsage,
      cause,
    }: Partial<Pick<AgentTurn, 'messages' | 'usage'>> & { cause?: unknown } = {},
  ) {
    super(message, { cause })
    this.fault = fault
    this.messages = messages
    this.usage = usage
  }
}

/** The message of any error, with its hint if it has one. */
export function errorMessage(error: unknown): string {
  if (error instanceof MemoryError && error.hint !== undefined) return `${error.message} ${error.hint}`
  return error instanceof Error ? error.message : String(error)
}

/** An agent without a separate process. `id` identifies the conversation. */
export const inProcessAgent = (
  take: (prompt: string, sent: { readonly id: string; readonly signal: AbortSignal }) => Promise<AgentTurn>,
): AgentAtWork => ({
  open: async () => {
    const id = randomUUID()
    let count = 0
    const send: AgentConversation['send'] = async (prompt, signal) => {
      const turn = await take(prompt, { id, signal })
      count += turn.messages.length + 1
      return turn
    }
    return { id, process: null, messageCount: () => count, send, close: async () => {} }
  },
  stop: async () => {},
})

/** An agent that does nothing. If it scores above 0, the task does not test the agent. */
export const noneAgent: Agent = {
  name: 'none',
  version: '1',
  model: null,
  unavailable: async () => null,
  start: async () =>
    inProcessAgent(async () => ({ messages: [{ role: 'assistant', content: [] }], answer: '', usage: noUsage })),
}

/** A tool call and its result, as a transcript shows them. */
export function toolUse(
  name: string,
  given: Readonly<Record<string, unknown>>,
  result: string,
  isError = false,
): readonly TranscriptMessage[] {
  const id = randomUUID()
  const call = { type: 'toolCall', id, name, arguments: given, params: given } as const
  return [
    { role: 'assistant', content: [call], stopReason: 'toolUse' },
    { role: 'toolResult', toolCallId: id, toolName: name, content: [{ type: 'text', text: result }], isError },
  ]
}
