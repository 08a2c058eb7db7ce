import { once } from 'node:events'
import {
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import zlib from 'node:zlib'
import { MemoryError } from '../errors.ts'
import { codeOf } from '../files/leftovers.ts'
import { type JsonObject, parseObject } from '../json.ts'
import { type MemoryDeps, memoryInjector, type Prepared } from './add-memory.ts'
import { chatCompletions, type Dialect, type ModelAnswer, messages, responses } from './dialects.ts'

type ProxyOptions = MemoryDeps & {
  readonly upstream: URL
  /** Returns why a request is refused; null if it is allowed. Called before anything else. */
  readonly refusalOf: (request: IncomingMessage) => { readonly message: string; readonly hint: string } | null
}

type Proxy = {
  readonly listener: RequestListener
  /** Waits until all messages are stored, then closes the idle connections to the service. */
  readonly close: () => Promise<void>
}

const dialects: readonly Dialect[] = [chatCompletions, responses, messages]
/** Max bytes of a request to which memory is added. Larger requests are forwarded without memory. */
const maxBodyBytes = 64 * 1024 * 1024

/** Forwards requests to a service, adding memory to model requests, and streams the answers back. */
export function memoryProxy(options: ProxyOptions): Proxy {
  const injector = memoryInjector(options)
  const settings = { keepAlive: true, maxSockets: Number.POSITIVE_INFINITY, maxFreeSockets: 64 }
  const agent = options.upstream.protocol === 'https:' ? new HttpsAgent(settings) : new HttpAgent(settings)
  const upstream: Upstream = { url: options.upstream, agent, log: options.log }

  const handle = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const refusal = options.refusalOf(incoming)
    if (refusal !== null) return refuse(outgoing, 403, refusal)
    const dialect = dialectOf(incoming)
    const isOff = incoming.headers['x-credence-memory']?.toString().toLowerCase() === 'off'
    if (dialect === null || isOff) return forward(upstream, incoming, outgoing, { outcome: isOff ? 'off' : null })
    const { 'x-credence-user': user, 'x-credence-scope': scope } = incoming.headers
    const view = injector.viewOf(user?.toString(), scope?.toString())
    if ((incoming.headers['content-encoding'] ?? 'identity') !== 'identity')
      return forward(upstream, incoming, outgoing, { outcome: 'none; the body is compressed' })
    const { bytes, isWhole } = await readBody(incoming)
    if (!isWhole)
      return forward(upstream, incoming, outgoing, { bufferedBody: bytes, outcome: 'none; the body is too large' })
    const prepared = await injector.prepare(dialect, bytes, view)
    return forward(upstream, incoming, outgoing, { prepared, dialect, outcome: prepared.outcome })
  }

  return {
    listener: (incoming, outgoing) => {
      handle(incoming, outgoing).catch((error: unknown) => {
        // The client has disconnected.
        if (outgoing.destroyed) return
        options.log(`A request failed: ${codeOf(error) ?? (error instanceof Error ? error.name : 'unknown error')}.`)
        if (outgoing.headersSent) outgoing.destroy()
        else if (error instanceof MemoryError) refuse(outgoing, 400, { message: error.message, hint: error.hint ?? '' })
        else refuse(outgoing, 502, { message: 'Internal error in the proxy.', hint: 'See its log.' })
      })
    },
    close: async () => {
      await injector.settled()
      agent.destroy()
    },
  }
}

function dialectOf({ method, url = '' }: IncomingMessage): Dialect | null {
  const [path = ''] = url.split('?')
  return method === 'POST' ? (dialects.find(({ route }) => path.endsWith(route)) ?? null) : null
}

/** Refuses a request in an error format that clients of all three protocols display. */
function refuse(outgoing: ServerResponse, status: number, { message, hint }: { message: string; hint: string }): void {
  const body = JSON.stringify({ type: 'error', error: { type: 'credence_proxy', message: `${message} ${hint}` } })
  outgoing.writeHead(status, { 'content-type': 'application/json', 'x-credence-proxy': 'refused' })
  outgoing.end(body)
}

/** The body, or the part read so far if it is too large. */
async function readBody(incoming: IncomingMessage): Promise<{ readonly bytes: Buffer; readonly isWhole: boolean }> {
  const chunks: Buffer[] = []
  let size = 0
  // The stream stays open, because the rest of a body that is too large is still forwarded.
  for await (const chunk of incoming.iterator({ destroyOnReturn: false })) {
    chunks.push(chunk)
    size += chunk.length
    if (size > maxBodyBytes) return { bytes: Buffer.concat(chunks), isWhole: false }
  }
  return { bytes: Buffer.concat(chunks), isWhole: true }
}

type Upstream = { readonly url: URL; readonly agent: HttpAgent | HttpsAgent; readonly log: (line: string) => void }

type ForwardOptions = {
  /** The value of the answer's header `x-credence-memory`; null for requests that are not to a model. */
  readonly outcome: string | null
  readonly prepared?: Prepared
  readonly dialect?: Dialect
  /** The part of the body that was already read; the rest follows in the stream. */
  readonly bufferedBody?: Buffer
}

/** Forwards a request, and streams the answer back. */
async function forward(
  upstream: Upstream,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  options: ForwardOptions,
) {
  const { prepared, bufferedBody } = options
  const clientGone = new AbortController()
  outgoing.once('close', () => {
    if (!outgoing.writableFinished) clientGone.abort()
  })
  let answer: IncomingMessage
  try {
    answer = await sendUpstream(upstream, incoming, {
      body: prepared?.body ?? null,
      bufferedBody,
      signal: clientGone.signal,
    })
  } catch (error) {
    if (clientGone.signal.aborted) return
    const reason = codeOf(error) ?? 'the connection was cut'
    upstream.log(`${upstream.url.origin} cannot be reached: ${reason}.`)
    const message = `${upstream.url.origin} cannot be reached (${reason}).`
    return refuse(outgoing, 502, { message, hint: 'Check --upstream and that the service is running.' })
  }
  const { statusCode: status = 502, statusMessage = '', rawHeaders } = answer
  const headers = withoutHopByHop(rawHeaders, answer.headers.connection)
  if (options.outcome !== null) headers.push('x-credence-memory', headerText(options.outcome))
  outgoing.writeHead(status, statusMessage, headers)
  // Sends the headers at once, because the client may be waiting for them.
  outgoing.flushHeaders()
  const isKept = prepared !== undefined && status >= 200 && status < 300
  const copy = isKept ? answerCopy(answer.headers) : null
  const { isWhole } = await pipeResponse(answer, outgoing, copy)
  if (isWhole) outgoing.end()
  // If the service aborts its answer, the client must see an aborted answer too.
  else outgoing.destroy()
  if (copy === null || prepared === undefined || options.dialect === undefined) return
  const text = copy.answer(options.dialect)
  prepared.onAnswer({ ...text, isComplete: text.isComplete && isWhole })
}

type UpstreamRequest = {
  /** The whole body; null if it is streamed. */
  readonly body: Buffer | null
  readonly bufferedBody: Buffer | undefined
  readonly signal: AbortSignal
}

/** Sends the request to the service. Retries with a new connection if the service closed a reused one. */
async function sendUpstream(
  upstream: Upstream,
  incoming: IncomingMessage,
  sent: UpstreamRequest,
): Promise<IncomingMessage> {
  const { url, agent } = upstream
  const { body, bufferedBody, signal } = sent
  const headers = withoutHopByHop(incoming.rawHeaders, incoming.headers.connection, (name) => {
    const isOurs = name === 'host' || name.startsWith('x-credence-')
    return !isOurs && !(body !== null && name === 'content-length')
  })
  headers.push('host', url.host)
  if (body !== null) headers.push('content-length', String(body.length))
  else if (incoming.headers['transfer-encoding'] !== undefined) headers.push('transfer-encoding', 'chunked')
  for (let attempt = 1; ; attempt += 1) {
    const ask = url.protocol === 'https:' ? httpsRequest : httpRequest
    const path = upstreamPath(url, incoming.url ?? '/')
    const request = ask({ agent, signal, path, method: incoming.method, headers, ...addressOf(url) })
    const arrival = once(request, 'response')
    if (body !== null) request.end(body)
    else {
      if (bufferedBody !== undefined) request.write(bufferedBody)
      incoming.pipe(request)
    }
    try {
      const [answer] = await arrival
      // Once the response has started, errors are emitted on the response.
      request.on('error', () => {})
      return answer
    } catch (error) {
      if (attempt > 1 || body === null || !request.reusedSocket || codeOf(error) !== 'ECONNRESET') throw error
    }
  }
}

const addressOf = ({ hostname, port, protocol }: URL) => ({
  host: hostname.replace(/^\[|\]$/gu, ''),
  port: port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
})

/**
 * The path of a request at the service. The base URLs of both the proxy and the service may end in /v1, but the result contains it only
 * once.
 */
export function upstreamPath({ pathname }: URL, target: string): string {
  const base = pathname.replace(/\/+$/u, '')
  const path = target.startsWith('/') ? target : `/${target.replace(/^[a-z]+:\/\/[^/]*\/?/iu, '')}`
  return base.endsWith('/v1') && path.startsWith('/v1/') ? `${base}${path.slice('/v1'.length)}` : `${base}${path}`
}

const hopByHop = 'connection expect keep-alive proxy-connection te trailer transfer-encoding upgrade'.split(' ')

/** The headers in their original order and spelling, without hop-by-hop headers. */
function withoutHopByHop(raw: readonly string[], connection = '', isWanted: (name: string) => boolean = () => true) {
  const own = [...hopByHop, ...connection.split(',').map((name) => name.trim().toLowerCase())]
  const kept: string[] = []
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at] as string
    const value = raw[at + 1] as string
    if (!own.includes(name.toLowerCase()) && isWanted(name.toLowerCase())) kept.push(name, value)
  }
  return kept
}

const headerText = (text: string): string => text.replace(/[^\x20-\x7e]/gu, '?')

/** Streams an answer as fast as the client reads it. */
async function pipeResponse(
  answer: IncomingMessage,
  outgoing: ServerResponse,
  copy: ReturnType<typeof answerCopy> | null,
) {
  try {
    for await (const chunk of answer) {
      copy?.take(chunk)
      if (outgoing.destroyed) return { isWhole: false }
      if (!outgoing.write(chunk)) await Promise.race([once(outgoing, 'drain'), once(outgoing, 'close')])
    }
    return { isWhole: answer.complete }
  } catch {
    // The service has aborted the answer, or the client has disconnected.
    return { isWhole: false }
  }
}

/** Max bytes of an answer that is stored. Longer answers are only forwarded. */
const maxCopyBytes = 16 * 1024 * 1024

const nothing: ModelAnswer = { text: '', id: null, isComplete: false }

/** Collects a copy of a forwarded answer, to be parsed when the answer ends or is aborted. */
function answerCopy(headers: IncomingHttpHeaders) {
  let chunks: Buffer[] = []
  let size = 0
  return {
    take: (chunk: Buffer): void => {
      size += chunk.length
      if (size <= maxCopyBytes) chunks.push(chunk)
      else chunks = []
    },
    answer: (dialect: Dialect): ModelAnswer => {
      const encoding = (headers['content-encoding'] ?? 'identity').trim().toLowerCase()
      const text = chunks.length === 0 ? null : decodeBody(Buffer.concat(chunks), encoding)
      if (text === null) return nothing
      const isStream = (headers['content-type'] ?? '').includes('text/event-stream')
      return dialect.answerIn(isStream ? eventsIn(text) : documentIn(text), isStream)
    },
  }
}

const outputLimit = { maxOutputLength: 4 * maxCopyBytes }
/** Options that decode as much as possible of an answer that was cut off. */
const cut = { ...outputLimit, finishFlush: zlib.constants.Z_SYNC_FLUSH }
const cutBrotli = { ...outputLimit, finishFlush: zlib.constants.BROTLI_OPERATION_FLUSH }

const decoders: ReadonlyMap<string, (bytes: Buffer) => Buffer | undefined> = new Map([
  ['identity', (bytes: Buffer) => bytes],
  ['gzip', (bytes: Buffer) => zlib.gunzipSync(bytes, cut)],
  ['x-gzip', (bytes: Buffer) => zlib.gunzipSync(bytes, cut)],
  ['deflate', (bytes: Buffer) => zlib.inflateSync(bytes, cut)],
  ['br', (bytes: Buffer) => zlib.brotliDecompressSync(bytes, cutBrotli)],
  // Not every supported version of Node has zstd.
  ['zstd', (bytes: Buffer) => zlib.zstdDecompressSync?.(bytes, outputLimit)],
])

/** Null if the encoding is unknown or the bytes are invalid. The client gets the original bytes in any case. */
function decodeBody(bytes: Buffer, encoding: string): string | null {
  try {
    return decoders.get(encoding)?.(bytes)?.toString('utf8') ?? null
  } catch {
    return null
  }
}

function eventsIn(text: string): readonly JsonObject[] {
  return text.split(/\r?\n\r?\n/u).flatMap((event) => {
    const data = event
      .split(/\r?\n/u)
      .filter((line) => line.startsWith('data:'))
      .map((line) => line.slice('data:'.length))
      .join('\n')
    return documentIn(data)
  })
}

/** The JSON object in a text. Empty for the end mark of a stream, for an event that was cut off, and for an answer that is not JSON. */
function documentIn(text: string): readonly JsonObject[] {
  const value = parseObject(text)
  return value === null ? [] : [value]
}
