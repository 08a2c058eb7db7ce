// A minimal MCP server for comparison with hooks that call a tool: its hook answers every event with the same line.
import { McpServer } from '@modelcontextprotocol/server'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { z } from 'zod'

serveStdio(() => {
  const server = new McpServer({ name: 'bare', version: '1' })
  server.registerTool('hook', { inputSchema: z.object({ event: z.string() }) }, async ({ event }) => {
    const hookSpecificOutput = { hookEventName: event, additionalContext: '<memory>\nNothing.\n</memory>\n' }
    return { content: [{ type: 'text', text: JSON.stringify({ hookSpecificOutput }) }] }
  })
  return server
})
