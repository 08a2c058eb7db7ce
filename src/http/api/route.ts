import { z } from 'zod'
import type { Access } from '../../operations/operation.ts'

/** A route that is not an operation of the table yet: people, tokens and teams. */
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
  readonly access: Access
}

const none = z.strictObject({})
const defaults = { params: none, query: none, body: null, status: 200 } as const

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
export const forAdmins = routesFor('admin')
export const forTokens = routesFor('tokens')

export const text = (max: number) => z.string().max(max)
export const scopes = z.array(text(200)).max(50)
export const beliefId = z.object({ id: text(200) })
export const done = z.object({ ok: z.literal(true) })
