import { isIP } from 'node:net'
import { MemoryError } from '../errors.ts'
import type { ChatModel } from './chat-model.ts'

export type ModelSpec = {
  readonly provider: ChatModel['provider']
  readonly model: string
  /** The base URL; null for the provider's own endpoint. */
  readonly url: string | null
}

export const providerEndpoints: Readonly<Record<ChatModel['provider'], string>> = {
  openai: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com',
}

const keyHint = 'Give the key in the environment instead.'
const httpsHint = 'Messages sent there could be read by others. Use https, or http://127.0.0.1.'
const form = 'Write openai:<model>[@<base url>] or anthropic:<model>[@<base url>].'

/** Reads `openai:gpt-5`, `anthropic:claude-sonnet-4-5` or `openai:qwen3@http://127.0.0.1:8080/v1`. */
export function parseModelSpec(spec: string): ModelSpec {
  const [, provider, model, url] = /^(openai|anthropic):(.+?)(?:@(https?:\/\/.+))?$/su.exec(spec.trim()) ?? []
  const isWellFormed = (provider === 'openai' || provider === 'anthropic') && model !== undefined
  if (!isWellFormed || /[\s\p{Cc}]/u.test(model) || isAddress(model)) {
    throw new MemoryError('invalid', `"${shortenSpec(spec)}" is not the name of a model.`, { hint: form })
  }
  return { provider, model, url: url === undefined ? null : endpointUrl(url) }
}

/** Whether the text contains an @ followed by a URL, even if the URL is incomplete or has a different protocol. */
const isAddress = (model: string): boolean => {
  const behind = model.slice(model.indexOf('@'))
  return behind.startsWith('@') && /@https?:|\/\//iu.test(behind)
}

/** The text as shown in an error message. It is cut if it may contain a key by mistake. */
const shortenSpec = (spec: string): string => (spec.length > 100 || /sk-/u.test(spec) ? `${spec.slice(0, 8)}…` : spec)

/** Checks that a key may be sent to a URL, which must be https, or http on this machine. Returns the URL without a slash at the end. */
export function endpointUrl(text: string, hint = form): string {
  let url: URL
  try {
    url = new URL(text)
  } catch (cause) {
    throw new MemoryError('invalid', `"${shortenSpec(text)}" is not a URL.`, { hint, cause })
  }
  if (url.username !== '' || url.password !== '')
    throw new MemoryError('invalid', 'The URL must not contain a user or password.', { hint: keyHint })
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLoopback(url.hostname)))
    throw new MemoryError('invalid', `${url.origin} is neither https nor on this machine.`, { hint: httpsHint })
  return `${url.origin}${url.pathname}`.replace(/(?<!\/)\/+$/u, '')
}

export function isLoopback(hostname: string): boolean {
  const host = hostname.replace(/^\[|\]$/gu, '')
  if (host === 'localhost' || host === '::1') return true
  return isIP(host) === 4 && host.startsWith('127.')
}
