import { createHash } from 'node:crypto'
import { parseDocument, type YAMLError } from 'yaml'
import { type Findings, shown } from './problem.ts'

/** Larger files are refused before anybody looks into them. */
export const largestTaskFile = 1024 * 1024

const deepestFrontMatter = 32

/** A task file in its two parts. */
export type TaskText = { readonly frontMatter: Readonly<Record<string, unknown>>; readonly body: string }

export const sha256Of = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** Splits a file into front matter and body. Null when that cannot be done; `findings` then says why. */
export function readTaskText(bytes: Uint8Array, findings: Findings): TaskText | null {
  const whole = '(file)'
  if (bytes.length === 0) return refuse(findings, whole, 'is empty')
  if (bytes.length > largestTaskFile) {
    return refuse(findings, whole, `has ${bytes.length} bytes; at most ${largestTaskFile} are read`)
  }
  let text: string
  try {
    // The decoder drops a byte order mark.
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes).replaceAll('\r\n', '\n')
  } catch {
    return refuse(findings, whole, 'is not UTF-8 text')
  }
  if (text.includes('\0')) return refuse(findings, whole, 'holds a NUL character, so it is not text')
  if (!/^---[ \t]*\n/u.test(text)) {
    return refuse(findings, '(front matter)', 'is missing; the file must begin with a line ---')
  }
  const start = text.indexOf('\n') + 1
  const end = /^---[ \t]*$/mu.exec(text.slice(start))
  if (end === null) return refuse(findings, '(front matter)', 'has no end; a second line --- must close it')
  const frontMatter = readYaml(text.slice(start, start + end.index), findings)
  return frontMatter === null ? null : { frontMatter, body: text.slice(start + end.index + end[0].length + 1) }
}

function readYaml(text: string, findings: Findings): Readonly<Record<string, unknown>> | null {
  const field = '(front matter)'
  let value: unknown
  try {
    const document = parseDocument(text, { schema: 'core', uniqueKeys: true, prettyErrors: true, logLevel: 'error' })
    const [error] = document.errors
    if (error !== undefined) return refuse(findings, field, `is not YAML: ${saidOf(error)}`)
    // A few hundred bytes of nested aliases can stand for gigabytes; ten copies are plenty for a task.
    value = document.toJS({ maxAliasCount: 10 })
  } catch (cause) {
    return refuse(findings, field, `is not YAML: ${cause instanceof Error ? cause.message : String(cause)}`)
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    return refuse(findings, field, `is ${shown(value)}; it must be a mapping of names to values`)
  }
  const trouble = troubleIn(value, deepestFrontMatter)
  if (trouble !== null) return refuse(findings, field, trouble)
  return value as Readonly<Record<string, unknown>>
}

/** What the parser says, with the line of the file, which has one more above the front matter. */
function saidOf({ message, linePos }: YAMLError): string {
  const [what = ''] = message.split(/ at line \d+, column \d+:?|\n/u)
  const [start] = linePos ?? []
  return start === undefined ? what : `${what} (line ${start.line + 1})`
}

function troubleIn(value: unknown, depth: number): string | null {
  if (value === null || typeof value !== 'object') return null
  if (depth === 0) return `is nested deeper than ${deepestFrontMatter} levels`
  for (const [key, inner] of Object.entries(value)) {
    if (key === '__proto__') return 'has the name __proto__, which is not allowed'
    const trouble = troubleIn(inner, depth - 1)
    if (trouble !== null) return trouble
  }
  return null
}

function refuse(findings: Findings, field: string, message: string): null {
  findings.wrong(field, message)
  return null
}
