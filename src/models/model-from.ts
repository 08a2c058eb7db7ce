import { anthropicModel } from './anthropic-model.ts'
import type { ChatModel } from './chat-model.ts'
import { type ModelSpec, ownEndpoints, parseModelSpec } from './model-spec.ts'
import { openaiModel } from './openai-model.ts'

/** The model that a text such as `openai:gpt-5` or `anthropic:claude-sonnet-4-5@https://host` names. */
export function modelFrom(
  spec: string | ModelSpec,
  { key = null, fetch: given }: { readonly key?: string | null; readonly fetch?: typeof fetch } = {},
): ChatModel {
  const { provider, model, url } = typeof spec === 'string' ? parseModelSpec(spec) : spec
  const options = {
    model,
    url: url ?? ownEndpoints[provider],
    key: key === '' ? null : key,
    fetch: given ?? globalThis.fetch,
  }
  return provider === 'openai' ? openaiModel(options) : anthropicModel(options)
}
