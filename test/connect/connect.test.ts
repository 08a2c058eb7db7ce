import { existsSync, lstatSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parse } from 'jsonc-parser'
import { parse as parseToml } from 'smol-toml'
import { describe, expect, it } from 'vitest'
import { type ConnectHost, connectHosts } from '../../src/cli/connect/hosts.ts'
import { bin, createSandbox } from '../cli/sandbox.ts'

type Place = ReturnType<typeof createSandbox>

/** The configuration files of each host, below the home directory. */
const userFiles: Readonly<Record<ConnectHost, readonly string[]>> = {
  'claude-code': ['.claude.json', '.claude/settings.json'],
  codex: ['.codex/config.toml', '.codex/hooks.json'],
  gemini: ['.gemini/settings.json'],
  opencode: ['.config/opencode/opencode.json'],
  cursor: ['.cursor/mcp.json', '.cursor/hooks.json'],
  vscode: ['.config/Code/User/mcp.json'],
  openclaw: ['.openclaw/openclaw.json'],
  'claude-desktop': ['.config/Claude/claude_desktop_config.json'],
}

const run = (place: Place, ...argv: readonly string[]) => place.runWith({ platform: 'linux' }, 'connect', ...argv)

function put(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

const textOf = (file: string): string | null => (existsSync(file) ? readFileSync(file, 'utf8') : null)
// biome-ignore lint/suspicious/noExplicitAny: the tests inspect files of any form
const parseJson = (text: string): any => parse(text.replace(/^\ufeff/, ''))
const jsonAt = (file: string) => parseJson(readFileSync(file, 'utf8'))

/** Realistic files: comments, tabs, no final newline, other servers and hooks. */
const written: Readonly<Record<string, string>> = {
  '.claude.json': '{"numStartups": 7, "mcpServers": {"other": {"command": "x"}}}',
  '.claude/settings.json':
    '{\n\t"model": "opus",\n\t"hooks": {\n\t\t"Stop": [\n\t\t\t{ "hooks": [{ "type": "command", "command": "say done" }] }\n\t\t]\n\t}\n}',
  '.codex/config.toml': 'model = "gpt" # mine\n\n[mcp_servers.other]\ncommand = "x"',
  '.codex/hooks.json': '{"hooks":{}}\n',
  '.cursor/mcp.json': '{\r\n    "mcpServers": {}\r\n}\r\n',
  '.cursor/hooks.json': '{\n  "version": 1,\n  "hooks": { "stop": [{ "command": "./mine.sh" }] }\n}\n',
  '.config/Code/User/mcp.json': '{\n  "servers": { "other": { "command": "x" } }, // keep\n  "inputs": []\n}\n',
  '.gemini/settings.json':
    '{\n  // mine\n  "ui": { "theme": "x" },\n  "mcpServers": { "other": { "command": "x" } },\n}\n',
  '.config/opencode/opencode.json': '{\n  "plugin": ["other"], // mine\n  "model": "a/b"\n}\n',
  '.openclaw/openclaw.json':
    '{\n  "agents": {},\n  "plugins": { "load": { "paths": ["/else"] }, "slots": { "memory": "memory-core" } }, // mine\n}\n',
  '.config/Claude/claude_desktop_config.json': '{}',
}

describe.each(connectHosts)('connecting %s', (host) => {
  it.each(['without', 'with'])(
    'adds to %s existing files, changes nothing when repeated, and restores every byte',
    async (had) => {
      using place = createSandbox()
      const files = userFiles[host].map((file) => join(place.home, file))
      if (had === 'with') for (const file of userFiles[host]) put(join(place.home, file), written[file] ?? '')
      const before = files.map(textOf)

      const first = await run(place, host, '--yes')
      const connected = files.map(textOf)
      const second = await run(place, host, '--yes')
      const repeated = files.map(textOf)
      const removed = await run(place, host, '--remove', '--yes')
      const after = files.map(textOf)
      const again = await run(place, host, '--remove', '--yes')

      expect([first.exitCode, second.exitCode, removed.exitCode, again.exitCode]).toEqual([0, 0, 0, 0])
      expect(connected).not.toEqual(before)
      expect(connected.every((text) => text?.includes('credence'))).toBe(true)
      expect(second.stdout).toContain('is connected already')
      expect(repeated).toEqual(connected)
      expect(after).toEqual(before)
      expect(again.stdout).toContain('has no entries of Credence')
    },
  )

  it('keeps the byte order mark of a file', async () => {
    using place = createSandbox()
    const files = userFiles[host].map((file) => join(place.home, file))
    for (const file of userFiles[host]) put(join(place.home, file), `\ufeff${written[file]}`)

    const connected = await run(place, host, '--yes')
    const marks = files.map((file) => textOf(file)?.charAt(0))
    await run(place, host, '--remove', '--yes')

    expect(connected.exitCode).toBe(0)
    expect(marks).toEqual(files.map(() => '\ufeff'))
    expect(files.map(textOf)).toEqual(userFiles[host].map((file) => `\ufeff${written[file]}`))
  })

  it('removes only its own entries if the file was changed since', async () => {
    using place = createSandbox()
    const files = userFiles[host].map((file) => join(place.home, file))
    for (const file of userFiles[host]) put(join(place.home, file), written[file] ?? '')
    const values = files.map((file) => (file.endsWith('.toml') ? parseToml(textOf(file) ?? '') : jsonAt(file)))
    await run(place, host, '--yes')
    for (const file of files) {
      const text = readFileSync(file, 'utf8')
      // The JSON files of these hosts may not contain comments.
      const isStrict = /\.claude|\.codex|Claude/.test(file)
      const later = isStrict ? text.replace('{', '{"later": 1,') : `// later\n${text}`
      writeFileSync(file, file.endsWith('.toml') ? `# later\n${text}` : later)
    }

    const { exitCode } = await run(place, host, '--remove', '--yes')

    expect(exitCode).toBe(0)
    for (const [index, file] of files.entries()) {
      const text = readFileSync(file, 'utf8')
      expect(text, file).toContain('later')
      const left = file.endsWith('.toml') ? parseToml(text) : parseJson(text)
      const { later: _later, ...own } = left
      expect(own, file).toEqual(values[index])
      expect(text, file).not.toMatch(/credence(?:\.js)?"? hook|"credence"|mcp_servers\.credence/)
    }
  })

  it('only prints with --dry-run, and writes nothing without a yes', async () => {
    using place = createSandbox()
    const files = userFiles[host].map((file) => join(place.home, file))

    const printed = await run(place, host, '--dry-run')
    const unasked = await run(place, host)
    const refused = await place.runWith({ platform: 'linux', columns: 80, stdin: 'n\n' }, 'connect', host)

    expect(printed.exitCode).toBe(0)
    for (const file of files) expect(printed.stdout).toContain(`+++ ${file}`)
    expect(unasked).toMatchObject({ exitCode: 2 })
    expect(refused.stdout).toContain('Nothing was written.')
    expect(files.filter((file) => existsSync(file))).toEqual([])
  })
})

describe('the entries that connect writes', () => {
  it('start this installation by its full path, for a user', async () => {
    using place = createSandbox()

    await run(place, 'claude-code', '--yes', '--dir', 'my memory', '--scope', 'domain:code')

    const dir = join(place.work, 'my memory')
    expect(jsonAt(join(place.home, '.claude.json')).mcpServers.credence).toEqual({
      type: 'stdio',
      command: process.execPath,
      args: [bin, 'mcp', '--host', 'claude-code', '--dir', dir, '--scope', 'domain:code'],
    })
    const { hooks } = jsonAt(join(place.home, '.claude', 'settings.json'))
    expect(Object.keys(hooks)).toEqual(['SessionStart', 'UserPromptSubmit', 'PreCompact', 'SessionEnd'])
    expect(hooks.UserPromptSubmit[0].hooks[0].command).toBe(
      `${process.execPath} ${bin} hook prompt-submit --host claude-code --dir '${dir}' --scope domain:code`,
    )
  })

  it('start it by name for a project if the name is on the PATH', async () => {
    using place = createSandbox()
    const path = join(place.path, 'bin')
    put(join(path, 'credence'), '')
    const env = { PATH: path }

    const shown = await place.runWith({ env }, 'connect', 'codex', '--project', '--yes')

    expect(shown.exitCode).toBe(0)
    expect(parseToml(readFileSync(join(place.work, '.codex', 'config.toml'), 'utf8'))).toEqual({
      mcp_servers: { credence: { command: 'credence', args: ['mcp', '--host', 'codex'] } },
    })
  })

  it.each([
    ['darwin', 'vscode', 'Library/Application Support/Code/User/mcp.json'],
    ['darwin', 'claude-desktop', 'Library/Application Support/Claude/claude_desktop_config.json'],
    ['linux', 'claude-desktop', '.config/Claude/claude_desktop_config.json'],
  ] as const)('are in the file where %s expects them for %s', async (platform, host, file) => {
    using place = createSandbox()

    const { stdout } = await place.runWith({ platform }, 'connect', host, '--dry-run', '--json')

    expect(JSON.parse(stdout).changes[0].path).toBe(join(place.home, file))
  })

  it('are in the configured directories of hosts', async () => {
    using place = createSandbox()
    const env = { CODEX_HOME: join(place.path, 'codex'), CLAUDE_CONFIG_DIR: join(place.path, 'claude') }

    await place.runWith({ env }, 'connect', 'codex', '--yes')
    await place.runWith({ env }, 'connect', 'claude-code', '--yes')

    expect(existsSync(join(place.path, 'codex', 'config.toml'))).toBe(true)
    expect(existsSync(join(place.path, 'claude', '.claude.json'))).toBe(true)
    expect(existsSync(join(place.path, 'claude', 'settings.json'))).toBe(true)
  })

  it('replace entries of earlier versions', async () => {
    using place = createSandbox()
    await run(place, 'claude-code', '--yes')

    await run(place, 'claude-code', '--yes', '--scope', 'domain:code')
    const settings = jsonAt(join(place.home, '.claude', 'settings.json'))
    await run(place, 'claude-code', '--remove', '--yes')

    expect(settings.hooks.SessionEnd).toHaveLength(1)
    expect(settings.hooks.SessionEnd[0].hooks[0].command).toContain('--scope domain:code')
    expect(existsSync(join(place.home, '.claude', 'settings.json'))).toBe(false)
  })

  it('leave commands of other programs in the same group of hooks unchanged', async () => {
    using place = createSandbox()
    const file = join(place.home, '.claude', 'settings.json')
    const [mine, old] = ['notify', 'credence hook prompt-submit --host claude-code'].map((command) => ({
      type: 'command',
      command,
    }))
    const similar = { hooks: [{ type: 'command', command: 'echo about credence hook prompt-submit' }] }
    put(file, JSON.stringify({ hooks: { UserPromptSubmit: [similar, { matcher: '', hooks: [mine, old] }] } }))

    await run(place, 'claude-code', '--yes')
    const { UserPromptSubmit: connected } = jsonAt(file).hooks
    // Claude Code's own editor adds a command to the group that has the matcher.
    const later = { type: 'command', command: 'later' }
    const { hooks } = jsonAt(file)
    hooks.PreCompact[0].hooks.push(later)
    writeFileSync(file, JSON.stringify({ hooks }))
    await run(place, 'claude-code', '--remove', '--yes')

    expect(connected).toMatchObject([
      similar,
      {
        matcher: '',
        hooks: [mine, { command: expect.stringContaining(`${bin} hook prompt-submit --host claude-code`) }],
      },
    ])
    expect(jsonAt(file)).toEqual({
      hooks: { UserPromptSubmit: [similar, { matcher: '', hooks: [mine] }], PreCompact: [{ hooks: [later] }] },
    })
  })

  it('keep the mode of a file, and keep a link', async () => {
    using place = createSandbox()
    const real = join(place.path, 'dotfiles', 'mcp.json')
    put(real, '{}\n')
    mkdirSync(join(place.home, '.cursor'))
    symlinkSync(real, join(place.home, '.cursor', 'mcp.json'))

    await run(place, 'cursor', '--yes')

    expect(lstatSync(join(place.home, '.cursor', 'mcp.json')).isSymbolicLink()).toBe(true)
    expect(readFileSync(real, 'utf8')).toContain('credence')
    expect(statSync(real).mode & 0o777).toBe(0o644)
  })

  it('are written through a link whose file does not exist yet, and only that file is removed', async () => {
    using place = createSandbox()
    const link = join(place.home, '.claude.json')
    const real = join(place.path, 'dotfiles', 'claude.json')
    symlinkSync(real, link)

    await run(place, 'claude-code', '--yes')
    const connected = textOf(real)
    await run(place, 'claude-code', '--remove', '--yes')

    expect(connected).toContain('credence')
    expect(lstatSync(link).isSymbolicLink()).toBe(true)
    expect(existsSync(dirname(real))).toBe(false)
  })
})

describe('connecting', () => {
  it('writes all files of a program or none', async () => {
    using place = createSandbox()
    const servers = join(place.home, '.claude.json')
    // Makes the settings file unwritable.
    put(join(place.home, '.claude'), '')

    const fresh = await run(place, 'claude-code', '--yes')
    const isThere = existsSync(servers)
    put(servers, '{"mcpServers": {}}')
    const edited = await run(place, 'claude-code', '--yes')
    const removed = await run(place, 'claude-code', '--remove', '--yes')

    expect(fresh).toMatchObject({ exitCode: 3, stdout: '' })
    expect(fresh.stderr).toContain(`${join(place.home, '.claude', 'settings.json')} cannot be written`)
    expect(isThere).toBe(false)
    expect(edited.exitCode).toBe(3)
    expect(removed.stdout).toContain('has no entries of Credence')
    expect(textOf(servers)).toBe('{"mcpServers": {}}')
  })

  it('reports why a file cannot be read', async () => {
    using place = createSandbox()
    mkdirSync(join(place.home, '.claude.json'))

    const { exitCode, stderr } = await run(place, 'claude-code', '--yes')

    expect(exitCode).toBe(3)
    expect(stderr).toContain(`${join(place.home, '.claude.json')} cannot be read: it is a directory`)
  })

  it('reports at a terminal that it waits while the program checks the connection', async () => {
    using place = createSandbox()
    const programs = join(place.path, 'bin')
    mkdirSync(programs)
    writeFileSync(join(programs, 'claude'), "#!/bin/sh\necho 'credence: - ✔ Connected'\n", { mode: 0o755 })

    const { stdout, stderr } = await place.runWith(
      { columns: 80, env: { PATH: `${programs}:/usr/bin:/bin` } },
      'connect',
      'claude-code',
      '--yes',
    )

    expect(stderr).toContain('waiting for `claude` to check the connection')
    expect(stdout).toContain('confirms it')
  })

  it.each([
    ['claude-code', '.claude.json', '{"mcpServers": '],
    ['claude-code', '.claude.json', '[]'],
    ['codex', '.codex/config.toml', 'model = '],
    ['codex', '.codex/config.toml', '[mcp_servers.credence]'],
    ['codex', '.codex/config.toml', 'mcp_servers = { other = { command = "x" } }'],
    ['openclaw', '.openclaw/openclaw.json', "{ plugins: { slots: { memory: 'x' } }"],
    ['claude-code', '.claude/settings.json', '{\n  // Claude Code ignores a file with comments.\n  "model": "opus"\n}'],
    ['claude-code', '.claude.json', '{"mcpServers": []}'],
    ['claude-code', '.claude.json', '{"mcpServers": "x"}'],
    ['claude-code', '.claude/settings.json', '{"hooks": null}'],
    ['claude-code', '.claude/settings.json', '{"hooks": {"PreCompact": {"command": "mine"}}}'],
    ['openclaw', '.openclaw/openclaw.json', '{"plugins": {"load": {"paths": "/mine"}}}'],
  ] as const)(
    'does not change what it cannot edit safely, and prints what to write: %s %s %s',
    async (host, file, text) => {
      using place = createSandbox()
      put(join(place.home, file), text)

      const { exitCode, stderr } = await run(place, host, '--yes')
      const printed = await run(place, host, '--dry-run')

      expect(exitCode).toBe(3)
      expect(stderr).toContain('--dry-run')
      expect(printed.exitCode).toBe(0)
      expect(printed.stdout).toMatch(/^\+.*credence/m)
      expect(printed.stderr).toContain(`${join(place.home, file)} `)
      expect(readFileSync(join(place.home, file), 'utf8')).toBe(text)
    },
  )

  it.each([
    [['emacs'], '"emacs" is not one of'],
    [[], '<host> is missing'],
    [['codex', '--user', '--project'], 'exclude each other'],
  ] as const)('%j is refused', async (argv, message) => {
    using place = createSandbox()

    const { exitCode, stderr } = await run(place, ...argv)

    expect(exitCode).toBe(2)
    expect(stderr).toContain(message)
  })

  it('refuses a level that a host does not have, and lists the others', async () => {
    using place = createSandbox()

    const { exitCode, stderr } = await run(place, 'claude-desktop', '--project', '--yes')

    expect(exitCode).toBe(3)
    expect(stderr).toContain('Use --user.')
  })

  it('asks at a terminal, shows the difference, and writes after a yes', async () => {
    using place = createSandbox()

    const asked = await place.runWith({ platform: 'linux', columns: 100, stdin: 'y\n' }, 'connect', 'vscode')

    expect(asked.stderr).toContain('Change 1 file? [y/N]')
    expect(asked.stderr).toContain('"credence"')
    expect(existsSync(join(place.home, '.config/Code/User/mcp.json'))).toBe(true)
  })
})

describe('hooks of a host that can call a tool of the running server', () => {
  const hooksAfter = async (place: Place, version: string, ...options: readonly string[]) => {
    const programs = join(place.path, `programs-${version}`)
    mkdirSync(programs, { recursive: true })
    writeFileSync(join(programs, 'claude'), `#!/bin/sh\necho '${version} (Claude Code)'\n`, { mode: 0o755 })
    await place.runWith({ env: { PATH: `${programs}:/usr/bin:/bin` } }, 'connect', 'claude-code', '--yes', ...options)
    const settings = join(options.includes('--project') ? place.work : place.home, '.claude', 'settings.json')
    const { hooks } = JSON.parse(readFileSync(settings, 'utf8'))
    return Object.entries(hooks).map(([event, groups]) => {
      const all = (groups as { hooks: { type: string }[] }[]).flatMap((group) => group.hooks)
      return [event, ...all.map(({ type }) => type)].join(' ')
    })
  }
  const commands = ['SessionStart command', 'UserPromptSubmit command', 'PreCompact command', 'SessionEnd command']
  const tools = [
    'SessionStart command',
    'UserPromptSubmit mcp_tool',
    'PreCompact mcp_tool',
    'Stop mcp_tool',
    'PreToolUse mcp_tool',
  ]

  it('call it, replace the commands of an earlier connect, and are removed', async () => {
    using place = createSandbox()

    const old = await hooksAfter(place, '2.1.117')
    const updated = await hooksAfter(place, '2.1.118')
    const older = await hooksAfter(place, '2.1.117')
    await hooksAfter(place, '2.1.118')
    const status = await place.json('connect', 'claude-code', '--status')
    await place.json('connect', 'claude-code', '--remove', '--yes')

    expect(old).toEqual(commands)
    expect(updated).toEqual(tools)
    expect(older).toEqual(commands)
    expect(status.hosts).toMatchObject([{ connected: 'yes' }])
    expect(existsSync(join(place.home, '.claude', 'settings.json'))).toBe(false)
  })

  it('include none at Stop in the command form, and those of an earlier connect are removed', async () => {
    using place = createSandbox()
    const file = join(place.home, '.claude', 'settings.json')
    const own = { type: 'command', command: 'credence hook stop --host claude-code', timeout: 5, async: true }
    const mine = { hooks: [{ type: 'command', command: 'notify' }] }
    put(file, JSON.stringify({ hooks: { Stop: [mine, { hooks: [own] }] } }))

    await hooksAfter(place, '2.1.117')

    expect(jsonAt(file).hooks.Stop).toEqual([mine])
  })

  it('remain commands for a project, whose server may wait for approval', async () => {
    using place = createSandbox()

    expect(await hooksAfter(place, '3.0.0', '--project')).toEqual(commands)
    expect(await hooksAfter(place, '3.0.0')).toEqual(tools)
  })
})
