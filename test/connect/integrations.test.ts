import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { parse as parseYaml } from 'yaml'
import { pluginFiles } from '../../scripts/plugin.ts'
import { commandTable } from '../../src/cli/command-table.ts'
import { hookEventNamed } from '../../src/cli/hooks/host-protocol.ts'
import { tools } from '../../src/mcp/memory-mcp.ts'
import { openMemory } from '../../src/open-memory.ts'
import { bin, createSandbox } from '../cli/sandbox.ts'
import { temporaryDirectory } from '../temporary-directory.ts'
import {
  claudeHooks,
  claudeMarketplace,
  claudePlugin,
  claudePluginHooks,
  codexHooks,
  cursorHooks,
  mcpServers,
  openclawGetResult,
  openclawManifest,
  openclawPackage,
  openclawSearchResult,
  registryServer,
  skillFrontMatter,
  vscodeServers,
} from './published-schemas.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const read = (path: string): string => readFileSync(join(root, path), 'utf8')
const json = (path: string) => JSON.parse(read(path))
const { version, mcpName, files } = json('package.json')

/** Every command in a document, in blocks and in sentences. */
function commandsIn(value: unknown): readonly string[] {
  if (value === null || typeof value !== 'object') return []
  return Object.entries(value).flatMap(([key, inner]) => [
    ...(key === 'command' && typeof inner === 'string' && inner.includes(' ') ? [inner] : []),
    ...commandsIn(inner),
  ])
}

describe('the folders for other programs', () => {
  it('are part of the package, and have its version', () => {
    const manifests = [
      'server.json',
      'integrations/openclaw/openclaw.plugin.json',
      'integrations/openclaw/package.json',
      'integrations/opencode/package.json',
    ]

    expect(files).toContain('integrations')
    expect(manifests.map((path) => [path, json(path).version])).toEqual(manifests.map((path) => [path, version]))
    // OpenClaw loads a copy of the package, so the package must not import anything outside itself.
    expect(json('integrations/openclaw/package.json').dependencies).toBeUndefined()
    const imported = [...read('integrations/openclaw/index.js').matchAll(/(?:from|import\()\s*'([^']+)'/g)]
    expect(imported.map(([, name]) => name).filter((name) => !name?.startsWith('node:'))).toEqual([])
    expect(json('server.json').packages[0].version).toBe(version)
    expect(json('.claude-plugin/marketplace.json').plugins[0].version).toBe(version)
    expect(globSync('integrations/*', { cwd: root }).sort()).toEqual([
      'integrations/gemini',
      'integrations/openclaw',
      'integrations/opencode',
      'integrations/plugin',
    ])
  })

  it.each(Object.entries(pluginFiles))('have a %s that matches the output of `npm run docs`', (path, text) => {
    expect(read(join('integrations', path))).toBe(text)
  })

  it('name in each manifest the files of its host', () => {
    const named = globSync('integrations/plugin/.*-plugin/plugin.json', { cwd: root }).flatMap((path) => {
      const { skills = './skills/', hooks = './hooks/hooks.json', mcpServers = './.mcp.json' } = json(path)
      return [skills, hooks, mcpServers]
    })

    expect(named).toHaveLength(9)
    expect(named.filter((path) => !existsSync(join(root, 'integrations/plugin', path)))).toEqual([])
  })

  it.each([
    ['integrations/plugin/.claude-plugin/plugin.json', claudePlugin],
    ['.claude-plugin/marketplace.json', claudeMarketplace],
    ['integrations/plugin/hooks/hooks.json', claudePluginHooks],
    ['integrations/plugin/.mcp.json', mcpServers],
    ['integrations/openclaw/openclaw.plugin.json', openclawManifest],
    ['integrations/openclaw/package.json', openclawPackage],
    ['server.json', registryServer],
  ] as const)('have a %s that matches the schema published by its reader', (path, schema) => {
    expect(schema.safeParse(json(path)).error?.issues ?? []).toEqual([])
  })

  it('name the server as in the registry', () => {
    expect(json('server.json').name).toBe(mcpName)
  })

  it.each([
    ['plugin/hooks/hooks.json', 4],
    ['plugin/hooks/codex.json', 4],
    ['plugin/hooks/cursor.json', 4],
    ['gemini/hooks/hooks.json', 4],
  ])('run commands that exist, in %s', (path, events) => {
    const commands = commandsIn(json(join('integrations', path)))

    expect(commands).toHaveLength(events)
    for (const command of commands) {
      const [, name, event] = (command.split('; ').at(-1) ?? '').split(' ')
      expect(
        commandTable.some((entry) => entry.name === name),
        command,
      ).toBe(true)
      expect(hookEventNamed(event ?? ''), command).toBeDefined()
    }
  })

  it('have a skill that mentions only existing tools', () => {
    const text = read('integrations/plugin/skills/memory/SKILL.md')
    const [, frontMatter = ''] = /^---\n(.*?)\n---\n/s.exec(text) ?? []
    const named = [...new Set(text.match(/\bmemory_\w+/g))]

    expect(skillFrontMatter.safeParse(parseYaml(frontMatter)).error?.issues ?? []).toEqual([])
    expect(named.length).toBeGreaterThan(2)
    expect(named.filter((name) => !tools.some((tool) => tool.name === name))).toEqual([])
  })
})

describe('the files that connecting writes', () => {
  it.each([
    ['claude-code', '.claude.json', mcpServers],
    ['codex', '.codex/hooks.json', codexHooks],
    ['cursor', '.cursor/mcp.json', mcpServers],
    ['cursor', '.cursor/hooks.json', cursorHooks],
    ['vscode', '.config/Code/User/mcp.json', vscodeServers],
    ['claude-desktop', '.config/Claude/claude_desktop_config.json', mcpServers],
  ] as const)('for %s into %s match the schema that it publishes', async (host, file, schema) => {
    using place = createSandbox()

    await place.runWith({ platform: 'linux' }, 'connect', host, '--yes')

    const value = JSON.parse(readFileSync(join(place.home, file), 'utf8'))
    expect(schema.safeParse(value).error?.issues ?? []).toEqual([])
  })

  it('for Claude Code into its settings match the schema that it publishes', async () => {
    using place = createSandbox()

    await place.runWith({ platform: 'linux' }, 'connect', 'claude-code', '--yes')

    const { hooks } = JSON.parse(readFileSync(join(place.home, '.claude/settings.json'), 'utf8'))
    expect(claudeHooks.safeParse(hooks).error?.issues ?? []).toEqual([])
  })
})

type Execute = (id: string, given: unknown) => Promise<{ content: readonly unknown[]; details: unknown }>
type PromptHook = (event: { prompt?: unknown }) => Promise<{ prependContext: string } | undefined>

/** Loads the plugin as OpenClaw does, and records the tools and hooks that it registers. */
async function registered(pluginConfig: object) {
  const { default: plugin } = await import(join(root, 'integrations/openclaw/index.js'))
  const found = new Map<string, { parameters: { properties: object }; execute: Execute }>()
  const hooks = new Map<string, PromptHook>()
  const commands: string[] = []
  plugin.register({
    pluginConfig: { command: [process.execPath, bin], ...pluginConfig },
    runtime: { version: '2026.9.6' },
    registerTool: (tool: { name: string; parameters: { properties: object }; execute: Execute }) =>
      found.set(tool.name, tool),
    on: (name: string, handler: PromptHook) => hooks.set(name, handler),
    registerCli: (_registrar: unknown, { descriptors }: { descriptors: readonly { name: string }[] }) =>
      commands.push(...descriptors.map(({ name }) => name)),
    logger: { warn: () => {} },
  })
  const use = async (name: string, given: unknown) => (await found.get(name)?.execute('call-1', given))?.details
  return { plugin, found, hooks, commands, use }
}

describe('the OpenClaw plugin', () => {
  it('registers exactly the tools and commands it declares, with the arguments OpenClaw passes', async () => {
    using directory = temporaryDirectory()
    const manifest = json('integrations/openclaw/openclaw.plugin.json')
    const { plugin, found, commands } = await registered({ dir: directory.path })

    expect([...found.keys()]).toEqual(manifest.contracts.tools)
    expect(commands).toEqual(manifest.cliCommands.map(({ name }: { name: string }) => name))
    expect({ id: plugin.id, kind: plugin.kind }).toEqual({ id: manifest.id, kind: 'memory' })
    const argumentsOf = (name: string): string[] => Object.keys(found.get(name)?.parameters.properties ?? {})
    expect(argumentsOf('memory_search')).toEqual(['query', 'maxResults', 'minScore', 'corpus'])
    expect(argumentsOf('memory_get')).toEqual(['path', 'from', 'lines', 'corpus'])
  })

  it('answers in the format of OpenClaw’s own memory', async () => {
    using directory = temporaryDirectory()
    const memory = openMemory({ dir: directory.path })
    await memory.remember({ name: 'redis cache', content: 'Sessions live in Redis 7.', why: 'Never flush it.' })
    await memory.remember({ name: 'elsewhere', content: 'Hidden.', scopes: ['project:other'] })
    const hidden = await memory.get('elsewhere')
    await memory.close()
    const { use } = await registered({ dir: directory.path })

    const found = openclawSearchResult.parse(await use('memory_search', { query: 'the redis cache?', maxResults: 3 }))
    const [first] = found.results
    const whole = openclawGetResult.parse(await use('memory_get', { path: first?.path }))
    const line = openclawGetResult.parse(await use('memory_get', { path: first?.path, from: 2, lines: 1 }))
    const missing = await use('memory_get', { path: 'memory/2026-01-01.md' })
    const outOfView = await use('memory_get', { path: `memory/beliefs/${hidden.id}.md` })
    const nothing = await use('memory_search', { query: 'elsewhere' })
    const strict = await use('memory_search', { query: 'sessions live', minScore: 0.75 })

    expect(first?.score).toBeGreaterThanOrEqual(0.75)
    expect(whole.text).toContain('Never flush it.')
    expect(line).toMatchObject({ text: 'Sessions live in Redis 7.', from: 2, lines: 1 })
    expect(missing).toEqual({ text: '', path: 'memory/2026-01-01.md' })
    expect(outOfView).toEqual({ text: '', path: `memory/beliefs/${hidden.id}.md` })
    expect(nothing).toMatchObject({ results: [] })
    expect(strict).toMatchObject({ results: [] })
  })

  it('reports that it is unavailable instead of finding nothing', async () => {
    using directory = temporaryDirectory()
    const file = join(directory.path, 'file')
    writeFileSync(file, 'not a directory')
    const { use, hooks } = await registered({ dir: join(file, 'memory') })

    const answered = openclawSearchResult.parse(await use('memory_search', { query: 'anything' }))

    expect(answered).toMatchObject({ disabled: true, unavailable: true })
    expect(await hooks.get('before_prompt_build')?.({ prompt: 'anything' })).toBeUndefined()
  })

  it('remembers as an agent, and adds recalled context before a prompt', async () => {
    using directory = temporaryDirectory()
    const { use, hooks } = await registered({ dir: directory.path, scopes: ['project:ledger', 'user:universal'] })

    const made = await use('memory_remember', { name: 'api port', content: 'The API listens on 8080.' })
    const told = await hooks.get('before_prompt_build')?.({ prompt: 'Which api port?' })
    const silent = await hooks.get('before_prompt_build')?.({ prompt: 'Good morning' })

    expect(made).toMatchObject({ outcome: 'remembered' })
    expect(told?.prependContext).toMatch(/^<memory>\n.*The API listens on 8080\./s)
    expect(silent).toBeUndefined()
    const memory = openMemory({ dir: directory.path })
    const { provenance, scopes } = await memory.get('api port')
    expect(provenance).toMatchObject({ actor: 'agent', origin: 'openclaw' })
    expect(scopes).toEqual(['project:ledger'])
    await memory.close()
  })
})
