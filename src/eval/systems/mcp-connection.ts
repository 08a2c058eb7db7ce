import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type CallToolResult, Client, SdkError, SdkErrorCode } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { MemoryError } from '../../errors.ts'
import type { McpMapping, ToolCall } from './mcp-mapping.ts'
import { fillTemplate, fillText, type TemplateValues } from './mcp-template.ts'

/** A running server with a directory of its own, which goes away with it. */
export type McpConnection = {
  /** What the server calls itself, and the protocol that was agreed on. */
  readonly server: string
  readonly stateDir: string
  call(call: ToolCall, values: TemplateValues): Promise<CallToolResult>
  close(): Promise<void>
}

/** The end of what a server says about itself is the part that says why it failed. */
const longestComplaint = 400

/** Starts the server of a mapping in an empty state and checks that it has the tools the mapping names. */
export async function openMcpConnection(mapping: McpMapping): Promise<McpConnection> {
  const { name, command, timeoutMs } = mapping
  const stateDir = mkdtempSync(join(tmpdir(), 'credence-mcp-'))
  const here = { stateDir }
  const transport = new StdioClientTransport({
    command,
    args: mapping.args.map((text) => fillText(text, here)),
    // The transport adds what a program needs to run, such as PATH, and nothing else of this process's environment.
    env: Object.fromEntries(Object.entries(mapping.env).map(([key, text]) => [key, fillText(text, here)])),
    stderr: 'pipe',
  })
  let complaint = ''
  transport.stderr?.on('data', (chunk: Buffer) => {
    complaint = (complaint + chunk.toString('utf8')).slice(-longestComplaint)
  })
  const failure = (what: string, cause: unknown): MemoryError => {
    const said = complaint.trim() === '' ? '' : ` It said: ${complaint.trim()}`
    return new MemoryError('unavailable', `${name}: ${what} ${reasonOf(cause, timeoutMs)}.${said}`, {
      hint: `Does \`${[command, ...mapping.args].join(' ')}\` run, and print nothing but MCP on standard output?`,
      cause,
    })
  }

  const client = new Client(
    { name: 'credence-eval', version: '1' },
    { versionNegotiation: { mode: 'auto', probe: { timeoutMs } } },
  )
  const close = async (): Promise<void> => {
    try {
      await client.close()
    } finally {
      rmSync(stateDir, { recursive: true, force: true })
    }
  }

  try {
    await client.connect(transport, { timeout: timeoutMs })
    const { tools } = await client.listTools(undefined, { timeout: timeoutMs })
    refuseMissingTools(mapping, new Set(tools.map((tool) => tool.name)))
  } catch (cause) {
    await close()
    throw cause instanceof MemoryError ? cause : failure('the server', cause)
  }

  const { name: ownName = 'nameless', version: ownVersion = '' } = client.getServerVersion() ?? {}
  return {
    server: `${ownName} ${ownVersion}, MCP ${client.getNegotiatedProtocolVersion() ?? 'of unknown version'}`,
    stateDir,
    call: async ({ tool, arguments: given }, values) => {
      let result: CallToolResult
      try {
        const filled = Object.fromEntries(
          Object.entries(given).map(([key, inner]) => [key, fillTemplate(inner, values)]),
        )
        result = await client.callTool({ name: tool, arguments: filled }, { timeout: timeoutMs })
      } catch (cause) {
        throw failure(`the tool ${tool}`, cause)
      }
      if (result.isError !== true) return result
      throw new MemoryError('unavailable', `${name}: the tool ${tool} failed: ${textIn(result).slice(0, 200)}`)
    },
    close,
  }
}

/** All text of a result. */
export const textIn = ({ content }: CallToolResult): string =>
  content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join('\n')

function refuseMissingTools({ name, reset = [], add, update = [], search }: McpMapping, known: ReadonlySet<string>) {
  const missing = [...reset, ...add, ...update, search].find(({ tool }) => !known.has(tool))
  if (missing === undefined) return
  throw new MemoryError('invalid', `${name}: the server has no tool "${missing.tool}".`, {
    hint: known.size === 0 ? 'It has no tools at all.' : `It has ${[...known].sort().join(', ')}.`,
  })
}

function reasonOf(cause: unknown, timeoutMs: number): string {
  if (cause instanceof SdkError) {
    switch (cause.code) {
      case SdkErrorCode.RequestTimeout:
        return `did not answer within ${timeoutMs} ms`
      case SdkErrorCode.ConnectionClosed:
      case SdkErrorCode.NotConnected:
        return 'has ended'
      default:
        break
    }
  }
  return `failed: ${(cause instanceof Error ? cause.message : String(cause)).slice(0, 200)}`
}
