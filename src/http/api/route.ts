import { z } from 'zod'

export type DeepReadonly<Value> = Value extends readonly (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : Value extends object
    ? { readonly [Name in keyof Value]: DeepReadonly<Value[Name]> }
    : Value

/** Something that can be asked for. Routing, checking and the OpenAPI document all come from this one value. */
export type Route = {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Below `/api/v1`, with `:name` for a part that varies. */
  readonly path: string
  readonly tag: 'beliefs' | 'proposals' | 'turns' | 'recall' | 'journal' | 'evals' | 'system'
  readonly summary: string
  /** Null where there are none; an unknown one is an error. */
  readonly params: z.ZodObject
  readonly query: z.ZodObject
  readonly body: z.ZodType | null
  readonly answer: z.ZodType
  readonly status: 200 | 201 | 202
  /** `stream`: the answer is one of many, sent as server-sent events. */
  readonly form: 'json' | 'stream'
  /** `anybody`: asked before there is a login, so it must do nothing that needs one. */
  readonly access: 'login' | 'anybody'
  /** Asked for with another verb than GET, but changes nothing. */
  readonly isReading: boolean
}

const nothing = z.strictObject({})

/** Fills in what most routes have in common, and keeps the types of the rest. */
export const route = <
  const Given extends Pick<Route, 'method' | 'path' | 'tag' | 'summary' | 'answer'> & Partial<Route>,
>(
  given: Given,
): Omit<typeof usual, keyof Given> & Given => ({ ...usual, ...given })

const usual = {
  params: nothing,
  query: nothing,
  body: null,
  status: 200,
  form: 'json',
  access: 'login',
  isReading: false,
} as const
