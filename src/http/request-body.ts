import type { z } from 'zod'
import { MemoryError } from '../errors.ts'

const mostBytes = 1_000_000

/** The body has more bytes than anybody needs. */
export class BodyTooLong extends Error {
  override readonly name = 'BodyTooLong'
  constructor() {
    super(`The body has more than ${mostBytes} bytes.`)
  }
}

/** Reads a body of JSON as the schema says. What is too long is not read to its end. */
export async function readBody<Schema extends z.ZodType>(request: Request, schema: Schema): Promise<z.infer<Schema>> {
  const text = await boundedText(request)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw new MemoryError('invalid', `The body is not JSON (${(cause as Error).message}).`, { hint, cause })
  }
  const parsed = schema.safeParse(value)
  if (parsed.success) return parsed.data
  const reasons = parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'the body'}: ${message}`)
  throw new MemoryError('invalid', `${reasons.join('; ')}.`, { hint })
}

const hint = 'docs/systems.md describes the requests.'

async function boundedText(request: Request): Promise<string> {
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
