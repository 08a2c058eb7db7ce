import { z } from 'zod'
import { ApiError } from './api-error.ts'
import * as belief from './belief-shapes.ts'
import { routes } from './contract.ts'
import * as evals from './eval-shapes.ts'
import { isListSchema } from './read-request.ts'
import type { Route } from './route.ts'
import { Conversation, QuoteHit, Turn } from './turn-shapes.ts'

type Schema = Readonly<Record<string, unknown>>

/** Values that occur in many answers, by the name they have in the document. */
const named = {
  Belief: belief.Belief,
  Explanation: belief.Explanation,
  RelevantBelief: belief.RelevantBelief,
  NearMiss: belief.NearMiss,
  RecallContext: belief.RecallContext,
  Quote: belief.Quote,
  Turn,
  Conversation,
  QuoteHit,
  JournalEntry: belief.JournalEntry,
  RunSummary: evals.RunSummary,
  CaseRecord: evals.CaseRecord,
  ListedRun: evals.ListedRun,
  Error: ApiError,
} satisfies Readonly<Record<string, z.ZodType>>

/** Describes the whole API in OpenAPI 3.1, from the schemas that requests are checked by. */
export function openApiDocument(version: string) {
  const answers = Object.entries(routes).map(([name, { answer }]) => [answerName(name), answer] as const)
  const bodies = (Object.entries(routes) as [string, Route][]).flatMap(([name, { body }]) =>
    body === null ? [] : [[bodyName(name), body] as const],
  )
  return {
    openapi: '3.1.0',
    info: {
      title: 'Credence',
      version,
      description:
        'A memory for AI agents, on this machine. Send the token as `Authorization: Bearer`, or log in for a cookie and send `x-credence: 1` with everything but GET.',
    },
    servers: [{ url: '/api/v1' }],
    security: [{ bearer: [] }, { cookie: [] }],
    tags: [...new Set(Object.values(routes).map(({ tag }) => tag))].map((name) => ({ name })),
    paths: paths(),
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        cookie: { type: 'apiKey', in: 'cookie', name: 'credence-<installation>' },
      },
      schemas: { ...schemasOf([...Object.entries(named), ...answers], 'output'), ...schemasOf(bodies, 'input') },
    },
  }
}

const answerName = (name: string): string => `${capitalised(name)}Answer`
const bodyName = (name: string): string => `${capitalised(name)}Body`
const capitalised = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1)
const reference = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` })

/** All of them at once, so that one that is part of another is referred to and not repeated. */
function schemasOf(entries: readonly (readonly [string, z.ZodType])[], io: 'input' | 'output'): Schema {
  const registry = z.registry<{ id: string }>()
  const aliases: [string, string][] = []
  const known = new Map<z.ZodType, string>()
  for (const [id, schema] of entries) {
    const first = known.get(schema)
    if (first !== undefined) aliases.push([id, first])
    else {
      known.set(schema, id)
      registry.add(schema, { id })
    }
  }
  const { schemas } = z.toJSONSchema(registry, {
    io,
    uri: (id) => `#/components/schemas/${id}`,
    unrepresentable: 'any',
  })
  const own = Object.entries(schemas).map(([id, { $schema: _dialect, $id: _id, id: _name, ...schema }]) => [id, schema])
  return { ...Object.fromEntries(own), ...Object.fromEntries(aliases.map(([id, first]) => [id, reference(first)])) }
}

function paths(): Schema {
  const byPath = Map.groupBy(Object.entries(routes) as [string, Route][], ([, { path }]) => path)
  return Object.fromEntries(
    [...byPath].map(([path, entries]) => [
      path.replaceAll(/:(\w+)/gu, '{$1}'),
      Object.fromEntries(entries.map(([name, route]) => [route.method.toLowerCase(), operation(name, route)])),
    ]),
  )
}

function operation(name: string, route: Route): Schema {
  const { summary, tag, body, status, form, access, method } = route
  const type = form === 'stream' ? 'text/event-stream' : 'application/json'
  const isChange = method !== 'GET' && !route.isReading && access === 'login'
  return {
    operationId: name,
    summary,
    tags: [tag],
    ...(access === 'anybody' ? { security: [] } : {}),
    parameters: [
      ...parameters(route.params, 'path'),
      ...parameters(route.query, 'query'),
      ...(isChange ? [{ name: 'Idempotency-Key', in: 'header', required: false, schema: { type: 'string' } }] : []),
    ],
    ...(body === null
      ? {}
      : { requestBody: { required: true, content: { 'application/json': { schema: reference(bodyName(name)) } } } }),
    responses: {
      [status]: { description: summary, content: { [type]: { schema: reference(answerName(name)) } } },
      default: {
        description: 'What was wrong, and what to do about it.',
        content: { 'application/json': { schema: reference('Error') } },
      },
    },
  }
}

function parameters(schema: z.ZodObject, place: 'path' | 'query'): readonly Schema[] {
  const { properties = {} } = z.toJSONSchema(schema, { io: 'output', unrepresentable: 'any' })
  return Object.entries(schema.shape).map(([name, field]) => ({
    name,
    in: place,
    required: place === 'path' || !isOptional(field as z.ZodType),
    ...(isListSchema(field as z.ZodType) ? { style: 'form', explode: true } : {}),
    schema: properties[name] ?? {},
  }))
}

const isOptional = (schema: z.ZodType): boolean => schema.safeParse(undefined).success
