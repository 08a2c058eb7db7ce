import { randomUUID } from 'node:crypto'
import type { AgentAtWork, Turn } from '../agent.ts'

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
