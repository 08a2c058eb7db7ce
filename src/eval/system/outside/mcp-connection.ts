import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type CallToolResult, Client, ProtocolError, SdkError, SdkErrorCode } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { invalid, MemoryError, unavailable } from '../../../errors.ts'
import { fillTemplate, fillText, type McpMapping, type TemplateValues, type ToolCall } from './mcp-mapping.ts'

/** A running server and its temporary directory, which is removed when the server is closed. */
export type McpConnection = Awaited<ReturnType<typeof openMcpConnection>>

/** Starts the server of a mapping in an empty directory and checks that it has the tools that the mapping names. */
export async function openMcpConnection(mapping: McpMapping) {
  const { name, timeoutMs } = mapping
  const stateDir = mkdtempSync(join(tmpdir(), 'credence-mcp-'))
  const server = new ServerProcess(mapping, stateDir)
  const close = async (): Promise<void> => {
    try {
      await server.stop()
    } finally {
      rmSync(stateDir, { recursive: true, force: true })
    }
  }
  let client: Client
  try {
    client = await server.start()
    const { tools } = await client.listTools(undefined, { timeout: timeoutMs })
    refuseMissingTools(mapping, new Set(tools.map((tool) => tool.name)))
  } catch (cause) {
    const failure = cause instanceof MemoryError ? cause : server.failure('the server', cause)
    await close()
    throw failure
  }
  const { name: ownName = 'nameless', version: ownVersion = '' } = client.getServerVersion() ?? {}
  return {
    /** The name that the server gives itself, and the negotiated protocol. */
    server: `${ownName} ${ownVersion}, MCP ${client.getNegotiatedProtocolVersion() ?? 'of unknown version'}`,
    stateDir,
    call: async ({ tool, arguments: templates }: ToolCall, values: TemplateValues): Promise<CallToolResult> => {
      const filled = Object.entries(templates).map(([key, inner]) => [key, fillTemplate(inner, values)])
      const request = { name: tool, arguments: Object.fromEntries(filled) }
      const result = await client.callTool(request, { timeout: timeoutMs }).catch((cause: unknown) => {
        throw server.failure(`the tool ${tool}`, cause)
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

/** The last characters of the standard error of a server say why it failed. */
const longestComplaint = 400

class ServerProcess {
  readonly #mapping: McpMapping
  readonly #stateDir: string
  #client: Client | null = null
  #complaint = ''
  #hasEnded = false

  constructor(mapping: McpMapping, stateDir: string) {
    this.#mapping = mapping
    this.#stateDir = stateDir
  }

  /** Nearly every server knows the handshake of 2025; one that refuses it may know only the later one. */
  async start(): Promise<Client> {
    try {
      return await this.#startIn('legacy')
    } catch (cause) {
      if (!(cause instanceof ProtocolError)) throw cause
      await this.stop()
      return this.#startIn('auto')
    }
  }

  async stop(): Promise<void> {
    await this.#client?.close()
    this.#client = null
  }

  failure(what: string, cause: unknown): MemoryError {
    const { name, command, args } = this.#mapping
    const said = this.#complaint.trim()
    const reason = `${name}: ${what} ${this.#reasonOf(cause)}.${said === '' ? '' : ` It said: ${said}`}`
    const hint = `Does \`${[command, ...args].join(' ')}\` run, and print nothing but MCP on standard output?`
    return unavailable(reason, hint, cause)
  }

  async #startIn(mode: 'legacy' | 'auto'): Promise<Client> {
    const { command, args, env, timeoutMs } = this.#mapping
    const fill = (text: string): string => fillText(text, { stateDir: this.#stateDir })
    const transport = new StdioClientTransport({
      command,
      args: args.map(fill),
      // The transport adds what a program needs to run, such as PATH, and nothing else of this process's environment.
      env: Object.fromEntries(Object.entries(env).map(([key, text]) => [key, fill(text)])),
      stderr: 'pipe',
    })
    transport.stderr?.on('data', (chunk: Buffer) => {
      this.#complaint = (this.#complaint + chunk.toString('utf8')).slice(-longestComplaint)
    })
    const options = { versionNegotiation: { mode, probe: { timeoutMs } } }
    const client = new Client({ name: 'credence-eval', version: '1' }, options)
    this.#client = client
    this.#hasEnded = false
    client.onclose = () => {
      this.#hasEnded = true
    }
    await client.connect(transport, { timeout: timeoutMs })
    return client
  }

  #reasonOf(cause: unknown): string {
    if (cause instanceof SdkError && cause.code === SdkErrorCode.RequestTimeout)
      return `did not answer within ${this.#mapping.timeoutMs} ms`
    // A program that could not be started has ended too, but its own error says more.
    const isSystemError = cause instanceof Error && 'syscall' in cause
    if (this.#hasEnded && !isSystemError) return 'has ended'
    return `failed: ${(cause instanceof Error ? cause.message : String(cause)).slice(0, 200)}`
  }
}

function refuseMissingTools({ name, reset = [], add, update = [], search }: McpMapping, known: ReadonlySet<string>) {
  const missing = [...reset, ...add, ...update, search].find(({ tool }) => !known.has(tool))
  if (missing === undefined) return
  const hint = known.size === 0 ? 'It has no tools at all.' : `It has ${[...known].sort().join(', ')}.`
  throw invalid(`${name}: the server has no tool "${missing.tool}".`, hint)
}
