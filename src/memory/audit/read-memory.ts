import { MemoryError } from '../../errors.ts'
import { isObject, type JsonObject, parseJson } from '../../json.ts'
import { statementsIn } from '../markdown/statements.ts'

/** One entry of another memory. */
export type AuditEntry = {
  readonly file: string
  /** From 1. */
  readonly line: number
  /** Its name in that memory; null where it has none. */
  readonly name: string | null
  readonly text: string
  /** When it was written, where the memory says so. */
  readonly at: string | null
}

/** A line that could not be read. */
export type AuditProblem = { readonly file: string; readonly line: number; readonly reason: string }

type ReadMemory = { readonly entries: readonly AuditEntry[]; readonly problems: readonly AuditProblem[] }

/**
 * The entries of a file: Markdown, the JSON Lines of `server-memory`, an export of mem0, or JSON Lines or a JSON array of
 * objects with a text. What cannot be read is reported, and the rest is read.
 */
export function readForeignMemory(file: string, content: string): ReadMemory {
  if (/\.(?:md|markdown|mdc|txt)$/iu.test(file)) {
    try {
      const said = statementsIn(content)
      const entries = said.map(({ line, name, content: text }) => ({ file, line, name, text, at: null }))
      return { entries, problems: [] }
    } catch (error) {
      if (!(error instanceof MemoryError)) throw error
      return { entries: [], problems: [{ file, line: 1, reason: error.message }] }
    }
  }
  const whole = parseJson(content.replace(/^\ufeff/u, ''))
  const lists = isObject(whole) ? listsIn(whole) : Array.isArray(whole) ? whole : null
  if (lists !== null)
    return read(
      file,
      lists.map((value) => ({ line: lineOf(content, value), value })),
    )
  const lines = content.split('\n').map((text, index) => ({ line: index + 1, text: text.trim() }))
  return read(
    file,
    lines.filter(({ text }) => text !== '').map(({ line, text }) => ({ line, value: parseJson(text) })),
  )
}

/** An export of mem0 holds its memories in `results` or `memories`; a graph may stand as one object, too. */
function listsIn(value: JsonObject): readonly unknown[] {
  const lists = ['results', 'memories', 'entities', 'relations'].flatMap((name) => value[name] ?? [])
  return lists.length > 0 ? lists : [value]
}

/** The line on which an object of a JSON document begins, found by its id or its text. */
function lineOf(content: string, value: unknown): number {
  const mark = isObject(value) ? [value.id, value.name, ...textKeys.map((key) => value[key])].find(isText) : undefined
  const at = mark === undefined ? -1 : content.indexOf(JSON.stringify(mark))
  return at === -1 ? 1 : content.slice(0, at).split('\n').length
}

const textKeys = ['memory', 'text', 'content', 'statement', 'data', 'fact'] as const
const timeKeys = ['updated_at', 'updatedAt', 'created_at', 'createdAt', 'at', 'timestamp'] as const

function read(file: string, values: readonly { readonly line: number; readonly value: unknown }[]): ReadMemory {
  const entries: AuditEntry[] = []
  const problems: AuditProblem[] = []
  for (const { line, value } of values) {
    const found = isObject(value) ? entriesOf(value) : isText(value) ? [{ name: null, text: value }] : []
    const time = isObject(value) ? timeKeys.map((key) => value[key]).find(isText) : undefined
    const at = time === undefined || Number.isNaN(Date.parse(time)) ? null : new Date(time).toISOString()
    for (const entry of found) entries.push({ file, line, ...entry, at })
    const isKnownEmpty = isObject(value) && value.type === 'entity' && Array.isArray(value.observations)
    if (found.length === 0 && !isKnownEmpty)
      problems.push({ file, line, reason: value === undefined ? 'It is not JSON.' : 'It has no text.' })
  }
  return { entries, problems }
}

function entriesOf(value: JsonObject): readonly Pick<AuditEntry, 'name' | 'text'>[] {
  const { name, from, to, relationType, observations } = value
  const called = isText(name) ? name : null
  if (Array.isArray(observations)) return observations.filter(isText).map((text) => ({ name: called, text }))
  if (isText(from) && isText(to))
    return [{ name: null, text: `${from} ${isText(relationType) ? relationType.replaceAll('_', ' ') : 'and'} ${to}` }]
  const text = textKeys.map((key) => value[key]).find(isText)
  return text === undefined ? [] : [{ name: called, text }]
}

const isText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== ''
