import { randomUUID } from 'node:crypto'
import type { Memory } from '../../../memory/memory.ts'
import type { Agent } from '../../agent.ts'
import { noTalk, takeTurn } from './turn.ts'

/** How the agent gets at a memory: the directory it is kept in is made when something is to be remembered. */
export type ReferenceOptions = { readonly openMemory: (dir: string) => Promise<Memory> }

/**
 * An agent without a model. It keeps what it is told in `memory/` of its workspace, answers with what was said, word for
 * word, and says so when it does not know. It does the same for every task, so what it scores is what the memory is worth.
 */
export const referenceAgent = ({ openMemory }: ReferenceOptions): Agent => ({
  name: 'reference',
  version: '1',
  model: null,
  unavailable: async () => null,
  start: async ({ workspace }) => ({
    open: async () => {
      let talk = noTalk
      let messages = 0
      return {
        id: randomUUID(),
        process: null,
        messageCount: () => messages,
        send: async (prompt, signal) => {
          signal.throwIfAborted()
          const after = await takeTurn({ workspace, openMemory }, talk, prompt, signal)
          talk = after.talk
          messages += after.turn.messages.length + 1
          return after.turn
        },
        close: async () => {},
      }
    },
    stop: async () => {},
  }),
})
