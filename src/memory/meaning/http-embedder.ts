import { z } from 'zod'
import { MemoryError, unavailable } from '../../errors.ts'
import { postJson } from '../../models/endpoint.ts'
import { isLoopback } from '../../models/model-spec.ts'
import type { Embedder } from '../../search/embedder.ts'

const Answer = z.object({
  data: z.array(z.object({ index: z.int().min(0), embedding: z.array(z.number()).min(1) })).min(1),
})

const maxAtOnce = 64
const patienceMs = 120_000

/** Opens a model on any server that has OpenAI's `/v1/embeddings`. `name` is the model's name in results. */
export async function openHttpEmbedder(server: {
  readonly url: string
  readonly model: string
  readonly name: string
  readonly apiKey: string | undefined
}): Promise<Embedder> {
  const { url: base, model, name, apiKey } = server
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
