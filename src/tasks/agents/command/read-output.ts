import { noUsage, type Usage } from '../../../models/chat-model.ts'
import type { TextBlock, ThinkingBlock, ToolCallBlock, TranscriptMessage } from '../../transcript.ts'

/** The output of a program. */
export type Output = { readonly stdout: string; readonly stderr: string }

/** The work that its output describes. */
export type Reading = {
  readonly messages: readonly TranscriptMessage[]
  readonly answer: string
  readonly usage: Usage
  /** The program's own id of the conversation, where it differs from the given one. */
  readonly conversationId: string | null
  readonly model: string | null
  /** The failure in the program's own words; null when there was none. */
  readonly problem: { readonly fault: 'agent' | 'infrastructure'; readonly message: string } | null
}

/**
 * Reads the lines that `claude -p --output-format stream-json` and programs like it write: `assistant` and `user`
 * events that hold messages, and a `result` at the end.
 */
export function readEventStream({ stdout }: Output): Reading {
  const events = jsonLines(stdout)
  const names = new Map<string, string>()
  const messages = events.flatMap((event) => messageOf(event, names))
  const result = events.findLast(({ type }) => type === 'result')
  const start = events.find(({ type, subtype }) => type === 'system' && subtype === 'init')
  return {
    messages,
    answer: (result === undefined ? null : textAt(result, 'result')) ?? lastText(messages),
    usage: result === undefined ? noUsage : usageIn(objectAt(result, 'usage')),
    conversationId: events.map((event) => textAt(event, 'session_id')).find((id) => id !== null) ?? null,
    model: start === undefined ? null : textAt(start, 'model'),
    problem: problemIn(result),
  }
}

/** Reads lines of events where that is what a program writes, and else takes all of it as the answer. */
export function readAnything(output: Output): Reading {
  const lines = output.stdout.split('\n').filter((line) => line.trim() !== '')
  const events = jsonLines(output.stdout)
  const isStream =
    lines.length > 0 &&
    events.length === lines.length &&
    events.every(({ type }) => typeof type === 'string') &&
    events.some(({ type }) => ['assistant', 'result', 'message'].includes(String(type)))
  return isStream ? readEventStream(output) : readPlain(output)
}

function messageOf(event: JsonObject, names: Map<string, string>): readonly TranscriptMessage[] {
  const inner = objectAt(event, 'message')
  const isSaid = event.type === 'assistant' || event.type === 'user' || event.type === 'message'
  const blocks = blocksOf(inner.content)
  if (!isSaid || blocks.length === 0) return []
  const role = textAt(inner, 'role') ?? event.type
  switch (role) {
    case 'assistant': {
      const content = blocks.flatMap((block) => saidBlock(block, names))
      const model = textAt(inner, 'model')
      return content.length === 0 ? [] : [{ role: 'assistant', content, ...(model === null ? {} : { model }) }]
    }
    case 'user':
      return blocks.flatMap((block) => (block.type === 'tool_result' ? [resultOf(block, names)] : []))
    case 'toolResult':
      return [
        {
          role: 'toolResult',
          toolCallId: textAt(inner, 'toolCallId') ?? '',
          toolName: textAt(inner, 'toolName') ?? names.get(textAt(inner, 'toolCallId') ?? '') ?? 'unknown',
          content: textBlocks(blocks),
          isError: inner.isError === true,
        },
      ]
    default:
      return []
  }
}

const blocksOf = (content: unknown): readonly JsonObject[] => {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return Array.isArray(content) ? content.filter(isObject) : []
}

const textBlocks = (blocks: readonly JsonObject[]): readonly TextBlock[] =>
  blocks.map((block) => ({ type: 'text', text: textAt(block, 'text') ?? JSON.stringify(block) }))

function saidBlock(
  block: JsonObject,
  names: Map<string, string>,
): readonly (TextBlock | ThinkingBlock | ToolCallBlock)[] {
  switch (block.type) {
    case 'text':
      return [{ type: 'text', text: textAt(block, 'text') ?? '' }]
    case 'thinking':
      return [{ type: 'thinking', thinking: textAt(block, 'thinking') ?? '' }]
    case 'tool_use':
    case 'toolCall': {
      const id = textAt(block, 'id') ?? ''
      const given = [block.input, block.arguments, block.params].find(isObject) ?? {}
      const tool = asKnownTool(textAt(block, 'name') ?? 'unknown', given)
      names.set(id, tool.name)
      return [{ type: 'toolCall', id, ...tool, params: tool.arguments }]
    }
    default:
      return []
  }
}

function resultOf(block: JsonObject, names: Map<string, string>): TranscriptMessage {
  const toolCallId = textAt(block, 'tool_use_id') ?? ''
  return {
    role: 'toolResult',
    toolCallId,
    toolName: names.get(toolCallId) ?? 'unknown',
    content: textBlocks(blocksOf(block.content)),
    isError: block.is_error === true,
  }
}

const lastText = (messages: readonly TranscriptMessage[]): string => {
  const last = messages.findLast(
    ({ role, content }) => role === 'assistant' && content.some(({ type }) => type === 'text'),
  )
  return (last?.content ?? []).flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')
}

const usageIn = (usage: JsonObject): Usage => ({
  input: countAt(usage, 'input_tokens', 'input'),
  output: countAt(usage, 'output_tokens', 'output'),
  cacheRead: countAt(usage, 'cache_read_input_tokens', 'cacheRead'),
  cacheWrite: countAt(usage, 'cache_creation_input_tokens', 'cacheWrite'),
})

function problemIn(result: JsonObject | undefined): Reading['problem'] {
  if (result === undefined || result.is_error !== true) return null
  const message =
    textAt(result, 'result') ?? textAt(result, 'error') ?? textAt(result, 'subtype') ?? 'It says it failed.'
  return { fault: isUnreachable(message) ? 'infrastructure' : 'agent', message }
}

/** Takes the whole output as the answer. */
function readPlain({ stdout }: Output): Reading {
  const answer = stdout.trim()
  return {
    messages: [{ role: 'assistant', content: answer === '' ? [] : [{ type: 'text', text: answer }] }],
    answer,
    usage: noUsage,
    conversationId: null,
    model: null,
    problem: null,
  }
}

/** Programs name their tools as they like; graders know `read` with a `path`. Everything else stays as it is. */
const graderNames: Readonly<Record<string, string>> = {
  Read: 'read',
  NotebookRead: 'read',
  Write: 'write',
  Edit: 'edit',
  MultiEdit: 'edit',
  NotebookEdit: 'edit',
  Bash: 'exec',
  LS: 'list_files',
  Glob: 'find',
  Grep: 'grep',
}

function asKnownTool(
  name: string,
  given: Readonly<Record<string, unknown>>,
): { readonly name: string; readonly arguments: Readonly<Record<string, unknown>> } {
  const path = given.path ?? given.file_path ?? given.filePath ?? given.notebook_path
  return { name: graderNames[name] ?? name, arguments: path === undefined ? given : { ...given, path } }
}

export type JsonObject = Readonly<Record<string, unknown>>

export const isObject = (value: unknown): value is JsonObject =>
  value !== null && typeof value === 'object' && !Array.isArray(value)

export const objectAt = (value: JsonObject, key: string): JsonObject => {
  const inner = value[key]
  return isObject(inner) ? inner : {}
}

export const textAt = (value: JsonObject, key: string): string | null => {
  const inner = value[key]
  return typeof inner === 'string' ? inner : null
}

export const countAt = (value: JsonObject, ...keys: readonly string[]): number => {
  for (const key of keys) {
    const inner = value[key]
    if (typeof inner === 'number' && Number.isFinite(inner) && inner >= 0) return Math.round(inner)
  }
  return 0
}

/** The JSON objects among the lines of a text; lines that are none are passed over. */
export function jsonLines(text: string): readonly JsonObject[] {
  return text.split('\n').flatMap((line) => {
    if (!line.trim().startsWith('{')) return []
    try {
      const value: unknown = JSON.parse(line)
      return isObject(value) ? [value] : []
    } catch {
      return []
    }
  })
}

/** Words that mean that the model was never reached. */
export const isUnreachable = (message: string): boolean =>
  /api key|log ?in|logged out|authenticat|unauthori[sz]ed|credit balance|quota|rate.?limit|overloaded|ECONNREFUSED|ENOTFOUND/iu.test(
    message,
  )
