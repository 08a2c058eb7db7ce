import { existsSync } from 'node:fs'
import { dirname, join, posix, win32 } from 'node:path'
import { MemoryError } from '../../errors.ts'
import { hookEventNamed } from '../hooks/host-protocol.ts'
import type { Machine } from '../session.ts'
import { type JsonEntry, withEntries, withoutEntries } from './json-edit.ts'
import { withoutTable, withTable } from './toml-edit.ts'

/** The command that starts Credence. */
export type Launch = { readonly command: string; readonly args: readonly string[] }

/**
 * A shared configuration gets the bare name, if it is on the PATH here; the user's own gets full paths, because programs
 * that are not started from a shell do not see its PATH.
 */
function launchFrom(machine: Machine, isShared: boolean): Launch {
  return isShared && isOnPath(machine)
    ? { command: 'credence', args: [] }
    : { command: machine.node, args: [machine.program] }
}

function isOnPath({ env, platform }: Machine): boolean {
  const path = platform === 'win32' ? win32 : posix
  const directories = (env.PATH ?? env.Path ?? '').split(path.delimiter).filter((directory) => directory !== '')
  const names = platform === 'win32' ? ['credence.cmd', 'credence.exe'] : ['credence']
  return directories.some((directory) => names.some((name) => existsSync(path.join(directory, name))))
}

/** npx removes the copy that it fetched some day. */
export const isTemporary = ({ program }: Machine): boolean => /[\\/]_npx[\\/]/.test(program)

/** The same as one line for a shell. */
export const shellLine = ({ command, args }: Launch, more: readonly string[], platform: NodeJS.Platform): string =>
  [command, ...args, ...more].map((word) => quoted(word, platform)).join(' ')

function quoted(word: string, platform: NodeJS.Platform): string {
  if (/^[\w@%+=:,./\\-]+$/.test(word) && !(platform !== 'win32' && word.includes('\\'))) return word
  return platform === 'win32' ? `"${word.replaceAll('"', '""')}"` : `'${word.replaceAll("'", "'\\''")}'`
}

/** The programs that can be set up. */
export const connectHosts = ['claude-code', 'codex', 'cursor', 'vscode', 'openclaw', 'claude-desktop'] as const
export type ConnectHost = (typeof connectHosts)[number]

/** A configuration file, and how entries are added and removed. */
export type ConfigFile = {
  readonly path: string
  readonly add: (text: string | null) => string
  /** `before`: the text before Credence changed it, if known. */
  readonly remove: (text: string, before: string | null) => string
}

/** For one user, or for everybody who works in a directory. */
export type Level = 'user' | 'project'

export type ConnectRequest = {
  readonly machine: Machine
  readonly level: Level
  /** Of the project. */
  readonly directory: string
  /** Options that every start gets, such as `--dir`. */
  readonly options: readonly string[]
}

type Host = {
  readonly levels: readonly [Level, ...Level[]]
  readonly files: (request: ConnectRequest, launch: Launch) => readonly ConfigFile[]
  /** What the person does next. */
  readonly next: string
}

/** Which files of a host are changed, and how. */
export function filesFor(host: ConnectHost, request: ConnectRequest): readonly ConfigFile[] {
  const { levels, files } = hosts[host]
  if (!levels.includes(request.level)) {
    throw new MemoryError('invalid', `${host} has no configuration for a ${request.level}.`, {
      hint: `It has one for a ${levels.join(' and for a ')}.`,
    })
  }
  return files(request, launchFrom(request.machine, request.level === 'project'))
}

export const usualLevel = (host: ConnectHost): Level => hosts[host].levels[0]
export const nextStep = (host: ConnectHost): string => hosts[host].next

const hosts: Readonly<Record<ConnectHost, Host>> = {
  'claude-code': {
    levels: ['user', 'project'],
    next: 'Start a new session; `/mcp` and `/hooks` show what was added.',
    files: (request, launch) => {
      const { machine, level, directory } = request
      const configured = machine.env.CLAUDE_CONFIG_DIR
      const [servers, settings] =
        level === 'project'
          ? [join(directory, '.mcp.json'), join(directory, '.claude', 'settings.json')]
          : [
              join(configured || machine.home, '.claude.json'),
              join(configured || join(machine.home, '.claude'), 'settings.json'),
            ]
      return [
        jsonFile(servers, [server(['mcpServers', 'credence'], request, launch, { type: 'stdio' })]),
        jsonFile(settings, matcherHooks('claude-code', request, launch)),
      ]
    },
  },
  codex: {
    levels: ['user', 'project'],
    next: 'Start a new session; Codex asks once whether to trust the hooks.',
    files: (request, launch) => {
      const { machine, level, directory } = request
      const own = machine.env.CODEX_HOME || join(machine.home, '.codex')
      const at = level === 'project' ? join(directory, '.codex') : own
      const path = join(at, 'config.toml')
      const { command, args } = started(request, launch, ['mcp'])
      return [
        {
          path,
          add: (text) => withTable(text, ['mcp_servers', 'credence'], { command, args: [...args] }, path),
          remove: (text) => withoutTable(text),
        },
        jsonFile(join(at, 'hooks.json'), matcherHooks('codex', request, launch)),
      ]
    },
  },
  cursor: {
    levels: ['user', 'project'],
    next: 'Restart Cursor. It takes context at the start of a session; during one, its agent asks by MCP.',
    files: (request, launch) => {
      const { machine, level, directory } = request
      const at = join(level === 'project' ? directory : machine.home, '.cursor')
      const events = ['sessionStart', 'beforeSubmitPrompt', 'stop', 'preCompact']
      const hooks = events.map((own) => element(['hooks', own], { command: hookLine('cursor', own, request, launch) }))
      return [
        jsonFile(join(at, 'mcp.json'), [server(['mcpServers', 'credence'], request, launch, {})]),
        jsonFile(join(at, 'hooks.json'), hooks, [{ kind: 'value', path: ['version'], value: 1 }]),
      ]
    },
  },
  vscode: {
    levels: ['user', 'project'],
    next: 'Run "MCP: List Servers" in VS Code and start credence.',
    files: (request, launch) => {
      const { level, directory } = request
      const path =
        level === 'project'
          ? join(directory, '.vscode', 'mcp.json')
          : join(appData(request.machine), 'Code', 'User', 'mcp.json')
      return [jsonFile(path, [server(['servers', 'credence'], request, launch, { type: 'stdio' })])]
    },
  },
  'claude-desktop': {
    levels: ['user'],
    next: 'Quit Claude Desktop and start it again.',
    files: (request, launch) => {
      const path = join(appData(request.machine), 'Claude', 'claude_desktop_config.json')
      return [jsonFile(path, [server(['mcpServers', 'credence'], request, launch, {})])]
    },
  },
  openclaw: {
    levels: ['user'],
    next: 'Restart the gateway; `openclaw plugins inspect credence` shows the plugin.',
    files: ({ machine, options }) => {
      const state = machine.env.OPENCLAW_STATE_DIR || join(machine.home, '.openclaw')
      const path = machine.env.OPENCLAW_CONFIG_PATH || join(state, 'openclaw.json')
      const plugin = join(dirname(machine.program), '..', 'integrations', 'openclaw')
      const isOurs = (one: unknown): boolean =>
        typeof one === 'string' && /credence[\\/].*openclaw$|[\\/]integrations[\\/]openclaw$/.test(one)
      const config = options.includes('--dir') ? { dir: options[options.indexOf('--dir') + 1] } : {}
      const entry = { enabled: true, hooks: { allowPromptInjection: true }, config }
      return [
        jsonFile(path, [
          { kind: 'element', path: ['plugins', 'load', 'paths'], value: plugin, isOurs },
          {
            kind: 'value',
            path: ['plugins', 'slots', 'memory'],
            value: 'credence',
            isOurs: (own) => own === 'credence',
          },
          { kind: 'value', path: ['plugins', 'entries', 'credence'], value: entry },
        ]),
      ]
    },
  },
}

/** `shared` entries are not ours alone: they are added and never removed. */
const jsonFile = (path: string, own: readonly JsonEntry[], shared: readonly JsonEntry[] = []): ConfigFile => ({
  path,
  add: (text) => withEntries(text, [...shared, ...own], path),
  remove: (text, before) => withoutEntries(text, own, { file: path, before }),
})

const started = ({ options }: ConnectRequest, { command, args }: Launch, words: readonly string[]): Launch => ({
  command,
  args: [...args, ...words, ...options],
})

const server = (path: readonly string[], request: ConnectRequest, launch: Launch, more: object): JsonEntry => ({
  kind: 'value',
  path,
  value: { ...more, ...started(request, launch, ['mcp']) },
})

/** The events of Claude Code and Codex, each with a list of groups of commands. */
function matcherHooks(host: 'claude-code' | 'codex', request: ConnectRequest, launch: Launch): readonly JsonEntry[] {
  return ['SessionStart', 'UserPromptSubmit', 'Stop', 'PreCompact'].map((own) => {
    const command = { type: 'command', command: hookLine(host, own, request, launch), timeout: 5 }
    return element(['hooks', own], { hooks: [command] })
  })
}

function hookLine(host: string, own: string, { machine, options }: ConnectRequest, launch: Launch): string {
  const event = hookEventNamed(own) ?? own
  return shellLine(launch, ['hook', event, '--host', host, ...options], machine.platform)
}

/** A hook is known by the command it runs. */
const element = (path: readonly string[], value: object): JsonEntry => ({
  kind: 'element',
  path,
  value,
  isOurs: (one) => /credence(?:\.js)?["']? hook /.test(commandsIn(one).join('\n')),
})

function commandsIn(value: unknown): readonly string[] {
  if (value === null || typeof value !== 'object') return []
  if (Array.isArray(value)) return value.flatMap(commandsIn)
  return Object.entries(value).flatMap(([key, inner]) =>
    key === 'command' && typeof inner === 'string' ? [inner] : commandsIn(inner),
  )
}

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
