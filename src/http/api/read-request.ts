import type { Context } from 'hono'
import { z } from 'zod'
import { MemoryError } from '../../errors.ts'
import { boundedText, checked, parseBody } from '../request-body.ts'
import type { Route } from './route.ts'

const hint = 'GET /api/openapi.json describes the requests; docs/http.md explains them.'

/** The parts of a request as its route says they must be. Whatever the route does not know is an error. */
export async function readRequest(context: Context, route: Route) {
  const { req } = context
  return {
    params: checked(req.param(), route.params, { whole: 'the address', hint }),
    query: checked(queryIn(new URL(req.url).searchParams, route.query), route.query, { whole: 'the query', hint }),
    body: route.body === null ? await noBodyOf(req.raw) : await bodyOf(req.raw, route.body),
    keyed: keyOf(req.header('idempotency-key')),
  }
}

/** What is not said to be JSON may have been sent by a form of another page. */
export class NotJson extends Error {
  override readonly name = 'NotJson'
}

async function bodyOf(request: Request, schema: z.ZodType): Promise<unknown> {
  requireJson(request)
  return parseBody(await boundedText(request, hint), schema, hint)
}

/** Whoever sends a body means something by it: where none is taken, one that says something is refused, not left unread. */
async function noBodyOf(request: Request): Promise<null> {
  if (request.method === 'GET') return null
  const text = await boundedText(request, hint)
  if (text === '') return null
  requireJson(request)
  parseBody(text, z.strictObject({}), hint)
  return null
}

function requireJson(request: Request): void {
  const type = request.headers.get('content-type') ?? ''
  if (!/^application\/json(?:\s*;|\s*$)/iu.test(type)) throw new NotJson(`The content type is "${type.slice(0, 80)}".`)
}

/** A parameter that may be given several times is a list; any other is given once. */
function queryIn(given: URLSearchParams, schema: z.ZodObject): Record<string, string | readonly string[]> {
  const values: Record<string, string | readonly string[]> = {}
  for (const name of new Set(given.keys())) {
    const all = given.getAll(name)
    const isList = Object.hasOwn(schema.shape, name) && isListSchema(schema.shape[name] as z.ZodType)
    if (!isList && all.length > 1) throw new MemoryError('invalid', `${name} is given ${all.length} times.`, { hint })
    Object.defineProperty(values, name, { value: isList ? all : all[0], enumerable: true })
  }
  return values
}

export function isListSchema(schema: z.ZodType): boolean {
  const inner = schema instanceof z.ZodOptional ? schema.unwrap() : schema
  return inner instanceof z.ZodArray
}

const longestKey = 200

function keyOf(key: string | undefined): { readonly key?: string } {
  if (key === undefined) return {}
  if (key.length <= longestKey && /^[\x21-\x7e]+$/u.test(key)) return { key }
  throw new MemoryError('invalid', 'The Idempotency-Key is not 1 to 200 visible characters without spaces.', {
    hint: 'Use a random id.',
  })
}
