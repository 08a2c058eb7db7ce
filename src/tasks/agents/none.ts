import { noUsage } from '../../models/chat-model.ts'
import type { Agent } from '../agent.ts'
import { inProcess } from './in-process.ts'

/** Hears everything and does nothing. What it scores is what a task gives away. */
export const noneAgent: Agent = {
  name: 'none',
  version: '1',
  model: null,
  unavailable: async () => null,
  start: async () =>
    inProcess(async () => ({ messages: [{ role: 'assistant', content: [] }], answer: '', usage: noUsage })),
}
