import { z } from 'zod'
import { parseObject } from '../json.ts'
import type { ChatMessage, ChatModel, ChatReply, ChatRequest, ToolCall } from './chat-model.ts'
import { postJson } from './endpoint.ts'
import { providerEndpoints } from './model-spec.ts'

export type ModelOptions = {
  readonly model: string
  readonly url: string
  readonly key: string | null
  readonly fetch: typeof fetch
}

const Tokens = z.int().nonnegative().catch(0)

const Answer = z.looseObject({
  model: z.string().optional(),
  choices: z
    .array(
      z.looseObject({
        finish_reason: z.string().nullish(),
        message: z.looseObject({
          content: z.string().nullish(),
          refusal: z.string().nullish(),
          tool_calls: z
            .array(
              z.looseObject({ id: z.string(), function: z.looseObject({ name: z.string(), arguments: z.string() }) }),
            )
            .nullish(),
        }),
      }),
    )
    .min(1),
  usage: z
    .looseObject({
      prompt_tokens: Tokens.optional(),
      completion_tokens: Tokens.optional(),
      prompt_tokens_details: z.looseObject({ cached_tokens: Tokens.optional() }).nullish(),
    })
    .nullish(),
})

/** A model that is called through the Chat Completions API, which most model servers offer. */
export function openaiModel({ model, url, key, fetch }: ModelOptions): ChatModel {
  return {
    provider: 'openai',
    model,
    reply: async (request) => {
      const body = { model, ...bodyOf(request, url === providerEndpoints.openai) }
      const headers: Record<string, string> = key === null ? {} : { authorization: `Bearer ${key}` }
      const { signal } = request
      const answer = await postJson({ url: `${url}/chat/completions`, headers, body, signal, key, fetch }, Answer)
      return replyOf(answer, model)
    },
  }
}

/** Properties that are undefined are not sent, because JSON leaves them out. */
function bodyOf({ system, messages, tools = [], schema, temperature, maxOutputTokens }: ChatRequest, isOwn: boolean) {
  return {
    messages: [...(system === undefined ? [] : [{ role: 'system', content: system }]), ...messages.map(messageOf)],
    tools: tools.length === 0 ? undefined : tools.map((tool) => ({ type: 'function', function: tool })),
    response_format: schema && {
      type: 'json_schema',
      // The API rejects `strict` for a schema that is not closed.
      json_schema: { name: schema.name, schema: schema.schema, strict: isClosedSchema(schema.schema) },
    },
    temperature,
    // OpenAI renamed the property for newer models, which reject the old name; other servers know only the old name.
    [isOwn ? 'max_completion_tokens' : 'max_tokens']: maxOutputTokens,
  }
}

/** Whether every object in a JSON Schema requires all its properties and allows no others. */
export function isClosedSchema(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return true
  if (Array.isArray(schema)) return schema.every(isClosedSchema)
  const { type, properties, required, additionalProperties } = schema as Readonly<Record<string, unknown>>
  if (type === 'object' || properties !== undefined) {
    const names = Object.keys(typeof properties === 'object' && properties !== null ? properties : {})
    const isRequired = Array.isArray(required) && names.every((name) => required.includes(name))
    if (additionalProperties !== false || !isRequired) return false
  }
  return Object.values(schema).every(isClosedSchema)
}

function messageOf(message: ChatMessage) {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: message.text }
    case 'assistant': {
      const calls = message.toolCalls.map(({ id, name, arguments: values, malformed }) => {
        return { id, type: 'function', function: { name, arguments: malformed ?? JSON.stringify(values) } }
      })
      if (calls.length === 0) return { role: 'assistant', content: message.text }
      return { role: 'assistant', content: message.text === '' ? null : message.text, tool_calls: calls }
    }
    case 'tool':
      return {
        role: 'tool',
        tool_call_id: message.callId,
        content: `${message.isError ? 'Error: ' : ''}${message.text}`,
      }
  }
}

function replyOf({ model, choices, usage }: z.infer<typeof Answer>, requested: string): ChatReply {
  const [choice] = choices
  const { content, refusal, tool_calls } = choice?.message ?? {}
  const toolCalls = (tool_calls ?? []).map((call) => toolCallOf(call.id, call.function))
  const finished = stopReasons[choice?.finish_reason ?? 'stop'] ?? 'other'
  const cached = usage?.prompt_tokens_details?.cached_tokens ?? 0
  return {
    text: content ?? refusal ?? '',
    toolCalls,
    stopReason: refusal ? 'refusal' : toolCalls.length > 0 ? 'tools' : finished,
    // The API's `prompt_tokens` include cached tokens, which `Usage` counts separately.
    usage: {
      input: Math.max((usage?.prompt_tokens ?? 0) - cached, 0),
      output: usage?.completion_tokens ?? 0,
      cacheRead: cached,
      cacheWrite: 0,
    },
    model: model ?? requested,
  }
}

const stopReasons: Readonly<Record<string, ChatReply['stopReason']>> = {
  stop: 'end',
  length: 'length',
  tool_calls: 'tools',
  content_filter: 'refusal',
}

function toolCallOf(id: string, { name, arguments: text }: { name: string; arguments: string }): ToolCall {
  if (text.trim() === '') return { id, name, arguments: {} }
  const value = parseObject(text)
  // Models sometimes write broken JSON. The caller that runs the tool must report it to the model.
  return value === null ? { id, name, arguments: {}, malformed: text } : { id, name, arguments: value }
}
