import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { openEmbedder } from './open-embedder.ts'

type Request = {
  readonly path: string | undefined
  readonly key: string | undefined
  readonly body: { model: string; input: string[] }
}
type Script = (request: Request) => { status?: number; body: unknown }

/** A local HTTP server that answers as the script says and records its requests. */
async function scripted(script: Script) {
  const requests: Request[] = []
  const server = createServer(async (incoming, response) => {
    const request = {
      path: incoming.url,
      key: incoming.headers.authorization,
      body: JSON.parse(await textOf(incoming)),
    }
    requests.push(request)
    const { status = 200, body } = script(request)
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  }
}

async function textOf(incoming: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of incoming) text += chunk
  return text
}

/** Two dimensions: the length and the number of vowels. */
const vectorOf = (text: string): number[] => [text.length, text.replace(/[^aeiou]/gu, '').length]
const script: Script = ({ body }) => ({
  body: { data: body.input.map((text, index) => ({ index, embedding: vectorOf(text) })).reverse() },
})
const answerWith = (vectors: readonly (readonly number[])[]) => ({
  body: { data: vectors.map((embedding, index) => ({ index, embedding })) },
})

describe('an OpenAI-compatible server', () => {
  it('receives the key, and its vectors are put in order', async () => {
    await using server = await scripted(script)

    const embedder = await openEmbedder(`openai:${server.url}:small`, { apiKey: 'k-123' })
    const vectors = await embedder.embed(['tea', 'cocoa'])

    expect(embedder).toMatchObject({ model: 'openai:small', dimensions: 2 })
    expect(vectors).toEqual([Float32Array.of(3, 2), Float32Array.of(5, 3)])
    expect(server.requests.at(-1)).toMatchObject({
      path: '/v1/embeddings',
      key: 'Bearer k-123',
      body: { model: 'small', input: ['tea', 'cocoa'] },
    })
  })

  it.each(['', '/', '/v1', '/v1/', '/v1/embeddings'])('is found at an address that ends in "%s"', async (end) => {
    await using server = await scripted(script)

    await openEmbedder(`openai:${server.url}${end}:m`)

    expect(server.requests[0]).toMatchObject({ path: '/v1/embeddings', key: undefined })
  })

  it('accepts an address with a port and a path, and a model with a tag', async () => {
    await using server = await scripted(script)

    const embedder = await openEmbedder(`openai:${server.url}/v1:bge-m3:latest`, { apiKey: 'k' })

    expect(embedder.model).toBe('openai:bge-m3:latest')
    expect(server.requests[0]).toMatchObject({ path: '/v1/embeddings', body: { model: 'bge-m3:latest' } })
  })

  it('receives long lists in parts', async () => {
    await using server = await scripted(script)
    const texts = Array.from({ length: 150 }, (_, index) => 'x'.repeat(index))

    const embedder = await openEmbedder(`openai:${server.url}:m`)
    const vectors = await embedder.embed(texts)

    expect(vectors.map(([length]) => length)).toEqual(texts.map(({ length }) => length))
    expect(server.requests.map(({ body }) => body.input.length)).toEqual([1, 64, 64, 22])
  })

  it('is reported if it does not answer, with the next step', async () => {
    await using server = await scripted(script)
    const { url } = server
    await server[Symbol.asyncDispose]()

    await expect(openEmbedder(`openai:${url}:m`)).rejects.toMatchObject({
      code: 'unavailable',
      hint: expect.stringContaining('ollama pull m'),
    })
  })

  it.each([
    ['an error', { status: 404, body: { error: 'model not found' } }, /404.*model not found/u],
    ['invalid JSON', { body: '<html>' }, /did not answer with JSON/u],
    ['JSON of another shape', { body: { vectors: [] } }, /is not in the format of this API/u],
    ['no vectors', { body: { data: [] } }, /is not in the format of this API/u],
  ])('is refused with %s as its answer', async (_what, answer, reason) => {
    await using server = await scripted(() => answer)

    await expect(openEmbedder(`openai:${server.url}:m`)).rejects.toMatchObject({
      code: 'unavailable',
      message: expect.stringMatching(reason),
    })
  })

  it('is refused with too few vectors, or with vectors of another length', async () => {
    await using server = await scripted(({ body }) =>
      answerWith(body.input.length === 1 ? [[1, 2]] : body.input[0] === 'short' ? [[1]] : [[1], [2]]),
    )
    const embedder = await openEmbedder(`openai:${server.url}:m`)

    await expect(embedder.embed(['short', 'b'])).rejects.toThrow('2 texts were sent and 1 vectors came back')
    await expect(embedder.embed(['a', 'b'])).rejects.toThrow('a vector has 1 dimensions, not 2')
  })
})

it('refuses an unknown embedder', async () => {
  for (const spec of ['', 'bert', 'ollama:', 'openai:model', 'openai:ftp://x:m']) {
    await expect(async () => openEmbedder(spec)).rejects.toMatchObject({ code: 'invalid' })
  }
})
