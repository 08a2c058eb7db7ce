import { z } from 'zod'
import { invalid } from '../../../errors.ts'
import { readTextFile } from '../../../files/read-text.ts'
import { parseJsonFile } from '../../pack/manifest.ts'
import { capabilities } from '../system.ts'

/** A path into a JSON value: field names, list positions, and `everyItem` of a list. */
export type JsonPath = readonly (string | number | typeof everyItem)[]

const everyItem = Symbol('every item')

const step = /^(?:\.([A-Za-z_$][\w$-]*)|\[(\d+)\]|\['([^'\]]+)'\]|\[(\*)\])/u

/** Parses a path such as `$.entities[*].name`: fields, `[0]`, `[*]` and `['a field']`. Null for any other syntax. */
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

/** All values at the path, in order. Missing values are skipped. */
export function valuesAt(value: unknown, [first, ...rest]: JsonPath): readonly unknown[] {
  if (first === undefined) return [value]
  if (value === null || typeof value !== 'object') return []
  if (first === everyItem) return Array.isArray(value) ? value.flatMap((item) => valuesAt(item, rest)) : []
  if (typeof first === 'number' ? !Array.isArray(value) : !Object.hasOwn(value, first)) return []
  const inner: unknown = Reflect.get(value, first)
  return inner === undefined ? [] : valuesAt(inner, rest)
}

type TemplateValue = string | number | readonly string[] | { readonly [key: string]: Template }
export type TemplateValues = Readonly<Record<string, TemplateValue>>

/** A JSON value whose texts may contain placeholders such as `{{name}}`. */
export type Template = string | number | boolean | null | readonly Template[] | { readonly [key: string]: Template }

const placeholder = /\{\{\s*([A-Za-z]+)\s*\}\}/gu
const wholePlaceholder = /^\{\{\s*([A-Za-z]+)\s*\}\}$/u

/**
 * Replaces placeholders. A text that is only a placeholder becomes its value, of any type. In a list, a list value is spliced in
 * and an empty text is dropped. In a longer text, a list is joined by commas and an object is written as JSON.
 */
export function fillTemplate(template: Template, values: TemplateValues): Template {
  if (typeof template === 'string') return wholeValue(template, values) ?? fillText(template, values)
  if (template === null || typeof template !== 'object') return template
  if (isList(template)) return template.flatMap((item) => fillItem(item, values))
  return Object.fromEntries(Object.entries(template).map(([key, inner]) => [key, fillTemplate(inner, values)]))
}

export const fillText = (text: string, values: TemplateValues): string =>
  text.replaceAll(placeholder, (written, name: string) => {
    const value = values[name]
    if (value === undefined) return written
    if (typeof value !== 'object') return String(value)
    return isList(value) ? value.join(', ') : JSON.stringify(value)
  })

function fillItem(item: Template, values: TemplateValues): readonly Template[] {
  const whole = typeof item === 'string' ? wholeValue(item, values) : undefined
  if (whole === undefined) return [fillTemplate(item, values)]
  return (isList(whole) ? whole : [whole]).filter((value) => value !== '')
}

function wholeValue(text: string, values: TemplateValues): TemplateValue | undefined {
  const name = text.match(wholePlaceholder)?.[1]
  return name === undefined ? undefined : values[name]
}

// Needed because Array.isArray does not narrow a readonly list.
const isList = (value: Template): value is readonly Template[] => Array.isArray(value)

const template: z.ZodType<Template> = z.lazy(() =>
  z.union([z.string(), z.number(), z.boolean(), z.null(), z.array(template), z.record(z.string(), template)]),
)

const call = z.strictObject({
  tool: z.string().min(1),
  arguments: z.record(z.string(), template).default({}),
})
/** One call, or several calls in sequence. */
const calls = z.union([call.transform((one) => [one]), z.array(call).min(1)])

const jsonPath = z.string().transform((text, context): JsonPath => {
  const path = parseJsonPath(text)
  if (path !== null) return path
  context.addIssue(`"${text}" is not a path; write for example $.entities[*].name`)
  return z.NEVER
})

const mapping = z.strictObject({
  name: z.string().regex(/^[a-z0-9][a-z0-9-]*$/u, 'must be lower-case letters, digits and hyphens'),
  version: z.string().min(1).default('unknown'),
  description: z.string().min(1).optional(),
  notes: z.array(z.string().min(1)).default([]),
  /** The capabilities that the server offers. Default all. */
  offers: z.array(z.enum(capabilities)).optional(),
  command: z.string().min(1),
  args: z.array(z.string()).default([]),
  env: z.record(z.string(), z.string()).default({}),
  timeoutMs: z.int().min(1).max(600_000).default(30_000),
  reset: calls.optional(),
  add: calls,
  update: calls.optional(),
  search: z.strictObject({
    ...call.shape,
    /** Sends one search per word of the message, and ranks beliefs by the number of words that find them. */
    perWord: z.boolean().default(false),
    results: z.union([
      z.strictObject({ ids: jsonPath, scores: jsonPath.optional() }),
      z.strictObject({ idsInText: z.literal(true) }),
    ]),
  }),
})

/** Which tools of a server add beliefs and search them. */
export type McpMapping = z.infer<typeof mapping>
export type MappedCall = z.infer<typeof call>

export const readMcpMapping = (file: string): McpMapping =>
  parseMcpMapping(parseJsonFile(file, readTextFile(file)), file)

/** Checks a mapping; errors call it `source`. */
export function parseMcpMapping(value: unknown, source: string): McpMapping {
  const parsed = mapping.safeParse(value)
  const problems = (parsed.error?.issues ?? []).map(
    ({ path, message }) => `${path.join('.') || 'mapping'}: ${message}.`,
  )
  if (parsed.success) {
    const { add, search } = parsed.data
    // Without these placeholders, no belief could be identified and no query sent.
    if (!has(add, 'id')) problems.push('add: {{id}} is missing.')
    if (!has(search.arguments, 'query')) problems.push('search: {{query}} is missing.')
    if (problems.length === 0) return parsed.data
  }
  const hint = 'docs/systems.md describes the mapping file.'
  throw invalid(problems.map((problem) => `${source}: ${problem}`).join('\n'), hint)
}

const has = (part: unknown, name: string): boolean =>
  [...JSON.stringify(part).matchAll(placeholder)].some(([, found]) => found === name)
