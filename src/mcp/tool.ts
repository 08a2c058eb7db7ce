import type { CallToolResult, StandardSchemaWithJSON, ToolAnnotations } from '@modelcontextprotocol/server'
import type { z } from 'zod'
import { didYouMean } from '../did-you-mean.ts'
import { visibleText } from '../memory/recall/render.ts'
import { type OnBug, sentences, toldOf } from './faults.ts'
import type { Visit } from './visit.ts'

type ObjectSchema = z.ZodObject<z.core.$ZodLooseShape>

type Definition<Input extends ObjectSchema, Output extends ObjectSchema> = {
  readonly name: string
  readonly title: string
  /** When to use it, and when not. */
  readonly description: string
  readonly input: Input
  readonly output: Output
  readonly annotations: ToolAnnotations
  readonly run: (input: z.output<Input>, visit: Visit) => Promise<z.input<Output>>
}

/** A tool as the server sees it: it can be listed, and called with whatever a client sends. */
export type Tool = {
  readonly name: string
  readonly config: {
    readonly title: string
    readonly description: string
    readonly inputSchema: StandardSchemaWithJSON
    readonly outputSchema: StandardSchemaWithJSON
    readonly annotations: ToolAnnotations
  }
  readonly call: (given: unknown, visit: () => Promise<Visit>, onBug: OnBug) => Promise<CallToolResult>
}

/** Makes a tool whose `run` gets arguments that were checked. Whatever is wrong with them is the tool's own answer. */
export function defineTool<Input extends ObjectSchema, Output extends ObjectSchema>({
  name,
  title,
  description,
  input,
  output,
  annotations,
  run,
}: Definition<Input, Output>): Tool {
  return {
    name,
    config: { title, description, inputSchema: listedOnly(input), outputSchema: output, annotations },
    call: async (given, visit, onBug) => {
      const parsed = input.safeParse(given)
      if (!parsed.success) return failed(wrongArguments(name, input, parsed.error))
      try {
        const structuredContent = visibly(await run(parsed.data, await visit()))
        return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent }
      } catch (error) {
        return failed(toldOf(error, onBug))
      }
    },
  }
}

/** Shows the schema to clients but lets everything through: the SDK's refusal could not say what is allowed. */
const listedOnly = (schema: ObjectSchema): StandardSchemaWithJSON => ({
  '~standard': {
    version: 1,
    vendor: 'credence',
    validate: (value) => ({ value }),
    jsonSchema: schema['~standard'].jsonSchema,
  },
})

const failed = (text: string): CallToolResult => ({
  isError: true,
  content: [{ type: 'text', text: visibleText(text) }],
})

/** Every text in an answer loses what nobody sees, so that nothing can be hidden from the person who looks at it. */
function visibly<Value>(value: Value): Value {
  const within = (inner: unknown): unknown => {
    if (typeof inner === 'string') return visibleText(inner)
    if (Array.isArray(inner)) return inner.map(within)
    if (inner === null || typeof inner !== 'object') return inner
    return Object.fromEntries(Object.entries(inner).map(([key, one]) => [key, within(one)]))
  }
  // Only the letters of texts change, never what kind of value stands where.
  return within(value) as Value
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
  const meant = didYouMean(key, known)
  return sentences(
    `${tool} has no argument "${key.slice(0, 80)}".`,
    meant === undefined ? undefined : `Did you mean "${meant}"?`,
  )
}
