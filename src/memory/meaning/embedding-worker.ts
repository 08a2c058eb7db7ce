/** A thread that computes vectors with the local model, so that neither a prompt nor a request of a server waits for indexing. */
import { setImmediate as giveWay } from 'node:timers/promises'
import { parentPort } from 'node:worker_threads'
import { openMiniLm } from '../../search/minilm/minilm.ts'

export type WorkerRequest = { readonly id: number; readonly texts: readonly string[]; readonly isBackground: boolean }
export type WorkerAnswer =
  | { readonly id: number; readonly vectors: readonly Float32Array[] }
  | { readonly id: number; readonly problem: string }

const opening = openMiniLm()
// Reported by the requests that wait for it.
opening.catch(() => {})
/** Questions under way. Indexing waits for them. */
let questions = 0

async function answer({ id, texts, isBackground }: WorkerRequest): Promise<WorkerAnswer> {
  if (!isBackground) questions += 1
  try {
    const model = await opening
    const vectors: Float32Array[] = []
    for (const text of texts) {
      do await giveWay()
      while (isBackground && questions > 0)
      vectors.push(...(await model.embed([text])))
    }
    return { id, vectors }
  } catch (error) {
    return { id, problem: error instanceof Error ? error.message : String(error) }
  } finally {
    if (!isBackground) questions -= 1
  }
}

parentPort?.on('message', async (request: WorkerRequest) => parentPort?.postMessage(await answer(request)))
