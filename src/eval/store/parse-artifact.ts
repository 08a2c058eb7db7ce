import { isUtf8 } from 'node:buffer'
import { closeSync, constants, openSync, readSync } from 'node:fs'
import type { z } from 'zod'
import { MemoryError } from '../../errors.ts'
import { codeOf } from '../../files/leftovers.ts'
import { Manifest } from './schemas/manifest.ts'
import { BaselineSnapshot, CaseRecord, Environment, RunSummary } from './schemas/run.ts'
import { ShadowRecord } from './schemas/shadow-record.ts'

/** Something wrong with a document: in which file, at which place of it, and what. */
export type Problem = { readonly file: string; readonly field: string; readonly message: string }

export type Checked<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly problems: readonly [Problem, ...Problem[]] }

/** Stands for the field when the document as a whole is unusable. */
export const wholeDocument = '(document)'

/** Deeper documents are refused before anything walks them. */
export const deepestNesting = 64
const mostProblems = 20
const longestShown = 60

export const problemText = ({ file, field, message }: Problem): string => `${file}: ${field} ${message}`

/** Reads a document of one kind from the bytes of a file. Never throws. */
export function parseArtifact<Kind extends ArtifactKind>(
  kind: Kind,
  bytes: Uint8Array,
  file: string,
): Checked<Artifact<Kind>> {
  const parsed = parseJson(bytes, file)
  return parsed.ok ? checkArtifact(kind, parsed.value, file) : parsed
}

/** Reads JSON that is UTF-8, not nested without end, and free of the key that would change an object's prototype. */
export function parseJson(bytes: Uint8Array, file: string): Checked<unknown> {
  const refuse = (message: string): Checked<never> => ({
    ok: false,
    problems: [{ file, field: wholeDocument, message }],
  })
  if (bytes.length === 0) return refuse('is empty; it must be JSON')
  if (!isUtf8(bytes)) return refuse('is not UTF-8 text')
  let value: unknown
  try {
    value = JSON.parse(textOf(bytes))
  } catch (error) {
    if (error instanceof SyntaxError) return refuse(`is not JSON: ${error.message}`)
    throw error
  }
  const trouble = troubleIn(value, deepestNesting)
  if (trouble === null) return { ok: true, value }
  return { ok: false, problems: [{ file, ...trouble }] }
}

/** The text without the mark that some editors put before it. */
function textOf(bytes: Uint8Array): string {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()
  return text.startsWith('\uFEFF') ? text.slice(1) : text
}

/** Checks a parsed document of one kind. */
export function checkArtifact<Kind extends ArtifactKind>(
  kind: Kind,
  value: unknown,
  file: string,
): Checked<Artifact<Kind>> {
  const schema: z.ZodType = artifactSchemas[kind]
  // Nearly every document is valid, and words for what is wrong cost time: they are made on the second look only.
  const quick = schema.safeParse(value)
  const result = quick.success ? quick : schema.safeParse(value, { reportInput: true, error: sentence })
  // The table pairs every kind with its schema, which the compiler cannot follow through a generic key.
  if (result.success) return { ok: true, value: result.data as Artifact<Kind> }
  // A refused shadow record may hold the very text that must not be shown.
  const showsValues = kind !== 'shadow-record'
  const [first, ...rest] = result.error.issues
    .slice(0, mostProblems)
    .map((issue) => ({ file, field: fieldAt(issue.path), message: messageOf(issue, showsValues) }))
  if (first === undefined) throw new Error('A refused document must have an issue.')
  return { ok: false, problems: [first, ...rest] }
}

/** The value of a checked document, or a MemoryError that names file and field. */
export function required<Value>(checked: Checked<Value>, kind: ArtifactKind): Value {
  if (checked.ok) return checked.value
  const [first, ...rest] = checked.problems
  const more = rest.length === 0 ? '' : ` ${rest.length} more: ${rest.map(({ field }) => field).join(', ')}.`
  throw new MemoryError('invalid', `The ${artifactTitles[kind]} is not valid. ${problemText(first)}.${more}`, {
    hint: `The format is described in docs/schemas/${kind}.schema.json.`,
  })
}

/** The way to a value as one writes it: `cases[2].prompt`. */
export function fieldAt(path: readonly PropertyKey[]): string {
  const text = path.reduce<string>((place, key) => {
    if (typeof key === 'number') return `${place}[${key}]`
    const name = String(key)
    if (!/^[\w$-]+$/u.test(name)) return `${place}[${shown(name)}]`
    return place === '' ? name : `${place}.${name}`
  }, '')
  return text === '' ? wholeDocument : text
}

function messageOf({ message, input, code }: z.core.$ZodIssue, showsValues: boolean): string {
  if (input === undefined) return code === 'custom' ? message : `is missing; it ${message}`
  return showsValues ? `is ${shown(input)}; it ${message}` : message
}

/** A value in a message: short, and on one line. `object` is what its format calls one. */
export function shown(value: unknown, object = 'an object'): string {
  if (Array.isArray(value)) return `a list of ${value.length}`
  if (value !== null && typeof value === 'object') return object
  const text = JSON.stringify(value) ?? String(value)
  return text.length > longestShown ? `${text.slice(0, longestShown)}…` : text
}

const typeNames: Readonly<Record<string, string>> = {
  int: 'a whole number',
  number: 'a number',
  string: 'text',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  tuple: 'a list',
}

/** What must hold, for every rule that has no words of its own. */
function sentence(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${typeNames[issue.expected] ?? issue.expected}`
    case 'invalid_value':
      return `must be ${issue.values.map((value) => JSON.stringify(value)).join(' or ')}`
    case 'too_small':
      return `must ${bound(issue.origin, 'at least', Number(issue.minimum))}`
    case 'too_big':
      return `must ${bound(issue.origin, 'at most', Number(issue.maximum))}`
    case 'invalid_key':
      return 'must have a usable name'
    default:
      return 'must have the form that the schema describes'
  }
}

function bound(origin: string, relation: string, limit: number): string {
  if (origin === 'array') return `have ${relation} ${limit} ${limit === 1 ? 'item' : 'items'}`
  if (origin === 'string') return `have ${relation} ${limit} ${limit === 1 ? 'character' : 'characters'}`
  return `be ${relation} ${limit}`
}

/** What makes a parsed value unsafe to work with, or null. Looks `depth` levels deep and no deeper. */
function troubleIn(value: unknown, depth: number, path: readonly PropertyKey[] = []): Omit<Problem, 'file'> | null {
  if (value === null || typeof value !== 'object') return null
  if (depth === 0)
    return { field: fieldAt(path.slice(0, 3)), message: `is nested deeper than ${deepestNesting} levels` }
  for (const [key, inner] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
    if (key === '__proto__') return { field: fieldAt([...path, key]), message: 'is not allowed as a name' }
    if (inner === null || typeof inner !== 'object') continue
    const trouble = troubleIn(inner, depth - 1, [...path, key])
    if (trouble !== null) return trouble
  }
  return null
}

/** Every kind of document the eval store keeps. They are published under these names in docs/schemas. */
export const artifactSchemas = {
  manifest: Manifest,
  'run-summary': RunSummary,
  'case-record': CaseRecord,
  environment: Environment,
  'shadow-record': ShadowRecord,
  baseline: BaselineSnapshot,
} as const satisfies Record<string, z.ZodType>

export type ArtifactKind = keyof typeof artifactSchemas
export type Artifact<Kind extends ArtifactKind> = z.infer<(typeof artifactSchemas)[Kind]>

/** What a person calls each kind. */
export const artifactTitles: Readonly<Record<ArtifactKind, string>> = {
  manifest: 'benchmark manifest',
  'run-summary': 'run summary',
  'case-record': 'case record',
  environment: 'run environment',
  'shadow-record': 'shadow record',
  baseline: 'baseline snapshot',
}

/** Larger documents are refused. */
export const largestDocument = 64 * 1024 * 1024

// Links are not followed, and a pipe without a writer does not make the reader wait.
const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

// Nearly every document fits, and is then read by one call.
const chunk = Buffer.allocUnsafeSlow(64 * 1024)

/**
 * Reads a plain file of bounded size; `file` is what a problem calls it. Synchronous because a store has up to a
 * hundred thousand small files, and a promise for each costs more than the reading.
 */
export function readBounded(path: string, file: string, largest: number = largestDocument): Checked<Uint8Array> {
  const refuse = (message: string): Checked<never> => ({
    ok: false,
    problems: [{ file, field: wholeDocument, message }],
  })
  let descriptor: number | undefined
  try {
    descriptor = openSync(path, flags)
    const bytes = readAll(descriptor, largest)
    return bytes === null ? refuse(`is larger than ${largest} bytes`) : { ok: true, value: bytes }
  } catch (error) {
    return refuse(reasons[codeOf(error) ?? ''] ?? `cannot be read: ${codeOf(error) ?? String(error)}`)
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ELOOP: 'is a symbolic link, which is not followed',
  EISDIR: 'is a folder and not a file',
  ENXIO: 'is not a plain file',
  EAGAIN: 'is not a plain file',
}

/** Null when there is more than `largest`. */
function readAll(descriptor: number, largest: number): Uint8Array | null {
  const parts: Buffer[] = []
  for (let total = 0; total <= largest; ) {
    const read = readSync(descriptor, chunk)
    total += read
    if (total > largest) return null
    parts.push(Buffer.from(chunk.subarray(0, read)))
    // A plain file gives all it has: less than asked for is the end.
    if (read < chunk.length) return parts.length === 1 ? (parts[0] ?? null) : Buffer.concat(parts)
  }
  return null
}
