// A minimal MCP server for comparison with search: a tool that returns its query.
import { McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { z } from 'zod'

serveStdio(() => {
  const server = new McpServer({ name: 'bare', version: '1' })
  server.registerTool('echo', { inputSchema: z.object({ query: z.string() }) }, async ({ query }) => ({
    content: [{ type: 'text', text: query }],
  }))
  return server
})
