import type { McpServer } from '@modelcontextprotocol/server'
import { z } from 'zod'
import { longestMessage } from '../memory/recall/recall.ts'
import { renderContext } from '../memory/recall/render.ts'
import { type OnBug, orTold } from './faults.ts'
import type { Visit } from './visit.ts'

/** Offers what belongs in the context of a message as a prompt, for hosts that have no hook to fetch it. */
export function registerRecallPrompt(server: McpServer, visitNow: () => Promise<Visit>, onBug: OnBug): void {
  server.registerPrompt(
    'recall',
    {
      title: 'Recall for a message',
      description: 'Puts what is remembered about a message before it.',
      argsSchema: z.strictObject({ message: z.string().max(longestMessage).describe('The message.') }),
    },
    ({ message }) =>
      orTold(async () => {
        const { memory } = await visitNow()
        const block = renderContext(await memory.recall(message))
        const text = block === '' ? message : `${block}\n${message}`
        return { messages: [{ role: 'user', content: { type: 'text', text } }] }
      }, onBug),
  )
}
