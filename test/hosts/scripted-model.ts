import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The protocols between hosts and their models. */
export type Protocol = 'anthropic' | 'responses' | 'chat' | 'gemini'

/** One request from a host to its model. */
export type ModelRequest = {
  readonly protocol: Protocol
  /** The conversation as the host sent it, as JSON: instructions and messages, without the tools. */
  readonly conversation: string
  /** Names of the tools whose arguments are sent to the model; in a namespace, `namespace.name`. */
  readonly tools: readonly string[]
  /** The results of the called tools, as JSON; empty before a call. */
  readonly results: string
}

export type ModelReply =
  | { readonly text: string }
  | { readonly call: { readonly name: string; readonly namespace?: string; readonly input: object } }

export type ScriptedModel = AsyncDisposable & {
  /** Without a path. */
  readonly url: string
  readonly requests: readonly ModelRequest[]
}

// biome-ignore lint/suspicious/noExplicitAny: bodies of four protocols, of which only a few fields are read
type Body = any

/**
 * A local model that answers from a script, in the protocol of the request, as one document or as a stream. The script
 * gets one request and returns the reply.
 */
export async function scriptedModel(script: (request: ModelRequest) => ModelReply): Promise<ScriptedModel> {
  const requests: ModelRequest[] = []
  const server = createServer((incoming, outgoing) => {
    void answer(incoming, outgoing).catch((error: unknown) => {
      outgoing.writeHead(500, { 'content-type': 'application/json' })
      outgoing.end(JSON.stringify({ error: { message: String(error) } }))
    })
  })

  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(Buffer.from(chunk))
    const { pathname } = new URL(incoming.url ?? '/', 'http://model')
    if (incoming.method !== 'POST') return sendOther(pathname, outgoing)
    const body: Body = JSON.parse(Buffer.concat(chunks).toString('utf8') || 'null')
    const protocol = protocolAt(pathname)
    if (protocol === null) return sendOther(pathname, outgoing)
    const request = { protocol, ...readers[protocol](body) }
    requests.push(request)
    const isStream = body.stream === true || pathname.endsWith(':streamGenerateContent')
    const reply = script(request)
    const written = writers[protocol](reply, { id: `s${requests.length}`, model: body.model ?? 'scripted', isStream })
    outgoing.writeHead(200, { 'content-type': isStream ? 'text/event-stream' : 'application/json' })
    outgoing.end(isStream ? written.map(eventText).join('') : JSON.stringify(written[0]))
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      }),
  }
}

function protocolAt(path: string): Protocol | null {
  if (path.endsWith('/messages')) return 'anthropic'
  if (path.endsWith('/responses')) return 'responses'
  if (path.endsWith('/chat/completions')) return 'chat'
  return /:(?:stream)?[gG]enerateContent$/.test(path) ? 'gemini' : null
}

/** Answers the other requests that hosts make: the list of models, and the number of tokens of a conversation. */
function sendOther(path: string, outgoing: ServerResponse): void {
  const body = path.endsWith('/models')
    ? { object: 'list', data: [{ id: 'scripted', object: 'model', owned_by: 'test' }], models: [] }
    : /count_?tokens/i.test(path)
      ? { input_tokens: 100, totalTokens: 100 }
      : null
  outgoing.writeHead(body === null ? 404 : 200, { 'content-type': 'application/json' })
  outgoing.end(JSON.stringify(body ?? { error: { type: 'not_found_error', message: 'There is nothing here.' } }))
}

type Read = Omit<ModelRequest, 'protocol'>

const resultsIn = (items: readonly Body[]): string => (items.length === 0 ? '' : JSON.stringify(items))

const readers: Readonly<Record<Protocol, (body: Body) => Read>> = {
  anthropic: ({ messages = [], system = '', tools = [] }) => ({
    conversation: JSON.stringify([system, messages]),
    // Leaves out tools whose loading is deferred, because the model knows only their names.
    tools: tools.filter((tool: Body) => tool.defer_loading !== true).map(({ name }: Body) => name),
    results: resultsIn(
      messages
        .flatMap(({ content }: Body) => (Array.isArray(content) ? content : []))
        .filter(({ type }: Body) => type === 'tool_result'),
    ),
  }),
  responses: ({ input = [], instructions = '', tools = [] }) => ({
    conversation: JSON.stringify([instructions, input]),
    tools: tools.flatMap(({ type, name, tools: inner = [] }: Body) =>
      type === 'namespace' ? inner.map((tool: Body) => `${name}.${tool.name}`) : [name ?? type],
    ),
    results: resultsIn(input.filter(({ type }: Body) => type === 'function_call_output')),
  }),
  chat: ({ messages = [], tools = [] }) => ({
    conversation: JSON.stringify(messages),
    tools: tools.map((tool: Body) => tool.function?.name),
    results: resultsIn(messages.filter(({ role }: Body) => role === 'tool')),
  }),
  gemini: ({ contents = [], systemInstruction = '', tools = [] }) => ({
    conversation: JSON.stringify([systemInstruction, contents]),
    tools: tools.flatMap(({ functionDeclarations = [] }: Body) => functionDeclarations.map(({ name }: Body) => name)),
    results: resultsIn(
      contents.flatMap(({ parts = [] }: Body) => parts).filter((part: Body) => part.functionResponse !== undefined),
    ),
  }),
}

type Written = { readonly id: string; readonly model: string; readonly isStream: boolean }
type ModelEvent = { readonly type?: string } & Record<string, unknown>

/** An event of a stream. Anthropic and Responses name their events. */
const eventText = (event: ModelEvent | string): string => {
  if (typeof event === 'string') return `data: ${event}\n\n`
  return `${event.type === undefined ? '' : `event: ${event.type}\n`}data: ${JSON.stringify(event)}\n\n`
}

/** The events of a stream, or the single document of an answer that is not streamed. */
const writers: Readonly<Record<Protocol, (reply: ModelReply, written: Written) => readonly (ModelEvent | string)[]>> = {
  anthropic(reply, { id, model, isStream }) {
    const usage = { input_tokens: 100, output_tokens: 10, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 }
    const stop = { stop_reason: 'call' in reply ? 'tool_use' : 'end_turn', stop_sequence: null }
    const message = { id: `msg_${id}`, type: 'message', role: 'assistant', model, content: [] as unknown[], usage }
    const block =
      'call' in reply
        ? { type: 'tool_use', id: `toolu_${id}`, name: reply.call.name, input: reply.call.input }
        : { type: 'text', text: reply.text }
    if (!isStream) return [{ ...message, ...stop, content: [block] }]
    const [empty, delta] =
      'call' in reply
        ? [
            { ...block, input: {} },
            { type: 'input_json_delta', partial_json: JSON.stringify(reply.call.input) },
          ]
        : [
            { type: 'text', text: '' },
            { type: 'text_delta', text: reply.text },
          ]
    return [
      { type: 'message_start', message: { ...message, stop_reason: null, stop_sequence: null } },
      { type: 'content_block_start', index: 0, content_block: empty },
      { type: 'content_block_delta', index: 0, delta },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: stop, usage: { output_tokens: 10 } },
      { type: 'message_stop' },
    ]
  },
  responses(reply, { id, isStream }) {
    const item =
      'call' in reply
        ? {
            type: 'function_call',
            id: `fc_${id}`,
            call_id: `call_${id}`,
            name: reply.call.name,
            ...(reply.call.namespace === undefined ? {} : { namespace: reply.call.namespace }),
            arguments: JSON.stringify(reply.call.input),
          }
        : { type: 'message', id: `m_${id}`, role: 'assistant', content: [{ type: 'output_text', text: reply.text }] }
    const details = { input_tokens_details: { cached_tokens: 0 }, output_tokens_details: { reasoning_tokens: 0 } }
    const usage = { input_tokens: 100, output_tokens: 10, total_tokens: 110, ...details }
    const response = { id: `resp_${id}`, usage }
    if (!isStream) return [{ ...response, output: [item] }]
    return [
      { type: 'response.created', response: { id: response.id } },
      { type: 'response.output_item.added', output_index: 0, item },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response },
    ]
  },
  chat(reply, { id, model, isStream }) {
    const called =
      'call' in reply
        ? [
            {
              index: 0,
              id: `call_${id}`,
              type: 'function',
              function: { name: reply.call.name, arguments: JSON.stringify(reply.call.input) },
            },
          ]
        : []
    const said = 'call' in reply ? { content: null, tool_calls: called } : { content: reply.text }
    const finish = 'call' in reply ? 'tool_calls' : 'stop'
    const base = { id: `chatcmpl-${id}`, created: 1_700_000_000, model }
    const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 }
    const message = { role: 'assistant', ...said }
    if (!isStream)
      return [{ ...base, object: 'chat.completion', choices: [{ index: 0, message, finish_reason: finish }], usage }]
    const chunk = (choices: readonly object[], more: object = {}): ModelEvent => ({
      ...base,
      object: 'chat.completion.chunk',
      choices,
      ...more,
    })
    return [
      chunk([{ index: 0, delta: message, finish_reason: null }]),
      chunk([{ index: 0, delta: {}, finish_reason: finish }]),
      chunk([], { usage }),
      '[DONE]',
    ]
  },
  gemini(reply) {
    const part =
      'call' in reply ? { functionCall: { name: reply.call.name, args: reply.call.input } } : { text: reply.text }
    const usageMetadata = { promptTokenCount: 100, candidatesTokenCount: 10, totalTokenCount: 110 }
    const candidates = [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }]
    return [{ candidates, usageMetadata }]
  },
}
