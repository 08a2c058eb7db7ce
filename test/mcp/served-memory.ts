import { randomBytes } from 'node:crypto'
import { type CallToolResult, Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as EarlierClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as EarlierTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { memoryMcp } from '../../src/mcp/memory-mcp.ts'
import { memoryFrom } from '../../src/memory/memory.ts'
import type { Author } from '../../src/memory/ports.ts'
import type { MemoryView } from '../../src/operations/view.ts'
import { inMemory } from '../../src/store/sqlite/database.ts'
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts'

export const person: Author = { actor: 'person', origin: 'cli' }

/** The common methods of clients of both protocol versions. */
export type AnyClient = {
  callTool(call: { name: string; arguments: Record<string, unknown> }): Promise<unknown>
  close(): Promise<void>
}

/** The result of a tool call. */
export type Answered = { readonly isError: boolean; readonly text: string; readonly value: Record<string, unknown> }

export async function call(client: AnyClient, name: string, given: Record<string, unknown>): Promise<Answered> {
  // Both clients validate a result before they return it.
  const { content, structuredContent, isError } = (await client.callTool({ name, arguments: given })) as CallToolResult
  const text = content.map((block) => (block.type === 'text' ? block.text : '')).join('\n')
  return { isError: isError === true, text, value: (structuredContent ?? {}) as Record<string, unknown> }
}

export const listIn = (answered: Answered, key: string): readonly Record<string, unknown>[] => {
  const list = answered.value[key]
  if (!Array.isArray(list)) throw new Error(`${key} is no list in ${answered.text}`)
  return list
}

/** A store in memory, a server on it, and clients connected without a network. */
export function servedMemory(given: Partial<MemoryView> = {}) {
  const view: MemoryView = {
    user: 'ada',
    scopes: ['project:ledger', 'user:universal'],
    homeScopes: ['project:ledger'],
    agent: null,
    hasFixedScopes: false,
    ...given,
  }
  let ids = 0
  let time = Date.parse('2026-01-01T00:00:00Z')
  const ports = {
    store: openSqliteStore({ file: inMemory, random: randomBytes }),
    emptyStore: () => openSqliteStore({ file: inMemory, random: randomBytes }),
    // biome-ignore lint/suspicious/noAssignInExpressions: every look at the clock is a second later
    now: () => new Date((time += 1_000)),
    newId: () => `b-${String(++ids).padStart(4, '0')}`,
  }
  const memoryAs = (author: Author, user = view.user) =>
    memoryFrom(ports, { user, scopes: view.scopes, agent: view.agent, author })
  const bugs: unknown[] = []
  const handler = (boundOrigin?: string) =>
    memoryMcp({
      version: '1.2.3',
      view,
      memoryAs: async (author) => memoryAs(author),
      boundOrigin,
      onBug: (error) => bugs.push(error),
    }).httpHandler()
  const { fetch, close } = handler()
  const url = new URL('http://localhost/mcp')
  const direct = (to: string | URL | Request, init?: RequestInit): Promise<Response> => fetch(new Request(to, init))

  return {
    bugs,
    /** The memory for a person, or for another author. */
    memoryAs,
    fetch,
    /** `boundOrigin`: the host that starts the server, as with `credence mcp --host`. */
    connect: async (name = 'test-agent', boundOrigin?: string): Promise<Client> => {
      const served = boundOrigin === undefined ? fetch : handler(boundOrigin).fetch
      const client = new Client({ name, version: '1' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } })
      const toServer = (to: string | URL | Request, init?: RequestInit) => served(new Request(to, init))
      await client.connect(new StreamableHTTPClientTransport(url, { fetch: toServer }))
      return client
    },
    connectEarlier: async (name = 'test-agent', headers: Record<string, string> = {}): Promise<EarlierClient> => {
      const client = new EarlierClient({ name, version: '1' })
      // The transport types of the two packages differ only under exactOptionalPropertyTypes.
      const transport = new EarlierTransport(url, { fetch: direct, requestInit: { headers } })
      await client.connect(transport as unknown as Parameters<EarlierClient['connect']>[0])
      return client
    },
    [Symbol.asyncDispose]: close,
  }
}
