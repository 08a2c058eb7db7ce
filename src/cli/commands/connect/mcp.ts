import { Console } from 'node:console'
import type { Writable } from 'node:stream'
import { isProject, teamOwner } from '../../../beliefs/scope.ts'
import type { McpOptions } from '../../../mcp/memory-mcp.ts'
import type { Memory } from '../../../memory/memory.ts'
import type { Author } from '../../../memory/ports.ts'
import { defineCommand, UsageError } from '../../command/command.ts'
import { flag, option, readOptions } from '../../command/options.ts'
import { hookHosts } from '../../hooks/host-protocol.ts'
import type { ForeignCommands } from '../../resident/run-here.ts'
import type { OpenedPorts, Session, StandpointOptions } from '../../session.ts'

export const mcp = defineCommand({
  args: {},
  options: {
    host: option(
      '<name>',
      'The program that starts the server. It is the author of all changes, whatever name its client gives; `connect` sets it.',
      readHost,
      'mcp: and the name that the client gives',
    ),
    fixedScopes: flag('Refuse calls that name a scope other than the active ones.'),
    ...readOptions,
  },
  description: 'Runs until its input ends. A host starts it; `credence connect` writes the configuration.',
  isForPrograms: true,
  examples: {
    'credence mcp': 'Serves the memory of the working directory, as a host would start it.',
    'credence mcp --scope project:ledger --fixed-scopes': 'Serves one project only, and refuses other scopes.',
  },
  async run({ options }, session) {
    const { answerHandshake } = await import('../../../mcp/handshake.ts')
    const { stdin, stdout, stderr } = session.terminal.streams()
    const { machine } = session.program
    // The Claude Code plugin also starts a server. It offers nothing if `connect` has already set one up.
    const offersNothing =
      Boolean(machine.env.CLAUDE_PLUGIN_ROOT) &&
      (await import('../../connect/status.ts')).hasServer('claude-code', machine, session.places.workingDirectory())
    const { signal } = session.program.interruption()
    const release = keepStdoutClean(stderr)
    try {
      const streams = { input: stdin, output: stdout }
      const answered = offersNothing ? null : await answerHandshake({ ...streams, version: machine.version() })
      const { memoryMcp } = await import('../../../mcp/memory-mcp.ts')
      const setup = await mcpSetup(session, options)
      const { answerCommands } = await import('../../resident/answer-commands.ts')
      const { preloadHook } = await import('../../resident/run-here.ts')
      const answering = await answerCommands(machine, () => void setup.open().catch(() => {}))
      const hook = hookTool(answering.commands, session, options)
      const serving = memoryMcp({ ...setup, offersNothing, hook }).serveStreams({ ...streams, answered })
      await preloadHook()
      signal.addEventListener('abort', () => void serving.close(), { once: true })
      if (signal.aborted) await serving.close()
      await serving.closed
      await answering.close()
      await setup.close()
    } finally {
      release()
    }
    return { document: { served: 'stdio' }, text: () => '' }
  },
})

/** Allows no colon, because the names that clients give themselves are stored with one (`mcp:NAME`). */
function readHost(given: string): string {
  if (/^[\w.@-]{1,60}$/u.test(given)) return given
  throw new UsageError(`"${given.slice(0, 80)}" is not a name of a program. Use up to 60 letters, digits and . _ @ -.`)
}

/** Max authors with names of their own. Any further programs write under one shared name, that of clients without a name. */
const maxAuthors = 32

/** The options of the MCP server. Without --host, each program writes under the name that it gives itself. */
async function mcpSetup(
  session: Session,
  options: Omit<StandpointOptions, 'as'> & { readonly fixedScopes?: boolean; readonly host?: string | undefined },
): Promise<McpOptions & { readonly open: () => Promise<void>; readonly close: () => Promise<void> }> {
  const { hostOfClient } = await import('../../connect/hosts.ts')
  const { noteSeen } = await import('../../connect/seen.ts')
  const { unnamedOrigin } = await import('../../../mcp/memory-mcp.ts')
  const { dir, user, scopes, homeScopes, everyTeam } = session.places.locate(options)
  const memories = new Map<string, Promise<Memory>>()
  const opened = (author: Author): Promise<Memory> => {
    const known = memories.get(author.origin)
    if (known !== undefined) return known
    if (memories.size >= maxAuthors && author.origin !== unnamedOrigin)
      return opened({ ...author, origin: unnamedOrigin })
    const memory = session.memories.writing({ ...options, scope: scopes, as: author, staysOpen: true })
    memories.set(author.origin, memory)
    // After a failure, the next call tries again.
    memory.catch(() => memories.delete(author.origin))
    return memory
  }
  let opening: Promise<OpenedPorts> | null = null
  // Looked up for every call: the person may join or leave a team while the server runs.
  const teamScopes = async (): Promise<readonly string[]> => {
    if (!everyTeam || !(await session.places.hasMemory(options))) return []
    opening ??= session.memories.ports(dir)
    opening.catch(() => {
      opening = null
    })
    return (await (await opening).store.memberships(user)).map(({ team }) => teamOwner(team))
  }
  const view = {
    user,
    scopes,
    homeScopes,
    agent: options.agent ?? null,
    hasFixedScopes: options.fixedScopes ?? false,
    servesEveryProject: !scopes.some(isProject),
  }
  return {
    version: session.program.machine.version(),
    view: async () => ({ ...view, scopes: [...scopes, ...(await teamScopes())] }),
    memoryAs: opened,
    boundOrigin: options.host,
    onCall: ({ client, tool, version }) => {
      const host = hostOfClient(options.host ?? client)
      const at = new Date().toISOString()
      if (host === null) return
      noteSeen(session.program.machine, host, 'call', { at, tool })
      if (version) noteSeen(session.program.machine, host, 'version', { at, version })
    },
    onBug: (error) => console.error(error),
    // Opens the memory at the start, because Codex makes no request that does. The embedding model then loads in the background.
    open: async () => {
      if (memories.size === 0 && (await session.places.hasMemory(options)))
        await opened({ actor: 'agent', origin: options.host ?? unnamedOrigin })
    },
    close: async () => (await opening?.catch(() => null))?.store.close(),
  }
}

/**
 * Answers the hooks of a host that calls a tool instead of starting a process. Only for a host named by --host, which the
 * person configured; a client that merely calls itself by a host's name has no hooks.
 */
function hookTool(
  commands: ForeignCommands,
  session: Session,
  { host, dir, user, scope = [] }: StandpointOptions & { readonly host?: string | undefined },
): McpOptions['hook'] {
  if (host === undefined || !hookHosts.some((known) => known === host)) return undefined
  const { env, home } = session.program.machine
  const options = [
    ...(dir === undefined ? [] : ['--dir', dir]),
    ...(user === undefined ? [] : ['--user', user]),
    ...scope.flatMap((one) => ['--scope', one]),
  ]
  return async ({ event, ...payload }) => {
    const { stdout } = await commands.run({
      argv: ['hook', String(event), '--host', host, ...options],
      cwd: session.places.workingDirectory(),
      env,
      home,
      input: JSON.stringify(payload),
      ageMs: 0,
      stdout: {},
      stderr: {},
    })
    // Not empty, because Claude Code tells the model about a hook without output.
    return stdout === '' ? '{}' : stdout
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
