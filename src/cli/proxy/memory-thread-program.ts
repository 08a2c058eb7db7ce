/** The program of the thread of `memoryThread`: it opens memories and makes the calls that messages ask for. */
import { workerData } from 'node:worker_threads'
import { withShadow } from '../../eval/shadow/shadow.ts'
import type { Memory } from '../../memory/memory.ts'
import { shownOf } from '../../memory/recall/render.ts'
import { openMemory } from '../../open-memory.ts'
import { proxyBudget, type View } from '../../proxy/add-memory.ts'
import { RecentMap } from '../../recent-map.ts'
import { answerCalls } from '../../thread-calls.ts'
import type { ThreadCall, ThreadOptions } from './memory-thread.ts'

const { shadowRoot, maxTurnCharacters, ...options } = workerData as ThreadOptions

/** Views that are open at a time; the one used longest ago is closed for another. */
const mostOpen = 20
const opened = new RecentMap<Memory>(mostOpen, (memory) => memory.close())

function memoryOf({ user, scopes, homeScopes }: View): Memory {
  const key = JSON.stringify([user, scopes, homeScopes])
  const known = opened.get(key)
  if (known !== undefined) return known
  const plain = openMemory({
    ...options,
    user,
    scopes,
    author: { actor: 'person', origin: 'proxy' },
  })
  if (shadowRoot === null) return opened.set(key, plain)
  const shadowed = withShadow(plain, {
    root: shadowRoot,
    now: () => new Date(),
    clock: () => performance.now(),
    onProblem: (error) => console.error(`No shadow record was stored: ${String(error)}`),
  })
  return opened.set(key, shadowed)
}

async function carriedOut(call: ThreadCall): Promise<unknown> {
  switch (call.kind) {
    case 'recall':
      // To send explanations to another thread takes as long as half a recall.
      return shownOf(await memoryOf(call.view).recall(call.message, { budget: proxyBudget }))
    case 'keep': {
      const { homeScopes: scopes } = call.view
      await memoryOf(call.view).hear(call.turns, { scopes, maxTurnCharacters })
      return null
    }
    case 'close':
      for (const memory of opened.values()) await memory.close()
      return null
  }
}

/** Changes are made one after the other, in the order of the calls; a recall waits for none of them. */
let changes: Promise<unknown> = Promise.resolve()

answerCalls((call: ThreadCall) => {
  if (call.kind === 'recall') return carriedOut(call)
  const change = changes.then(() => carriedOut(call))
  changes = change.catch(() => {})
  return change
})
