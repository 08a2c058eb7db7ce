import { type CallToolResult, ResourceNotFoundError, type StandardSchemaWithJSON } from '@modelcontextprotocol/server'
import type { z } from 'zod'
import { findNearestName } from '../did-you-mean.ts'
import { expectedError } from '../errors.ts'
import { visibleText } from '../memory/recall/render.ts'
import answers from '../operations/answers.json' with { type: 'json' }
import type { AgentCall, Operation, Tool } from '../operations/operation.ts'
import { objectSchema } from '../operations/schemas.ts'

export type OnBug = (error: unknown) => void

type ObjectSchema = z.ZodObject<z.core.$ZodLooseShape>
type JsonSchemas = StandardSchemaWithJSON['~standard']['jsonSchema']

export type McpTool = ReturnType<typeof mcpTool>

/** The MCP tool of an operation. For invalid arguments, `call` returns an error that lists the allowed ones. */
export function mcpTool(operation: Operation, tool: Tool) {
  const { name, title, description, isDestructive = false } = tool
  const writes = operation.writes ?? !operation.http.startsWith('GET ')
  const input = objectSchema(tool.input)
  const answer = (answers.tools as Readonly<Record<string, Record<string, unknown>>>)[name] ?? {}
  const schemas = {
    inputSchema: listedOnly(input['~standard'].jsonSchema),
    outputSchema: listedOnly({ input: () => answer, output: () => answer }),
  }
  const annotations = writes
    ? { readOnlyHint: false, destructiveHint: isDestructive, idempotentHint: false, openWorldHint: false }
    : { readOnlyHint: true, idempotentHint: true, openWorldHint: false }
  // The arguments were validated with the schema, so they have the type that `run` expects.
  const run = tool.run as (call: AgentCall, input: object) => Promise<object>
  return {
    name,
    config: { title, description, ...schemas, annotations, _meta: alwaysLoaded },
    call: async (received: unknown, context: () => Promise<AgentCall>, onBug: OnBug): Promise<CallToolResult> => {
      const parsed = input.safeParse(received)
      if (!parsed.success) return errorResult(wrongArguments(name, input, parsed.error))
      try {
        const structuredContent = visibly(await run(await context(), parsed.data))
        return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent }
      } catch (error) {
        return errorResult(errorText(error, onBug))
      }
    },
  }
}

/** Without this, Claude Code shows only the names of tools until the model searches for them, which models seldom do. */
const alwaysLoaded = { 'anthropic/alwaysLoad': true }

/**
 * Lists a schema without validating: the SDK's own error would not list the allowed arguments, and the compiler checks
 * the answers.
 */
const listedOnly = (jsonSchema: JsonSchemas): StandardSchemaWithJSON => ({
  '~standard': {
    version: 1,
    vendor: 'credence',
    validate: (value) => ({ value }),
    jsonSchema,
  },
})

const errorResult = (text: string): CallToolResult => ({
  isError: true,
  content: [{ type: 'text', text: visibleText(text) }],
})

/** Removes invisible characters from every text of an answer, so that nothing is hidden from a person who reads it. */
function visibly(value: object): Record<string, unknown> {
  const within = (inner: unknown): unknown => {
    if (typeof inner === 'string') return visibleText(inner)
    if (Array.isArray(inner)) return inner.map(within)
    if (inner === null || typeof inner !== 'object') return inner
    return Object.fromEntries(Object.entries(inner).map(([key, one]) => [key, within(one)]))
  }
  // For an object, `within` returns an object.
  return within(value) as Record<string, unknown>
}

function wrongArguments(tool: string, input: ObjectSchema, error: z.ZodError): string {
  const known = Object.keys(input.shape)
  const complaints = error.issues.flatMap((issue) => {
    if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownArgument(tool, key, known))
    const where = issue.path.join('.')
    return [where === '' ? `${issue.message}.` : `"${where}": ${issue.message}.`]
  })
  const needed = known.filter((key) => !input.shape[key]?.safeParse(undefined).success)
  const list = known.map((key) => (needed.includes(key) ? `${key} (needed)` : key)).join(', ')
  return sentences(...complaints.slice(0, 5), `Arguments of ${tool}: ${list === '' ? 'none' : list}.`)
}

function unknownArgument(tool: string, key: string, known: readonly string[]): string {
  const meant = findNearestName(key, known)
  return sentences(`${tool} has no argument "${key.slice(0, 80)}".`, meant && `Did you mean "${meant}"?`)
}

/** The text of an error for the client. For a bug, it is a general text, because the message may contain private text. */
function errorText(error: unknown, onBug: OnBug): string {
  const expected = expectedError(error)
  if (expected !== null) return sentences(expected.message, expected.hint)
  onBug(error)
  return 'Internal error in Credence. Changes that were acknowledged before are safe.'
}

/** For resources and prompts, whose errors are protocol errors. Rethrows every error in a form that is safe for the client. */
export async function withSafeErrors<Result>(work: () => Promise<Result>, onBug: OnBug): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ResourceNotFoundError) throw error
    throw new Error(errorText(error, onBug))
  }
}

const sentences = (...texts: readonly (string | undefined)[]): string =>
  texts.filter((text) => text !== undefined && text !== '').join(' ')
