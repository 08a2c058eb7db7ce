/** The program of the thread of `MemoryThread`: it opens memories and makes the calls that messages ask for. */
import { parentPort, workerData } from 'node:worker_threads'
import { MemoryError } from '../../errors.ts'
import { withShadow } from '../../eval/shadow/shadow.ts'
import type { Memory } from '../../memory/memory.ts'
import { shownOf } from '../../memory/recall/render.ts'
import { openMemory } from '../../open-memory.ts'
import { proxyBudget, type View } from '../../proxy/add-memory.ts'
import type { ThreadCall, ThreadOptions, ThreadRequest, ThreadResponse } from './memory-thread.ts'

if (parentPort === null) throw new Error('This file is run as a thread.')
const port = parentPort
const { shadowRoot, maxTurnCharacters, ...options } = workerData as ThreadOptions

/** Views that are open at a time; the one opened first is closed for another. */
const mostOpen = 20
const opened = new Map<string, Memory>()

async function memoryOf({ user, scopes, homeScopes }: View): Promise<Memory> {
  const key = JSON.stringify([user, scopes, homeScopes])
  const known = opened.get(key)
  if (known !== undefined) return known
  // Another thread writes, so that a recall never waits for the disk.
  const plain = openMemory({
    ...options,
    thread: true,
    resident: true,
    user,
    scopes,
    author: { actor: 'person', origin: 'proxy' },
  })
  const memory =
    shadowRoot === null
      ? plain
      : withShadow(plain, {
          root: shadowRoot,
          now: () => new Date(),
          clock: () => performance.now(),
          onProblem: (error) => console.error(`No shadow record was kept: ${String(error)}`),
        })
  opened.set(key, memory)
  const [oldest] = opened
  if (opened.size > mostOpen && oldest !== undefined) {
    opened.delete(oldest[0])
    await oldest[1].close()
  }
  return memory
}

async function carriedOut(call: ThreadCall): Promise<unknown> {
  switch (call.kind) {
    case 'recall':
      // To send explanations to another thread takes as long as half a recall.
      return shownOf(await (await memoryOf(call.view)).recall(call.message, { budget: proxyBudget }))
    case 'keep': {
      const { homeScopes: scopes } = call.view
      await (await memoryOf(call.view)).hear(call.turns, { scopes, maxTurnCharacters })
      return null
    }
    case 'close':
      for (const memory of opened.values()) await memory.close()
      return null
  }
}

async function answerTo({ id, call }: ThreadRequest): Promise<ThreadResponse> {
  try {
    return { id, value: await carriedOut(call) }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return { id, code: error instanceof MemoryError ? error.code : null, message }
  }
}

/** Changes are made one after the other, in the order of the messages; a recall waits for none of them. */
let changes = Promise.resolve()
port.on('message', (request: ThreadRequest) => {
  const answer = async (): Promise<void> => port.postMessage(await answerTo(request))
  if (request.call.kind === 'recall') void answer()
  else changes = changes.then(answer)
})
