import { Console } from 'node:console'
import type { Writable } from 'node:stream'
import type { McpSetup } from '../../../mcp/memory-mcp.ts'
import type { Memory } from '../../../memory/memory.ts'
import type { Author } from '../../../memory/ports.ts'
import { defineCommand } from '../../command/command.ts'
import { flag, readOptions } from '../../command/options.ts'
import type { Session, StandpointOptions } from '../../session.ts'

export const mcp = defineCommand({
  args: {},
  options: {
    fixedScopes: flag('Refuse calls that name a scope which is not in view already.'),
    ...readOptions,
  },
  description:
    'Speaks MCP on standard input and output until its input ends, for a host that starts it. `credence connect` writes the configuration.',
  isForPrograms: true,
  examples: {
    'credence mcp': 'Serves the memory of the working directory; a host starts it like this.',
    'credence mcp --scope project:ledger --fixed-scopes':
      'Serves one project and nothing else, whatever the agent asks for.',
  },
  async run({ options }, session) {
    const { memoryMcp } = await import('../../../mcp/memory-mcp.ts')
    const { stdin, stdout, stderr } = session.streams()
    const release = keepStdoutClean(stderr)
    try {
      const serving = memoryMcp(mcpSetup(session, options)).serveStreams({ input: stdin, output: stdout })
      session.interruption().signal.addEventListener('abort', () => void serving.close(), { once: true })
      await serving.closed
    } finally {
      release()
    }
    return { document: { served: 'stdio' }, text: () => '' }
  },
})

/** More programs than this share one name as authors. */
const mostAuthors = 32

/** The setup of the MCP server. Each program that connects writes under its own name. */
function mcpSetup(
  session: Session,
  options: Omit<StandpointOptions, 'as'> & { readonly fixedScopes?: boolean },
): McpSetup {
  const { user, scopes, homeScopes } = session.locate(options)
  const memories = new Map<string, Promise<Memory>>()
  const opened = (author: Author): Promise<Memory> => {
    const known = memories.get(author.origin)
    if (known !== undefined) return known
    if (memories.size >= mostAuthors && author.origin !== 'mcp') return opened({ ...author, origin: 'mcp' })
    const memory = session.memory({ ...options, scope: scopes, as: author })
    memories.set(author.origin, memory)
    // Opening is tried again at the next call.
    memory.catch(() => memories.delete(author.origin))
    return memory
  }
  return {
    version: session.machine.version(),
    standing: { user, scopes, homeScopes, agent: options.agent ?? null, hasFixedScopes: options.fixedScopes ?? false },
    memoryAs: opened,
    onBug: (error) => console.error(error),
  }
}

/** Standard output belongs to the protocol, so console.log goes to standard error. */
function keepStdoutClean(stderr: Writable): () => void {
  const usual = globalThis.console
  globalThis.console = new Console({ stdout: stderr, stderr })
  return () => {
    globalThis.console = usual
  }
}
