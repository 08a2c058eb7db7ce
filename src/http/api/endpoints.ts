import type { z } from 'zod'
import type { Fields } from '../../operations/field.ts'
import type { Access, Method, Operation } from '../../operations/operation.ts'
import { objectSchema } from '../../operations/schemas.ts'
import { type OperationName, subjects } from '../../operations/table.ts'

/** The schemas of the parts of a request. */
export type RequestSchemas = {
  readonly params: z.ZodObject
  readonly query: z.ZodObject
  readonly body: z.ZodType | null
}

/** An operation as an HTTP route. */
export type Endpoint = {
  readonly name: OperationName
  readonly tag: string
  readonly summary: string
  readonly method: Method
  /** Below `/api/v1`, with `:name` for a path parameter. */
  readonly path: string
  readonly access: Access
  readonly writes: boolean
  readonly status: 200 | 201 | 202
  readonly request: () => RequestSchemas
  readonly operation: Operation
}

function endpointOf(tag: string, name: OperationName, operation: Operation): Endpoint {
  const [method, path] = operation.http.split(' ') as [Method, string]
  let schemas: RequestSchemas | undefined
  return {
    name,
    tag,
    method,
    path,
    operation,
    summary: operation.summary,
    access: operation.access ?? 'person',
    writes: operation.writes ?? method !== 'GET',
    status: operation.status ?? 200,
    request: () => {
      schemas ??= requestSchemas(operation, method, path)
      return schemas
    },
  }
}

/** Path fields are sent in the path. Other fields are sent in the query for GET and DELETE, and otherwise in the body. */
function requestSchemas({ input, query = [] }: Operation, method: Method, path: string): RequestSchemas {
  const inPath = new Set([...path.matchAll(/:(\w+)/gu)].map(([, name]) => name))
  const isInAddress = (name: string): boolean => method === 'GET' || method === 'DELETE' || query.includes(name)
  const pickFields = (isWanted: (name: string) => boolean): Fields =>
    Object.fromEntries(Object.entries(input).filter(([name]) => isWanted(name)))
  const body = pickFields((name) => !inPath.has(name) && !isInAddress(name))
  return {
    params: objectSchema(
      pickFields((name) => inPath.has(name)),
      'text',
    ),
    query: objectSchema(
      pickFields((name) => !inPath.has(name) && isInAddress(name)),
      'text',
    ),
    body: Object.keys(body).length === 0 ? null : objectSchema(body),
  }
}

const all: readonly Endpoint[] = Object.entries(subjects).flatMap(([tag, operations]) =>
  Object.entries<Operation>(operations).map(([name, operation]) => endpointOf(tag, name as OperationName, operation)),
)

/** All routes of the API under `/api/v1`, by name. Every response other than 2xx is an `ApiError`. */
export const endpoints = Object.fromEntries(all.map((endpoint) => [endpoint.name, endpoint])) as Readonly<
  Record<OperationName, Endpoint>
>

/** Whether a route also exists for the memory of a team, below `/api/v1/teams/:team`. Teams have no conversations. */
export const isOfTeams = ({ tag, access }: Pick<Endpoint, 'tag' | 'access'>): boolean =>
  (access === 'agents' || access === 'person') && !['people', 'system', 'turns'].includes(tag)
