import { MemoryError } from '../../../errors.ts'
import type { Embedder } from '../../../search/embedder.ts'
import { openMiniLm } from '../../../search/minilm.ts'
import { openOllama, openOpenAi } from './http-embedder.ts'

/** The model that needs nothing but npm. */
export const defaultEmbedder = 'minilm'

// The address may hold a port and a path; the model may hold a tag: openai:http://127.0.0.1:8080/v1:bge-m3:latest
const openAi = /^openai:(?<url>https?:\/\/(?:\[[^\]]+\]|[^:/\s]+)(?::\d+)?(?:\/[^:\s]*)?):(?<model>\S+)$/u
const ollama = /^ollama:(?<model>\S+)$/u

/** Opens what `minilm`, `ollama:<model>` or `openai:<url>:<model>` names. */
export function openEmbedder(
  spec: string,
  { apiKey }: { readonly apiKey?: string | undefined } = {},
): Promise<Embedder> {
  if (spec === 'minilm') return openMiniLm()
  const local = ollama.exec(spec)?.groups
  if (local?.model !== undefined) return openOllama(local.model)
  const remote = openAi.exec(spec)?.groups
  if (remote?.url !== undefined && remote.model !== undefined)
    return openOpenAi({ url: remote.url, model: remote.model, apiKey })
  throw new MemoryError('invalid', `"${spec}" is not an embedder.`, {
    hint: 'Write minilm, ollama:<model> or openai:<url>:<model>, for example openai:https://api.openai.com/v1:text-embedding-3-small.',
  })
}
