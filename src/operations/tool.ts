import type { z } from 'zod'
import type { Author } from '../memory/ports.ts'
import type { Fields, InputOf } from './field.ts'
import type { Call } from './operation.ts'

type Shapes = typeof import('./shapes.ts')

/** A call of an agent over MCP. */
export type AgentCall = Call & { readonly author: Author; readonly version: string }

/** An operation as agents see it over MCP: with fewer fields, a text about when to use it, and a shorter answer. */
export type Tool = {
  readonly name: string
  readonly title: string
  /** When to use it, and when not. */
  readonly description: string
  /** Whether it can destroy something. Only of tools that write. */
  readonly isDestructive?: boolean
  readonly input: Fields
  readonly answer: (shapes: Shapes) => z.ZodObject
  readonly run: (call: AgentCall, input: never) => Promise<object>
}

/** Declares the tool of an operation; `run` gets the values of `input` and returns an `answer`. */
export const tool = <const All extends Fields, Schema extends z.ZodObject>(
  declared: Omit<Tool, 'input' | 'answer' | 'run'> & {
    readonly input: All
    readonly answer: (shapes: Shapes) => Schema
    readonly run: (call: AgentCall, input: InputOf<All>) => Promise<z.input<Schema>>
  },
): Tool => declared as Tool
