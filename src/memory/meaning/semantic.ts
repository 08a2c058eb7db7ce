import { invalid } from '../../errors.ts'
import type { Embedder } from '../../search/embedder.ts'
import { miniLm } from '../../search/minilm/model-name.ts'

type Choice = {
  /** `on`, `off`, or the URL of an endpoint with the model `semanticModel`. */
  readonly semantic?: string | undefined
  readonly semanticModel?: string | null | undefined
  readonly isOneShot?: boolean
  /** Whether recall may wait until the model is loaded. */
  readonly waitsForModel?: boolean
  /** The key for the endpoint. */
  readonly apiKey?: string | undefined
}

type Semantic = {
  readonly model: string
  /** Whether recall uses the model. */
  readonly recallByMeaning: boolean
  /** `questions` opens the model for questions, `background` the model for indexing. */
  readonly questions: () => Promise<Embedder>
  readonly background: () => Promise<Embedder>
}

/** One embedding model for all memories of a process, because it is large and slow to load. */
const opened = new Map<string, Promise<{ readonly questions: Embedder; readonly background: Embedder }>>()
/** The keys of the models that have been loaded. A prompt does not wait for one that is still loading. */
const loaded = new Set<string>()
/** Max questions whose vectors are cached. People ask the same question again, or for the next page. */
const maxQuestions = 100

/** The embedding model of a memory; null if vectors are off. It is loaded with the first question. */
export function openSemantic({ semantic = 'off', semanticModel, apiKey, ...process }: Choice): Semantic | null {
  const { isOneShot = false, waitsForModel = false } = process
  if (semantic === 'off') return null
  const isLocal = semantic === 'on'
  if (!isLocal && !semanticModel)
    throw invalid(
      'The endpoint of `semantic` has no model.',
      'Name its model in `semanticModel`, such as nomic-embed-text.',
    )
  const open = async () => {
    const { openEmbedder } = await import('./open-embedder.ts')
    const { cacheEmbedder } = await import('../../search/embedder.ts')
    // A thread is only worthwhile in a long-running process.
    const { questions, background } =
      isLocal && !isOneShot
        ? (await import('./worker-embedder.ts')).openWorkerEmbedder()
        : await openEmbedder(isLocal ? 'minilm' : `openai:${semantic}:${semanticModel}`, {
            apiKey,
          }).then((embedder) => ({ questions: embedder, background: embedder }))
    // Even an empty list is answered only once the thread has loaded the model.
    const loading = isLocal ? background.embed([]) : Promise.resolve()
    if (!isOneShot)
      void loading.then(
        () => loaded.add(keyOf(false)),
        () => {},
      )
    return { questions: cacheEmbedder(questions, maxQuestions), background }
  }
  const keyOf = (isAlone: boolean): string => JSON.stringify([semantic, semanticModel, isAlone])
  const shared = () => {
    // If a server in this process has opened the model, a command that the server answers uses that model too.
    const key = keyOf(isOneShot && !opened.has(keyOf(false)))
    const found = opened.get(key) ?? open()
    opened.set(key, found)
    // A failure is not cached, because an endpoint that is unavailable now may be available for the next call.
    found.catch(() => opened.delete(key))
    return found
  }
  return {
    recallByMeaning: !isOneShot || waitsForModel || loaded.has(keyOf(false)),
    model: isLocal ? miniLm.model : `openai:${semanticModel}`,
    questions: async () => (await shared()).questions,
    background: async () => (await shared()).background,
  }
}
