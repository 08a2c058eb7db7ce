import type { z } from 'zod'
import { MemoryError } from '../errors.ts'

const mostBytes = 1_000_000
/** Nothing that is asked for is nested deeper; a parser may be made to choke on what is. */
const deepest = 32

/** The body has more bytes than anybody needs. */
export class BodyTooLong extends Error {
  override readonly name = 'BodyTooLong'
  constructor() {
    super(`The body has more than ${mostBytes} bytes.`)
  }
}

/** Reads a body of JSON as the schema says. `hint` says where to look it up. */
export async function readBody<Schema extends z.ZodType>(
  request: Request,
  schema: Schema,
  hint = 'docs/systems.md describes the requests.',
): Promise<z.output<Schema>> {
  return parseBody(await boundedText(request, hint), schema, hint)
}

export const parseBody = <Schema extends z.ZodType>(text: string, schema: Schema, hint: string): z.output<Schema> =>
  checked(parseJson(text, hint), schema, { whole: 'the body', hint })

/** The value as the schema reads it, or an error that names every part that is wrong. */
export function checked<Schema extends z.ZodType>(
  value: unknown,
  schema: Schema,
  { whole, hint }: { readonly whole: string; readonly hint: string },
): z.output<Schema> {
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const reasons = parsed.error.issues
    .flatMap(innerIssues)
    .map(({ path, message }) => `${path.join('.') || whole}: ${message}`)
  throw new MemoryError('invalid', `${reasons.slice(0, mostReasons).join('; ')}.`, { hint })
}

const mostReasons = 10

/** Of several forms that a value may have, what is wrong with the one it comes nearest to. */
function innerIssues(issue: z.core.$ZodIssue): readonly z.core.$ZodIssue[] {
  if (issue.code !== 'invalid_union' || issue.errors.length === 0) return [issue]
  const depthOf = (issues: readonly z.core.$ZodIssue[]): number => Math.max(...issues.map(({ path }) => path.length))
  const [nearest = []] = issue.errors.toSorted(
    (one, other) => depthOf(other) - depthOf(one) || one.length - other.length,
  )
  return nearest.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] }))
}

function parseJson(text: string, hint: string): unknown {
  if (isDeeperThan(text, deepest))
    throw new MemoryError('invalid', `The body is nested deeper than ${deepest}.`, { hint })
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new MemoryError('invalid', `The body is not JSON (${(cause as Error).message}).`, { hint, cause })
  }
}

/** Counts brackets outside of strings, without building anything. */
function isDeeperThan(text: string, most: number): boolean {
  let depth = 0
  let isInString = false
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at]
    if (isInString) {
      if (character === '\\') at += 1
      else if (character === '"') isInString = false
    } else if (character === '"') isInString = true
    else if (character === '[' || character === '{') depth += 1
    else if (character === ']' || character === '}') depth -= 1
    if (depth > most) return true
  }
  return false
}

/** A body as text. What is too long is not read to its end. */
export async function boundedText(request: Request, hint: string): Promise<string> {
  if (Number(request.headers.get('content-length') ?? 0) > mostBytes) throw new BodyTooLong()
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of request.body ?? []) {
    bytes += chunk.byteLength
    if (bytes > mostBytes) throw new BodyTooLong()
    chunks.push(chunk)
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks))
  } catch (cause) {
    throw new MemoryError('invalid', 'The body is not UTF-8 text.', { hint, cause })
  }
}
