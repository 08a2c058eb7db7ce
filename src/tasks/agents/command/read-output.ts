import { isObject, type JsonObject, parseObject } from '../../../json.ts'
import { noUsage, type Usage } from '../../../models/chat-model.ts'
import type { TextBlock, TranscriptMessage } from '../../transcript.ts'

export type Output = { readonly stdout: string; readonly stderr: string }

export type OutputReading = {
  readonly messages: readonly TranscriptMessage[]
  readonly answer: string
  readonly usage: Usage
  /** The program's own conversation id, if it differs from the given one. */
  readonly conversationId: string | null
  readonly model: string | null
  /** The failure as the program reported it; null if there was none. */
  readonly problem: { readonly fault: 'agent' | 'infrastructure'; readonly message: string } | null
}

export const plainReading = (answer: string): OutputReading => ({
  messages: [{ role: 'assistant', content: answer === '' ? [] : [{ type: 'text', text: answer }] }],
  answer,
  usage: noUsage,
  conversationId: null,
  model: null,
  problem: null,
})

/** Parses the output as JSON events, one per line, if it has that form; otherwise the whole output is the answer. */
export function readAnything(output: Output): OutputReading {
  const events = jsonLines(output.stdout)
  const isStream =
    events.length > 0 &&
    events.length === output.stdout.split('\n').filter((line) => line.trim() !== '').length &&
    events.every(({ type }) => typeof type === 'string') &&
    events.some(({ type }) => ['assistant', 'result', 'message'].includes(String(type)))
  return isStream ? readEventStream(output) : plainReading(output.stdout.trim())
}

/** Parses the output of `claude -p --output-format stream-json` and compatible programs, one JSON event per line. */
export function readEventStream({ stdout }: Output): OutputReading {
  const events = jsonLines(stdout)
  const messages = messagesIn(events)
  const result = events.findLast(({ type }) => type === 'result') ?? {}
  const start = events.find(({ type, subtype }) => type === 'system' && subtype === 'init') ?? {}
  const usage = objectAt(result, 'usage')
  const failure = textAt(result, 'result') ?? textAt(result, 'error') ?? textAt(result, 'subtype')
  return {
    messages,
    answer: textAt(result, 'result') ?? lastText(messages),
    usage: {
      input: countAt(usage, 'input_tokens'),
      output: countAt(usage, 'output_tokens'),
      cacheRead: countAt(usage, 'cache_read_input_tokens'),
      cacheWrite: countAt(usage, 'cache_creation_input_tokens'),
    },
    conversationId: events.map((event) => textAt(event, 'session_id')).find((id) => id !== null) ?? null,
    model: textAt(start, 'model'),
    problem: result.is_error === true ? problemOf(failure ?? 'The program reports a failure.') : null,
  }
}

/** The messages of events, in the form that graders read. */
export function messagesIn(events: readonly JsonObject[]): readonly TranscriptMessage[] {
  const toolNames = new Map<string, string>()
  return events.flatMap((event): readonly TranscriptMessage[] => {
    if (!['assistant', 'user', 'message'].includes(String(event.type))) return []
    const message = objectAt(event, 'message')
    const blocks = blocksOf(message.content)
    const resultOf = (id: string, content: readonly JsonObject[], isError: boolean): TranscriptMessage => ({
      role: 'toolResult',
      toolCallId: id,
      toolName: toolNames.get(id) ?? 'unknown',
      content: content.map((block) => ({ type: 'text', text: textAt(block, 'text') ?? JSON.stringify(block) })),
      isError,
    })
    switch (textAt(message, 'role') ?? event.type) {
      case 'assistant': {
        const content = blocks.flatMap((block) => saidBlock(block, toolNames))
        const model = textAt(message, 'model')
        return content.length === 0 ? [] : [{ role: 'assistant', content, ...(model === null ? {} : { model }) }]
      }
      case 'user':
        return blocks
          .filter(({ type }) => type === 'tool_result')
          .map((block) =>
            resultOf(textAt(block, 'tool_use_id') ?? '', blocksOf(block.content), block.is_error === true),
          )
      case 'toolResult':
        return [resultOf(textAt(message, 'toolCallId') ?? '', blocks, message.isError === true)]
      default:
        return []
    }
  })
}

type SaidBlock = Extract<TranscriptMessage, { readonly role: 'assistant' }>['content'][number]

function saidBlock(block: JsonObject, toolNames: Map<string, string>): readonly SaidBlock[] {
  if (block.type === 'text') return [{ type: 'text', text: textAt(block, 'text') ?? '' }]
  if (block.type === 'thinking') return [{ type: 'thinking', thinking: textAt(block, 'thinking') ?? '' }]
  if (block.type !== 'tool_use' && block.type !== 'toolCall') return []
  const id = textAt(block, 'id') ?? ''
  const written = textAt(block, 'name') ?? 'unknown'
  // Graders expect `read` with a `path`; Claude Code writes `Read` with a `file_path`.
  const name = /^[A-Z]/u.test(written) ? written.toLowerCase() : written
  const given = [block.input, block.arguments, block.params].find(isObject) ?? {}
  const path = given.path ?? given.file_path ?? given.filePath
  const args = path === undefined ? given : { ...given, path }
  toolNames.set(id, name)
  return [{ type: 'toolCall', id, name, arguments: args, params: args }]
}

const blocksOf = (content: unknown): readonly JsonObject[] => {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }]
  return Array.isArray(content) ? content.filter(isObject) : []
}

const lastText = (messages: readonly TranscriptMessage[]): string => {
  const isText = (block: { readonly type: string }): block is TextBlock => block.type === 'text'
  const last = messages.findLast(({ role, content }) => role === 'assistant' && content.some(isText))
  return (last?.content ?? [])
    .filter(isText)
    .map(({ text }) => text)
    .join('\n')
}

/** Words in a failure that mean that the model was never reached. */
const unreachable =
  /api key|log ?in|logged out|authenticat|unauthori[sz]ed|credit balance|quota|rate.?limit|overloaded|ECONNREFUSED|ENOTFOUND/iu

export const problemOf = (message: string): NonNullable<OutputReading['problem']> => ({
  fault: unreachable.test(message) ? 'infrastructure' : 'agent',
  message,
})

export const objectAt = (value: JsonObject, key: string): JsonObject => {
  const inner = value[key]
  return isObject(inner) ? inner : {}
}

export const textAt = (value: JsonObject, key: string): string | null => {
  const inner = value[key]
  return typeof inner === 'string' ? inner : null
}

export const countAt = (value: JsonObject, key: string): number => {
  const inner = value[key]
  return typeof inner === 'number' && Number.isFinite(inner) && inner >= 0 ? Math.round(inner) : 0
}

export const jsonLines = (text: string): readonly JsonObject[] =>
  text.split('\n').flatMap((line) => {
    const value = parseObject(line)
    return value === null ? [] : [value]
  })
