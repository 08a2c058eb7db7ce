import { Console } from 'node:console'
import type { Writable } from 'node:stream'
import type { McpOptions } from '../../../mcp/memory-mcp.ts'
import type { Author } from '../../../memory/change/transaction.ts'
import type { Memory } from '../../../memory/memory.ts'
import { defineCommand, flag } from '../../command.ts'
import { placeOptions, readerOptions, viewOptions } from '../../common-options.ts'
import type { Session, StandpointOptions } from '../../session.ts'

export const mcp = defineCommand({
  args: {},
  options: {
    fixedScopes: flag('Refuse calls that name a scope which is not in view already.'),
    ...viewOptions,
    ...readerOptions,
    ...placeOptions,
  },
  description:
    'Speaks MCP on standard input and output until its input ends, for a host that starts it. `credence connect` writes the configuration.',
  isForPrograms: true,
  examples: [
    { command: 'credence mcp', effect: 'Serves the memory of the working directory; a host starts it like this.' },
    {
      command: 'credence mcp --scope project:ledger --fixed-scopes',
      effect: 'Serves one project and nothing else, whatever the agent asks for.',
    },
  ],
  async run({ options }, session) {
    const { memoryMcp } = await import('../../../mcp/memory-mcp.ts')
    const { stdin, stdout, stderr } = session.streams()
    const release = keepStdoutClean(stderr)
    try {
      const serving = memoryMcp(mcpSetup(session, options)).serveStreams({ input: stdin, output: stdout })
      const interruption = session.interruption()
      interruption.signal.addEventListener('abort', () => void serving.close(), { once: true })
      await serving.closed
      interruption.release()
    } finally {
      release()
    }
    return { document: { served: 'stdio' }, text: () => '' }
  },
})

/** So many programs are told apart in what they write; more share one name. */
const mostAuthors = 32

/** What an MCP server of this session works with. Each program that connects writes under its own name. */
export function mcpSetup(
  session: Session,
  options: Omit<StandpointOptions, 'as'> & { readonly fixedScopes?: boolean },
): McpOptions {
  const { user, scopes, homeScopes } = session.place(options)
  const memories = new Map<string, Promise<Memory>>()
  const opened = (author: Author): Promise<Memory> => {
    const known = memories.get(author.origin)
    if (known !== undefined) return known
    if (memories.size >= mostAuthors && author.origin !== 'mcp') return opened({ ...author, origin: 'mcp' })
    const memory = session.memory({ ...options, scope: scopes, as: author })
    memories.set(author.origin, memory)
    // A store that could not be opened now may be there the next time.
    memory.catch(() => memories.delete(author.origin))
    return memory
  }
  return {
    version: session.machine.version(),
    view: {
      user,
      scopes,
      homeScopes,
      agent: options.agent ?? null,
      hasFixedScopes: options.fixedScopes ?? false,
    },
    memoryAs: opened,
    onBug: (error) => console.error(error),
  }
}

/** Standard output is the protocol's. Whatever a library prints goes to standard error. */
function keepStdoutClean(stderr: Writable): () => void {
  const usual = globalThis.console
  globalThis.console = new Console({ stdout: stderr, stderr })
  return () => {
    globalThis.console = usual
  }
}
