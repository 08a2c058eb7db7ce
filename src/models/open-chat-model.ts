import { setTimeout } from 'node:timers/promises'
import { MemoryError } from '../errors.ts'
import { anthropicModel } from './anthropic-model.ts'
import type { ChatModel } from './chat-model.ts'
import { TransientError } from './endpoint.ts'
import { endpointUrl, isLoopback, type ModelSpec, parseModelSpec, providerEndpoints } from './model-spec.ts'
import { openaiModel } from './openai-model.ts'

const keyNames: Readonly<Record<ChatModel['provider'], string>> = {
  openai: 'OPENAI_API_KEY',
  anthropic: 'ANTHROPIC_API_KEY',
}

/** The variable with the key for any other endpoint, so that a provider's key is sent only to that provider. */
const otherKeyName = 'CREDENCE_MODEL_KEY'

const maxTries = 4
const firstWaitMs = 500
/** Max wait before a retry. If an endpoint asks for a longer one, its error is thrown instead. */
const maxWaitMs = 20_000

type ModelEnvironment = Readonly<Record<string, string | undefined>>

/** Opens the model that a spec names, with its key from the environment and with retries after transient errors. */
export function openChatModel(given: string | ModelSpec, env: ModelEnvironment, fetch = globalThis.fetch): ChatModel {
  const { provider, model, url } = typeof given === 'string' ? parseModelSpec(given) : given
  const spec = { provider, model, url: url === null ? null : endpointUrl(url) }
  return withRetries(modelFrom(spec, keyFor(spec, env), fetch))
}

/** The model that a spec names, with the given key and without retries. */
export function modelFrom(given: string | ModelSpec, key: string | null, fetch = globalThis.fetch): ChatModel {
  const { provider, model, url } = typeof given === 'string' ? parseModelSpec(given) : given
  const options = { model, url: url ?? providerEndpoints[provider], key: key || null, fetch }
  return provider === 'openai' ? openaiModel(options) : anthropicModel(options)
}

function keyFor({ provider, url }: ModelSpec, env: ModelEnvironment): string | null {
  const providerKey = keyIn(env, keyNames[provider])
  if (url !== null) return keyIn(env, otherKeyName) ?? (isLoopback(new URL(url).hostname) ? providerKey : null)
  if (providerKey !== null && providerKey !== '') return providerKey
  throw new MemoryError('unavailable', `There is no key for ${provider}.`, {
    hint: `Set ${keyNames[provider]}, or name an endpoint of your own: ${provider}:<model>@<base url>.`,
  })
}

/** The key in an environment variable. Rejects a key that is invalid in a header, because the error from `fetch` would contain it. */
function keyIn(env: ModelEnvironment, name: string): string | null {
  const key = env[name]?.trim() ?? null
  if (key === null || /^[\x21-\x7e]*$/u.test(key)) return key
  throw new MemoryError('invalid', `The key in ${name} has a space or a character that is not ASCII in it.`, {
    hint: `Set ${name} to the key alone.`,
  })
}

type Pause = (ms: number, signal: AbortSignal) => Promise<void>

/** Repeats requests to a model after transient errors: too many requests, a server error, a lost connection. */
export function withRetries(model: ChatModel, pause: Pause = abortablePause): ChatModel {
  const reply: ChatModel['reply'] = async (request) => {
    for (let tries = 1; ; tries += 1) {
      try {
        return await model.reply(request)
      } catch (error) {
        if (!(error instanceof TransientError) || tries === maxTries) throw error
        const waitMs = error.retryAfterMs ?? firstWaitMs * 2 ** (tries - 1)
        if (waitMs > maxWaitMs) throw error
        await pause(waitMs, request.signal)
        if (request.signal.aborted) throw error
      }
    }
  }
  return { ...model, reply }
}

/** Waits. Ends early, without an error, when the request is aborted. */
const abortablePause: Pause = (ms, signal) => setTimeout(ms, undefined, { signal }).catch(() => {})
