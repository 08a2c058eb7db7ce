import { setTimeout as sleep } from 'node:timers/promises'
import { expectedError } from '../../errors.ts'
import type { Memory } from '../../memory/memory.ts'
import { type ProxyMemory, proxyBudget, type View } from '../../proxy/add-memory.ts'
import { RecentMap } from '../../recent-map.ts'

type ProxyMemoryOptions = {
  readonly open: (view: Pick<View, 'user' | 'scopes'>) => Memory
  readonly maxTurnCharacters: number
}

/** The maximum number of open memories. Beyond it, the least recently used one is closed. */
const maxOpen = 20
const maxAttempts = 30
const retryMs = 1_000

/** Opens a memory for each combination of user and scopes in requests. */
export function openProxyMemory({ open, maxTurnCharacters }: ProxyMemoryOptions) {
  const opened = new RecentMap<Memory>(maxOpen, (memory) => memory.close())
  const memoryOf = ({ user, scopes }: View): Memory => {
    const key = JSON.stringify([user, scopes])
    return opened.get(key) ?? opened.set(key, open({ user, scopes }))
  }
  return {
    /** Opens the memory and loads the model, so that the first request need not wait. Counts as no recall. */
    warmUp: async (view: View): Promise<void> => {
      const message = 'Where did we leave off?'
      // A search waits for the model; a recall does not.
      await memoryOf(view).search(message, { limit: 1 })
      await memoryOf(view).recall(message, { budget: proxyBudget, nearMisses: true })
    },
    recall: async (view, message) => memoryOf(view).recall(message, { budget: proxyBudget }),
    keep: async (view, turns) => {
      for (let attempt = 1; ; attempt += 1) {
        try {
          await memoryOf(view).hear(turns, { scopes: view.homeScopes, maxTurnCharacters })
          return
        } catch (error) {
          if (attempt === maxAttempts || expectedError(error)?.code !== 'unavailable') throw error
        }
        await sleep(retryMs)
      }
    },
    close: async (): Promise<void> => {
      for (const memory of opened.values()) await memory.close()
    },
  } satisfies ProxyMemory & Readonly<Record<'warmUp' | 'close', unknown>>
}
