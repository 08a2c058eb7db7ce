import { randomUUID } from 'node:crypto'
import { noUsage } from '../../models/chat-model.ts'
import type { Agent, AgentAtWork, Turn } from '../agent.ts'
import type { TranscriptMessage } from '../transcript.ts'

/** The conversation that a prompt belongs to, and the end of its time. */
type Sent = { readonly id: string; readonly signal: AbortSignal }

/** An agent at work in this process, whose conversations are nothing but turns that are counted. */
export const inProcess = (take: (prompt: string, sent: Sent) => Promise<Turn>): AgentAtWork => ({
  open: async () => {
    const id = randomUUID()
    let count = 0
    return {
      id,
      process: null,
      messageCount: () => count,
      send: async (prompt, signal) => {
        const turn = await take(prompt, { id, signal })
        count += turn.messages.length + 1
        return turn
      },
      close: async () => {},
    }
  },
  stop: async () => {},
})

/** Does nothing. Its score shows what a task gives away. */
export const noneAgent: Agent = {
  name: 'none',
  version: '1',
  model: null,
  unavailable: async () => null,
  start: async () =>
    inProcess(async () => ({ messages: [{ role: 'assistant', content: [] }], answer: '', usage: noUsage })),
}

/** The use of a tool as a transcript shows it: the call, and what came back. */
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
