import { z } from 'zod'
import { invalid, MemoryError, unavailable } from '../../errors.ts'
import type { Embedder } from '../../search/embedder.ts'
import { openMiniLm } from '../../search/minilm/minilm.ts'

/** The model that is installed with this package. */
export const defaultEmbedder = 'minilm'

// The address may contain a port and a path, and the model a tag: openai:http://127.0.0.1:8080/v1:bge-m3:latest
const openAi = /^openai:(?<url>https?:\/\/(?:\[[^\]]+\]|[^:/\s]+)(?::\d+)?(?:\/[^:\s]*)?):(?<model>\S+)$/u
const ollama = /^ollama:(?<model>\S+)$/u

/** Opens the embedder of a spec: `minilm`, `openai:<url>:<model>`, or `ollama:<model>` for Ollama on this machine. */
export function openEmbedder(
  spec: string,
  { apiKey }: { readonly apiKey?: string | undefined } = {},
): Promise<Embedder> {
  if (spec === 'minilm') return openMiniLm()
  const { url = 'http://127.0.0.1:11434', model } = (openAi.exec(spec) ?? ollama.exec(spec))?.groups ?? {}
  if (model !== undefined) return openHttpEmbedder({ url, model, name: spec.replace(`${url}:`, ''), apiKey })
  const hint =
    'Write minilm, ollama:<model> or openai:<url>:<model>, for example openai:https://api.openai.com/v1:text-embedding-3-small.'
  throw invalid(`"${spec}" is not an embedder.`, hint)
}

const Answer = z.object({
  data: z.array(z.object({ index: z.int().min(0), embedding: z.array(z.number()).min(1) })).min(1),
})

const maxAtOnce = 64
const patienceMs = 120_000

/** A model on any server with OpenAI's `/v1/embeddings`. `name` is the model's name in results. */
async function openHttpEmbedder(server: { url: string; model: string; name: string; apiKey: string | undefined }) {
  const { url: base, model, name, apiKey } = server
  // Loaded here, because few runs need the client of another model.
  const { postJson } = await import('../../models/endpoint.ts')
  const { isLoopback } = await import('../../models/model-spec.ts')
  const url = endpointOf(base)
  // A key never leaves this machine unencrypted.
  const { protocol, hostname } = new URL(url)
  const key = apiKey !== undefined && (protocol === 'https:' || isLoopback(hostname)) ? apiKey : null
  const headers: Record<string, string> = key === null ? {} : { authorization: `Bearer ${key}` }
  const hint = `Check the address and the model; with Ollama try \`ollama pull ${model}\`. A key is taken from OPENAI_API_KEY.`

  const request = async (texts: readonly string[]): Promise<readonly Float32Array[]> => {
    const body = { model, input: texts, encoding_format: 'float' }
    const signal = AbortSignal.timeout(patienceMs)
    const { data } = await postJson({ url, headers, body, signal, key, fetch }, Answer).catch((cause: unknown) => {
      throw cause instanceof MemoryError ? new MemoryError(cause.code, cause.message, { hint, cause }) : cause
    })
    if (data.length !== texts.length)
      throw wrongAnswer(name, `${texts.length} texts were sent and ${data.length} vectors came back`)
    const inOrder = data.toSorted((a, b) => a.index - b.index)
    return inOrder.map(({ embedding }) => Float32Array.from(embedding))
  }

  // The first answer determines the dimensions of every later vector.
  const dimensions = (await request(['dimensions']))[0]?.length ?? 0
  return {
    model: name,
    dimensions,
    embed: async (texts: readonly string[]): Promise<readonly Float32Array[]> => {
      const all: Float32Array[] = []
      for (let at = 0; at < texts.length; at += maxAtOnce) all.push(...(await request(texts.slice(at, at + maxAtOnce))))
      const odd = all.find((vector) => vector.length !== dimensions)
      if (odd !== undefined) throw wrongAnswer(name, `a vector has ${odd.length} dimensions, not ${dimensions}`)
      return all
    },
  }
}

const wrongAnswer = (whose: string, why: string): MemoryError =>
  unavailable(`The answer of ${whose} cannot be used: ${why}.`, 'Check that it is an embedding model.')

/** Accepts the base address, with or without its version, or the whole address. */
function endpointOf(url: string): string {
  const base = url.replace(/(?<!\/)\/+$/u, '')
  if (base.endsWith('/embeddings')) return base
  return /\/v\d+$/u.test(base) ? `${base}/embeddings` : `${base}/v1/embeddings`
}
