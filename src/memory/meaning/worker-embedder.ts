import { Worker } from 'node:worker_threads'
import { unavailable } from '../../errors.ts'
import type { Embedder, TextWords } from '../../search/embedder.ts'
import { miniLm } from '../../search/minilm/model-name.ts'
import type { WorkerAnswer, WorkerRequest } from './embedding-worker.ts'

type WorkerValues = Extract<WorkerAnswer, { readonly values: unknown }>['values']

type Waiting = {
  readonly resolve: (values: WorkerValues) => void
  readonly reject: (error: Error) => void
  readonly isBackground: boolean
}

/** The local model in a separate thread. `background` yields to questions, and does not keep the process alive. */
export function openWorkerEmbedder(): { readonly questions: Embedder; readonly background: Embedder } {
  const waiting = new Map<number, Waiting>()
  let worker: Worker | null = null
  let last = 0

  const settle = (id: number): Waiting | undefined => {
    const found = waiting.get(id)
    waiting.delete(id)
    if (![...waiting.values()].some(({ isBackground }) => !isBackground)) worker?.unref()
    return found
  }
  function start(): Worker {
    // The source file is TypeScript; the built file is JavaScript.
    const file = `./embedding-worker.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`
    const started = new Worker(new URL(file, import.meta.url))
    started.on('message', (answer: WorkerAnswer) => {
      const request = settle(answer.id)
      if ('values' in answer) request?.resolve(answer.values)
      else request?.reject(unavailable(answer.problem, 'Search and recall use words alone.'))
    })
    // The next request starts a new thread.
    started.on('error', (error) => {
      worker = null
      for (const id of [...waiting.keys()])
        settle(id)?.reject(
          unavailable('The thread of the embedding model ended.', 'Search and recall use words alone.', error),
        )
    })
    started.unref()
    return started
  }
  const request = (asked: Omit<WorkerRequest, 'id'>): Promise<WorkerValues> =>
    new Promise((resolve, reject) => {
      const { isBackground } = asked
      worker ??= start()
      if (!isBackground) worker.ref()
      last += 1
      waiting.set(last, { resolve, reject, isBackground })
      worker.postMessage({ ...asked, id: last } satisfies WorkerRequest)
    })
  const embedder = (isBackground: boolean): Embedder => ({
    ...miniLm,
    embed: async (texts) => (await request({ texts, of: 'texts', isBackground })) as readonly Float32Array[],
    words: async (texts) => (await request({ texts, of: 'words', isBackground })) as readonly TextWords[],
  })
  return { questions: embedder(false), background: embedder(true) }
}
