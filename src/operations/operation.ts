import type { Memory } from '../memory/memory.ts'
import type { Principal } from '../memory/people/access.ts'
import type { Author } from '../memory/ports.ts'
import type { Fields, InputOf } from './field.ts'
import { readBeliefById, type ServedMemory } from './served-memory.ts'
import type { MemoryView } from './view.ts'

/**
 * Who may call an operation. `anybody`: no token is needed. `agents`: agents and people, on their own memory and those of their
 * teams. `person`: only people. `installation`: only the owner of the memory directory. `admin`: only administrators.
 * `tokens`: administrators and people; the operation itself checks their permissions.
 */
export type Access = 'anybody' | 'agents' | 'person' | 'installation' | 'admin' | 'tokens'

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

/**
 * The caller, identified by the token of a request. `installation`: a token in the memory directory, or its cookie. The others
 * have a token of the store: `member` is a person or a person's agent, `admin` an administrator.
 */
export type Caller =
  | { readonly kind: 'installation' }
  | { readonly kind: 'member'; readonly principal: Principal }
  | { readonly kind: 'admin' }

/** The caller of an operation, and the memory to use. No argument of a call can change its user or author. */
export type Call = {
  /** Writes as the author that was determined by the authentication. */
  readonly memory: Memory
  readonly view: MemoryView
  readonly isAgent: boolean
  readonly caller: Caller
  /** A retry with the same key has one effect. */
  readonly idempotency: { readonly key?: string }
  /** The server that answers; null for a call from the command line or over MCP's stdio transport. */
  readonly served: ServedMemory | null
}

export type DeepReadonly<Value> = Value extends readonly (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : Value extends object
    ? { readonly [Name in keyof Value]: DeepReadonly<Value[Name]> }
    : Value

/** An operation on a memory, declared once. Routes, tools, OpenAPI and the dashboard's types are derived from it. */
export type Operation = {
  readonly summary: string
  /** Default `person`. */
  readonly access?: Access
  /** Default: every method but GET writes. */
  readonly writes?: boolean
  /** Below `/api/v1`, with `:name` for a field that is part of the path. */
  readonly http: `${Method} /${string}`
  /** Fields of a POST that are sent as query parameters. GET and DELETE send all fields in the URL. */
  readonly query?: readonly string[]
  readonly status?: 200 | 201 | 202
  /** The response is a stream of server-sent events, each of which is an answer. */
  readonly isStream?: true
  readonly input: Fields
  /** The return type is the contract: `npm run docs` generates the schemas in answers.json from it. */
  readonly run: (call: Call, input: never) => Promise<object>
  /** The operation as an MCP tool. */
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

/** For operations that the HTTP layer answers itself: logging in and out, and the event stream. */
export const answerInHttpLayer = async <Answer extends object>(): Promise<Answer> => {
  throw new Error('The door answers this operation.')
}

/** The server of a call that only a server can answer. */
export function servedBy({ served }: Call): ServedMemory {
  if (served === null) throw new Error('This operation needs a server.')
  return served
}

/** Returns the id if a belief has exactly this id; otherwise throws. */
export const requireBelief = async (call: Call, id: string): Promise<string> =>
  (await readBeliefById(servedBy(call), id)).id

/** A call of an agent over MCP. */
export type AgentCall = Call & { readonly author: Author; readonly version: string }

/** An operation as agents see it over MCP: with fewer fields, a text about when to use it, and a shorter answer. */
export type Tool = {
  readonly name: string
  readonly title: string
  /** Explains when to use the tool, and when not. */
  readonly description: string
  /** Whether it can overwrite or remove stored data. Only for tools that write. */
  readonly isDestructive?: boolean
  readonly input: Fields
  readonly run: (call: AgentCall, input: never) => Promise<object>
}

/** Declares the tool of an operation; `run` gets the values of `input`. Agents see the comments in its answer as descriptions. */
export const tool = <const All extends Fields, Answer extends object, const Rest extends Omit<Tool, 'input' | 'run'>>(
  declared: Rest & {
    readonly input: All
    readonly run: (call: AgentCall, input: InputOf<All>) => Promise<Answer>
  },
) => declared
