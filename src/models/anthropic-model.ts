import { z } from 'zod'
import { type ChatMessage, type ChatModel, type ChatReply, type ChatRequest, noUsage } from './chat-model.ts'
import { postJson } from './endpoint.ts'
import { type ModelOptions, strange } from './openai-model.ts'

/** The API needs a limit; this one is enough for an answer of several pages. */
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
  // Thinking and what may come later is not part of the answer.
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

/** A model behind the Messages API. A document of a schema is asked for as the input of a tool that has to be called. */
export function anthropicModel({ model, url, key, fetch }: ModelOptions): ChatModel {
  const route = url.endsWith('/v1') ? `${url}/messages` : `${url}/v1/messages`
  return {
    provider: 'anthropic',
    model,
    reply: async (request) => {
      const body = { model, ...bodyOf(request) }
      const headers = { 'anthropic-version': '2023-06-01', ...(key === null ? {} : { 'x-api-key': key }) }
      const raw = await postJson({ url: route, headers, body, signal: request.signal, key, fetch })
      const answer = Answer.safeParse(raw)
      if (!answer.success) throw strange(url, answer.error)
      return replyOf(answer.data, model, request.schema?.name ?? null)
    },
  }
}

function bodyOf({ system, messages, tools = [], schema, temperature, maxOutputTokens }: ChatRequest) {
  const offered = [
    ...tools.map(({ name, description, parameters }) => ({ name, description, input_schema: parameters })),
    ...(schema === undefined
      ? []
      : [{ name: schema.name, description: 'Takes the answer, as its input.', input_schema: schema.schema }]),
  ]
  return {
    max_tokens: maxOutputTokens ?? defaultOutputTokens,
    ...(system === undefined ? {} : { system }),
    messages: turnsOf(messages),
    ...(offered.length === 0 ? {} : { tools: offered }),
    ...(schema === undefined ? {} : { tool_choice: { type: 'tool', name: schema.name } }),
    ...(temperature === undefined ? {} : { temperature }),
  }
}

type Turn = { readonly role: 'user' | 'assistant'; readonly content: readonly unknown[] }

/** Turns alternate, and nothing in them may be empty; the results of several tools are one turn of the user. */
function turnsOf(messages: readonly ChatMessage[]): readonly Turn[] {
  const turns: { role: 'user' | 'assistant'; content: unknown[] }[] = []
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
      const { callId, isError } = message
      return [
        { type: 'tool_result', tool_use_id: callId, content: message.text, ...(isError ? { is_error: true } : {}) },
      ]
    }
  }
}

function replyOf(
  { model: answered, content, stop_reason, usage }: z.infer<typeof Answer>,
  asked: string,
  schema: string | null,
): ChatReply {
  const texts: string[] = []
  const calls: { id: string; name: string; arguments: Record<string, unknown> }[] = []
  for (const block of content) {
    if (block === null) continue
    if (block.type === 'text') texts.push(block.text)
    else calls.push({ id: block.id, name: block.name, arguments: block.input })
  }
  const document = schema === null ? undefined : calls.find(({ name }) => name === schema)
  const isDone = document !== undefined && stop_reason !== 'max_tokens'
  return {
    text: document === undefined ? texts.join('') : JSON.stringify(document.arguments),
    toolCalls: calls.filter((call) => call !== document),
    stopReason: isDone ? 'end' : (stopReasons[stop_reason ?? 'end_turn'] ?? 'other'),
    usage: usage
      ? {
          input: usage.input_tokens ?? 0,
          output: usage.output_tokens ?? 0,
          cacheRead: usage.cache_read_input_tokens ?? 0,
          cacheWrite: usage.cache_creation_input_tokens ?? 0,
        }
      : noUsage,
    model: answered ?? asked,
  }
}

const stopReasons: Readonly<Record<string, ChatReply['stopReason']>> = {
  end_turn: 'end',
  stop_sequence: 'end',
  max_tokens: 'length',
  tool_use: 'tools',
  refusal: 'refusal',
}
