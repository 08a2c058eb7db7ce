import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type CallToolResult, Client, ProtocolError, SdkError, SdkErrorCode } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { invalid, MemoryError, unavailable } from '../../../errors.ts'
import { fillTemplate, fillText, type MappedCall, type McpMapping, type TemplateValues } from './mcp-mapping.ts'

/** A running server and its temporary directory, which is removed when the server is closed. */
export type McpConnection = Awaited<ReturnType<typeof openMcpConnection>>

/** Only the end of a server's standard error is kept: it usually contains the reason for a failure. */
const maxErrorTextLength = 400

/** Starts the server of a mapping in an empty directory, and checks that it has the tools that the mapping names. */
export async function openMcpConnection(mapping: McpMapping) {
  const { name, command, args, env, timeoutMs } = mapping
  const stateDir = mkdtempSync(join(tmpdir(), 'credence-mcp-'))
  const fill = (text: string): string => fillText(text, { stateDir })
  let started: Client | null = null
  let complaint = ''
  let hasEnded = false

  const start = async (mode: 'legacy' | 'auto'): Promise<Client> => {
    const transport = new StdioClientTransport({
      command,
      args: args.map(fill),
      // The transport adds the necessary variables, such as PATH, and no others from this process.
      env: Object.fromEntries(Object.entries(env).map(([key, text]) => [key, fill(text)])),
      stderr: 'pipe',
    })
    transport.stderr?.on('data', (chunk: Buffer) => {
      complaint = (complaint + chunk.toString('utf8')).slice(-maxErrorTextLength)
    })
    const options = { versionNegotiation: { mode, probe: { timeoutMs } } }
    const client = new Client({ name: 'credence-eval', version: '1' }, options)
    started = client
    hasEnded = false
    client.onclose = () => {
      hasEnded = true
    }
    await client.connect(transport, { timeout: timeoutMs })
    return client
  }
  const reasonOf = (cause: unknown): string => {
    const isLate = cause instanceof SdkError && cause.code === SdkErrorCode.RequestTimeout
    if (isLate) return `did not answer within ${timeoutMs} ms`
    // A program that could not be started has ended too, but its own error is more specific.
    const isSystemError = cause instanceof Error && 'syscall' in cause
    if (hasEnded && !isSystemError) return 'has ended'
    return `failed: ${(cause instanceof Error ? cause.message : String(cause)).slice(0, 200)}`
  }
  const failure = (what: string, cause: unknown): MemoryError => {
    const said = complaint.trim()
    const reason = `${name}: ${what} ${reasonOf(cause)}.${said === '' ? '' : ` It said: ${said}`}`
    const hint = `Does \`${[command, ...args].join(' ')}\` run, and print nothing but MCP on standard output?`
    return unavailable(reason, hint, cause)
  }
  const close = async (): Promise<void> => {
    try {
      await started?.close()
    } finally {
      rmSync(stateDir, { recursive: true, force: true })
    }
  }

  let client: Client
  try {
    // Nearly every server supports the 2025 handshake; a server that rejects it may support only the later one.
    client = await start('legacy').catch(async (cause: unknown) => {
      if (!(cause instanceof ProtocolError)) throw cause
      await started?.close()
      return start('auto')
    })
    const { tools } = await client.listTools(undefined, { timeout: timeoutMs })
    refuseMissingTools(mapping, new Set(tools.map((tool) => tool.name)))
  } catch (cause) {
    const reason = cause instanceof MemoryError ? cause : failure('the server', cause)
    await close()
    throw reason
  }
  const { name: ownName = 'nameless', version: ownVersion = '' } = client.getServerVersion() ?? {}
  return {
    /** The server's own name and version, and the negotiated protocol. */
    server: `${ownName} ${ownVersion}, MCP ${client.getNegotiatedProtocolVersion() ?? 'of unknown version'}`,
    stateDir,
    call: async ({ tool, arguments: templates }: MappedCall, values: TemplateValues): Promise<CallToolResult> => {
      const filled = Object.entries(templates).map(([key, inner]) => [key, fillTemplate(inner, values)])
      const request = { name: tool, arguments: Object.fromEntries(filled) }
      const result = await client.callTool(request, { timeout: timeoutMs }).catch((cause: unknown) => {
        throw failure(`the tool ${tool}`, cause)
      })
      if (result.isError !== true) return result
      throw unavailable(`${name}: the tool ${tool} failed: ${textIn(result).slice(0, 200)}`)
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
  const hint = known.size === 0 ? 'It has no tools at all.' : `It has ${[...known].sort().join(', ')}.`
  throw invalid(`${name}: the server has no tool "${missing.tool}".`, hint)
}
