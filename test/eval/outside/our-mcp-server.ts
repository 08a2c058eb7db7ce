/**
 * Credence's own recall as an MCP server over standard input and output, with one tool for each route of the HTTP
 * contract. A correct server, so that the MCP system can run the contract suite of all systems.
 */
import { randomBytes } from 'node:crypto'
import { createInterface } from 'node:readline'
import { bm25System } from '../../../src/eval/system/bm25.ts'
import { recallApp } from '../../../src/http/recall-app.ts'
import { inMemory } from '../../../src/store/sqlite/database.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts'

const app = recallApp({
  system: bm25System({ openStore: () => openSqliteStore({ file: inMemory, random: randomBytes }), version: '1' }),
  now: () => new Date(0),
  newId: () => 'unused',
  onBug: (error) => console.error(error),
})

const methods: Readonly<Record<string, string>> = { add: 'POST', update: 'PUT', search: 'POST' }

async function resultOf(method: string, { name = '', arguments: body }: { name?: string; arguments?: unknown }) {
  switch (method) {
    case 'initialize':
      return { protocolVersion: '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'ours', version: '1' } }
    case 'tools/list':
      return { tools: Object.keys(methods).map((tool) => ({ name: tool, inputSchema: { type: 'object' } })) }
    default: {
      const init = { method: methods[name] ?? '', headers: { host: 'localhost' }, body: JSON.stringify(body) }
      const response = await app.request(`/${name}`, init)
      return { content: [{ type: 'text', text: await response.text() }], isError: !response.ok }
    }
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params = {} } = JSON.parse(line)
  if (id === undefined) continue
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: await resultOf(method, params) })}\n`)
}
