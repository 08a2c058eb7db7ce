import { people } from './access.ts'
import { beliefs } from './beliefs.ts'
import { evaluation } from './evaluation.ts'
import { history } from './history.ts'
import type { DeepReadonly, Operation, Tool } from './operation.ts'
import { recall } from './recall.ts'
import { review } from './review.ts'
import { system } from './system.ts'
import { turns } from './turns.ts'

/** All operations by subject. The subjects are the tags of the OpenAPI document. */
export const subjects = {
  system,
  beliefs,
  proposals: review,
  turns,
  recall,
  journal: history,
  evals: evaluation,
  people,
} as const satisfies Readonly<Record<string, Readonly<Record<string, Operation>>>>

/** Every operation by its name. */
export const operations = {
  ...system,
  ...beliefs,
  ...review,
  ...turns,
  ...recall,
  ...history,
  ...evaluation,
  ...people,
} as const satisfies Readonly<Record<string, Operation>>

export type Operations = typeof operations
export type OperationName = keyof Operations

/** What the promise of an operation's `run` resolves to, read-only. */
export type AnswerOf<Name extends OperationName> = Operations[Name]['run'] extends (
  ...given: never
) => Promise<infer Answer>
  ? DeepReadonly<Answer>
  : never

/** The operations that agents have as tools over MCP, in the order in which they are listed. */
export const toolOperations: readonly { readonly operation: Operation; readonly tool: Tool }[] = [
  recall.search,
  beliefs.getBelief,
  beliefs.createBelief,
  beliefs.correctBelief,
  beliefs.forgetBelief,
  system.health,
  review.listProposals,
].map((operation) => ({ operation, tool: operation.tool }))
