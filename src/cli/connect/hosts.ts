import { existsSync } from 'node:fs'
import { dirname, join, posix, resolve, win32 } from 'node:path'
import { invalid } from '../../errors.ts'
import { type HookHost, hookEventNamed, hookEvents } from '../hooks/host-protocol.ts'
import type { Machine } from '../session.ts'
import { type JsonDialect, type JsonEntry, withEntries, withoutEntries } from './json-edit.ts'
import { type Launch, launchFrom, shellLine } from './launch.ts'
import { withoutTable, withTable } from './toml-edit.ts'

export const connectHosts = [
  'claude-code',
  'codex',
  'gemini',
  'opencode',
  'openclaw',
  'cursor',
  'vscode',
  'claude-desktop',
] as const
export type ConnectHost = (typeof connectHosts)[number]

/** A configuration file, with functions that add and remove our entries. */
export type ConfigFile = {
  readonly path: string
  readonly add: (text: string | null) => string
  /** `before`: the text before Credence changed it, if known. */
  readonly remove: (text: string, before: string | null) => string
}

/** Whether the configuration is for one user or for all users of a project. */
export type Level = 'user' | 'project'

export type ConnectRequest = {
  readonly machine: Machine
  readonly level: Level
  /** The directory of the project. */
  readonly directory: string
  /** The memory directory and the scopes, as options of every configured command. */
  readonly dir?: string | undefined
  readonly scopes?: readonly string[]
  /** The version of the installed host; null if unknown. */
  readonly version?: string | null
  /** Whether the host may call read-only tools without asking the person. */
  readonly allowsReading?: boolean
}

/** A command of the host that shows whether the host has accepted the configuration. */
export type HostCheck = {
  readonly args: readonly string[]
  readonly proof: RegExp
  /** What to report if the proof matches, when no single line of the output states it. */
  readonly proves?: string
}

type Host = {
  readonly levels: readonly [Level, ...Level[]]
  readonly files: (request: ConnectRequest, launch: Launch) => readonly ConfigFile[]
  /** The remaining steps for the person. */
  readonly next: string
  readonly program?: string
  /** All checks must succeed. */
  readonly checks?: readonly HostCheck[]
  /** The first version whose hooks can call a tool of a connected server. */
  readonly toolHooksSince?: string
  /** The name of the host's MCP client, if it differs from the host's name. */
  readonly clientName?: RegExp
}

export function filesFor(host: ConnectHost, request: ConnectRequest): readonly ConfigFile[] {
  const { levels, files } = hosts[host]
  if (!levels.includes(request.level)) {
    throw invalid(
      `${host} has no configuration for a ${request.level}.`,
      `Use ${levels.map((level) => `--${level}`).join(' or ')}.`,
    )
  }
  return files(request, launchFrom(request.machine, request.level === 'project'))
}

/** The host whose MCP client has this name; null if there is none. */
export const hostOfClient = (client: string): ConnectHost | null =>
  connectHosts.find((host) => client === host || hosts[host].clientName?.test(client)) ?? null

/** Tools that change nothing. */
export const readingTools = ['memory_search', 'memory_get', 'memory_status', 'memory_proposals'] as const

export const hosts: Readonly<Record<ConnectHost, Host>> = {
  'claude-code': {
    levels: ['user', 'project'],
    next: 'Start a new session; `/mcp` and `/hooks` show what was added.',
    program: 'claude',
    checks: [{ args: ['mcp', 'list'], proof: /^credence: .*Connected/m }],
    toolHooksSince: '2.1.118',
    files: (request, launch) => {
      const { env, home } = request.machine
      const own = env.CLAUDE_CONFIG_DIR
      const servers = settingsPathOf(request, '.mcp.json', join(own || home, '.claude.json'))
      const settings = settingsPathOf(
        request,
        '.claude/settings.json',
        join(own || join(home, '.claude'), 'settings.json'),
      )
      const allowed = readingTools.map((tool): JsonEntry => {
        const value = `mcp__credence__${tool}`
        return { kind: 'element', path: ['permissions', 'allow'], value, isOurs: (one) => one === value }
      })
      const hooks = claudeHooks('claude-code', request, launch)
      return [
        jsonFile(servers, 'json', [
          server('claude-code', ['mcpServers', 'credence'], request, launch, { type: 'stdio' }),
        ]),
        jsonFile(settings, 'json', [...hooks.always, ...(request.allowsReading ? allowed : [])], {
          other: hooks.other,
          optional: allowed,
        }),
      ]
    },
  },
  codex: {
    levels: ['user', 'project'],
    next: 'Start `codex` once at a terminal and trust the hooks when it asks: `codex exec` skips untrusted hooks without a word.',
    program: 'codex',
    checks: [{ args: ['mcp', 'list'], proof: /^credence\b.*\benabled\b/m }],
    // The oldest version with which this was tested.
    toolHooksSince: '0.166.0',
    clientName: /^codex-mcp-client$/,
    files: (request, launch) => {
      const { env, home } = request.machine
      const at = settingsPathOf(request, '.codex', env.CODEX_HOME || join(home, '.codex'))
      const path = join(at, 'config.toml')
      const { command, args } = launchWith(request, launch, mcpOf('codex'))
      const hooks = claudeHooks('codex', request, launch)
      const entry = { path: ['mcp_servers', 'credence'], table: { command, args: [...args] }, isOurs: startsServer }
      return [
        { path, add: (text) => withTable(text, entry, path), remove: (text) => withoutTable(text, entry, path) },
        jsonFile(join(at, 'hooks.json'), 'json', hooks.always, hooks),
      ]
    },
  },
  gemini: {
    levels: ['user', 'project'],
    next: 'Start a new session; `/mcp` and `/hooks` show what was added. In a folder that Gemini CLI does not trust, it starts neither.',
    program: 'gemini',
    checks: [{ args: ['mcp', 'list'], proof: /credence: .*Connected/ }],
    clientName: /^gemini-cli-mcp-client/,
    files: (request, launch) => {
      const path = settingsPathOf(
        request,
        '.gemini/settings.json',
        join(request.machine.home, '.gemini', 'settings.json'),
      )
      const hooks = matcherHooks('gemini', geminiEvents, request, launch, { timeout: 5_000, name: 'credence' })
      return [jsonFile(path, 'jsonc', [server('gemini', ['mcpServers', 'credence'], request, launch), ...hooks])]
    },
  },
  opencode: {
    levels: ['user', 'project'],
    next: 'Start a new session; `opencode mcp list` shows the server.',
    program: 'opencode',
    checks: [{ args: ['mcp', 'list'], proof: /credence.*connected/i }],
    files: (request, launch) => {
      const { machine } = request
      const at = settingsPathOf(
        request,
        '.',
        join(machine.env.XDG_CONFIG_HOME || join(machine.home, '.config'), 'opencode'),
      )
      const path = ['opencode.jsonc', 'opencode.json'].map((name) => join(at, name)).find((file) => existsSync(file))
      const { command, args } = launchWith(request, launch, mcpOf('opencode'))
      const plugin = integration('opencode', machine)
      return [
        jsonFile(path ?? join(at, 'opencode.json'), 'jsonc', [
          {
            kind: 'value',
            path: ['mcp', 'credence'],
            value: { type: 'local', command: [command, ...args], enabled: true },
            isOurs: startsServer,
          },
          {
            kind: 'element',
            path: ['plugin'],
            value: [plugin, { command: [launch.command, ...launch.args], options: optionsOf(request) }],
            isOurs: (one) => isIntegration('opencode', Array.isArray(one) ? one[0] : one),
          },
        ]),
      ]
    },
  },
  cursor: {
    levels: ['user', 'project'],
    next: 'Restart Cursor. Versions before 3.20 may take context at the start of a session only; their agent asks by MCP.',
    files: (request, launch) => {
      const at = settingsPathOf(request, '.cursor', join(request.machine.home, '.cursor'))
      const events = ['sessionStart', 'beforeSubmitPrompt', 'stop', 'preCompact']
      const hooks = events.map((own) => element(['hooks', own], { command: hookLine('cursor', own, request, launch) }))
      return [
        jsonFile(join(at, 'mcp.json'), 'jsonc', [server('cursor', ['mcpServers', 'credence'], request, launch)]),
        jsonFile(join(at, 'hooks.json'), 'jsonc', hooks, { shared: [{ kind: 'value', path: ['version'], value: 1 }] }),
      ]
    },
  },
  vscode: {
    levels: ['user', 'project'],
    next: 'Run "MCP: List Servers" in VS Code and start credence.',
    files: (request, launch) => {
      const path = settingsPathOf(
        request,
        '.vscode/mcp.json',
        join(appData(request.machine), 'Code', 'User', 'mcp.json'),
      )
      return [jsonFile(path, 'jsonc', [server('vscode', ['servers', 'credence'], request, launch, { type: 'stdio' })])]
    },
  },
  'claude-desktop': {
    levels: ['user'],
    next: 'Quit Claude Desktop and start it again.',
    files: (request, launch) => {
      const path = join(appData(request.machine), 'Claude', 'claude_desktop_config.json')
      return [jsonFile(path, 'json', [server('claude-desktop', ['mcpServers', 'credence'], request, launch)])]
    },
  },
  openclaw: {
    levels: ['user'],
    next: 'Restart the gateway. `openclaw plugins doctor` reports that the plugin is not from ClawHub and that memory-core is not selected; both are expected.',
    program: 'openclaw',
    // Not `plugins doctor`, which complains about every plugin that is not from npm or ClawHub.
    checks: [
      {
        args: ['plugins', 'inspect', 'credence', '--runtime'],
        proof:
          /^Status: loaded$.*^before_prompt_build$.*^memory_search$.*^allowPromptInjection: true$.*^allowConversationAccess: true$/ms,
        proves: 'OpenClaw has loaded the plugin, its hook and its tools, and both permissions are given.',
      },
      // A command that the plugin adds to OpenClaw. It runs with the configuration that is written below.
      { args: ['credence'], proof: /^Credence \S+ answers OpenClaw/m },
    ],
    files: ({ machine, dir, scopes = [] }, { command, args }) => {
      const home = machine.env.OPENCLAW_HOME || machine.home
      const state = machine.env.OPENCLAW_STATE_DIR || join(home, '.openclaw')
      const path = machine.env.OPENCLAW_CONFIG_PATH || join(state, 'openclaw.json')
      const config = {
        command: [command, ...args],
        ...(dir === undefined ? {} : { dir }),
        ...(scopes.length === 0 ? {} : { scopes }),
      }
      const hooks = { allowPromptInjection: true, allowConversationAccess: true }
      return [
        jsonFile(path, 'jsonc', [
          {
            kind: 'element',
            path: ['plugins', 'load', 'paths'],
            value: integration('openclaw', machine),
            isOurs: (one) => isIntegration('openclaw', one),
          },
          {
            kind: 'value',
            path: ['plugins', 'slots', 'memory'],
            value: 'credence',
            isOurs: (own) => own === 'credence',
          },
          { kind: 'value', path: ['plugins', 'entries', 'credence'], value: { enabled: true, hooks, config } },
        ]),
      ]
    },
  },
}

/** The settings path for the level: in the project, or in the user's home. */
const settingsPathOf = ({ level, directory }: ConnectRequest, inProject: string, own: string): string =>
  level === 'project' ? join(directory, inProject) : own

type MoreEntries = {
  /** Entries that other programs may also need, so they are added but never removed. */
  readonly shared?: readonly JsonEntry[]
  /** Entries that an earlier `connect` may have added. Disconnecting removes them too. */
  readonly optional?: readonly JsonEntry[]
  /** Hooks of the kind that this connection does not use (commands or tool calls). Connecting and disconnecting remove them. */
  readonly other?: readonly JsonEntry[]
}

function jsonFile(
  file: string,
  dialect: JsonDialect,
  own: readonly JsonEntry[],
  { shared = [], optional = [], other = [] }: MoreEntries = {},
): ConfigFile {
  const added = [...shared, ...own]
  return {
    path: file,
    add: (text) => withoutEntries(withEntries(text, added, { file, dialect }), other, { file, dialect, before: null }),
    remove: (text, before) => withoutEntries(text, [...own, ...optional, ...other], { file, dialect, before }),
  }
}

/** The folder of this package with an integration for another program. */
const integration = (name: string, { program }: Machine): string =>
  resolve(dirname(program), '..', 'integrations', name)

const isIntegration = (name: string, path: unknown): boolean =>
  typeof path === 'string' && path.split(/[\\/]/).slice(-2).join('/') === `integrations/${name}`

/** The options of every configured command. */
const optionsOf = ({ dir, scopes = [] }: ConnectRequest): readonly string[] => [
  ...(dir === undefined ? [] : ['--dir', dir]),
  ...scopes.flatMap((scope) => ['--scope', scope]),
]

const launchWith = (request: ConnectRequest, { command, args }: Launch, words: readonly string[]): Launch => ({
  command,
  args: [...args, ...words, ...optionsOf(request)],
})

/** The arguments that start the server with the host as the author of all changes. */
const mcpOf = (host: ConnectHost): readonly string[] => ['mcp', '--host', host]

const server = (
  host: ConnectHost,
  path: readonly string[],
  request: ConnectRequest,
  launch: Launch,
  more: object = {},
): JsonEntry => ({
  kind: 'value',
  path,
  value: { ...more, ...launchWith(request, launch, mcpOf(host)) },
  isOurs: startsServer,
})

function startsServer(entry: unknown): boolean {
  const { command, args }: { command?: unknown; args?: unknown } = Object(entry)
  const words = [command, args].flat().filter((word) => typeof word === 'string')
  const program = words.findIndex((word) => /(?:^|[\\/])credence(?:\.js|\.cmd)?$/.test(word))
  return program >= 0 && words[program + 1] === 'mcp'
}

const claudeEvents = ['SessionStart', 'UserPromptSubmit', 'PreCompact']
const endEvent = 'SessionEnd'

/** The tools that edit files or run commands, in Claude Code and Codex. */
const toolsHooked = { matcher: 'Bash|Edit|Write|NotebookEdit|apply_patch' }

/**
 * Hooks that call a tool of the running server store each answer at `Stop`, and add lines before tool uses. Hooks that run a
 * command do neither, so that a turn starts one process; the next prompt or the session's end stores the answer from the transcript.
 */
function claudeHooks(host: HookHost, request: ConnectRequest, launch: Launch) {
  const usual = matcherHooks(host, claudeEvents, request, launch)
  const atStop = matcherHooks(host, ['Stop'], request, launch)
  const beforeTools = matcherHooks(host, ['PreToolUse'], request, launch).map((hook) => ({
    ...hook,
    beside: toolsHooked,
  }))
  const byTool = [...atStop, ...beforeTools]
  // 3 s is the most that Codex allows.
  const byCommand = matcherHooks(host, [endEvent], request, launch, { timeout: 3 })
  const [more, other] = callsTool(host, 'Stop', request) ? [byTool, byCommand] : [byCommand, byTool]
  return { always: [...usual, ...more], other }
}

const geminiEvents = ['SessionStart', 'BeforeAgent', 'AfterAgent', 'PreCompress']

/**
 * Hooks in the format of Claude Code: each event has a list of groups of commands. If the host supports it, hooks call a tool
 * of the running server instead of starting a process.
 */
function matcherHooks(
  host: HookHost,
  events: readonly string[],
  request: ConnectRequest,
  launch: Launch,
  more: object = { timeout: 5 },
): readonly (JsonEntry & { readonly kind: 'element' })[] {
  return events.map((own) => {
    const started = callsTool(host, own, request)
      ? { type: 'mcp_tool', server: 'credence', tool: 'hook', input: toolInput(own), timeout: maxToolSeconds }
      : { type: 'command', command: hookLine(host, own, request, launch), ...more }
    return { ...element(['hooks', own], started), group: 'hooks' }
  })
}

/** Long enough for a first call on a busy machine, while the server is still loading its modules. */
const maxToolSeconds = 15

/**
 * Whether a hook calls a tool. Only in the user's own configuration, because a project's server may be waiting for approval,
 * and neither at the start nor at the end of a session, when the server is not connected.
 */
function callsTool(host: HookHost, own: string, { level, version = null }: ConnectRequest): boolean {
  const since = hosts[host].toolHooksSince
  return (
    since !== undefined && level === 'user' && !['SessionStart', endEvent].includes(own) && isAtLeast(version, since)
  )
}

function isAtLeast(version: string | null, wanted: string): boolean {
  if (version === null) return false
  const [given, needed] = [version, wanted].map((text) =>
    text.split(/[.-]/).map((part) => Number.parseInt(part, 10) || 0),
  )
  for (const [at, part] of (needed ?? []).entries()) {
    const difference = (given?.[at] ?? 0) - part
    if (difference !== 0) return difference > 0
  }
  return true
}

/** The fields of the tool's input. All must be fields of the event, because in Codex a hook with any other field fails. */
function toolInput(own: string): Readonly<Record<string, string>> {
  const fields = ['session_id', 'cwd', 'transcript_path']
  if (own === 'UserPromptSubmit') fields.push('prompt')
  if (own === 'PreToolUse') fields.push('tool_input')
  if (own === 'Stop') fields.push('last_assistant_message')
  return { event: own, ...Object.fromEntries(fields.map((field) => [field, `\${${field}}`])) }
}

function hookLine(host: string, own: string, request: ConnectRequest, launch: Launch): string {
  const event = hookEventNamed(own) ?? own
  return shellLine(launch, ['hook', event, '--host', host, ...optionsOf(request)], request.machine.platform)
}

const ownHook = new RegExp(`(?:^|[\\s\\\\/"'])credence(?:\\.js)?["']? hook (?:${hookEvents.join('|')}) --host `)

/** A hook entry, recognised as ours by the command that it runs or the tool that it calls. */
const element = (path: readonly string[], value: object) =>
  ({
    kind: 'element',
    path,
    value,
    isOurs: (one) => {
      const { command, server, tool } = Object(one)
      return ownHook.test(String(command)) || (server === 'credence' && tool === 'hook')
    },
  }) satisfies JsonEntry

/** The directory for the settings of desktop programs. */
function appData({ platform, home, env }: Machine): string {
  switch (platform) {
    case 'darwin':
      return posix.join(home, 'Library', 'Application Support')
    case 'win32':
      return env.APPDATA || win32.join(home, 'AppData', 'Roaming')
    default:
      return env.XDG_CONFIG_HOME || join(home, '.config')
  }
}
