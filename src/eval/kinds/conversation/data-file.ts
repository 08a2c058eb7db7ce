import { closeSync, existsSync, openSync, readdirSync, readFileSync, readSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { z } from 'zod'
import { MemoryError } from '../../../errors.ts'

const chunkBytes = 1 << 20

/**
 * The objects of a file of JSON Lines or of one JSON array, one after the other, so that a file of several hundred
 * megabytes is never held whole. A file that ends in `.gz` is unpacked first.
 */
export function* readObjects<Shape extends z.ZodType>(file: string, shape: Shape): Generator<z.infer<Shape>> {
  let number = 0
  for (const text of objectTexts(file)) {
    number += 1
    yield checked(file, `object ${number}`, text, shape)
  }
  if (number === 0)
    throw invalid(`${file}: holds no objects.`, 'Give the file as it was published: a JSON array or JSON Lines.')
}

/** A file with one JSON value. */
export const readValue = <Shape extends z.ZodType>(file: string, shape: Shape): z.infer<Shape> =>
  checked(file, 'the file', readBytes(file).toString('utf8'), shape)

/** The file itself, or the one file in a folder whose name fits. */
export function fileIn(path: string, name: RegExp): string {
  if (!existsSync(path)) throw invalid(`${path}: no such file or directory.`, 'Give the path of the data with --data.')
  if (statSync(path).isFile()) return path
  const fitting = readdirSync(path).filter((one) => name.test(one))
  if (fitting.length === 1) return join(path, fitting[0] as string)
  throw invalid(
    `${path}: ${fitting.length === 0 ? 'no file' : `${fitting.length} files (${fitting.join(', ')})`} with a name like ${name.source}.`,
    'Give the path of one file with --data.',
  )
}

function checked<Shape extends z.ZodType>(file: string, what: string, text: string, shape: Shape): z.infer<Shape> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw invalid(`${file}: ${what} is not JSON (${(cause as Error).message}).`, 'Download the file again.', cause)
  }
  const parsed = shape.safeParse(value)
  if (parsed.success) return parsed.data
  const [issue] = parsed.error.issues
  throw invalid(
    `${file}: ${what}: ${issue?.path.join('.') || 'value'}: ${issue?.message}.`,
    'Give the file as it was published; docs/conversations.md says where.',
  )
}

function readBytes(file: string): Buffer {
  const bytes = readFileSync(file)
  if (!file.endsWith('.gz')) return bytes
  try {
    return gunzipSync(bytes)
  } catch (cause) {
    throw invalid(`${file}: not a gzip file (${(cause as Error).message}).`, 'Download the file again.', cause)
  }
}

/** The text of every object at the top, or in the array at the top. */
function* objectTexts(file: string): Generator<string> {
  let depth = 0
  let isInString = false
  let isEscaped = false
  let parts: Buffer[] = []
  let isOpen = false
  for (const chunk of chunksOf(file)) {
    let start = isOpen ? 0 : -1
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at]
      if (isInString) {
        if (isEscaped) isEscaped = false
        else if (byte === backslash) isEscaped = true
        else if (byte === quote) isInString = false
        continue
      }
      if (byte === quote) isInString = true
      else if (byte === openBrace) {
        if (depth === 0) {
          start = at
          isOpen = true
        }
        depth += 1
      } else if (byte === closeBrace) {
        depth -= 1
        if (depth !== 0) continue
        yield Buffer.concat([...parts, chunk.subarray(start, at + 1)]).toString('utf8')
        parts = []
        isOpen = false
        start = -1
      }
    }
    if (isOpen) parts.push(Buffer.from(chunk.subarray(start)))
  }
  if (isOpen)
    throw invalid(`${basename(file)}: ends in the middle of an object.`, 'The file is cut off. Download it again.')
}

const [quote, backslash, openBrace, closeBrace] = [0x22, 0x5c, 0x7b, 0x7d]

function* chunksOf(file: string): Generator<Buffer> {
  if (file.endsWith('.gz')) {
    yield readBytes(file)
    return
  }
  const descriptor = openSync(file, 'r')
  try {
    const buffer = Buffer.alloc(chunkBytes)
    for (;;) {
      const length = readSync(descriptor, buffer, 0, chunkBytes, null)
      if (length === 0) return
      yield buffer.subarray(0, length)
    }
  } finally {
    closeSync(descriptor)
  }
}

export const invalid = (message: string, hint: string, cause?: unknown): MemoryError =>
  new MemoryError('invalid', message, { hint, ...(cause === undefined ? {} : { cause }) })
