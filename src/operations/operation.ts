import type { Memory } from '../memory/memory.ts'
import type { Principal } from '../memory/people/access.ts'
import type { Fields, InputOf } from './field.ts'
import { beliefById, type ServedMemory } from './served-memory.ts'
import type { Tool } from './tool.ts'
import type { MemoryView } from './view.ts'

/**
 * Who may call an operation. `anybody`: no token is needed. `agents`: agents and people, on their own memory and those of their
 * teams. `person`: people alone. `installation`: the person of the memory directory, whose files it concerns. `admin`:
 * administrators alone. `tokens`: administrators and people; the operation itself decides who may do what.
 */
export type Access = 'anybody' | 'agents' | 'person' | 'installation' | 'admin' | 'tokens'

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

/**
 * The holder of the token of a request. `installation`: a token in the memory directory, or its cookie. The others have a
 * token of the store: a person or an agent of theirs, or an administrator.
 */
export type Caller =
  | { readonly kind: 'installation' }
  | { readonly kind: 'member'; readonly principal: Principal }
  | { readonly kind: 'admin' }

/** The caller of an operation, and the memory that the call is about. No argument of a call can change its user or author. */
export type Call = {
  /** Writes as the author that the door has chosen. */
  readonly memory: Memory
  readonly view: MemoryView
  readonly isAgent: boolean
  readonly caller: Caller
  /** A retry with the same key has one effect. */
  readonly idempotency: { readonly key?: string }
  /** The server that answers; null for a call from the command line or over the streams of MCP. */
  readonly served: ServedMemory | null
}

export type DeepReadonly<Value> = Value extends readonly (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : Value extends object
    ? { readonly [Name in keyof Value]: DeepReadonly<Value[Name]> }
    : Value

/** One thing that can be done with a memory, declared once: routes, tools, OpenAPI and the dashboard's types come from it. */
export type Operation = {
  readonly summary: string
  /** Default `person`. */
  readonly access?: Access
  /** Default: every method but GET writes. */
  readonly writes?: boolean
  /** Below `/api/v1`, with `:name` for a field that is part of the path. */
  readonly http: `${Method} /${string}`
  /** Fields of a POST that are sent in the address. GET and DELETE send all of them so. */
  readonly query?: readonly string[]
  readonly status?: 200 | 201 | 202
  /** Server-sent events, each of which is an answer. */
  readonly isStream?: true
  readonly input: Fields
  /** The type of the answer is its contract: answers.json has the schemas that `npm run docs` makes from it. */
  readonly run: (call: Call, input: never) => Promise<object>
  /** How an agent sees it over MCP. */
  readonly tool?: Tool
}

/** Declares an operation; `run` gets the values of `input`. */
export const operation = <
  const All extends Fields,
  Answer extends object,
  const Rest extends Omit<Operation, 'input' | 'run'>,
>(
  declared: Rest & {
    readonly input: All
    readonly run: (call: Call, input: InputOf<All>) => Promise<Answer>
  },
) => declared

/** For an operation that the door itself answers: logging in and out, and the stream of events. */
export const answeredAtTheDoor = async <Answer extends object>(): Promise<Answer> => {
  throw new Error('The door answers this operation.')
}

/** The server of a call that only a server can answer. */
export function servedBy({ served }: Call): ServedMemory {
  if (served === null) throw new Error('This operation needs a server.')
  return served
}

/** Makes sure that a belief has this whole id. */
export const existing = async (call: Call, id: string): Promise<string> => (await beliefById(servedBy(call), id)).id
