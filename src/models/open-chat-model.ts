import { MemoryError } from '../errors.ts'
import type { ChatModel } from './chat-model.ts'
import { modelFrom } from './model-from.ts'
import { endpointUrl, isLoopback, type ModelSpec, parseModelSpec } from './model-spec.ts'
import { patientModel } from './patient-model.ts'

/** Where keys stand in the environment. */
export const keyNames: Readonly<Record<ChatModel['provider'], string>> = {
  openai: 'OPENAI_API_KEY',
  anthropic: 'ANTHROPIC_API_KEY',
}

/** The key for an endpoint that is not the provider's own, so that the provider's key goes to the provider only. */
export const otherKeyName = 'CREDENCE_MODEL_KEY'

type Environment = Readonly<Record<string, string | undefined>>

/** A model with the key that the environment has for it, asked again when its endpoint has trouble that may pass. */
export function openChatModel({
  provider,
  model,
  url,
  env,
  fetch: given,
}: ModelSpec & { readonly env: Environment; readonly fetch?: typeof fetch }): ChatModel {
  const endpoint = url === null ? null : endpointUrl(url)
  const key = keyFor(provider, endpoint, env)
  return patientModel(
    modelFrom({ provider, model, url: endpoint }, { key, ...(given === undefined ? {} : { fetch: given }) }),
  )
}

/** The same from a text such as `openai:gpt-5@http://127.0.0.1:8080/v1`. */
export const openModelOf = (spec: string, env: Environment): ChatModel =>
  openChatModel({ ...parseModelSpec(spec), env })

function keyFor(provider: ChatModel['provider'], url: string | null, env: Environment): string | null {
  const own = env[keyNames[provider]] ?? null
  if (url === null) {
    if (own !== null && own !== '') return own
    throw new MemoryError('unavailable', `There is no key for ${provider}.`, {
      hint: `Set ${keyNames[provider]}, or name an endpoint of your own: ${provider}:<model>@<base url>.`,
    })
  }
  const other = env[otherKeyName] ?? null
  if (other !== null) return other
  return isLoopback(new URL(url).hostname) ? own : null
}
