import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A received request. */
export type ScriptedRequest = {
  readonly dialect: 'openai' | 'anthropic'
  readonly path: string
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** The parsed body. */
  // biome-ignore lint/suspicious/noExplicitAny: tests inspect requests of any form
  readonly body: any
}

/** The reply to a request. An `answer` is formatted in the dialect of the request. */
export type ScriptedReply =
  | {
      readonly kind: 'answer'
      readonly text?: string
      readonly toolCalls?: readonly { readonly name: string; readonly arguments: object; readonly id?: string }[]
      readonly usage?: { readonly input?: number; readonly output?: number; readonly cacheRead?: number }
      readonly stopReason?: 'end' | 'length' | 'refusal'
      readonly model?: string
    }
  /** Any status and body. */
  | {
      readonly kind: 'raw'
      readonly status: number
      readonly body?: unknown
      readonly headers?: Readonly<Record<string, string>>
    }
  /** Closes the connection before the answer, or in the middle of it. */
  | { readonly kind: 'cut'; readonly when: 'before' | 'middle' }
  /** Never answers. */
  | { readonly kind: 'silence' }

/** Replies with this text, in the dialect of the request. */
export const says = (text: string): ScriptedReply => ({ kind: 'answer', text })
/** An answer with a JSON document. */
export const saysJson = (value: unknown): ScriptedReply => ({ kind: 'answer', text: JSON.stringify(value) })
export const fails = (status: number, message = 'no'): ScriptedReply => ({
  kind: 'raw',
  status,
  body: { error: { message } },
})

export type Script =
  | readonly ScriptedReply[]
  | ((request: ScriptedRequest, index: number) => ScriptedReply | Promise<ScriptedReply>)

export type ScriptedEndpoint = AsyncDisposable & {
  /** For `openai:<model>@…`. */
  readonly openaiUrl: string
  /** For `anthropic:<model>@…`. */
  readonly anthropicUrl: string
  readonly requests: readonly ScriptedRequest[]
  readonly close: () => Promise<void>
}

/**
 * A real local HTTP server that speaks both dialects and answers from a script: a list with one reply per request (more requests get a
 * 500), or a function.
 */
export async function scriptedEndpoint(script: Script): Promise<ScriptedEndpoint> {
  const requests: ScriptedRequest[] = []
  const server = createServer((incoming, outgoing) => {
    void answer(incoming, outgoing).catch((error: unknown) => {
      outgoing.writeHead(500, { 'content-type': 'application/json' })
      outgoing.end(JSON.stringify({ error: { message: String(error) } }))
    })
  })

  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(Buffer.from(chunk))
    const path = incoming.url ?? '/'
    const request: ScriptedRequest = {
      dialect: path.endsWith('/messages') ? 'anthropic' : 'openai',
      path,
      headers: incoming.headers,
      body: JSON.parse(Buffer.concat(chunks).toString('utf8') || 'null'),
    }
    const index = requests.push(request) - 1
    const reply = typeof script === 'function' ? await script(request, index) : script[index]
    perform(reply ?? fails(500, `nothing is scripted for request ${index + 1}`), request, outgoing)
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const close = () =>
    new Promise<void>((resolve) => {
      server.closeAllConnections()
      server.close(() => resolve())
    })
  return {
    openaiUrl: `http://127.0.0.1:${port}/v1`,
    anthropicUrl: `http://127.0.0.1:${port}`,
    requests,
    close,
    [Symbol.asyncDispose]: close,
  }
}

function perform(reply: ScriptedReply, request: ScriptedRequest, outgoing: ServerResponse): void {
  switch (reply.kind) {
    case 'silence':
      return
    case 'cut':
      if (reply.when === 'middle') {
        outgoing.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
        outgoing.write('{"choices": [')
      }
      setImmediate(() => outgoing.destroy())
      return
    case 'raw': {
      const { status, body = '', headers = {} } = reply
      const isText = typeof body === 'string'
      outgoing.writeHead(status, { 'content-type': isText ? 'text/plain' : 'application/json', ...headers })
      outgoing.end(isText ? body : JSON.stringify(body))
      return
    }
    case 'answer':
      outgoing.writeHead(200, { 'content-type': 'application/json' })
      outgoing.end(
        JSON.stringify(request.dialect === 'openai' ? openaiAnswer(reply, request) : anthropicAnswer(reply, request)),
      )
  }
}

type Answer = Extract<ScriptedReply, { kind: 'answer' }>

function openaiAnswer(
  { text = '', toolCalls = [], usage = {}, stopReason = 'end', model }: Answer,
  { body }: ScriptedRequest,
) {
  const calls = toolCalls.map(({ name, id, arguments: input }, index) => ({
    id: id ?? `call_${index}`,
    type: 'function',
    function: { name, arguments: JSON.stringify(input) },
  }))
  const finish = { end: 'stop', length: 'length', refusal: 'content_filter' }[stopReason]
  return {
    id: 'chatcmpl-scripted',
    object: 'chat.completion',
    model: model ?? body.model,
    choices: [
      {
        index: 0,
        finish_reason: calls.length > 0 ? 'tool_calls' : finish,
        message: {
          role: 'assistant',
          content: text === '' ? null : text,
          ...(calls.length > 0 ? { tool_calls: calls } : {}),
        },
      },
    ],
    usage: {
      prompt_tokens: (usage.input ?? 10) + (usage.cacheRead ?? 0),
      completion_tokens: usage.output ?? 5,
      prompt_tokens_details: { cached_tokens: usage.cacheRead ?? 0 },
    },
  }
}

/** A structured answer is the input of the forced tool; text that is not JSON is sent as text. */
function anthropicAnswer(
  { text = '', toolCalls = [], usage = {}, stopReason = 'end', model }: Answer,
  { body }: ScriptedRequest,
) {
  const forced: string | undefined = body.tool_choice?.type === 'tool' ? body.tool_choice.name : undefined
  const document = forced === undefined ? null : objectIn(text)
  const calls = [...(document === null ? [] : [{ name: forced as string, arguments: document }]), ...toolCalls].map(
    (call, index) => ({
      type: 'tool_use',
      id: 'id' in call && call.id !== undefined ? call.id : `toolu_${index}`,
      name: call.name,
      input: call.arguments,
    }),
  )
  const finish = { end: 'end_turn', length: 'max_tokens', refusal: 'refusal' }[stopReason]
  return {
    id: 'msg_scripted',
    type: 'message',
    role: 'assistant',
    model: model ?? body.model,
    content: [...(text === '' || document !== null ? [] : [{ type: 'text', text }]), ...calls],
    stop_reason: calls.length > 0 && stopReason === 'end' ? 'tool_use' : finish,
    usage: {
      input_tokens: usage.input ?? 10,
      output_tokens: usage.output ?? 5,
      cache_read_input_tokens: usage.cacheRead ?? 0,
      cache_creation_input_tokens: 0,
    },
  }
}

function objectIn(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : null
  } catch {
    return null
  }
}
