import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import type { Turn } from '../../src/beliefs/turn.ts'
import { explainForeignRequest, loopbackNames } from '../../src/http/same-origin.ts'
import { type Memory, memoryFrom } from '../../src/memory/memory.ts'
import type { ProxyMemory } from '../../src/proxy/add-memory.ts'
import { memoryProxy } from '../../src/proxy/proxy.ts'
import { ports } from '../recall/fixtures.ts'
import { type ScriptedUpstream, scriptedUpstream } from './scripted-upstream.ts'

export type Proxied = AsyncDisposable & {
  readonly upstream: ScriptedUpstream
  readonly url: string
  readonly memory: Memory
  readonly log: readonly string[]
  readonly openai: OpenAI
  readonly anthropic: Anthropic
  /** All turns stored so far, in order. */
  turns(user?: string): Promise<readonly Turn[]>
  as(user: string, scopes: readonly string[]): Memory
  readonly settled: () => Promise<void>
}

export const key = 'sk-test-0123456789abcdef'

/** A proxy over a memory, between real clients and a scripted service. */
export async function proxied({
  wrap = (memory) => memory,
  isPaused = () => false,
  deadlineMs = 60_000,
}: {
  readonly wrap?: (memory: ProxyMemory) => ProxyMemory
  readonly isPaused?: () => boolean
  readonly deadlineMs?: number
} = {}): Promise<Proxied> {
  const upstream = await scriptedUpstream()
  const shop = ports()
  const as = (user: string, scopes: readonly string[]): Memory =>
    memoryFrom(shop, { user, scopes, agent: null, author: { actor: 'person', origin: 'proxy' } })
  const log: string[] = []
  const proxy = memoryProxy({
    upstream: new URL(upstream.url),
    memory: wrap({
      recall: ({ user, scopes }, message) => as(user, scopes).recall(message),
      keep: async ({ user, scopes, homeScopes }, turns) => {
        await as(user, scopes).hear(turns, { scopes: homeScopes })
      },
    }),
    view: { user: 'ann', scopes: ['project:ledger', 'user:universal'], homeScopes: ['project:ledger'] },
    isPaused,
    deadlineMs,
    now: () => new Date(),
    log: (line) => log.push(line),
    refusalOf: ({ headers }) =>
      explainForeignRequest(
        { host: headers.host, origin: headers.origin, site: headers['sec-fetch-site']?.toString() },
        loopbackNames,
      ),
  })
  const server = createServer(proxy.listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    upstream,
    url,
    memory: as('ann', ['project:ledger', 'user:universal']),
    as,
    log,
    openai: new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 }),
    anthropic: new Anthropic({ baseURL: url, apiKey: key, maxRetries: 0 }),
    turns: async (user = 'ann') => {
      await proxy.close()
      const kept: Turn[] = []
      for await (const turn of as(user, ['project:ledger']).exportTurns()) kept.push(turn)
      return kept
    },
    settled: () => proxy.close(),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      await new Promise<void>((resolve) => server.close(() => resolve()))
      await proxy.close()
      await upstream[Symbol.asyncDispose]()
    },
  }
}
