import { invalid } from '../../errors.ts'
import type { Embedder } from '../../search/embedder.ts'
import { openMiniLm } from '../../search/minilm/minilm.ts'

/** The model that is installed with this package. */
export const defaultEmbedder = 'minilm'

// The address may contain a port and a path, and the model a tag: openai:http://127.0.0.1:8080/v1:bge-m3:latest
const openAi = /^openai:(?<url>https?:\/\/(?:\[[^\]]+\]|[^:/\s]+)(?::\d+)?(?:\/[^:\s]*)?):(?<model>\S+)$/u
const ollama = /^ollama:(?<model>\S+)$/u

/** Opens the embedder of a spec: `minilm`, `openai:<url>:<model>`, or `ollama:<model>` for Ollama on this machine. */
export async function openEmbedder(
  spec: string,
  { apiKey }: { readonly apiKey?: string | undefined } = {},
): Promise<Embedder> {
  if (spec === 'minilm') return openMiniLm()
  const { url = 'http://127.0.0.1:11434', model } = (openAi.exec(spec) ?? ollama.exec(spec))?.groups ?? {}
  if (model !== undefined) {
    // Loaded here, because few runs use the model of an endpoint.
    const { openHttpEmbedder } = await import('./http-embedder.ts')
    return openHttpEmbedder({ url, model, name: spec.replace(`${url}:`, ''), apiKey })
  }
  const hint =
    'Write minilm, ollama:<model> or openai:<url>:<model>, for example openai:https://api.openai.com/v1:text-embedding-3-small.'
  throw invalid(`"${spec}" is not an embedder.`, hint)
}
