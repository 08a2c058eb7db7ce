import { z } from 'zod'
import { MemoryError } from '../../../errors.ts'
import { readTextFile } from '../../../files/read-text.ts'
import { parseJsonFile } from '../../pack/read-file.ts'
import { type JsonPath, parseJsonPath } from './json-path.ts'
import { placeholdersIn, type Template } from './mcp-template.ts'

/** What stands for parts of a belief, of a question, and for the directory of a run. */
export const beliefPlaceholders = [
  'id',
  'text',
  'name',
  'aliases',
  'content',
  'why',
  'type',
  'user',
  'scope',
  'scopes',
  'metadata',
] as const
export const queryPlaceholders = ['query', 'user', 'limit', 'scope', 'scopes'] as const
export const placePlaceholders = ['stateDir'] as const

const template: z.ZodType<Template> = z.lazy(() =>
  z.union([z.string(), z.number(), z.boolean(), z.null(), z.array(template), z.record(z.string(), template)]),
)

const call = z.strictObject({
  tool: z.string().min(1),
  arguments: z.record(z.string(), template).default({}),
})
/** One call, or several that are made one after the other. */
const calls = z.union([call.transform((one) => [one]), z.array(call).min(1)])

const jsonPath = z.string().transform((text, context): JsonPath => {
  const path = parseJsonPath(text)
  if (path !== null) return path
  context.addIssue(`"${text}" is not a path; write for example $.entities[*].name`)
  return z.NEVER
})

const results = z.union([
  z.strictObject({ ids: jsonPath, scores: jsonPath.optional() }),
  z.strictObject({ idsInText: z.literal(true) }),
])

const mapping = z.strictObject({
  /** As tables and reports call the system. */
  name: z.string().regex(/^[a-z0-9][a-z0-9-]*$/u, 'must be lower-case letters, digits and hyphens'),
  version: z.string().min(1).default('unknown'),
  description: z.string().min(1).optional(),
  /** What a reader of its figures must know. */
  notes: z.array(z.string().min(1)).default([]),
  command: z.string().min(1),
  args: z.array(z.string()).default([]),
  env: z.record(z.string(), z.string()).default({}),
  /** How long the start and each call may take. */
  timeoutMs: z.int().min(1).max(600_000).default(30_000),
  reset: calls.optional(),
  add: calls,
  update: calls.optional(),
  search: z.strictObject({
    ...call.shape,
    /** Asks once for each word of the message, and puts first what most words find. */
    perWord: z.boolean().default(false),
    results,
  }),
})

/** How a server's own tools are used to add beliefs to it and to search them. */
export type McpMapping = z.infer<typeof mapping>
export type ToolCall = z.infer<typeof call>
export type ResultPlaces = z.infer<typeof results>

export const readMcpMapping = (file: string): McpMapping =>
  parseMcpMapping(parseJsonFile(file, readTextFile(file)), file)

/** Checks a mapping; `source` says in errors where it stands. */
export function parseMcpMapping(value: unknown, source: string): McpMapping {
  const parsed = mapping.safeParse(value)
  if (!parsed.success)
    throw wrong(parsed.error.issues.map((issue) => `${source}: ${placeOf(issue)}: ${issue.message}.`))
  const problems = placeholderProblems(parsed.data)
  if (problems.length > 0) throw wrong(problems.map((problem) => `${source}: ${problem}`))
  return parsed.data
}

const placeOf = (issue: { readonly path: readonly PropertyKey[] }): string => issue.path.join('.') || 'mapping'

const wrong = (reasons: readonly string[]): MemoryError =>
  new MemoryError('invalid', reasons.join('\n'), { hint: 'docs/systems.md describes the mapping file.' })

function placeholderProblems({ args, env, reset = [], add, update = [], search }: McpMapping): readonly string[] {
  const given: readonly { place: string; in: Template; known: readonly string[]; needed?: string }[] = [
    { place: 'args', in: args, known: placePlaceholders },
    { place: 'env', in: env, known: placePlaceholders },
    { place: 'reset', in: argumentsOf(reset), known: placePlaceholders },
    { place: 'add', in: argumentsOf(add), known: beliefPlaceholders, needed: 'id' },
    { place: 'update', in: argumentsOf(update), known: beliefPlaceholders },
    { place: 'search', in: search.arguments, known: queryPlaceholders, needed: 'query' },
  ]
  return given.flatMap(({ place, in: where, known, needed }) => {
    const used = placeholdersIn(where)
    const unknown = used.filter((name) => !known.includes(name))
    return [
      ...unknown.map((name) => `${place}: {{${name}}} stands for nothing here; known are ${written(known)}.`),
      ...(needed === undefined || used.includes(needed) ? [] : [`${place}: {{${needed}}} is missing.`]),
    ]
  })
}

const argumentsOf = (all: readonly ToolCall[]): Template => all.map((one) => one.arguments)

const written = (names: readonly string[]): string => names.map((name) => `{{${name}}}`).join(', ')
