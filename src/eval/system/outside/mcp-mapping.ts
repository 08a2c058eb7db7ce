import { z } from 'zod'
import { MemoryError } from '../../../errors.ts'
import { parseJsonFile, readTextFile } from '../../pack/manifest.ts'

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

/** The steps of a path into a JSON value: a field, a place in a list, or everything in it. */
export type JsonPath = readonly (string | number | typeof everyItem)[]

const everyItem = Symbol('every item')

const step = /^(?:\.([A-Za-z_$][\w$-]*)|\[(\d+)\]|\['([^'\]]+)'\]|\[(\*)\])/u

/** Reads `$.entities[*].name`; fields, `[0]`, `[*]` and `['a field']` are known. Null for anything else. */
export function parseJsonPath(text: string): JsonPath | null {
  if (!text.startsWith('$')) return null
  const path: (string | number | typeof everyItem)[] = []
  let rest = text.slice(1)
  while (rest !== '') {
    const match = rest.match(step)
    if (match === null) return null
    const [whole, field, place, quoted] = match
    path.push(field ?? quoted ?? (place === undefined ? everyItem : Number(place)))
    rest = rest.slice(whole.length)
  }
  return path
}

/** Everything at the path, in order. What is not there is left out. */
export function valuesAt(value: unknown, path: JsonPath): readonly unknown[] {
  const [first, ...rest] = path
  if (first === undefined) return [value]
  if (value === null || typeof value !== 'object') return []
  if (first === everyItem) return Array.isArray(value) ? value.flatMap((item) => valuesAt(item, rest)) : []
  if (typeof first === 'number' ? !Array.isArray(value) : !Object.hasOwn(value, first)) return []
  const inner: unknown = Reflect.get(value, first)
  return inner === undefined ? [] : valuesAt(inner, rest)
}

/** What a placeholder may stand for. A list stands for several texts, an object for itself. */
export type TemplateValue = string | number | readonly string[] | { readonly [key: string]: Template }
export type TemplateValues = Readonly<Record<string, TemplateValue>>

/** A JSON value in whose texts `{{name}}` stands for a value. */
export type Template = string | number | boolean | null | readonly Template[] | { readonly [key: string]: Template }

const placeholder = /\{\{\s*([A-Za-z]+)\s*\}\}/gu
const wholePlaceholder = /^\{\{\s*([A-Za-z]+)\s*\}\}$/u

/** Every placeholder that occurs in a template, each once. */
export function placeholdersIn(template: Template): readonly string[] {
  return [
    ...new Set(textsIn(template).flatMap((text) => [...text.matchAll(placeholder)].map(([, name]) => name ?? ''))),
  ]
}

function textsIn(template: Template): readonly string[] {
  if (typeof template === 'string') return [template]
  if (template === null || typeof template !== 'object') return []
  return Object.values(template).flatMap(textsIn)
}

/**
 * Puts values in. A text that is nothing but a placeholder becomes the value itself, whatever that is; a list inside a
 * list becomes part of it, and what is empty is left out there. Inside a longer text a list is joined by commas, and an
 * object written as JSON.
 */
export function fillTemplate(template: Template, values: TemplateValues): Template {
  if (typeof template === 'string') {
    const whole = wholeValue(template, values)
    return whole === undefined ? fillText(template, values) : whole
  }
  if (template === null || typeof template !== 'object') return template
  if (isList(template)) return template.flatMap((item) => fillItem(item, values))
  return Object.fromEntries(Object.entries(template).map(([key, inner]) => [key, fillTemplate(inner, values)]))
}

/** Puts values into a text, which stays one. */
export const fillText = (text: string, values: TemplateValues): string =>
  text.replaceAll(placeholder, (written, name: string) => {
    const value = values[name]
    if (value === undefined) return written
    if (typeof value !== 'object') return String(value)
    return isListValue(value) ? value.join(', ') : JSON.stringify(value)
  })

function fillItem(item: Template, values: TemplateValues): readonly Template[] {
  const whole = typeof item === 'string' ? wholeValue(item, values) : undefined
  if (whole === undefined) return [fillTemplate(item, values)]
  const all: readonly Template[] = isListValue(whole) ? whole : [whole]
  return all.filter((value) => value !== '')
}

function wholeValue(text: string, values: TemplateValues): TemplateValue | undefined {
  const name = text.match(wholePlaceholder)?.[1]
  return name === undefined ? undefined : values[name]
}

// Array.isArray alone does not narrow a read-only list.
const isList = (value: Template): value is readonly Template[] => Array.isArray(value)
const isListValue = (value: TemplateValue): value is readonly string[] => Array.isArray(value)
