import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readingTools } from '../../src/cli/connect/hosts.ts'
import { tools } from '../../src/mcp/memory-mcp.ts'
import { createSandbox } from '../cli/sandbox.ts'

type Place = ReturnType<typeof createSandbox>

const statusOf = async (place: Place, host: string) => {
  const { hosts } = await place.json('connect', '--status')
  return hosts.find((one: { host: string }) => one.host === host)
}

describe('connect --status', () => {
  it('shows for every host whether it is connected, and at which level', async () => {
    using place = createSandbox()

    const before = await place.json('connect', '--status')
    await place.json('connect', 'codex', '--yes')
    await place.json('connect', 'gemini', '--project', '--yes')
    const { stdout } = await place.run('connect', '--status')

    expect(before.hosts).toHaveLength(8)
    expect(before.hosts.every((one: { connected: string }) => one.connected === 'no')).toBe(true)
    expect(await statusOf(place, 'codex')).toMatchObject({ connected: 'yes', levels: ['user'] })
    expect(await statusOf(place, 'gemini')).toMatchObject({ connected: 'yes', levels: ['project'] })
    expect(await statusOf(place, 'cursor')).toMatchObject({ connected: 'no', lastHook: null, lastCall: null })
    expect(stdout).toMatch(/^codex +connected \(user\)/m)
    expect(stdout).toMatch(/^vscode +not connected/m)
  })

  it('shows a single host, partly connected hosts, and unreadable files', async () => {
    using place = createSandbox()
    await place.json('connect', 'codex', '--yes')
    writeFileSync(join(place.home, '.codex', 'hooks.json'), '{}')
    mkdirSync(join(place.home, '.gemini'))
    writeFileSync(join(place.home, '.gemini', 'settings.json'), '{"mcpServers": ')

    const { hosts } = await place.json('connect', 'codex', '--status')
    const { exitCode, stderr } = await place.run('connect', '--status')

    expect(hosts).toMatchObject([{ host: 'codex', connected: 'partly' }])
    expect(exitCode).toBe(0)
    expect(stderr).toContain('settings.json cannot be edited')
  })

  it('shows when a host last ran a hook', async () => {
    using place = createSandbox()
    const stdin = JSON.stringify({ cwd: place.work, session_id: 's', prompt: 'Hello there.' })

    await place.runWith({ stdin, startedAt: performance.now() + 60_000 }, 'hook', 'UserPromptSubmit', '--host', 'codex')

    const { lastHook } = await statusOf(place, 'codex')
    expect(lastHook).toMatchObject({ event: 'prompt-submit', outcome: 'no memory yet' })
    expect(Date.parse(lastHook.at)).not.toBeNaN()
    expect((await statusOf(place, 'claude-code')).lastHook).toBeNull()
  })

  it.each([
    ['no host', ['UserPromptSubmit']],
    ['no host and an unknown event', ['nonsense']],
    ['an unknown event', ['nonsense', '--host', 'claude-code']],
  ])('does not count a hook with %s as one that a host ran', async (_, argv) => {
    using place = createSandbox()
    const stdin = JSON.stringify({ cwd: place.work, session_id: 's', prompt: 'Hello there.' })

    await place.runWith({ stdin, startedAt: performance.now() + 60_000 }, 'hook', ...argv)

    expect((await statusOf(place, 'claude-code')).lastHook).toBeNull()
  })
})

describe('the connection of Claude Code', () => {
  it('allows the reading tools only on request, and revokes only its own permissions', async () => {
    using place = createSandbox()
    const file = join(place.home, '.claude', 'settings.json')
    mkdirSync(join(place.home, '.claude'))
    const before = '{\n  "permissions": { "allow": ["Bash(ls)", "mcp__credence__memory_get"] }\n}\n'
    writeFileSync(file, before)
    const allowed = () => JSON.parse(readFileSync(file, 'utf8')).permissions.allow

    const plain = await place.run('connect', 'claude-code', '--yes')
    const unasked = allowed()
    await place.json('connect', 'claude-code', '--yes', '--allow-read')
    const asked = allowed()
    writeFileSync(file, readFileSync(file, 'utf8').replace('Bash(ls)', 'Bash(cat)'))
    await place.json('connect', 'claude-code', '--remove', '--yes')

    expect(plain.stdout).toContain('--allow-read')
    expect(unasked).toHaveLength(2)
    expect(asked.toSorted()).toEqual(['Bash(ls)', ...readingTools.map((tool) => `mcp__credence__${tool}`)].toSorted())
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(JSON.parse(before.replace('Bash(ls)', 'Bash(cat)')))
    const reading = tools.filter(({ config }) => config.annotations.readOnlyHint).map(({ name }) => name)
    expect([...readingTools].sort()).toEqual(reading.sort())
  })

  it('asks at a terminal whether reading is allowed', async () => {
    using place = createSandbox()

    const { stderr } = await place.runWith({ columns: 100, stdin: 'y\ny\n' }, 'connect', 'claude-code')

    expect(stderr).toContain('search and read the memory without asking')
    expect(readFileSync(join(place.home, '.claude', 'settings.json'), 'utf8')).toContain('mcp__credence__memory_search')
  })

  it('leaves no empty directory', async () => {
    using place = createSandbox()
    await place.json('connect', 'claude-code', '--project', '--yes')
    const between = existsSync(join(place.work, '.claude'))

    await place.json('connect', 'claude-code', '--project', '--remove', '--yes')

    expect(between).toBe(true)
    expect(existsSync(join(place.work, '.claude'))).toBe(false)
    expect(existsSync(place.work)).toBe(true)
  })

  it('keeps a directory that contains other files now', async () => {
    using place = createSandbox()
    await place.json('connect', 'claude-code', '--project', '--yes')
    writeFileSync(join(place.work, '.claude', 'CLAUDE.md'), 'mine')

    await place.json('connect', 'claude-code', '--project', '--remove', '--yes')

    expect(existsSync(join(place.work, '.claude', 'CLAUDE.md'))).toBe(true)
  })

  it('counts prompts, and keeps the last lines and the last failure of hooks', async () => {
    using place = createSandbox()
    await place.json('remember', 'Our staging port is 5433.', '--name', 'staging port')
    const hook = (stdin: string, event = 'prompt-submit', ago = 0) =>
      place.runWith({ stdin, startedAt: performance.now() - ago }, 'hook', event, '--host', 'codex')
    const prompt = JSON.stringify({ prompt: 'Which staging port?', cwd: place.work })

    await hook(prompt)
    await hook('not JSON', 'stop')
    await hook(JSON.stringify({ prompt: 'And who are you?', cwd: place.work }), 'prompt-submit', 6_000)

    const { lastHook } = await statusOf(place, 'codex')
    expect(lastHook).toMatchObject({
      event: 'prompt-submit',
      prompts: 2,
      late: 1,
      lastPrompt: lastHook.at,
      lastLines: { lines: 1 },
      lastFailure: { event: 'stop', outcome: 'failed: invalid: The input is not JSON.' },
      failingSince: { stop: expect.stringMatching(/^\d{4}-/) },
    })
    const { stdout } = await place.run('status')
    expect(stdout).toMatch(
      /codex +2 prompts, 1 of them late; last prompt .+; last lines .+ \(1\); last failure .+ stop/,
    )
  })

  it('warns at the start of a session if a hook has failed for a day, until it works again', async () => {
    using place = createSandbox()
    const host = join(place.home, '.local', 'state', 'credence', 'hosts', 'codex.hook.json')
    const hook = (event: string, stdin: object | string) =>
      place.runWith(
        { stdin: typeof stdin === 'string' ? stdin : JSON.stringify(stdin) },
        'hook',
        event,
        '--host',
        'codex',
      )
    const start = async (source: string) => (await hook('session-start', { cwd: place.work, source })).stdout
    await hook('stop', 'not JSON')
    const soon = await start('startup')
    const seen = JSON.parse(readFileSync(host, 'utf8'))
    writeFileSync(host, JSON.stringify({ ...seen, failingSince: { stop: '2020-01-01T00:00:00.000Z' } }))
    await hook('stop', 'not JSON either')
    const later = await start('resume')

    await hook('stop', { cwd: place.work, session_id: 's-1', last_assistant_message: 'Done.' })

    expect(soon).toBe('')
    expect(later).toContain(
      'hook stop has failed since 2020-01-01T00:00:00.000Z (failed: invalid: The input is not JSON.)',
    )
    expect(await start('clear')).toBe('')
  })
  it('warns if sessions start but no other hook runs, as when the server with the other hooks is not running', async () => {
    using place = createSandbox()
    const host = join(place.home, '.local', 'state', 'credence', 'hosts', 'codex.hook.json')
    const hook = (event: string, input: object) =>
      place.runWith({ stdin: JSON.stringify({ cwd: place.work, ...input }) }, 'hook', event, '--host', 'codex')
    const start = async (session: string) => (await hook('session-start', { session_id: session })).stdout
    const early = [await start('a'), await start('b'), await start('c'), await start('d'), await start('e')]
    const seen = JSON.parse(readFileSync(host, 'utf8'))
    writeFileSync(
      host,
      JSON.stringify({ ...seen, onlyStarts: { ...seen.onlyStarts, since: '2020-01-01T00:00:00.000Z' } }),
    )

    const warned = await start('f')
    const { stdout } = await place.run('status')
    await hook('stop', { session_id: 'f', last_assistant_message: 'Done.' })

    expect(early.join('')).toBe('')
    expect(seen.onlyStarts).toMatchObject({ sessions: 5 })
    expect(warned).toContain('5 sessions since 2020-01-01T00:00:00.000Z')
    expect(stdout).toContain('6 sessions without a prompt')
    expect(await start('g')).toBe('')
  })

  it('warns even if every hook fails, including the one at session start', async () => {
    using place = createSandbox()
    await place.json('remember', 'Our staging port is 5433.')
    const host = join(place.home, '.local', 'state', 'credence', 'hosts', 'codex.hook.json')
    writeFileSync(
      join(place.home, '.local', 'share', 'credence', 'state', 'credence.db'),
      'This is no database. '.repeat(50),
    )
    const hook = (event: string, input: object) =>
      place.runWith({ stdin: JSON.stringify({ cwd: place.work, ...input }) }, 'hook', event, '--host', 'codex')
    await hook('session-start', { source: 'startup' })
    await hook('prompt-submit', { prompt: 'Which staging port?' })
    const soon = await hook('session-start', { source: 'resume' })
    const seen = JSON.parse(readFileSync(host, 'utf8'))
    const { 'session-start': since, ...others } = seen.failingSince
    writeFileSync(
      host,
      JSON.stringify({ ...seen, failingSince: { 'session-start': '2020-01-01T00:00:00.000Z', ...others } }),
    )

    await hook('prompt-submit', { prompt: 'Which staging port is it?' })
    const later = await hook('session-start', { source: 'clear' })

    expect(soon).toMatchObject({ exitCode: 0, stdout: '' })
    expect(Object.keys(others)).toEqual(['prompt-submit'])
    expect(Date.parse(since)).not.toBeNaN()
    expect(later.exitCode).toBe(0)
    expect(later.stdout).toMatch(/^{"hookSpecificOutput":.*session-start.* failed since 2020-01-01T00:00:00.000Z/)
  })
})
