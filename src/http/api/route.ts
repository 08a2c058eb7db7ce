import { z } from 'zod'

export type DeepReadonly<Value> = Value extends readonly (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : Value extends object
    ? { readonly [Name in keyof Value]: DeepReadonly<Value[Name]> }
    : Value

/**
 * Who may use a route. `anybody`: no token is needed. `agents`: agents and people, on their own memory and those of their teams.
 * `person`: people alone. `installation`: the person of the memory directory, whose files it concerns. `admin`:
 * administrators alone. `tokens`: administrators and people; the handler checks who may do what.
 */
export type Access = 'anybody' | 'agents' | 'person' | 'installation' | 'admin' | 'tokens'

/** One operation of the API. Routing, validation and the OpenAPI document all come from this value. */
export type Route = {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Below `/api/v1`, with `:name` for a path parameter. */
  readonly path: string
  readonly summary: string
  readonly params: z.ZodObject
  readonly query: z.ZodObject
  readonly body: z.ZodType | null
  readonly answer: z.ZodType
  readonly status: 200 | 201 | 202
  /** `stream`: server-sent events, each of which is an `answer`. */
  readonly form: 'json' | 'stream'
  readonly access: Access
  /** True for a POST that changes nothing. */
  readonly isReading: boolean
}

const none = z.strictObject({})
const defaults = {
  params: none,
  query: none,
  body: null,
  status: 200,
  form: 'json',
  isReading: false,
} as const

/** Makes routes with this access, which have the defaults and keep their literal types. */
const routesFor =
  (access: Access) =>
  <
    const Method extends Route['method'],
    const Path extends string,
    const Rest extends Pick<Route, 'summary' | 'answer'> & Partial<Omit<Route, 'access'>>,
  >(
    method: Method,
    path: Path,
    rest: Rest,
  ): Pick<Route, 'access'> & { readonly method: Method; readonly path: Path } & Omit<typeof defaults, keyof Rest> &
    Rest => ({ ...defaults, ...rest, access, method, path })

export const route = routesFor('person')
export const forAnybody = routesFor('anybody')
export const forAgents = routesFor('agents')
export const forInstallation = routesFor('installation')
export const forAdmins = routesFor('admin')
export const forTokens = routesFor('tokens')

/** The longest list in one answer. */
export const mostItems = 200

export const text = (most: number) => z.string().max(most)
export const message = z
  .string()
  .describe('What the person says to the agent. Of more than 32,000 characters, the first and last 16,000 are read.')
export const scopes = z.array(text(200)).max(50)
export const beliefId = z.object({ id: text(200) })
export const version = z
  .int()
  .positive()
  .describe('The version that was looked at. If the belief has changed since, nothing is done: 409.')
export const time = text(40)
export const flag = z.stringbool({ truthy: ['true'], falsy: ['false'] })
/** A number in a URL. `Number` alone would also accept 1e3, 0x10 and blanks. */
export const digits = z
  .string()
  .regex(/^\d{1,16}$/u, 'expected a whole number in digits')
  .transform(Number)
export const limit = (usual: number) => digits.pipe(z.int().min(1).max(mostItems)).default(usual)
export const paging = (usual: number) => ({
  limit: limit(usual),
  offset: digits.pipe(z.int().min(0).max(1_000_000_000)).default(0),
})
export const done = z.object({ ok: z.literal(true) })
export const listOf = <Item extends z.ZodType>(item: Item) => z.object({ items: z.array(item), total: z.int() })
