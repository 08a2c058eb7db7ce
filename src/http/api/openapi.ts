import { z } from 'zod'
import type { ErrorCode } from '../../errors.ts'
import answers from '../../operations/answers.json' with { type: 'json' }
import { isListSchema } from '../read-request.ts'
import { httpErrors } from './contract.ts'
import { type Endpoint, endpoints, isOfTeams } from './endpoints.ts'

const every = Object.values(endpoints)

type Schema = Readonly<Record<string, unknown>>

const memoryErrors = ['invalid', 'not_found', 'conflict', 'forbidden', 'unavailable'] as const satisfies ErrorCode[]

/** The body of every response other than 2xx. */
export const ApiError = z.object({
  error: z.object({
    code: z.enum([...memoryErrors, ...httpErrors]),
    message: z.string(),
    hint: z.string().nullable(),
    current: z.unknown().optional().describe('For a conflict over a belief: its current state.'),
  }),
})

/** The OpenAPI 3.1 document, generated from the schemas that validate requests and from the types of the answers. */
export function openApiDocument(version: string) {
  const bodies = every.flatMap(({ name, request }) => {
    const { body } = request()
    return body === null ? [] : [[bodyName(name), body] as const]
  })
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
    tags: [...new Set(every.map(({ tag }) => tag))].map((name) => ({ name })),
    paths: paths(),
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        cookie: { type: 'apiKey', in: 'cookie', name: 'credence-<installation>' },
      },
      schemas: {
        ...answers.schemas,
        ...Object.fromEntries(Object.entries(answers.answers).map(([name, schema]) => [answerName(name), schema])),
        ...Object.fromEntries(bodies.map(([name, schema]) => [name, jsonSchema(schema, 'input')])),
        Error: jsonSchema(ApiError, 'output'),
      },
    },
  }
}

const capitalise = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1)
const answerName = (name: string): string => `${capitalise(name)}Answer`
const bodyName = (name: string): string => `${capitalise(name)}Body`
const reference = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` })

function jsonSchema(zodSchema: z.ZodType, io: 'input' | 'output'): Schema {
  const { $schema: _dialect, ...schema } = z.toJSONSchema(zodSchema, { io, unrepresentable: 'any' })
  return schema
}

const teamParameter = { name: 'team', in: 'path', required: true, schema: { type: 'string' } }

function paths(): Schema {
  const byPath: Record<string, Record<string, Schema>> = {}
  for (const endpoint of every) {
    const path = endpoint.path.replaceAll(/:(\w+)/gu, '{$1}')
    const method = endpoint.method.toLowerCase()
    const described = describedOperation(endpoint)
    byPath[path] = { ...byPath[path], [method]: described }
    if (!isOfTeams(endpoint)) continue
    const parameters = [teamParameter, ...(described.parameters as readonly Schema[])]
    const ofTeam = { ...described, operationId: `${endpoint.name}OfTeam`, tags: ['teams'], parameters }
    byPath[`/teams/{team}${path}`] = { ...byPath[`/teams/{team}${path}`], [method]: ofTeam }
  }
  return byPath
}

function describedOperation({ name, tag, summary, status, access, writes, operation, request }: Endpoint): Schema {
  const { params, query, body } = request()
  const type = operation.isStream === true ? 'text/event-stream' : 'application/json'
  const isChange = writes && access !== 'anybody'
  return {
    operationId: name,
    summary,
    tags: [tag],
    ...(access === 'anybody' ? { security: [] } : {}),
    parameters: [
      ...parameters(params, 'path'),
      ...parameters(query, 'query'),
      ...(isChange ? [{ name: 'Idempotency-Key', in: 'header', required: false, schema: { type: 'string' } }] : []),
    ],
    ...(body === null
      ? {}
      : { requestBody: { required: true, content: { 'application/json': { schema: reference(bodyName(name)) } } } }),
    responses: {
      [status]: { description: summary, content: { [type]: { schema: reference(answerName(name)) } } },
      default: {
        description: 'The error, and the next step.',
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
    required: place === 'path' || !(field as z.ZodType).safeParse(undefined).success,
    ...(isListSchema(field as z.ZodType) ? { style: 'form', explode: true } : {}),
    schema: properties[name] ?? {},
  }))
}
