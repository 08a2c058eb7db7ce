/** A thread that computes vectors with the local model, so that neither a prompt nor a request of a server waits for indexing. */
import { setImmediate as giveWay } from 'node:timers/promises'
import { parentPort } from 'node:worker_threads'
import type { TextWords } from '../../search/embedder.ts'
import { openMiniLm } from '../../search/minilm/minilm.ts'

export type WorkerRequest = {
  readonly id: number
  readonly texts: readonly string[]
  /** Whether to compute vectors of the texts or of their words. */
  readonly of: 'texts' | 'words'
  readonly isBackground: boolean
}
export type WorkerAnswer =
  | { readonly id: number; readonly values: readonly (Float32Array | TextWords)[] }
  | { readonly id: number; readonly problem: string }

const opening = openMiniLm()
// Prevents an unhandled rejection. Each request that waits for the model reports the failure itself.
opening.catch(() => {})
/** The number of questions in progress. Indexing waits for them. */
let questions = 0

async function answer({ id, texts, of, isBackground }: WorkerRequest): Promise<WorkerAnswer> {
  if (!isBackground) questions += 1
  try {
    const model = await opening
    const compute = of === 'texts' ? model.embed : (model.words as NonNullable<typeof model.words>)
    const values: (Float32Array | TextWords)[] = []
    for (let from = 0, step = isBackground ? 1 : texts.length; from < texts.length; from += step) {
      do await giveWay()
      while (isBackground && questions > 0)
      values.push(...(await compute(texts.slice(from, from + step))))
    }
    return { id, values }
  } catch (error) {
    return { id, problem: error instanceof Error ? error.message : String(error) }
  } finally {
    if (!isBackground) questions -= 1
  }
}

parentPort?.on('message', async (request: WorkerRequest) => parentPort?.postMessage(await answer(request)))
