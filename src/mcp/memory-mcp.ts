import { type Readable, Transform, type TransformCallback, type Writable } from 'node:stream'
import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  createMcpHandler,
  type JSONRPCMessage,
  McpServer,
  type McpServerFactory,
  PROTOCOL_VERSION_META_KEY,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio'
import { z } from 'zod'
import { isObject, type JsonObject, parseJson, parseObject } from '../json.ts'
import { describeSecret } from '../memory/learn/secrets.ts'
import type { Memory } from '../memory/memory.ts'
import type { Author } from '../memory/ports.ts'
import type { AgentCall } from '../operations/operation.ts'
import { toolOperations } from '../operations/table.ts'
import type { MemoryView } from '../operations/view.ts'
import { capabilities, identityOf, instructions, type RequestId } from './handshake.ts'
import { registerPrompts } from './prompts.ts'
import { registerResources } from './resources.ts'
import { type McpTool, mcpTool, type OnBug } from './tool.ts'

export type McpOptions = {
  readonly version: string
  /** The view, or a function that is called for every request if the view may change while the server runs. */
  readonly view: MemoryView | (() => Promise<MemoryView>)
  /** The memory of this view, written to as `author`. */
  readonly memoryAs: (author: Author) => Promise<Memory>
  /** The author of all changes, from the token or the host's configuration. Default: the name that the client gives itself. */
  readonly boundOrigin?: string | undefined
  readonly onCall?: (call: { readonly client: string; readonly tool: string; readonly version: string | null }) => void
  readonly onBug: OnBug
  /** Handles calls of `hook`, a tool for the host itself. It is not listed, so models do not see it. */
  readonly hook?: ((input: JsonObject) => Promise<string>) | undefined
  /** Offers no tools, resources or prompts, because the host gets them from another server for this memory. */
  readonly offersNothing?: boolean
}

/** In the order in which they are listed. */
export const tools: readonly McpTool[] = toolOperations.map(({ operation, tool }) => mcpTool(operation, tool))

const maxArgumentElements = 1_000
const listTtlMs = 60 * 60 * 1_000

/** A memory as an MCP server, for stateful and stateless versions of the protocol. */
export function memoryMcp(options: McpOptions) {
  const factory = serverFactory(options)
  return {
    /** Serves one client on a pair of streams. `closed` resolves when the client disconnects or `close` is called. */
    serveStreams: (streams: Streams) => serveStreams(factory, streams, options),
    /** Serves clients over streamable HTTP, one request at a time. The caller must check Host, Origin and token. */
    httpHandler: (): { fetch: (request: Request) => Promise<Response>; close: () => Promise<void> } => {
      const { fetch, close } = createMcpHandler(factory, {
        maxRequestBodySize: maxMessageLength,
        // Ignored, because the handler reports only requests that it refuses, and these are errors of the client.
        onerror: () => {},
      })
      return { fetch: (request) => fetch(request), close }
    },
  }
}

function serverFactory(options: McpOptions): McpServerFactory {
  const { version, view, memoryAs, boundOrigin, onBug, onCall, offersNothing = false } = options
  const identity = identityOf(version)
  return ({ requestInfo }) => {
    if (offersNothing) return new McpServer(identity)
    const server = new McpServer(identity, {
      instructions,
      capabilities,
      cacheHints: { 'tools/list': { ttlMs: listTtlMs, cacheScope: 'private' } },
      maxToolInputElements: maxArgumentElements,
    })
    const clientOf = (context?: ServerContext) => {
      const { name, version = null } = clientIn(server, context)
      return { client: plainName(name ?? programIn(requestInfo?.headers.get('user-agent'))), version }
    }
    const callContext = async (context?: ServerContext): Promise<AgentCall> => {
      const author = { actor: 'agent', origin: boundOrigin ?? claimedOrigin(clientOf(context).client) } as const
      const [memory, seen] = await Promise.all([memoryAs(author), typeof view === 'function' ? view() : view])
      const caller = { kind: 'installation' } as const
      return { view: seen, memory, author, version, isAgent: true, caller, idempotency: {}, served: null }
    }
    for (const tool of tools) {
      server.registerTool(tool.name, tool.config, (input, context) => {
        onCall?.({ ...clientOf(context), tool: tool.name })
        return tool.call(input, () => callContext(context), onBug)
      })
    }
    registerResources(server, callContext, onBug)
    registerPrompts(server, callContext, onBug)
    return server
  }
}

/** Parsed, because the SDK passes the envelope of a request untyped. */
const envelope = z.object({
  [CLIENT_INFO_META_KEY]: z.object({ name: z.string(), version: z.string().optional() }),
})

/** The headers and the envelope with which newer clients send their name. */
export const selfNaming = (client: string, { method, name }: { readonly method: string; readonly name: string }) => ({
  headers: { 'mcp-protocol-version': protocol, 'mcp-method': method, 'mcp-name': name },
  _meta: {
    [PROTOCOL_VERSION_META_KEY]: protocol,
    [CLIENT_INFO_META_KEY]: { name: client, version: '1' },
    [CLIENT_CAPABILITIES_META_KEY]: {},
  },
})

const protocol = '2026-07-28'

type ClientName = { readonly name?: string; readonly version?: string | undefined }

/** The name of the client. Newer clients send it in every request, older ones in the handshake. */
function clientIn(server: McpServer, context: ServerContext | undefined): ClientName {
  const sender = envelope.safeParse(context?.mcpReq.envelope).data?.[CLIENT_INFO_META_KEY]
  return sender ?? server.server.getClientVersion() ?? {}
}

type Streams = {
  readonly input: Readable
  readonly output: Writable
  /** The id of a request that was already answered. */
  readonly answered?: RequestId | null
}

function serveStreams(
  factory: McpServerFactory,
  { input, output, answered = null }: Streams,
  { hook, onBug }: Pick<McpOptions, 'hook' | 'onBug'>,
) {
  // Every answer that waits for a slow reader adds a listener, so the number of listeners must not be limited.
  output.setMaxListeners(0)
  // Requests without an answer. A cancelled one gets none, and one that listens gets its answer when the connection is closed.
  const pending = new Set<unknown>()
  let onAllAnswered = (): void => {}
  const lines = new BoundedLines(output, (done) => {
    onAllAnswered = () => {
      onAllAnswered = () => {}
      done()
    }
    end(null)
  })
  const end = (id: unknown): void => {
    pending.delete(id)
    if (pending.size === 0) onAllAnswered()
  }
  input.pipe(lines)
  const transport = new StdioServerTransport(lines, output, { maxBufferSize: maxMessageLength + readAhead })
  const write = transport.send.bind(transport)
  let dropped = answered
  const send: typeof write = async (message) => {
    const id = 'id' in message && !('method' in message) ? message.id : null
    const isDropped = id !== null && id === dropped
    if (isDropped) dropped = null
    const sent = isDropped ? undefined : write(message)
    end(id)
    return sent
  }
  transport.send = send
  const handle = serveStdio(factory, {
    transport,
    onerror: (error) => {
      if (!isClientFault(error)) onBug(error)
    },
  })
  const onmessage = transport.onmessage
  transport.onmessage = (message) => {
    const method = 'method' in message ? message.method : null
    if (method === 'notifications/cancelled' && 'params' in message) end(message.params?.requestId)
    else if (method !== null && method !== 'subscriptions/listen' && 'id' in message) pending.add(message.id)
    const call = hook === undefined ? null : hookCallIn(message)
    if (hook === undefined || call === null) return onmessage?.(message)
    const reply = (text: string) =>
      send({ jsonrpc: '2.0', id: call.id, result: { ...call.result, content: [{ type: 'text', text }] } })
    // Failures become empty answers, because a host shows a failed hook at every prompt. The hook log has the error.
    void hook(call.input)
      .then(reply, () => reply(''))
      .catch(onBug)
  }
  const { promise: closed, resolve } = Promise.withResolvers<void>()
  const onclose = transport.onclose
  transport.onclose = () => {
    onclose?.()
    // Otherwise an open standard input keeps the process running.
    input.unpipe(lines)
    input.pause()
    resolve()
  }
  return { closed, close: (): Promise<void> => handle.close() }
}

/** The call of the hidden tool `hook`, and the fields of its result that the version of the protocol needs. */
function hookCallIn(message: JSONRPCMessage) {
  if (!('method' in message && 'id' in message) || message.method !== 'tools/call') return null
  const { name, arguments: input, _meta = {} } = message.params ?? {}
  if (name !== 'hook' || !isObject(input)) return null
  return { id: message.id, input, result: PROTOCOL_VERSION_META_KEY in _meta ? { resultType: 'complete' } : {} }
}

/** Invalid JSON, invalid or too long messages and closed streams are errors of the client, not bugs. */
const isClientFault = (error: Error): boolean =>
  error instanceof SyntaxError ||
  error.name === 'ZodError' ||
  error.message.startsWith('ReadBuffer exceeded') ||
  'code' in error

/** The prefix distinguishes names that clients give themselves from authors set by a token or a configuration. */
const claimedOrigin = (client: string): string => `mcp:${client}`

const unnamed = 'unnamed'
/** The author for all clients without a name. */
export const unnamedOrigin = claimedOrigin(unnamed)

/** The name of a client without misleading characters. A name that contains a secret is not used. */
export function plainName(name: string | undefined): string {
  if (name !== undefined && describeSecret(name) !== null) return unnamed
  const plain = (name ?? '')
    .normalize('NFKC')
    .replace(/[^\p{L}\p{N}._@/ -]+/gu, ' ')
    .replace(/\s+/g, ' ')
    .trim()
    .slice(0, 60)
    .trim()
  return plain === '' ? unnamed : plain
}

/** User-Agent names of HTTP libraries, which do not identify the agent. */
const httpLibraries = new Set(['node', 'undici', 'axios', 'python-httpx', 'go-http-client'])

/** The first program in a User-Agent header, for clients that do not send their name. */
export function programIn(userAgent: string | null | undefined): string | undefined {
  const [name] = /^[^\s/();,]+/.exec(userAgent ?? '') ?? []
  return name === undefined || httpLibraries.has(name.toLowerCase()) ? undefined : name
}

/** The maximum size of a message, in bytes. */
export const maxMessageLength = 4 * 1024 * 1024
/** Longer lines are dropped without reading even their id. */
const maxParsedLength = 64 * 1024 * 1024
/** Extra buffer space, because the chunk that ends a message may also contain the start of the next one. */
export const readAhead = 1024 * 1024

const newline = 0x0a

/**
 * Forwards the lines of a stream, and ends only when all requests are answered. A message that is too large or is not JSON gets a JSON-RPC
 * error instead, as it does over HTTP. The SDK would close the connection, with all other requests, or ignore the line.
 */
export class BoundedLines extends Transform {
  readonly #output: Writable
  readonly #whenAnswered: (done: () => void) => void
  #chunks: Buffer[] = []
  #size = 0

  constructor(output: Writable, whenAnswered: (done: () => void) => void) {
    super()
    this.#output = output
    this.#whenAnswered = whenAnswered
  }

  override _transform(chunk: Buffer, _encoding: string, done: TransformCallback): void {
    let start = 0
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      this.#add(chunk.subarray(start, end + 1))
      this.#end()
      start = end + 1
    }
    this.#add(chunk.subarray(start))
    done()
  }

  override _flush(done: TransformCallback): void {
    // The SDK ignores a line that does not end.
    if (this.#size > 0) this.#add(Buffer.from('\n'))
    this.#end()
    // The lines that were just pushed are read first.
    setImmediate(() => this.#whenAnswered(done))
  }

  #add(bytes: Buffer): void {
    this.#size += bytes.length
    if (this.#size <= maxParsedLength) this.#chunks.push(bytes)
    else this.#chunks = []
  }

  #end(): void {
    const size = this.#size
    const line = Buffer.concat(this.#chunks)
    this.#chunks = []
    this.#size = 0
    if (size === 0) return
    if (size > maxMessageLength)
      this.#refuse(line, -32600, `The message has ${size} bytes; at most ${maxMessageLength} are allowed.`)
    else if (parseJson(line.toString('utf8')) !== undefined) this.push(line)
    else if (line.toString('utf8').trim() !== '') this.#refuse(line, -32700, 'The line is not JSON.')
  }

  #refuse(line: Buffer, code: number, message: string): void {
    this.#output.write(`${JSON.stringify({ jsonrpc: '2.0', id: idIn(line), error: { code, message } })}\n`)
  }
}

/** The id of a request; null if there is none. */
function idIn(line: Buffer): string | number | null {
  const id = parseObject(line.toString('utf8'))?.id
  return typeof id === 'string' || typeof id === 'number' ? id : null
}
