import { closeSync, createReadStream, openSync, readSync } from 'node:fs'
import { invalid, MemoryError } from '../../../errors.ts'
import { JsonObjects } from '../../../files/json-objects.ts'
import { type Line, linesOf } from '../../../files/lines.ts'
import { zipEntries } from '../../../files/zip-entries.ts'
import { isObject, type JsonObject, parseJson } from '../../../json.ts'
import { claudeCode, codex, type LineReader, openclaw } from './agent-sessions.ts'
import type { ChatFormat, ChatTurn } from './chat.ts'
import { chatgptConversation, claudeConversation } from './exports.ts'
import { turnOfLine, unknownFields } from './json-lines.ts'

/** An item of a file, in its order. `bytes` is how much of the file has been read. */
export type ChatItem =
  | (ChatTurn & { readonly kind: 'turn'; readonly line: number; readonly bytes: number })
  | { readonly kind: 'problem'; readonly line: number; readonly bytes: number; readonly reason: string }
  /** A field that is not read. */
  | { readonly kind: 'unknown field'; readonly line: number; readonly bytes: number; readonly field: string }

/** A conversation with more bytes is not read. */
const largestConversation = 256 * 1024 * 1024
/** How much of a file is looked at to recognise it. */
const openingBytes = 1 << 20

/**
 * Recognises the program that wrote a file by the file's contents; null when it is none of the known programs, `damaged` when no line
 * at its beginning is JSON. Of an archive the conversations in it decide, which is seen when it is read.
 */
export function recogniseChats(file: string): ChatFormat | 'zip' | 'export' | 'damaged' | null {
  const bytes = Buffer.alloc(openingBytes)
  const descriptor = openSync(file, 'r')
  let length = 0
  try {
    length = readSync(descriptor, bytes, 0, openingBytes, 0)
  } finally {
    closeSync(descriptor)
  }
  if (bytes.subarray(0, 4).equals(Buffer.from('PK\u0003\u0004'))) return 'zip'
  const opening = bytes
    .subarray(0, length)
    .toString('utf8')
    .replace(/^\ufeff/u, '')
  if (/^\s*\[/u.test(opening)) return /"(?:mapping|chat_messages)"\s*:/u.test(opening) ? 'export' : null
  const lines = opening.split('\n').slice(0, mostOpeningLines)
  const objects = lines.map(parseJson).filter(isObject)
  if (objects.length === 0) return /^\s*\{[\s\S]*"(?:mapping|chat_messages)"\s*:/u.test(opening) ? 'export' : 'damaged'
  return formatOf(objects)
}

const mostOpeningLines = 50

function formatOf(lines: readonly JsonObject[]): ChatFormat | null {
  const has = (isIt: (line: JsonObject) => boolean): boolean => lines.some(isIt)
  if (has(({ type, payload }) => type === 'session_meta' && isObject(payload))) return 'codex'
  if (has(({ sessionId, type }) => typeof sessionId === 'string' && typeof type === 'string')) return 'claude-code'
  if (has(({ type, message }) => type === 'session' || (type === 'message' && isObject(message)))) return 'openclaw'
  if (has(({ type, role }) => type === 'message' && typeof role === 'string')) return 'codex'
  // Other programs keep lists of prompts with fields of their own.
  return has((line) => typeof line.text === 'string' && unknownFields(line).length === 0) ? 'jsonl' : null
}

/** Reads a file of conversations without holding it whole. What cannot be read is an item of its own. */
export async function* readChats(file: string, format: ChatFormat): AsyncGenerator<ChatItem> {
  if (format === 'chatgpt' || format === 'claude') yield* readExport(createReadStream(file), format)
  else yield* readChatLines(linesOf(file), format)
}

/** The export archives of ChatGPT and Claude, as they are or unpacked. */
export async function* readArchive(file: string, from: 'zip' | 'export'): AsyncGenerator<ChatItem> {
  if (from === 'export') {
    yield* readExport(createReadStream(file), null)
    return
  }
  const isWanted = (name: string): boolean => /(?:^|\/)conversations(?:-\d+)?\.json$/u.test(name)
  const readers = new Map<string, ExportReader>()
  let bytes = 0
  try {
    for await (const piece of zipEntries(file, isWanted)) {
      bytes = piece.read
      const reader = readers.get(piece.name) ?? new ExportReader(null)
      readers.set(piece.name, reader)
      yield* reader.take(piece.bytes, bytes)
    }
  } catch (error) {
    yield { kind: 'problem', line: 0, bytes, reason: `The archive cannot be read: ${(error as Error).message}.` }
    return
  }
  if (readers.size === 0)
    yield { kind: 'problem', line: 0, bytes, reason: 'The archive holds no file conversations.json.' }
  for (const reader of readers.values()) yield* reader.end(bytes)
}

async function* readExport(
  chunks: AsyncIterable<Buffer>,
  format: 'chatgpt' | 'claude' | null,
): AsyncGenerator<ChatItem> {
  const reader = new ExportReader(format)
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.length
    yield* reader.take(chunk, bytes)
  }
  yield* reader.end(bytes)
}

/** Conversations of an export, one after the other. */
class ExportReader {
  readonly #format: 'chatgpt' | 'claude' | null
  readonly #objects = new JsonObjects(largestConversation)

  constructor(format: 'chatgpt' | 'claude' | null) {
    this.#format = format
  }

  *take(chunk: Buffer, bytes: number): Generator<ChatItem> {
    for (const { text, line } of this.#objects.take(chunk)) {
      const problem = (reason: string): ChatItem => ({ kind: 'problem', line, bytes, reason })
      const value = text === null ? null : parseJson(text)
      if (text === null) yield problem('The conversation is too large.')
      else if (!isObject(value)) yield problem('The conversation is not JSON.')
      else {
        const format = this.#format ?? (isObject(value.mapping) ? 'chatgpt' : 'claude')
        const isIt = format === 'chatgpt' ? isObject(value.mapping) : Array.isArray(value.chat_messages)
        if (!isIt) yield problem(`The object is no conversation of ${format === 'chatgpt' ? 'ChatGPT' : 'Claude'}.`)
        const turns = format === 'chatgpt' ? chatgptConversation(value) : claudeConversation(value)
        for (const turn of turns) yield { kind: 'turn', ...turn, line, bytes }
      }
    }
  }

  *end(bytes: number): Generator<ChatItem> {
    const { unfinished } = this.#objects
    if (unfinished !== null)
      yield {
        kind: 'problem',
        line: unfinished.line,
        bytes,
        reason: `The file ends in the middle of ${unfinished.part === 'object' ? 'a conversation' : 'the list of conversations'}.`,
      }
  }
}

const readers: Readonly<Record<'claude-code' | 'codex' | 'openclaw', () => LineReader>> = {
  'claude-code': claudeCode,
  codex,
  openclaw,
}

/** Reads lines of JSON in the format of a program, or in that of this project. */
export async function* readChatLines(
  lines: AsyncIterable<Line>,
  format: Exclude<ChatFormat, 'chatgpt' | 'claude'>,
): AsyncGenerator<ChatItem> {
  const reader: LineReader =
    format === 'jsonl' ? (value) => [{ turn: turnOfLine(value), directory: null }] : readers[format]()
  let bytes = 0
  for await (const { number: line, bytes: content } of lines) {
    bytes += (content?.length ?? 0) + 1
    try {
      const value = content === null ? wrongLine('is too long') : objectOfLine(content, line === 1)
      if (value === null) continue
      for (const turn of reader(value)) yield { kind: 'turn', ...turn, line, bytes }
      if (format === 'jsonl')
        for (const field of unknownFields(value)) yield { kind: 'unknown field', line, bytes, field }
    } catch (error) {
      if (!(error instanceof MemoryError && error.code === 'invalid')) throw error
      yield { kind: 'problem', line, bytes, reason: error.message }
    }
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true })

/** The object of a line; null for an empty line. */
function objectOfLine(bytes: Uint8Array, isFirst: boolean): JsonObject | null {
  let text: string
  try {
    text = decoder.decode(bytes)
  } catch {
    return wrongLine('is not UTF-8 text')
  }
  // The decoder drops the byte order mark only in its first call.
  const bare = (isFirst ? text.replace(/^\ufeff/, '') : text).trim()
  if (bare === '') return null
  const value = parseJson(bare)
  if (value === undefined) return wrongLine('is not JSON')
  return isObject(value) ? value : wrongLine('is not a JSON object')
}

function wrongLine(problem: string): never {
  throw invalid(`The line ${problem}.`)
}
