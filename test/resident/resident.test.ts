import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { answerCommands } from '../../src/cli/resident/answer-commands.ts'
import { bin, createSandbox, endOf } from '../cli/sandbox.ts'
import { stdioClient } from '../mcp/stdio-clients.ts'

type Place = ReturnType<typeof createSandbox>

const { greeting, maxLine } = createRequire(bin)('./socket.js')

const runDirectory = (home: string): string => join(home, '.local', 'state', 'credence', 'run')
const socketsOf = (home: string): readonly string[] => readdirSync(runDirectory(home)).sort()

/** Answers commands in this process; `asked` lists the received ones. */
async function running(home: string) {
  const machine = { platform: process.platform, home, env: {}, node: process.execPath, program: bin, version: () => '' }
  const { commands, close } = await answerCommands(machine)
  const run = vi.spyOn(commands, 'run')
  return {
    asked: () => run.mock.calls.map(([{ argv }]) => argv[0]),
    commands,
    close,
    [Symbol.asyncDispose]: close,
  }
}

const program = async (place: Place, argv: readonly string[], input = '', env: Record<string, string> = {}) => {
  const child = place.start(argv, { env })
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  const { exitCode, stdout, stderr } = await endOf(child)
  return { exitCode, stdout, stderr }
}

const prompted = (place: Place, prompt: string, session: string) =>
  JSON.stringify({ session_id: session, cwd: place.work, prompt })

async function withPort(place: Place): Promise<void> {
  await place.json('remember', 'Our staging port is 5433.', '--name', 'staging port')
}

describe('a running process', () => {
  it('answers commands with the same output as the commands alone', async () => {
    using place = createSandbox()
    await withPort(place)
    await place.json('remember', 'The canary is called Zed.', '--name', 'canary', '--user', 'eve')
    const lines: readonly (readonly string[])[] = [
      ['recall', 'Which staging port is it?'],
      ['recall', 'Which staging port is it?', '--json'],
      ['recall', 'Who is the canary?', '--user', 'eve', '--render'],
      ['search', 'canary'],
      ['recall', 'Which port?', '--dir', 'nowhere'],
      ['recall', 'Which port?', '--max-beliefs', 'many'],
      ['hear', 'The boat is blue.', '--dry-run'],
    ]
    const alone: unknown[] = []
    for (const line of lines) alone.push(await program(place, line))
    await using process = await running(place.home)

    const answered: unknown[] = []
    for (const line of lines) answered.push(await program(place, line))

    expect(answered).toEqual(alone)
    expect(process.asked()).toEqual(lines.map(([command]) => command))
    expect(alone).toMatchObject([
      { stdout: expect.stringContaining('5433') },
      {},
      { stdout: expect.stringContaining('Zed') },
      { stderr: expect.stringContaining('Nothing was found') },
      { exitCode: 3 },
      { exitCode: 2 },
      {},
    ])
  })

  it('answers a hook and stores its message, for the directory that the host names', async () => {
    using place = createSandbox()
    await withPort(place)
    writeFileSync(join(place.work, '.credence.json'), '{"scope": "project:ledger"}')
    await place.run('trust', '.credence.json')
    await using process = await running(place.home)

    const input = prompted(place, 'Which staging port?', 's-1')
    const { exitCode, stdout } = await program(place, ['hook', 'prompt-submit'], input)
    await process.commands.finish()

    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: expect.stringContaining('5433') })
    expect(process.asked()).toEqual(['hook', 'hook'])
    expect(await place.json('conversations', 'show', 's-1')).toMatchObject({
      turns: [{ text: 'Which staging port?', scope: 'project:ledger' }],
    })
  })

  it('sends the answer of a hook before the rest of its work', async () => {
    using place = createSandbox()
    await withPort(place)
    await using process = await running(place.home)
    const record = join(place.home, '.local', 'state', 'credence', 'hosts', 'claude-code.hook.json')
    const command = {
      argv: ['hook', 'prompt-submit', '--host', 'claude-code'],
      cwd: place.work,
      env: {},
      home: place.home,
      ageMs: 0,
      stdout: {},
      stderr: {},
      input: prompted(place, 'Which staging port?', 's-1'),
    }

    const { exitCode, stdout } = await process.commands.run(command)
    const before = existsSync(record)
    await process.commands.finish()

    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: expect.stringContaining('5433') })
    expect([before, existsSync(record)]).toEqual([false, true])
    const { turns } = await place.json('conversations', 'show', 's-1')
    expect(turns).toHaveLength(1)
  })

  it('answers from the current memory, after the memory was replaced', async () => {
    using place = createSandbox()
    const memory = join(place.home, '.local', 'share', 'credence')
    await withPort(place)
    await using process = await running(place.home)
    const first = await program(place, ['recall', 'Which staging port is it?'])
    rmSync(memory, { recursive: true })
    await place.json('remember', 'Our staging port is 6000.', '--name', 'staging port')

    const second = await program(place, ['recall', 'Which staging port is it?'])
    await process.close()

    expect([first.stdout, second.stdout]).toEqual([expect.stringContaining('5433'), expect.stringContaining('6000')])
    expect(process.asked()).toEqual(['recall', 'recall'])
    expect(readdirSync(join(memory, 'state')).filter((name) => name.endsWith('-wal'))).toEqual([])
  })

  it('is not used by commands on PostgreSQL, or by commands that read a stream', async () => {
    using place = createSandbox()
    await using process = await running(place.home)

    await program(place, ['recall', '-'], 'Which port?')
    await program(place, ['recall', 'Which port?', '--store', 'sqlite://here'])
    await program(place, ['recall', 'Which port?'], '', { CREDENCE_STORE: 'sqlite://here' })

    expect(process.asked()).toEqual([])
  })

  it('accepts only its own account, and leaves no files', async () => {
    using place = createSandbox()
    const first = await running(place.home)
    const second = await running(place.home)
    const modes = [
      runDirectory(place.home),
      ...socketsOf(place.home).map((name) => join(runDirectory(place.home), name)),
    ]

    expect(modes.map((path) => statSync(path).mode & 0o777)).toEqual([0o700, 0o600, 0o600])
    await second.close()
    await program(place, ['recall', 'Which port?'])
    expect([first.asked(), second.asked()]).toEqual([['recall'], []])
    await first.close()
    expect(socketsOf(place.home)).toEqual([])
  })

  it('neither listens nor is used in a directory that others may write to', async () => {
    using place = createSandbox()
    await using process = await running(place.home)
    chmodSync(runDirectory(place.home), 0o755)
    await using other = await running(place.home)

    const { stderr } = await program(place, ['recall', 'Which port?'])

    expect(stderr).toContain('There is no memory')
    expect([process.asked(), other.asked()]).toEqual([[], []])
    expect(socketsOf(place.home)).toHaveLength(1)
  })

  it.runIf(process.platform === 'linux')('is found below a path that is too long for a socket', async () => {
    using place = createSandbox()
    const home = join(place.path, ...Array.from({ length: 8 }, () => 'a-directory-of-some-length'))
    mkdirSync(home, { recursive: true })
    await using process = await running(home)

    await program(place, ['recall', 'Which port?'], '', { HOME: home })

    expect(runDirectory(home).length).toBeGreaterThan(200)
    expect(process.asked()).toEqual(['recall'])
  })

  it('continues after invalid requests', async () => {
    using place = createSandbox()
    await using process = await running(place.home)
    const [name = ''] = socketsOf(place.home)
    const send = (text: string) =>
      new Promise<string>((resolve) => {
        let received = ''
        const socket = connect({ path: join(runDirectory(place.home), name) }, () => socket.write(text))
        socket.on('data', (chunk) => {
          received += chunk
        })
        socket.on('error', () => {})
        socket.on('close', () => resolve(received))
      })
    const command = { argv: ['recall', 'x'], cwd: '/', env: {}, home: '/', input: '', ageMs: 0, stdout: {}, stderr: {} }

    const answers = [
      await send('hello\n'),
      await send(`${JSON.stringify({ ...command, argv: ['forget', '--all'] })}\n`),
      await send(`${JSON.stringify({ ...command, env: { PATH: 1 } })}\n`),
      await send('x'.repeat(maxLine + 1)),
    ]

    expect(new Set(answers)).toEqual(new Set([`${greeting()}\n`]))
    expect(process.asked()).toEqual([])
    await program(place, ['recall', 'Which port?'])
    expect(process.asked()).toEqual(['recall'])
  })
})

describe('a command does its work itself', () => {
  const other = (change: object) => `${JSON.stringify({ ...JSON.parse(greeting()), ...change })}\n`

  it.each([
    ['sends nothing', '', false],
    ['has another version', other({ version: '0.0.1' }), false],
    ['speaks another protocol', other({ protocol: 2 }), false],
    ['is another program', other({ program: '/elsewhere' }), false],
    ['has another time zone', other({ timeZone: 'Africa/Cairo' }), false],
    ['ends before it answers', `${greeting()}\n`, true],
  ])('if the listening process %s', async (_, greets, isTaken) => {
    using place = createSandbox()
    await withPort(place)
    mkdirSync(runDirectory(place.home), { recursive: true, mode: 0o700 })
    const requests: string[] = []
    const server = createServer((socket) => {
      socket.on('error', () => {})
      socket.on('data', (chunk) => {
        requests.push(String(chunk))
        socket.destroy()
      })
      socket.write(greets)
    })
    await new Promise<void>((resolve) => server.listen(join(runDirectory(place.home), 'a.sock'), resolve))

    const { stdout } = await program(place, ['hook', 'prompt-submit'], prompted(place, 'Which staging port?', 's-1'))
    server.close()

    expect(stdout).toContain('Our staging port is 5433.')
    expect(requests).toHaveLength(isTaken ? 1 : 0)
  })

  it('after a process was killed, whose socket the next process removes', async () => {
    using place = createSandbox()
    await withPort(place)
    const run = runDirectory(place.home)
    const killed = 'a.sock'
    const server = createServer()
    mkdirSync(run, { recursive: true, mode: 0o700 })
    await new Promise<void>((resolve) => server.listen(join(run, 'b.sock'), resolve))
    // A process that ends removes its socket; a killed one does not.
    renameSync(join(run, 'b.sock'), join(run, killed))
    await new Promise((resolve) => server.close(resolve))
    await using young = await running(place.home)
    const { stdout } = await program(place, ['recall', 'Which staging port?'])
    utimesSync(join(run, killed), new Date(0), new Date(0))
    for (const name of socketsOf(place.home)) utimesSync(join(run, name), new Date(0), new Date(0))

    await using old = await running(place.home)

    expect(stdout).toContain('5433')
    expect(young.asked()).toEqual(['recall'])
    expect(old.asked()).toEqual([])
    expect(existsSync(join(run, killed))).toBe(false)
    expect(socketsOf(place.home)).toHaveLength(2)
    rmSync(run, { recursive: true })
    expect((await program(place, ['recall', 'Which staging port?'])).stdout).toContain('5433')
  })
})

describe('the MCP server of a host', () => {
  it.each(['legacy', 'modern'] as const)('answers hooks with a tool that it does not list (%s)', async (mode) => {
    using place = createSandbox()
    await withPort(place)
    const scopes = ['--scope', 'project:ledger', '--scope', 'user:universal']
    const client = await stdioClient(place, { mode, options: ['--host', 'claude-code', ...scopes] })

    const { tools } = await client.listTools()
    const call = (input: object) => client.callTool({ name: 'hook', arguments: { cwd: place.work, ...input } as never })
    const prompt = await call({ event: 'UserPromptSubmit', session_id: 's-1', prompt: 'Which staging port?' })
    const stop = await call({ event: 'Stop', session_id: 's-1', last_assistant_message: 'It is 5433.' })
    const wrong = await call({ event: 'Unheard-of' })
    await client.close()

    expect(tools.map(({ name }) => name)).not.toContain('hook')
    expect(prompt.content).toMatchObject([{ text: expect.stringContaining('Our staging port is 5433.') }])
    expect([stop.content, wrong.content]).toEqual([[{ type: 'text', text: '{}' }], [{ type: 'text', text: '{}' }]])
    const { turns } = await place.json('conversations', 'show', 's-1')
    expect(turns).toMatchObject([{ text: 'Which staging port?', scope: 'project:ledger' }, { text: 'It is 5433.' }])
  })

  it('recalls by meaning once the hook of a prompt was answered, for a host that makes no other request', async () => {
    using place = createSandbox()
    await place.json('remember', 'The physician who treats my knee has moved his practice to Bergen.', '--name', 'knee')
    await place.run('vectors')
    // The prompts of this test must not become turns, which would be recalled instead.
    await place.run('pause')
    const client = await stdioClient(place, { mode: 'legacy', options: ['--host', 'codex'] })
    let prompts = 0
    const ask = async () => {
      prompts += 1
      const input = { event: 'UserPromptSubmit', prompt: `${prompts}: Where is my doctor now?`, session_id: 's-1' }
      return JSON.stringify(await client.callTool({ name: 'hook', arguments: { cwd: place.work, ...input } }))
    }

    const first = await ask()
    const later = await vi.waitFor(
      async () => {
        const answer = await ask()
        expect(answer).toContain('Perhaps relevant')
        return answer
      },
      { timeout: 120_000, interval: 500 },
    )
    await client.close()

    // The first prompt gets the lines for the start of a session, but none that is found by meaning.
    expect(first).not.toContain('Perhaps relevant')
    expect(later).toContain('Bergen')
  })

  it('has no such tool for a client that only uses the name of a host', async () => {
    using place = createSandbox()
    const client = await stdioClient(place, { mode: 'legacy', name: 'claude-code' })

    const call = client.callTool({ name: 'hook', arguments: { event: 'Stop' } })

    await expect(call).rejects.toThrow('hook not found')
    await client.close()
  })
})
