import { fileURLToPath } from 'node:url'
import { httpSystem } from '../../../src/eval/system/outside/http-system.ts'
import { parseMcpMapping } from '../../../src/eval/system/outside/mcp-mapping.ts'
import { mcpSystem } from '../../../src/eval/system/outside/mcp-system.ts'
import { describeHearing, describeSystem } from '../../../src/eval/system/system.contract.ts'
import type { System } from '../../../src/eval/system/system.ts'
import { listenOnLoopback } from '../../../src/http/listen.ts'
import { recallApp } from '../../../src/http/recall-app.ts'
import { backends } from './sample-packs.ts'

describeSystem('http', async (): Promise<System> => {
  const app = recallApp({
    system: backends.ours(),
    now: () => new Date(0),
    newId: () => 'unused',
    onBug: (error) => console.error(error),
  })
  const server = await listenOnLoopback(app.fetch, 0)
  const system = httpSystem({ url: server.url })
  return {
    ...system,
    close: async () => {
      await system.close()
      await server.close()
    },
  }
})

const belief = { text: '{{text}}', user_id: '{{user}}', aliases: '{{aliases}}', metadata: '{{metadata}}' }
const mapping = parseMcpMapping(
  {
    name: 'ours-over-mcp',
    command: process.execPath,
    args: [fileURLToPath(new URL('our-mcp-server.ts', import.meta.url))],
    add: { tool: 'add', arguments: { ...belief, id: '{{id}}' } },
    update: { tool: 'update', arguments: { ...belief, id: '{{id}}' } },
    search: {
      tool: 'search',
      arguments: { query: '{{query}}', user_id: '{{user}}', limit: '{{limit}}', scopes: '{{scopes}}' },
      results: { ids: '$.results[*].id', scores: '$.results[*].score' },
    },
  },
  'mapping',
)

describeSystem('mcp', async () => mcpSystem({ mapping }))

const noteServer = fileURLToPath(new URL('scripted-mcp-server.ts', import.meta.url))
const notes = parseMcpMapping(
  {
    name: 'notes',
    command: process.execPath,
    args: [noteServer, 'works', '{{stateDir}}'],
    add: { tool: 'remember', arguments: { id: '{{id}}', text: '{{speaker}} {{at}} {{text}}' } },
    search: {
      tool: 'find',
      arguments: { query: '{{query}}' },
      perWord: true,
      results: { ids: '$.hits[*].id' },
    },
  },
  'mapping',
)

describeHearing('mcp', async () => mcpSystem({ mapping: notes }))
