import { isUtf8 } from 'node:buffer'
import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs'
import type { z } from 'zod'
import { invalid } from '../../errors.ts'
import { codeOf } from '../../files/leftovers.ts'
import { Manifest } from './schemas/manifest.ts'
import { BaselineSnapshot, CaseRecord, RunEnvironment, RunSummary } from './schemas/run.ts'
import { ShadowRecord } from './schemas/shadow-record.ts'

/** All kinds of documents in an eval store. The schemas are published under these names in docs/reference/schemas. */
export const artifactSchemas = {
  manifest: Manifest,
  'run-summary': RunSummary,
  'case-record': CaseRecord,
  environment: RunEnvironment,
  'shadow-record': ShadowRecord,
  baseline: BaselineSnapshot,
} as const satisfies Record<string, z.ZodType>

export type ArtifactKind = keyof typeof artifactSchemas
export type Artifact<Kind extends ArtifactKind> = z.infer<(typeof artifactSchemas)[Kind]>

/** The name of each kind in messages. */
export const artifactTitles: Readonly<Record<ArtifactKind, string>> = {
  manifest: 'benchmark manifest',
  'run-summary': 'run summary',
  'case-record': 'case record',
  environment: 'run environment',
  'shadow-record': 'shadow record',
  baseline: 'baseline snapshot',
}

/** One error in a document. `field` is a path such as `cases[2].prompt`. */
export type Problem = { readonly file: string; readonly field: string; readonly message: string }

export type Checked<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly problems: readonly [Problem, ...Problem[]] }

/** The field name for a problem with the whole document. */
const wholeDocument = '(document)'

export const refuseDocument = (file: string, message: string, field = wholeDocument) => ({
  ok: false as const,
  problems: [{ file, field, message }] as const satisfies readonly [Problem],
})

export const problemText = ({ file, field, message }: Problem): string => `${file}: ${field} ${message}`

const maxDocumentBytes = 64 * 1024 * 1024
// Does not follow symbolic links, and does not block on a pipe without a writer.
const flags = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0)

/** Reads a regular file of limited size; `file` is its name in problems. Never throws. Synchronous, because this is faster. */
export function readBounded(path: string, file: string, maxBytes: number = maxDocumentBytes): Checked<Uint8Array> {
  let descriptor: number | undefined
  try {
    descriptor = openSync(path, flags)
    if (fstatSync(descriptor).size > maxBytes) return refuseDocument(file, `is larger than ${maxBytes} bytes`)
    return { ok: true, value: readFileSync(descriptor) }
  } catch (error) {
    const code = codeOf(error) ?? String(error)
    return refuseDocument(file, readErrors[code] ?? `cannot be read: ${code}`)
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

const readErrors: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ELOOP: 'is a symbolic link, which is not followed',
  EISDIR: 'is a folder and not a file',
  ENXIO: 'is not a plain file',
  EAGAIN: 'is not a plain file',
}

/** Reads a file as JSON: UTF-8, of limited size and depth, and without the key `__proto__`. Never throws. */
export function readJson(path: string, file: string): Checked<unknown> {
  const bytes = readBounded(path, file)
  return bytes.ok ? parseJson(bytes.value, file) : bytes
}

/** Reads and checks a document of one kind. Never throws. */
export function readArtifact<Kind extends ArtifactKind>(
  kind: Kind,
  path: string,
  file: string,
): Checked<Artifact<Kind>> {
  const json = readJson(path, file)
  return json.ok ? checkArtifact(kind, json.value, file) : json
}

export function parseArtifact<Kind extends ArtifactKind>(
  kind: Kind,
  bytes: Uint8Array,
  file: string,
): Checked<Artifact<Kind>> {
  const json = parseJson(bytes, file)
  return json.ok ? checkArtifact(kind, json.value, file) : json
}

export function parseJson(bytes: Uint8Array, file: string): Checked<unknown> {
  if (bytes.length === 0) return refuseDocument(file, 'is empty; it must be JSON')
  if (!isUtf8(bytes)) return refuseDocument(file, 'is not UTF-8 text')
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()
  let value: unknown
  try {
    // Some editors write a byte order mark before the text.
    value = JSON.parse(text.startsWith('\uFEFF') ? text.slice(1) : text)
  } catch (error) {
    if (error instanceof SyntaxError) return refuseDocument(file, `is not JSON: ${error.message.replace(/\s+/gu, ' ')}`)
    throw error
  }
  const unsafe = findUnsafe(value, maxNesting)
  return unsafe === null ? { ok: true, value } : refuseDocument(file, unsafe.message, fieldAt(unsafe.path))
}

/** Max nesting of a document. Deeper documents are rejected before other code traverses them. */
const maxNesting = 64

type Unsafe = { readonly path: readonly PropertyKey[]; readonly message: string }

/** Why a parsed value is unsafe to process, or null. Called for every document, so it avoids allocations. */
function findUnsafe(value: unknown, depth: number): Unsafe | null {
  if (value === null || typeof value !== 'object') return null
  if (depth === 0) return { path: [], message: `is nested deeper than ${maxNesting} levels` }
  const keys = Array.isArray(value) ? null : Object.keys(value)
  const count = keys === null ? (value as unknown[]).length : keys.length
  for (let index = 0; index < count; index += 1) {
    const key = keys === null ? index : (keys[index] as string)
    if (key === '__proto__') return { path: [key], message: 'is not allowed as a name' }
    const inner: unknown = (value as Record<PropertyKey, unknown>)[key]
    if (inner === null || typeof inner !== 'object') continue
    const unsafe = findUnsafe(inner, depth - 1)
    if (unsafe !== null) return { ...unsafe, path: [key, ...unsafe.path].slice(0, maxPathLength) }
  }
  return null
}

/** Max names of a path that a message shows, because the path into a deeply nested document is long. */
const maxPathLength = 5

const maxProblems = 20

export function checkArtifact<Kind extends ArtifactKind>(
  kind: Kind,
  value: unknown,
  file: string,
): Checked<Artifact<Kind>> {
  const schema: z.ZodType = artifactSchemas[kind]
  // Nearly all documents are valid. Building messages is slow, so only an invalid document is parsed again with messages.
  const quick = schema.safeParse(value)
  const result = quick.success ? quick : schema.safeParse(value, { reportInput: true, error: ruleOf })
  // TypeScript cannot relate kinds and schemas through a generic key.
  if (result.success) return { ok: true, value: result.data as Artifact<Kind> }
  // A rejected shadow record may contain the very text that must not be shown.
  const showsValues = kind !== 'shadow-record'
  const [first, ...rest] = result.error.issues
    .slice(0, maxProblems)
    .map((issue) => ({ file, field: fieldAt(issue.path), message: messageOf(issue, value, showsValues) }))
  if (first === undefined) throw new Error('A refused document must have an issue.')
  return { ok: false, problems: [first, ...rest] }
}

/** The value of a checked document. Throws a MemoryError that names the file and the field. */
export function requireValid<Value>(checked: Checked<Value>, kind: ArtifactKind): Value {
  if (checked.ok) return checked.value
  const [first, ...rest] = checked.problems
  const more = rest.length === 0 ? '' : ` ${rest.length} more: ${rest.map(({ field }) => field).join(', ')}.`
  const hint = `The format is described in docs/reference/schemas/${kind}.schema.json.`
  throw invalid(`The ${artifactTitles[kind]} is not valid. ${problemText(first)}.${more}`, hint)
}

/** Formats a path: `cases[2].prompt`. */
export function fieldAt(path: readonly PropertyKey[]): string {
  const text = path.reduce<string>((place, key) => {
    if (typeof key === 'number') return `${place}[${key}]`
    const name = String(key)
    if (!/^[\w$-]+$/u.test(name)) return `${place}[${formatValue(name)}]`
    return place === '' ? name : `${place}.${name}`
  }, '')
  return text === '' ? wholeDocument : text
}

function messageOf({ message, input, path }: z.core.$ZodIssue, document: unknown, showsValues: boolean): string {
  const found = path.reduce<unknown>(
    (value, key) => (value as Record<PropertyKey, unknown> | undefined)?.[key],
    document,
  )
  if (found === undefined) return `is missing; it ${message}`
  // The input of a rule about several fields is the object that contains them.
  const value = typeof input === 'object' ? found : input
  return showsValues ? `is ${formatValue(value)}; it ${message}` : message
}

const maxShownLength = 60

/** Formats a value for a message: short, and on one line. `object` is the format's word for an object. */
export function formatValue(value: unknown, object = 'an object'): string {
  if (Array.isArray(value)) return `a list of ${value.length}`
  if (value !== null && typeof value === 'object') return object
  // A number that is too large is parsed as Infinity, which JSON cannot represent.
  const text = typeof value === 'number' ? String(value) : (JSON.stringify(value) ?? String(value))
  return text.length > maxShownLength ? `${text.slice(0, maxShownLength)}…` : text
}

const typeNames: Readonly<Record<string, string>> = {
  int: 'a whole number',
  number: 'a number',
  string: 'text',
  boolean: 'true or false',
  array: 'a list',
  tuple: 'a list',
  object: 'an object',
  record: 'an object',
}

/** A message about the violated rule, if the schema has none. */
function ruleOf(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${typeNames[issue.expected] ?? issue.expected}`
    case 'invalid_value':
      return `must be ${issue.values.map((value) => JSON.stringify(value)).join(' or ')}`
    case 'too_small':
      return `must ${boundText(issue.origin, 'at least', Number(issue.minimum))}`
    case 'too_big':
      return `must ${boundText(issue.origin, 'at most', Number(issue.maximum))}`
    case 'invalid_key':
      return 'must have a usable name'
    default:
      return 'must have the form that the schema describes'
  }
}

function boundText(origin: string, relation: string, limit: number): string {
  const unit = { array: 'item', string: 'character' }[origin]
  return unit === undefined ? `be ${relation} ${limit}` : `have ${relation} ${limit} ${unit}${limit === 1 ? '' : 's'}`
}
