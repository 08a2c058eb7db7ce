import { z } from 'zod'
import { MemoryError, unavailable } from '../errors.ts'
import { parseJson } from '../json.ts'

/** Max length of an answer, in bytes. */
const maxAnswerLength = 8 * 1024 * 1024
/** Max characters shown of an endpoint's error message. */
const maxReasonLength = 300

/** An error after which a retry may succeed. `retryAfterMs` is the delay that the endpoint requested, if any. */
export class TransientError extends MemoryError {
  readonly retryAfterMs: number | null

  constructor(
    message: string,
    details: { readonly hint: string; readonly cause?: unknown },
    retryAfterMs: number | null,
  ) {
    super('unavailable', message, details)
    this.retryAfterMs = retryAfterMs
  }
}

export type EndpointRequest = {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: unknown
  readonly signal: AbortSignal
  /** Never shown in an error. */
  readonly key: string | null
  readonly fetch: typeof fetch
}

/** Posts JSON and validates the JSON answer. Every failure is a MemoryError with the code `unavailable` and a hint. */
export async function postJson<Schema extends z.ZodType>(
  request: EndpointRequest,
  schema: Schema,
): Promise<z.output<Schema>> {
  const { url, headers, body, signal } = request
  let response: Response
  let text: string
  try {
    response = await request.fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
      body: JSON.stringify(body),
      // A redirect could carry the key to another host.
      redirect: 'manual',
      signal,
    })
    text = await readBoundedText(response, maxAnswerLength, () =>
      unavailable(
        `The answer of ${endpointPlaceOf(url)} is longer than ${maxAnswerLength} bytes.`,
        'Ask for less, or check the URL.',
      ),
    )
  } catch (cause) {
    throw cause instanceof MemoryError ? cause : unreachable(request, cause)
  }
  if (!response.ok) throw refusalError(request, response, text)
  const value = parseJson(text)
  if (value === undefined) {
    const hint = 'Check that the URL is the base URL of the API, such as https://host/v1.'
    throw unavailable(`${endpointPlaceOf(url)} did not answer with JSON.`, hint)
  }
  const { data, error } = schema.safeParse(value)
  if (error === undefined) return data
  const [issue] = error.issues
  const where = `${issue?.path.join('.') || 'the answer'}: ${issue?.message}`
  throw unavailable(
    `The answer of ${endpointPlaceOf(url)} is not in the format of this API (${where}).`,
    'Check that the endpoint speaks the API that the name of the model begins with.',
    error,
  )
}

/** Reads the body of a response. Throws the error that `tooLong` returns as soon as the body exceeds `maxBytes`. */
export async function readBoundedText(
  response: Response,
  maxBytes: number,
  tooLong: () => MemoryError,
): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of response.body ?? []) {
    size += chunk.byteLength
    if (size > maxBytes) throw tooLong()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function unreachable({ url, signal }: EndpointRequest, cause: unknown): MemoryError {
  const place = endpointPlaceOf(url)
  if (signal.aborted) {
    if (signal.reason instanceof MemoryError) return signal.reason
    const isTimeout = signal.reason instanceof Error && signal.reason.name === 'TimeoutError'
    return isTimeout
      ? unavailable(`${place} did not answer in time.`, 'Allow more time, or use a faster model.', cause)
      : unavailable(`The request to ${place} was aborted.`, 'Ask again.', cause)
  }
  const code = codeOf(cause)
  const reason = code === null ? cut : (reasons[code] ?? code)
  const message = `${place} cannot be used: ${reason}.`
  const details = { hint: 'Check the URL and that the service is running, then try again.', cause }
  return reason === cut ? new TransientError(message, details, null) : new MemoryError('unavailable', message, details)
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
  if (!(error instanceof Error)) return null
  return 'code' in error && typeof error.code === 'string' ? error.code : codeOf(error.cause)
}

function refusalError({ url, key }: EndpointRequest, { status, headers }: Response, text: string): MemoryError {
  const place = endpointPlaceOf(url)
  const retryAfterMs = retryAfterIn(headers.get('retry-after'))
  const reason = reasonIn(text, key)
  const permanent = (message: string, hint: string) => new MemoryError('unavailable', `${place} ${message}`, { hint })
  const transient = (message: string, hint: string) => new TransientError(`${place} ${message}`, { hint }, retryAfterMs)
  if (status >= 300 && status < 400)
    return permanent(`redirects (${status}), which is not followed.`, 'Give the URL it points to.')
  if (status === 401) return permanent('does not accept the key (401).', 'Check the key in the environment.')
  if (status === 403) return permanent('does not allow this (403).', 'Check that the key may use this model.')
  if (status === 404) return permanent(`was not found (404)${reason}`, 'Check the name of the model and the URL.')
  if (status === 429) {
    const when = retryAfterMs === null ? 'later' : `in ${Math.ceil(retryAfterMs / 1_000)} seconds`
    return transient('has had too many requests, or the quota is used up (429).', `Try again ${when}.`)
  }
  if (status >= 500) return transient(`failed (${status})${reason}`, 'Try again later.')
  return permanent(`refused the request (${status})${reason}`, 'Check the name of the model and what it can do.')
}

/** Reads a delay in seconds. Ignores a date, because it would need a clock and is rarely sent. */
function retryAfterIn(header: string | null): number | null {
  const seconds = header === null || header.trim() === '' ? Number.NaN : Number(header)
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1_000 : null
}

/** The formats of error messages that endpoints send. */
const ErrorBody = z.union([
  z.object({ error: z.string() }).transform(({ error }) => error),
  z.object({ error: z.object({ message: z.string() }) }).transform(({ error }) => error.message),
  z.object({ message: z.string() }).transform(({ message }) => message),
])

/** A colon and the endpoint's own error message, without keys and control characters; a full stop if the answer has no such message. */
function reasonIn(text: string, key: string | null): string {
  const message = ErrorBody.safeParse(parseJson(text)).data
  if (message === undefined) return '.'
  const printable = message.replace(/[\p{Cc}\p{Cf}]+/gu, ' ').replace(/\b(?:sk|pk|key)-[\w*-]{6,}/giu, '…')
  return `: ${(key ? printable.replaceAll(key, '…') : printable).trim().slice(0, maxReasonLength)}`
}

/** The URL without its query, which may contain a key. */
function endpointPlaceOf(url: string): string {
  const { origin, pathname } = new URL(url)
  return `${origin}${pathname}`
}
