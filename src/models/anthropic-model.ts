import { z } from 'zod'
import type { ChatMessage, ChatModel, ChatReply, ChatRequest, ToolCall } from './chat-model.ts'
import { postJson } from './endpoint.ts'
import type { ModelOptions } from './openai-model.ts'

/** The API requires a limit on output tokens. This one allows an answer of several pages. */
const defaultOutputTokens = 4096

const Tokens = z.int().nonnegative().catch(0)

const Block = z.union([
  z.looseObject({ type: z.literal('text'), text: z.string() }),
  z.looseObject({
    type: z.literal('tool_use'),
    id: z.string(),
    name: z.string(),
    input: z.record(z.string(), z.unknown()),
  }),
  // Thinking, and block types added later, are not part of the answer.
  z.looseObject({ type: z.string() }).transform(() => null),
])

const Answer = z.looseObject({
  model: z.string().optional(),
  content: z.array(Block),
  stop_reason: z.string().nullish(),
  usage: z
    .looseObject({
      input_tokens: Tokens.optional(),
      output_tokens: Tokens.optional(),
      cache_read_input_tokens: Tokens.nullish(),
      cache_creation_input_tokens: Tokens.nullish(),
    })
    .nullish(),
})

/** A model that is called through the Messages API. To request JSON of a schema, the model is told to call a tool with that input. */
export function anthropicModel({ model, url, key, fetch }: ModelOptions): ChatModel {
  const route = url.endsWith('/v1') ? `${url}/messages` : `${url}/v1/messages`
  return {
    provider: 'anthropic',
    model,
    reply: async (request) => {
      const body = { model, ...bodyOf(request) }
      const headers = { 'anthropic-version': '2023-06-01', ...(key === null ? {} : { 'x-api-key': key }) }
      const answer = await postJson({ url: route, headers, body, signal: request.signal, key, fetch }, Answer)
      return replyOf(answer, model, request.schema?.name ?? null)
    },
  }
}

/** Properties that are undefined are not sent, because JSON leaves them out. */
function bodyOf({ system, messages, tools = [], schema, temperature, maxOutputTokens }: ChatRequest) {
  const offered = tools.map(({ name, description, parameters }) => ({ name, description, input_schema: parameters }))
  if (schema !== undefined) {
    offered.push({ name: schema.name, description: 'Takes the answer, as its input.', input_schema: schema.schema })
  }
  return {
    max_tokens: maxOutputTokens ?? defaultOutputTokens,
    system,
    messages: turnsOf(messages),
    tools: offered.length === 0 ? undefined : offered,
    tool_choice: schema && { type: 'tool', name: schema.name },
    temperature,
  }
}

type AnthropicTurn = { role: 'user' | 'assistant'; content: unknown[] }

/** The API requires turns that alternate and are not empty, so the results of several tools become one user turn. */
function turnsOf(messages: readonly ChatMessage[]): AnthropicTurn[] {
  const turns: AnthropicTurn[] = []
  for (const message of messages) {
    const content = blocksOf(message)
    if (content.length === 0) continue
    const role = message.role === 'assistant' ? 'assistant' : 'user'
    const last = turns.at(-1)
    if (last?.role === role) last.content.push(...content)
    else turns.push({ role, content })
  }
  return turns
}

function blocksOf(message: ChatMessage): unknown[] {
  const text = (words: string): unknown[] => (words.trim() === '' ? [] : [{ type: 'text', text: words }])
  switch (message.role) {
    case 'user':
      return text(message.text)
    case 'assistant':
      return [
        ...text(message.text),
        ...message.toolCalls.map(({ id, name, arguments: input }) => ({ type: 'tool_use', id, name, input })),
      ]
    case 'tool': {
      const { callId, text: content, isError } = message
      return [{ type: 'tool_result', tool_use_id: callId, content, is_error: isError || undefined }]
    }
  }
}

function replyOf(
  { model, content, stop_reason, usage }: z.infer<typeof Answer>,
  requested: string,
  schemaName: string | null,
): ChatReply {
  let text = ''
  const calls: ToolCall[] = []
  for (const block of content) {
    if (block?.type === 'text') text += block.text
    else if (block !== null) calls.push({ id: block.id, name: block.name, arguments: block.input })
  }
  const document = schemaName === null ? undefined : calls.find(({ name }) => name === schemaName)
  const isDone = document !== undefined && stop_reason !== 'max_tokens'
  return {
    text: document === undefined ? text : JSON.stringify(document.arguments),
    toolCalls: calls.filter((call) => call !== document),
    stopReason: isDone ? 'end' : (stopReasons[stop_reason ?? 'end_turn'] ?? 'other'),
    usage: {
      input: usage?.input_tokens ?? 0,
      output: usage?.output_tokens ?? 0,
      cacheRead: usage?.cache_read_input_tokens ?? 0,
      cacheWrite: usage?.cache_creation_input_tokens ?? 0,
    },
    model: model ?? requested,
  }
}

const stopReasons: Readonly<Record<string, ChatReply['stopReason']>> = {
  end_turn: 'end',
  stop_sequence: 'end',
  max_tokens: 'length',
  tool_use: 'tools',
  refusal: 'refusal',
}
