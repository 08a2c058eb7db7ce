import { z } from 'zod'
import { MemoryError } from '../../errors.ts'
import type { Embedder } from '../../search/embedder.ts'
import { openMiniLm } from '../../search/minilm.ts'

/** The model that needs nothing but npm. */
export const defaultEmbedder = 'minilm'

// The address may hold a port and a path; the model may hold a tag: openai:http://127.0.0.1:8080/v1:bge-m3:latest
const openAi = /^openai:(?<url>https?:\/\/(?:\[[^\]]+\]|[^:/\s]+)(?::\d+)?(?:\/[^:\s]*)?):(?<model>\S+)$/u
const ollama = /^ollama:(?<model>\S+)$/u

/** Opens the embedder of a spec: `minilm`, `ollama:<model>` or `openai:<url>:<model>`. */
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

const vectors = z.array(z.array(z.number()).min(1))
const ollamaAnswer = z.object({ embeddings: vectors })
const openAiAnswer = z.object({
  data: z.array(z.object({ index: z.int().min(0), embedding: z.array(z.number()).min(1) })),
})

const mostAtOnce = 64
const patienceMs = 120_000

/** A model that Ollama serves on this machine. */
export const openOllama = (model: string, server = 'http://127.0.0.1:11434'): Promise<Embedder> =>
  openHttpEmbedder(`ollama:${model}`, async (texts) => {
    const answer = await post(
      `${server}/api/embed`,
      { model, input: texts },
      {},
      `Is Ollama running, and has it the model? Try \`ollama pull ${model}\`.`,
    )
    return parsed(ollamaAnswer, answer, server).embeddings
  })

/** A model behind any server that speaks OpenAI's `/v1/embeddings`. */
export function openOpenAi({
  url,
  model,
  apiKey,
}: {
  url: string
  model: string
  apiKey?: string | undefined
}): Promise<Embedder> {
  const endpoint = endpointOf(url)
  const headers = apiKey !== undefined && mayCarryKey(endpoint) ? { authorization: `Bearer ${apiKey}` } : {}
  return openHttpEmbedder(`openai:${model}`, async (texts) => {
    const body = { model, input: texts, encoding_format: 'float' }
    const answer = await post(
      endpoint,
      body,
      headers,
      'Check the address and the model; a key is taken from OPENAI_API_KEY.',
    )
    const { data } = parsed(openAiAnswer, answer, endpoint)
    return [...data].sort((one, other) => one.index - other.index).map(({ embedding }) => embedding)
  })
}

/** Asks once for the number of dimensions, and checks every later answer against it. */
async function openHttpEmbedder(
  model: string,
  request: (texts: readonly string[]) => Promise<readonly (readonly number[])[]>,
): Promise<Embedder> {
  const [probe] = await request(['dimensions'])
  if (probe === undefined) throw wrongAnswer(model, 'it has no vectors')
  const dimensions = probe.length
  return {
    model,
    dimensions,
    embed: async (texts) => {
      const all: Float32Array[] = []
      for (let at = 0; at < texts.length; at += mostAtOnce) {
        const batch = texts.slice(at, at + mostAtOnce)
        const answer = await request(batch)
        if (answer.length !== batch.length)
          throw wrongAnswer(model, `${batch.length} texts were sent and ${answer.length} vectors came back`)
        const odd = answer.find((vector) => vector.length !== dimensions)
        if (odd !== undefined) throw wrongAnswer(model, `a vector has ${odd.length} dimensions, not ${dimensions}`)
        all.push(...answer.map((vector) => Float32Array.from(vector)))
      }
      return all
    },
  }
}

async function post(url: string, body: unknown, headers: Record<string, string>, hint: string): Promise<unknown> {
  let response: Response
  try {
    response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(patienceMs),
    })
  } catch (cause) {
    throw new MemoryError('unavailable', `${url} does not answer.`, { hint, cause })
  }
  const text = await response.text()
  if (!response.ok)
    throw new MemoryError('unavailable', `${url} answered ${response.status}: ${text.slice(0, 200)}`, { hint })
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new MemoryError('unavailable', `${url} answered with something other than JSON.`, { hint, cause })
  }
}

function parsed<Schema extends z.ZodType>(schema: Schema, answer: unknown, server: string): z.infer<Schema> {
  const result = schema.safeParse(answer)
  if (result.success) return result.data
  const [issue] = result.error.issues
  throw wrongAnswer(server, `${issue?.path.join('.') || 'the answer'}: ${issue?.message}`)
}

const wrongAnswer = (whose: string, why: string): MemoryError =>
  new MemoryError('unavailable', `The answer of ${whose} cannot be used: ${why}.`, {
    hint: 'Is it an embedding model?',
  })

/** Accepts the base address, with or without its version, or the whole address. */
function endpointOf(url: string): string {
  const base = url.replace(/\/+$/u, '')
  if (base.endsWith('/embeddings')) return base
  return /\/v\d+$/u.test(base) ? `${base}/embeddings` : `${base}/v1/embeddings`
}

/** A key never leaves this machine unencrypted. */
function mayCarryKey(endpoint: string): boolean {
  const { protocol, hostname } = new URL(endpoint)
  return protocol === 'https:' || ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
}
