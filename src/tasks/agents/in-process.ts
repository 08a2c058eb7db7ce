import { randomUUID } from 'node:crypto'
import { noUsage } from '../../models/chat-model.ts'
import type { Agent, AgentAtWork, Turn } from '../agent.ts'

/** An agent at work in this process, whose conversations are nothing but turns that are counted. */
export const inProcess = (take: (prompt: string) => Promise<Turn>): AgentAtWork => ({
  open: async () => {
    let count = 0
    return {
      id: randomUUID(),
      process: null,
      messageCount: () => count,
      send: async (prompt) => {
        const turn = await take(prompt)
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
