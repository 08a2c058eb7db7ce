import { closeSync, createReadStream, openSync, readSync } from 'node:fs'
import { invalid, MemoryError } from '../../../errors.ts'
import { hasTables, readForeignRows } from '../../../files/foreign-database.ts'
import { JsonObjects } from '../../../files/json-objects.ts'
import { type Line, readLines } from '../../../files/lines.ts'
import { readZipEntries } from '../../../files/zip-entries.ts'
import { isObject, type JsonObject, parseJson, parseObject } from '../../../json.ts'
import { type ChatReader, claudeCode, codex, cursor, gemini, openclaw, opencode } from './agent-sessions.ts'
import { type ChatFormat, type ChatTurn, StepJoiner } from './chat.ts'
import { chatgptConversation, claudeConversation } from './exports.ts'
import { turnOfLine, unknownFields } from './json-lines.ts'

/** One item of a file; items come in the order of the file. `bytes`: how much of the file has been read. */
export type ChatItem =
  | (ChatTurn & { readonly kind: 'turn'; readonly line: number; readonly bytes: number })
  | { readonly kind: 'problem'; readonly line: number; readonly bytes: number; readonly reason: string }
  /** A field that is ignored. */
  | { readonly kind: 'unknown field'; readonly line: number; readonly bytes: number; readonly field: string }

/** Max bytes of a conversation; longer ones are not read. */
const maxConversationLength = 256 * 1024 * 1024
/** Max bytes of a file that are read to recognise it. */
const openingBytes = 1 << 20

/**
 * Recognises the program that wrote a file by its contents; null if the program is unknown, `damaged` if no line at the
 * beginning is JSON. The conversations in an archive are recognised when they are read.
 */
export function recogniseChats(file: string): ChatFormat | 'zip' | 'export' | 'damaged' | null {
  // Opening a database with `fs` would drop the locks that SQLite has on it in this process.
  if (/\.db$/iu.test(file)) return hasTables(file, ['session', 'message', 'part']) ? 'opencode' : null
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
  const lines = opening.split('\n').slice(0, maxOpeningLines)
  const objects = lines.map(parseJson).filter(isObject)
  if (objects.length === 0) {
    if (/^\s*\{[\s\S]*"(?:mapping|chat_messages)"\s*:/u.test(opening)) return 'export'
    return /^\s*\{[\s\S]*"projectHash"\s*:/u.test(opening) ? 'gemini' : 'damaged'
  }
  return formatOf(objects)
}

const maxOpeningLines = 50

function formatOf(lines: readonly JsonObject[]): ChatFormat | null {
  const has = (isIt: (line: JsonObject) => boolean): boolean => lines.some(isIt)
  if (has(({ type, payload }) => type === 'session_meta' && isObject(payload))) return 'codex'
  if (has(({ sessionId, projectHash }) => typeof sessionId === 'string' && typeof projectHash === 'string'))
    return 'gemini'
  if (has(({ sessionId, type }) => typeof sessionId === 'string' && typeof type === 'string')) return 'claude-code'
  if (has(({ type, message }) => type === 'session' || (type === 'message' && isObject(message)))) return 'openclaw'
  if (has(({ type, role }) => type === 'message' && typeof role === 'string')) return 'codex'
  if (has(({ role, message }) => typeof role === 'string' && isObject(message))) return 'cursor'
  // A file with unknown fields is not recognised, because other programs store lists of prompts with other fields.
  return has((line) => typeof line.text === 'string' && unknownFields(line).length === 0) ? 'jsonl' : null
}

/** A JSON object of a file, or the reason why there is none at this position. */
type FileObject = { readonly line: number; readonly bytes: number } & (
  | { readonly value: JsonObject }
  | { readonly reason: string }
)

/** The reader for each format, given the path of the file. */
const readers: Readonly<Record<ChatFormat | 'export', (file: string) => ChatReader>> = {
  'claude-code': claudeCode,
  codex,
  gemini,
  opencode,
  openclaw,
  cursor,
  chatgpt: () => readExported('chatgpt'),
  claude: () => readExported('claude'),
  export: () => (value) => readExported(isObject(value.mapping) ? 'chatgpt' : 'claude')(value),
  jsonl: () => (value) => [{ turn: turnOfLine(value), directory: null }],
}

const readExported =
  (format: 'chatgpt' | 'claude'): ChatReader =>
  (value) => {
    const isChatgpt = format === 'chatgpt'
    if (isChatgpt ? isObject(value.mapping) : Array.isArray(value.chat_messages))
      return isChatgpt ? chatgptConversation(value) : claudeConversation(value)
    throw invalid(`The object is not a conversation of ${isChatgpt ? 'ChatGPT' : 'Claude'}.`)
  }

/** Reads a file of conversations in pieces. An unreadable part is a separate item. `export`: an export of ChatGPT or Claude. */
export function readChats(file: string, format: ChatFormat | 'zip' | 'export'): AsyncGenerator<ChatItem> {
  if (format === 'zip') return itemsOf(objectsInArchive(file), 'export', file)
  if (format === 'opencode') return itemsOf(objectsInDatabase(file), format, file)
  // Earlier versions of Gemini CLI write one object.
  const isList = format === 'gemini' ? /\.json$/iu.test(file) : ['chatgpt', 'claude', 'export'].includes(format)
  if (isList) return itemsOf(objectsInList(createReadStream(file)), format, file)
  return itemsOf(objectsInLines(readLines(file)), format, file)
}

/** Reads lines of JSON in the format of this project. */
export const readChatLines = (lines: AsyncIterable<Line>): AsyncGenerator<ChatItem> =>
  itemsOf(objectsInLines(lines), 'jsonl', '')

async function* itemsOf(
  objects: AsyncIterable<FileObject>,
  format: ChatFormat | 'export',
  file: string,
): AsyncGenerator<ChatItem> {
  const read = readers[format](file)
  const steps = new StepJoiner()
  let end = { line: 0, bytes: 0 }
  for await (const { line, bytes, ...found } of objects) {
    end = { line, bytes }
    if ('reason' in found) {
      yield { kind: 'problem', line, bytes, reason: found.reason }
      continue
    }
    try {
      for (const turn of read(found.value).flatMap((one) => steps.take(one))) yield { kind: 'turn', ...turn, ...end }
      if (format === 'jsonl')
        for (const field of unknownFields(found.value)) yield { kind: 'unknown field', line, bytes, field }
    } catch (error) {
      if (!(error instanceof MemoryError && error.code === 'invalid')) throw error
      yield { kind: 'problem', line, bytes, reason: error.message }
    }
  }
  for (const turn of steps.rest()) yield { kind: 'turn', ...turn, ...end }
}

async function* objectsInLines(lines: AsyncIterable<Line>): AsyncGenerator<FileObject> {
  let bytes = 0
  for await (const { number: line, bytes: content } of lines) {
    bytes += (content?.length ?? 0) + 1
    const value = content === null ? 'is too long' : objectOfLine(content, line === 1)
    if (typeof value === 'string') yield { line, bytes, reason: `The line ${value}.` }
    else if (value !== null) yield { line, bytes, value }
  }
}

/** The messages in the database of opencode, the latest session first. Leaves out sessions of subagents, which have a parent. */
const opencodeMessages = `SELECT session.id AS session, directory, message.id, message.time_created AS at, message.data,
    (SELECT json_group_array(json(data)) FROM (SELECT data FROM part WHERE message_id = message.id ORDER BY id)) AS parts
  FROM session JOIN message ON message.session_id = session.id WHERE parent_id IS NULL
  ORDER BY session.time_updated DESC, session.id, message.time_created, message.id`

async function* objectsInDatabase(file: string): AsyncGenerator<FileObject> {
  const place = { line: 0, bytes: 0 }
  try {
    for (const { data, parts, ...row } of readForeignRows(file, opencodeMessages))
      yield { ...place, value: { ...row, ...parseObject(String(data)), parts: parseJson(String(parts)) } }
  } catch (error) {
    yield { ...place, reason: `The database cannot be read: ${(error as Error).message}.` }
  }
}

async function* objectsInList(chunks: AsyncIterable<Buffer>): AsyncGenerator<FileObject> {
  const objects = new JsonObjects(maxConversationLength)
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.length
    yield* objectsIn(objects, chunk, bytes)
  }
  yield* endOf(objects, bytes)
}

/** The conversations in an export archive. */
async function* objectsInArchive(file: string): AsyncGenerator<FileObject> {
  const isWanted = (name: string): boolean => /(?:^|\/)conversations(?:-\d+)?\.json$/u.test(name)
  const lists = new Map<string, JsonObjects>()
  let bytes = 0
  try {
    for await (const piece of readZipEntries(file, isWanted)) {
      bytes = piece.read
      const objects = lists.get(piece.name) ?? new JsonObjects(maxConversationLength)
      lists.set(piece.name, objects)
      yield* objectsIn(objects, piece.bytes, bytes)
    }
  } catch (error) {
    yield { line: 0, bytes, reason: `The archive cannot be read: ${(error as Error).message}.` }
    return
  }
  if (lists.size === 0) yield { line: 0, bytes, reason: 'The archive contains no file conversations.json.' }
  for (const objects of lists.values()) yield* endOf(objects, bytes)
}

function* objectsIn(objects: JsonObjects, chunk: Buffer, bytes: number): Generator<FileObject> {
  for (const { text, line } of objects.take(chunk)) {
    const value = text === null ? null : parseJson(text)
    if (isObject(value)) yield { line, bytes, value }
    else yield { line, bytes, reason: `The conversation is ${text === null ? 'too large' : 'not JSON'}.` }
  }
}

function* endOf({ unfinished }: JsonObjects, bytes: number): Generator<FileObject> {
  if (unfinished === null) return
  const part = unfinished.part === 'object' ? 'a conversation' : 'the list of conversations'
  yield { line: unfinished.line, bytes, reason: `The file ends in the middle of ${part}.` }
}

const decoder = new TextDecoder('utf-8', { fatal: true })

/** The object of a line; null for an empty line, and the problem as a text for an invalid one. */
function objectOfLine(bytes: Uint8Array, isFirst: boolean): JsonObject | string | null {
  let text: string
  try {
    text = decoder.decode(bytes)
  } catch {
    return 'is not UTF-8 text'
  }
  // The decoder drops the byte order mark only in its first call.
  const bare = (isFirst ? text.replace(/^\ufeff/, '') : text).trim()
  if (bare === '') return null
  const value = parseJson(bare)
  if (value === undefined) return 'is not JSON'
  return isObject(value) ? value : 'is not a JSON object'
}
