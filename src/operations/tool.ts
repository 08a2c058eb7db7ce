import type { Author } from '../memory/ports.ts'
import type { Fields, InputOf } from './field.ts'
import type { Call } from './operation.ts'

/** A call of an agent over MCP. */
export type AgentCall = Call & { readonly author: Author; readonly version: string }

/** An operation as agents see it over MCP: with fewer fields, a text about when to use it, and a shorter answer. */
export type Tool = {
  readonly name: string
  readonly title: string
  /** Explains when to use the tool, and when not. */
  readonly description: string
  /** Whether it can destroy something. Only for tools that write. */
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
