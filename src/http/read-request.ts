import type { Context } from 'hono'
import { z } from 'zod'
import { invalid } from '../errors.ts'
import type { RequestSchemas } from './api/endpoints.ts'

const maxBytes = 1_000_000
/** Valid requests are never nested deeper. Deeper input could overflow the stack of a parser. */
const maxNesting = 32
const maxReasons = 10
const maxKeyLength = 200

const apiHint = 'GET /api/openapi.json describes the requests; docs/http.md explains them.'

export class BodyTooLong extends Error {
  override readonly name = 'BodyTooLong'
  constructor() {
    super(`The body has more than ${maxBytes} bytes.`)
  }
}

/** The content type is not JSON. Refused, because a form on another site could send such a body. */
export class NotJson extends Error {
  override readonly name = 'NotJson'
}

/** Reads a request and validates it against the schemas of its route. Unknown parameters and properties are errors. */
export async function readRequest(context: Context, route: RequestSchemas) {
  const { req } = context
  // Routes are the same for people and teams, so the team in the path is not one of their parameters.
  const { team: _team, ...params } = req.param() as Record<string, string>
  // Only the query is parsed: parsing the whole URL takes longer than validating the request.
  const search = req.url.indexOf('?')
  const query = search < 0 ? {} : queryIn(new URLSearchParams(req.url.slice(search)), route.query)
  return {
    params: validateValue(params, route.params, { whole: 'the address', hint: apiHint }),
    query: validateValue(query, route.query, { whole: 'the query', hint: apiHint }),
    body: await routeBody(req.raw, route),
    idempotency: idempotencyOf(req.header('idempotency-key')),
  }
}

/** Reads a JSON body and validates it. `hint` points to the description of the request. */
export async function readBody<Schema extends z.ZodType>(request: Request, schema: Schema, hint: string) {
  return parseBody(await readLimitedText(request, hint), schema, hint)
}

const parseBody = <Schema extends z.ZodType>(text: string, schema: Schema, hint: string): z.output<Schema> =>
  validateValue(parseJson(text, hint), schema, { whole: 'the body', hint })

/** Returns the validated body; null for a route without one. A route without a body accepts an empty one or `{}`, and refuses any other. */
async function routeBody(request: Request, { body }: RequestSchemas): Promise<unknown> {
  if (body === null && request.method === 'GET') return null
  const type = request.headers.get('content-type') ?? ''
  const isJson = /^application\/json(?:\s*;|\s*$)/iu.test(type)
  const notJson = (): NotJson => new NotJson(`The content type is "${type.slice(0, 80)}".`)
  if (body !== null && !isJson) throw notJson()
  const text = await readLimitedText(request, apiHint)
  if (body !== null) return parseBody(text, body, apiHint)
  if (text !== '' && !isJson) throw notJson()
  if (text !== '') parseBody(text, z.strictObject({}), apiHint)
  return null
}

/** Returns the parsed value, or throws an error that lists the invalid parts. */
function validateValue<Schema extends z.ZodType>(
  value: unknown,
  schema: Schema,
  { whole, hint }: { readonly whole: string; readonly hint: string },
): z.output<Schema> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const reasons = parsed.error.issues
    .flatMap(innerIssues)
    .map(({ path, message }) => `${path.join('.') || whole}: ${message}`)
  throw invalid(`${reasons.slice(0, maxReasons).join('; ')}.`, hint)
}

/** For a union, the issues of the alternative that is closest to the value. */
function innerIssues(issue: z.core.$ZodIssue): readonly z.core.$ZodIssue[] {
  if (issue.code !== 'invalid_union' || issue.errors.length === 0) return [issue]
  const depthOf = (issues: readonly z.core.$ZodIssue[]): number => Math.max(...issues.map(({ path }) => path.length))
  const [nearest = []] = issue.errors.toSorted((a, b) => depthOf(b) - depthOf(a) || a.length - b.length)
  return nearest.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }))
}

function parseJson(text: string, hint: string): unknown {
  if (isDeeperThan(text, maxNesting)) throw invalid(`The body is nested deeper than ${maxNesting}.`, hint)
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw invalid(`The body is not JSON (${(cause as Error).message}).`, hint, cause)
  }
}

/** Counts brackets outside of strings, without parsing. */
function isDeeperThan(text: string, maxDepth: number): boolean {
  let depth = 0
  let isInString = false
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]
    if (isInString) {
      if (character === '\\') at += 1
      else if (character === '"') isInString = false
    } else if (character === '"') isInString = true
    else if (character === '[' || character === '{') depth += 1
    else if (character === ']' || character === '}') depth -= 1
    if (depth > maxDepth) return true
  }
  return false
}

/** Reads a body as text. Throws as soon as it is too long. */
async function readLimitedText(request: Request, hint: string): Promise<string> {
  const length = request.headers.get('content-length')
  if (Number(length ?? 0) > maxBytes) throw new BodyTooLong()
  // Node delivers at most the announced length, so the body can be read in one piece.
  if (length !== null) {
    const whole = new Uint8Array(await request.arrayBuffer())
    if (whole.length > maxBytes) throw new BodyTooLong()
    return decodeUtf8(whole, hint)
  }
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of request.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > maxBytes) throw new BodyTooLong()
    chunks.push(chunk)
  }
  return decodeUtf8(Buffer.concat(chunks), hint)
}

function decodeUtf8(bytes: Uint8Array, hint: string): string {
  try {
    return utf8.decode(bytes)
  } catch (cause) {
    throw invalid('The body is not UTF-8 text.', hint, cause)
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Parses query parameters. Only a parameter whose schema is a list may be repeated. */
function queryIn(sent: URLSearchParams, schema: z.ZodObject): Record<string, string | readonly string[]> {
  const values: Record<string, string | readonly string[]> = {}
  for (const name of new Set(sent.keys())) {
    const all = sent.getAll(name)
    const isList = Object.hasOwn(schema.shape, name) && isListSchema(schema.shape[name] as z.ZodType)
    if (!isList && all.length > 1) throw invalid(`${name} is given ${all.length} times.`, apiHint)
    // Not an assignment, because a parameter may be called `__proto__`.
    Object.defineProperty(values, name, { value: isList ? all : all[0], enumerable: true })
  }
  return values
}

export function isListSchema(schema: z.ZodType): boolean {
  const inner = schema instanceof z.ZodOptional ? schema.unwrap() : schema
  return inner instanceof z.ZodArray
}

function idempotencyOf(key: string | undefined): { readonly key?: string } {
  if (key === undefined) return {}
  if (key.length <= maxKeyLength && /^[\x21-\x7e]+$/u.test(key)) return { key }
  throw invalid('The Idempotency-Key is not 1 to 200 visible characters without spaces.', 'Use a random id.')
}
