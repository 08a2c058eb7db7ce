import { MemoryError } from '../errors.ts'

/** Longest answer that is read, in bytes. */
export const longestAnswer = 8 * 1024 * 1024

const longestComplaint = 300

/** Trouble that may be over in a moment. `afterMs` is how long the endpoint asks to be left alone, when it says so. */
export class PassingTrouble extends MemoryError {
  readonly afterMs: number | null

  constructor(message: string, details: { readonly hint: string; readonly cause?: unknown }, afterMs: number | null) {
    super('unavailable', message, details)
    this.afterMs = afterMs
  }
}

export type EndpointRequest = {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
  readonly signal: AbortSignal
  /** Never part of an error. */
  readonly key: string | null
  readonly fetch: typeof fetch
}

/** Sends JSON and reads JSON. Whatever goes wrong on the way is a MemoryError `unavailable` that says what to do. */
export async function postJson(request: EndpointRequest): Promise<unknown> {
  const { url, headers, body, signal } = request
  let response: Response
  try {
    response = await request.fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
      body: JSON.stringify(body),
      // A redirect could carry the key to another place.
      redirect: 'manual',
      signal,
    })
  } catch (cause) {
    throw unreachable(request, cause)
  }
  let text: string
  try {
    text = await boundedText(response, request)
  } catch (cause) {
    if (cause instanceof MemoryError) throw cause
    throw unreachable(request, cause)
  }
  if (!response.ok) throw refused(request, response, text)
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new MemoryError('unavailable', `${placeOf(url)} did not answer with JSON.`, {
      hint: 'Check that the address is where the API begins, such as https://host/v1.',
      cause,
    })
  }
}

async function boundedText(response: Response, { url }: EndpointRequest): Promise<string> {
  if (response.body === null) return ''
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body) {
    size += chunk.byteLength
    if (size > longestAnswer) {
      throw new MemoryError('unavailable', `The answer of ${placeOf(url)} is longer than ${longestAnswer} bytes.`, {
        hint: 'Ask for less, or check the address.',
      })
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function unreachable({ url, signal }: EndpointRequest, cause: unknown): MemoryError {
  if (signal.aborted) {
    if (signal.reason instanceof MemoryError) return signal.reason
    const isLate = signal.reason instanceof Error && signal.reason.name === 'TimeoutError'
    return new MemoryError(
      'unavailable',
      `${placeOf(url)} ${isLate ? 'did not answer in time' : 'was not waited for'}.`,
      {
        hint: isLate ? 'Allow more time, or use a faster model.' : 'Ask again.',
        cause,
      },
    )
  }
  const code = codeOf(cause)
  const reason = code === null ? cut : (reasons[code] ?? code)
  const message = `${placeOf(url)} cannot be used: ${reason}.`
  const details = { hint: 'Check the address and that the service is running, then try again.', cause }
  return reason === cut ? new PassingTrouble(message, details, null) : new MemoryError('unavailable', message, details)
}

const cut = 'the connection was cut'

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing answers there',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the host name cannot be looked up',
  ECONNRESET: cut,
  UND_ERR_SOCKET: cut,
  ETIMEDOUT: 'the connection timed out',
  UND_ERR_CONNECT_TIMEOUT: 'the connection timed out',
  UND_ERR_HEADERS_TIMEOUT: 'it did not begin to answer',
  UND_ERR_BODY_TIMEOUT: 'it stopped answering',
}

function codeOf(error: unknown): string | null {
  for (let one: unknown = error; one instanceof Error; one = one.cause) {
    if ('code' in one && typeof one.code === 'string') return one.code
  }
  return null
}

function refused(request: EndpointRequest, response: Response, text: string): MemoryError {
  const { status } = response
  const place = placeOf(request.url)
  const afterMs = retryAfterMs(response.headers.get('retry-after'))
  const unavailable = (message: string, hint: string): MemoryError => new MemoryError('unavailable', message, { hint })
  const passing = (message: string, hint: string): MemoryError => new PassingTrouble(message, { hint }, afterMs)
  if (status >= 300 && status < 400)
    return unavailable(
      `${place} sends one elsewhere (${status}), which is not followed.`,
      'Give the address it points to.',
    )
  if (status === 401)
    return unavailable(`${place} does not accept the key (401).`, 'Check that the right key is in the environment.')
  if (status === 403)
    return unavailable(`${place} does not allow this (403).`, 'Check that the key may use this model.')
  const complaint = complaintIn(text, request.key)
  if (status === 404)
    return unavailable(`${place} does not know this (404)${complaint}`, 'Check the name of the model and the address.')
  if (status === 429) {
    const when = afterMs === null ? 'later' : `in ${Math.ceil(afterMs / 1_000)} seconds`
    return passing(`${place} has had too many requests, or the quota is used up (429).`, `Try again ${when}.`)
  }
  if (status >= 500) return passing(`${place} has trouble of its own (${status})${complaint}`, 'Try again later.')
  return unavailable(
    `${place} refused the request (${status})${complaint}`,
    'Check the name of the model and what it can do.',
  )
}

/** In seconds; a date would need a clock, and hardly anybody sends one. */
function retryAfterMs(header: string | null): number | null {
  const seconds = header === null || header.trim() === '' ? Number.NaN : Number(header)
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1_000 : null
}

/** What the endpoint says about it, as far as it can be shown. */
function complaintIn(text: string, key: string | null): string {
  const said = messageIn(text)
  if (said === null) return '.'
  const harmless = said
    .replace(/[\p{Cc}\p{Cf}]+/gu, ' ')
    .replace(/\b(?:sk|pk|key)-[\w*-]{6,}/giu, '…')
    .trim()
  const hidden = key === null || key === '' ? harmless : harmless.replaceAll(key, '…')
  return `: ${hidden.slice(0, longestComplaint)}`
}

function messageIn(text: string): string | null {
  try {
    const { error, message } = JSON.parse(text) as { error?: unknown; message?: unknown }
    if (typeof error === 'string') return error
    if (typeof error === 'object' && error !== null && 'message' in error && typeof error.message === 'string')
      return error.message
    return typeof message === 'string' ? message : null
  } catch {
    // An error page says nothing that helps.
    return null
  }
}

/** Without a query, which may hold a key. */
function placeOf(url: string): string {
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname}`
}
