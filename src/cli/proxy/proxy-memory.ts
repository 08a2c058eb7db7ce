import { setTimeout as sleep } from 'node:timers/promises'
import { expectedError } from '../../errors.ts'
import { withShadow } from '../../eval/shadow/shadow.ts'
import type { Memory } from '../../memory/memory.ts'
import { openMemory } from '../../open-memory.ts'
import { type ProxyMemory, proxyBudget, type View } from '../../proxy/add-memory.ts'
import { RecentMap } from '../../recent-map.ts'

type ProxyMemoryOptions = Pick<
  Parameters<typeof openMemory>[0],
  | ('dir' | 'server' | 'everyTeam' | 'semantic' | 'semanticModel')
  | ('agentShare' | 'recallBoldness' | 'evalStoreDir' | 'mirrorAuthority')
> & {
  /** How long a call waits for another process that locks the store. Requests wait for the same time. */
  readonly busyTimeoutMs: number
  readonly maxTurnCharacters: number
  /** The directory for shadow records; null if recalls are not recorded. */
  readonly shadowRoot: string | null
}

/** The maximum number of open memories. Beyond it, the least recently used one is closed. */
const maxOpen = 20
const maxAttempts = 30
const retryMs = 1_000

/** Opens a memory for each combination of user and scopes in requests. */
export function openProxyMemory({ maxTurnCharacters, shadowRoot, ...options }: ProxyMemoryOptions) {
  const opened = new RecentMap<Memory>(maxOpen, (memory) => memory.close())

  function memoryOf({ user, scopes, homeScopes }: View): Memory {
    const key = JSON.stringify([user, scopes, homeScopes])
    const known = opened.get(key)
    if (known !== undefined) return known
    const author = { actor: 'person', origin: 'proxy' } as const
    const memory = openMemory({ ...options, user, scopes, author })
    if (shadowRoot === null) return opened.set(key, memory)
    const shadowed = withShadow(memory, {
      root: shadowRoot,
      now: () => new Date(),
      clock: () => performance.now(),
      onProblem: (error) => console.error(`No shadow record was stored: ${String(error)}`),
    })
    return opened.set(key, shadowed)
  }

  return {
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
  } satisfies ProxyMemory & { readonly close: () => Promise<void> }
}
