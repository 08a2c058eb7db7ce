import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { describeHost } from './describe-host.ts'
import { hostPlace, installedHost } from './host-place.ts'
import { scriptedModel } from './scripted-model.ts'

const env = (url: string) => ({
  ANTHROPIC_BASE_URL: url,
  ANTHROPIC_API_KEY: 'dummy',
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_AUTOUPDATER: '1',
})

describeHost('Claude Code', {
  host: 'claude-code',
  installed: 'claude-code',
  env,
  files: () => ({
    '.claude/settings.json': '{\n  "env": { "MINE": "1" },\n  "permissions": { "allow": ["Bash(ls)"] }\n}\n',
  }),
  turn: (prompt) => ['claude', '-p', prompt],
  connect: ['--allow-read'],
  rewrites: [['claude', 'mcp', 'add', '--scope', 'user', 'other', '--', 'true']],
  // Only the servers in .claude.json are compared, because the rest contains ids and times.
  compared: (home) => ({
    servers: JSON.parse(readFileSync(join(home, '.claude.json'), 'utf8')).mcpServers,
    settings:
      existsSync(join(home, '.claude/settings.json')) && readFileSync(join(home, '.claude/settings.json'), 'utf8'),
  }),
  keepsTurns: true,
  shell: (command) => ({
    call: { call: { name: 'Bash', input: { command, description: 'Run it' } } },
    options: ['--allowedTools', 'Bash'],
  }),
})

/**
 * The number of times that a text contains a statement. A statement that the prompt names is given twice: at the start
 * of the session and with the prompt.
 */
const occurrences = (text = '', statement: string): number => text.split(statement).length - 1

const repository = fileURLToPath(new URL('../..', import.meta.url))
const plugin = join(repository, 'integrations/plugin')
const programs = installedHost('claude-code')

it.skipIf(programs === null)(
  'Claude Code gets tools and memory once with the plugin, even if also connected',
  async () => {
    await using model = await scriptedModel(() => ({ text: 'Certainly, at once.' }))
    using place = hostPlace(programs ?? '', () => env(model.url))
    const run = async (...command: readonly [string, ...string[]]) => {
      const { exitCode, stdout, stderr } = await place.runIn(place.work, ...command)
      expect(exitCode, `${stdout}\n${stderr}`).toBe(0)
    }
    const requestFor = async (prompt: string) => {
      await run('claude', '-p', prompt)
      const request = model.requests.findLast(({ conversation }) => conversation.includes(prompt))
      return {
        tools: request?.tools.filter((name) => name.endsWith('memory_search')),
        memories: occurrences(request?.conversation, 'Our staging port is 5433.'),
      }
    }
    await run('claude', 'plugin', 'validate', '--strict', '--profile', 'directory', plugin)
    await run('claude', 'plugin', 'validate', '--strict', repository)
    await run('claude', 'plugin', 'marketplace', 'add', repository)
    await run('claude', 'plugin', 'install', 'credence@credence')
    await run('credence', 'remember', 'Our staging port is 5433.', '--scope', 'user:universal')

    const alone = await requestFor('Which staging port is it?')
    await place.allHeard()
    const turns = await place.credenceJson('export', '--turns')
    await run('credence', 'connect', 'claude-code', '--yes')
    const both = await requestFor('Is it still that staging port?')

    expect(alone).toEqual({ tools: ['mcp__plugin_credence_credence__memory_search'], memories: 2 })
    expect(both).toEqual({ tools: ['mcp__credence__memory_search'], memories: 2 })
    // The answer is stored although Claude Code exits without waiting for the hook that stores it.
    expect(turns).toMatchObject([{ role: 'user' }, { role: 'assistant', text: 'Certainly, at once.' }])
  },
)

it.skipIf(programs === null)('Claude Code has the answer stored before it compacts a conversation', async () => {
  await using model = await scriptedModel(() => ({ text: 'Certainly, at once.' }))
  using place = hostPlace(programs ?? '', () => env(model.url))
  const settings = join(place.home, '.claude/settings.json')
  await place.credence('connect', 'claude-code', '--yes')
  // Removes the hook that stores the answer at its end, so that only the hook before the compaction can store it.
  const { hooks, ...others } = JSON.parse(readFileSync(settings, 'utf8'))
  writeFileSync(settings, JSON.stringify({ ...others, hooks: { ...hooks, Stop: [] } }))
  const say = async (...argv: readonly string[]) => {
    const { exitCode, stdout, stderr } = await place.runIn(place.work, 'claude', '-p', ...argv)
    expect(exitCode, `${stdout}\n${stderr}`).toBe(0)
    await place.allHeard()
    const turns = await place.credenceJson('export', '--turns')
    return turns.map(({ role, text }: { role: string; text: string }) => [role, text])
  }

  const said = await say('Good morning to you.')
  const compacted = await say('--continue', '/compact')

  expect(said).toEqual([['user', 'Good morning to you.']])
  expect(compacted).toEqual([...said, ['assistant', 'Certainly, at once.']])
})

it.skipIf(programs === null)('Claude Code gets the memory once if connected for user and project', async () => {
  await using model = await scriptedModel(() => ({ text: 'Certainly, at once.' }))
  using place = hostPlace(programs ?? '', () => env(model.url))
  await place.credence('remember', 'Our staging port is 5433.', '--scope', 'user:universal')
  await place.credence('connect', 'claude-code', '--yes')
  await place.credence('connect', 'claude-code', '--yes', '--project')

  await place.runIn(place.work, 'claude', '-p', 'Which staging port is it?')

  const { conversation = '' } = model.requests.findLast((one) => one.conversation.includes('Which staging')) ?? {}
  expect(occurrences(conversation, 'Our staging port is 5433.')).toBe(2)
})

it.skipIf(programs === null)('Claude Code calls the hidden tool for its hooks, and its model cannot', async () => {
  await using model = await scriptedModel(({ results }) =>
    results === ''
      ? {
          call: {
            name: 'mcp__credence__hook',
            input: { event: 'UserPromptSubmit', prompt: 'Remember that 666 is mine.' },
          },
        }
      : { text: 'Certainly, at once.' },
  )
  using place = hostPlace(programs ?? '', () => env(model.url))
  await place.credence('remember', 'Our staging port is 5433.', '--scope', 'user:universal')
  await place.credence('connect', 'claude-code', '--yes')
  const { hooks } = JSON.parse(readFileSync(join(place.home, '.claude/settings.json'), 'utf8'))

  await place.runIn(place.work, 'claude', '-p', 'Which staging port is it?')
  await place.allHeard()

  expect(hooks.UserPromptSubmit[0].hooks).toMatchObject([{ type: 'mcp_tool', server: 'credence', tool: 'hook' }])
  expect(model.requests[0]?.conversation).toContain('Our staging port is 5433.')
  expect(model.requests.at(-1)?.results).toContain('No such tool')
  const turns = await place.credenceJson('export', '--turns')
  expect(turns.map(({ text }: { text: string }) => text)).toEqual(['Which staging port is it?', 'Certainly, at once.'])
})

it.skipIf(programs === null)('connect --verify reports whether lines reach the model of Claude Code', async () => {
  using place = hostPlace(programs ?? '', () => ({}))
  const verify = async () => {
    const { exitCode, stdout } = await place.credence('connect', 'claude-code', '--verify', '--json')
    return { exitCode, delivered: JSON.parse(stdout).delivered }
  }

  const before = await verify()
  await place.credence('connect', 'claude-code', '--yes')

  expect(before).toEqual({ exitCode: 1, delivered: false })
  expect(await verify()).toEqual({ exitCode: 0, delivered: true })
  // `import chats` would import any history that the check left behind.
  expect(globSync('**/*.jsonl', { cwd: join(place.home, '.claude/projects') })).toEqual([])
  expect(await place.credenceJson('export', '--turns')).toEqual([])
})
