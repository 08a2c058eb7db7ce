import { randomUUID } from 'node:crypto'
import { noUsage } from '../../models/chat-model.ts'
import type { Agent } from '../agent.ts'

/** Hears everything and does nothing. What it scores is what a task gives away. */
export const noneAgent: Agent = {
  name: 'none',
  version: '1',
  model: null,
  unavailable: async () => null,
  start: async () => ({
    open: async () => {
      let count = 0
      return {
        id: randomUUID(),
        process: null,
        messageCount: () => count,
        send: async () => {
          count += 2
          return { messages: [{ role: 'assistant', content: [] }], answer: '', usage: noUsage }
        },
        close: async () => {},
      }
    },
    stop: async () => {},
  }),
}
