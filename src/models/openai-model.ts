import { z } from 'zod'
import { MemoryError } from '../errors.ts'
import {
  type ChatMessage,
  type ChatModel,
  type ChatReply,
  type ChatRequest,
  noUsage,
  type ToolCall,
} from './chat-model.ts'
import { postJson } from './endpoint.ts'
import { ownEndpoints } from './model-spec.ts'
import { isClosedSchema } from './schema-form.ts'

export type ModelOptions = {
  readonly model: string
  /** Where the provider's routes begin. */
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

/** A model behind the Chat Completions API, which most servers of models speak. */
export function openaiModel({ model, url, key, fetch }: ModelOptions): ChatModel {
  return {
    provider: 'openai',
    model,
    reply: async (request) => {
      const body = { model, ...bodyOf(request, url === ownEndpoints.openai) }
      const headers: Record<string, string> = key === null ? {} : { authorization: `Bearer ${key}` }
      const raw = await postJson({ url: `${url}/chat/completions`, headers, body, signal: request.signal, key, fetch })
      const answer = Answer.safeParse(raw)
      if (!answer.success) throw strange(url, answer.error)
      return replyOf(answer.data, model)
    },
  }
}

function bodyOf({ system, messages, tools = [], schema, temperature, maxOutputTokens }: ChatRequest, isOwn: boolean) {
  return {
    messages: [...(system === undefined ? [] : [{ role: 'system', content: system }]), ...messages.map(messageOf)],
    ...(tools.length === 0
      ? {}
      : {
          tools: tools.map(({ name, description, parameters }) => ({
            type: 'function',
            function: { name, description, parameters },
          })),
        }),
    ...(schema === undefined
      ? {}
      : {
          response_format: {
            type: 'json_schema',
            // A schema that leaves anything open is refused where it is to be kept strictly.
            json_schema: { name: schema.name, schema: schema.schema, strict: isClosedSchema(schema.schema) },
          },
        }),
    ...(temperature === undefined ? {} : { temperature }),
    // The provider renamed it for newer models, which refuse the old name; others know the old name only.
    ...(maxOutputTokens === undefined ? {} : { [isOwn ? 'max_completion_tokens' : 'max_tokens']: maxOutputTokens }),
  }
}

function messageOf(message: ChatMessage) {
  switch (message.role) {
    case 'user':
      return { role: 'user', content: message.text }
    case 'assistant':
      return {
        role: 'assistant',
        content: message.text === '' && message.toolCalls.length > 0 ? null : message.text,
        ...(message.toolCalls.length === 0
          ? {}
          : {
              tool_calls: message.toolCalls.map((call) => ({
                id: call.id,
                type: 'function',
                function: { name: call.name, arguments: call.malformed ?? JSON.stringify(call.arguments) },
              })),
            }),
      }
    case 'tool':
      return {
        role: 'tool',
        tool_call_id: message.callId,
        content: message.isError ? `Error: ${message.text}` : message.text,
      }
  }
}

function replyOf({ model: answered, choices, usage }: z.infer<typeof Answer>, asked: string): ChatReply {
  const [choice] = choices
  const message = choice?.message
  const toolCalls = (message?.tool_calls ?? []).map(toolCallOf)
  const refusal = message?.refusal ?? null
  const stopReason =
    refusal !== null && refusal !== ''
      ? 'refusal'
      : toolCalls.length > 0
        ? 'tools'
        : (stopReasons[choice?.finish_reason ?? 'stop'] ?? 'other')
  const cached = usage?.prompt_tokens_details?.cached_tokens ?? 0
  return {
    text: message?.content ?? refusal ?? '',
    toolCalls,
    stopReason,
    usage: usage
      ? {
          // What came out of the cache is part of the prompt's count, and counted apart here.
          input: Math.max((usage.prompt_tokens ?? 0) - cached, 0),
          output: usage.completion_tokens ?? 0,
          cacheRead: cached,
          cacheWrite: 0,
        }
      : noUsage,
    model: answered ?? asked,
  }
}

const stopReasons: Readonly<Record<string, ChatReply['stopReason']>> = {
  stop: 'end',
  length: 'length',
  tool_calls: 'tools',
  content_filter: 'refusal',
}

function toolCallOf({
  id,
  function: { name, arguments: text },
}: {
  id: string
  function: { name: string; arguments: string }
}): ToolCall {
  const parsed = objectIn(text)
  return parsed === null ? { id, name, arguments: {}, malformed: text } : { id, name, arguments: parsed }
}

function objectIn(text: string): Readonly<Record<string, unknown>> | null {
  if (text.trim() === '') return {}
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null
  } catch {
    // Models do write broken JSON; whoever runs the tool tells them so.
    return null
  }
}

export function strange(url: string, error: z.ZodError): MemoryError {
  const [issue] = error.issues
  const where = issue === undefined ? '' : ` (${issue.path.join('.') || 'the answer'}: ${issue.message})`
  return new MemoryError('unavailable', `The answer of ${url} is not what this API answers${where}.`, {
    hint: 'Check that the address speaks the API that the name of the model begins with.',
    cause: error,
  })
}
