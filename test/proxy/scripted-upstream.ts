import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request that the service received. */
export type UpstreamRequest = {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly bytes: Buffer
  /** The parsed body. */
  // biome-ignore lint/suspicious/noExplicitAny: tests inspect requests of any form
  readonly body: any
}

export type UpstreamReply = (outgoing: ServerResponse, request: UpstreamRequest) => void | Promise<void>

export type ScriptedUpstream = AsyncDisposable & {
  readonly url: string
  readonly requests: readonly UpstreamRequest[]
  /** Sets the replies to the next requests; the last one is repeated. */
  script(...replies: readonly UpstreamReply[]): void
}

/** A local service whose reply to each request is scripted by the test. */
export async function scriptedUpstream(): Promise<ScriptedUpstream> {
  const requests: UpstreamRequest[] = []
  let replies: readonly UpstreamReply[] = []
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = []
    try {
      for await (const chunk of incoming) chunks.push(chunk)
    } catch {
      // The client disconnected while sending.
      return
    }
    const bytes = Buffer.concat(chunks)
    const { method = '', url: path = '', headers } = incoming
    const request = { method, path, headers, bytes, body: parsed(bytes) }
    requests.push(request)
    const [reply, ...rest] = replies
    if (rest.length > 0) replies = rest
    await reply?.(outgoing, request)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    script: (...given) => {
      replies = given
    },
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

function parsed(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    return null
  }
}

/** Answers in the protocol of the request, as one document or as a stream. */
export const says =
  (text: string): UpstreamReply =>
  (outgoing, { path, body }) => {
    if (body.stream === true) {
      outgoing.writeHead(200, { 'content-type': 'text/event-stream' })
      for (const event of eventsOf(path, text)) outgoing.write(event)
      outgoing.end()
    } else json(outgoing, 200, documentOf(path, text))
  }

export function json(
  outgoing: ServerResponse,
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  outgoing.writeHead(status, { 'content-type': 'application/json', ...headers })
  outgoing.end(JSON.stringify(value))
}

/** The body of a complete (not streamed) answer with this text. */
export function documentOf(path: string, text: string): unknown {
  if (path.endsWith('/messages'))
    return {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [{ type: 'text', text }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 1, output_tokens: 1 },
    }
  if (path.endsWith('/responses')) return responseOf('completed', text)
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: text, refusal: null } }],
  }
}

let responses = 0
const responseOf = (status: string, text: string) => {
  responses += 1
  const content = [{ type: 'output_text', text, annotations: [] }]
  return {
    id: `resp_${responses}`,
    object: 'response',
    status,
    model: 'm',
    output: [{ type: 'message', id: 'o_1', role: 'assistant', status, content }],
  }
}

/** An answer with this text as a stream of server-sent events, word by word. */
export function eventsOf(path: string, text: string): readonly string[] {
  const words = text.match(/\S+\s*/gu) ?? []
  if (path.endsWith('/messages')) {
    const event = (type: string, more: object): string =>
      `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`
    const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], stop_reason: null }
    const usage = { input_tokens: 1, output_tokens: 1 }
    return [
      event('message_start', { message: { ...message, stop_sequence: null, usage } }),
      event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
      ...words.map((word) => event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: word } })),
      event('content_block_stop', { index: 0 }),
      event('message_delta', { delta: { stop_reason: 'end_turn', stop_sequence: null }, usage }),
      event('message_stop', {}),
    ]
  }
  if (path.endsWith('/responses')) {
    const response = responseOf('completed', text)
    const event = (type: string, more: object): string =>
      `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`
    return [
      event('response.created', { response: { ...response, status: 'in_progress', output: [] } }),
      ...words.map((delta) =>
        event('response.output_text.delta', { item_id: 'o_1', output_index: 0, content_index: 0, delta }),
      ),
      event('response.completed', { response }),
    ]
  }
  const chunk = (delta: object, finish: string | null = null): string =>
    `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`
  return [
    chunk({ role: 'assistant' }),
    ...words.map((content) => chunk({ content })),
    chunk({}, 'stop'),
    'data: [DONE]\n\n',
  ]
}
