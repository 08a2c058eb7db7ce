import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { hookLogFile } from '../../src/cli/hooks/hook-log.ts'
import { hookEvents, hookHosts } from '../../src/cli/hooks/host-protocol.ts'
import { takeLock } from '../../src/files/lock.ts'
import { createSandbox, endOf } from '../cli/sandbox.ts'
import { claudeCodeOutput, codexOutput, cursorOutput, geminiOutput } from './hosts.ts'

type Place = ReturnType<typeof createSandbox>

const ownDir = (place: Place): string => join(place.home, '.local', 'share', 'credence')
const logOf = (place: Place) =>
  readFileSync(hookLogFile(ownDir(place)), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

/**
 * Runs a hook in this process with this input from the host and a minute to answer. Afterwards runs its background
 * work, also in this process.
 */
const hook = async (place: Place, payload: unknown, ...argv: readonly string[]) => {
  const stdin = typeof payload === 'string' ? payload : JSON.stringify(payload)
  const started: (readonly string[])[] = []
  const startDetached = async (words: readonly string[]) => void started.push(words)
  const ending = await place.runWith({ stdin, startedAt: performance.now() + 60_000, startDetached }, 'hook', ...argv)
  for (const words of started) await place.runWith({}, ...words)
  return { ...ending, started: started.length }
}

const prompted = (place: Place, prompt: string) => ({
  session_id: 's-1',
  transcript_path: null,
  cwd: place.work,
  hook_event_name: 'UserPromptSubmit',
  prompt,
})

/** Beliefs that apply everywhere, and beliefs of the project of the working directory. */
async function withMemory(place: Place): Promise<void> {
  writeFileSync(join(place.work, '.credence.json'), '{"scope": "project:ledger"}')
  await place.run('trust', '.credence.json')
  await place.json('remember', 'Sessions live in Redis 7.', '--name', 'redis cache', '--alias', 'Redis')
  await place.json('remember', 'Every second Tuesday.', '--name', 'release train', '--pin')
  const everywhere = ['--type', 'preference', '--scope', 'user:universal']
  await place.json('remember', 'Answer briefly.', '--name', 'answer style', ...everywhere)
}

/** Starts the session of `prompted`, so that its prompts do not get the lines for the start of a session. */
const startSession = (place: Place) => hook(place, { session_id: 's-1', cwd: place.work }, 'session-start')

const queueOf = (place: Place): string => join(ownDir(place), 'state', 'hook-queue')
const waitingIn = (place: Place) =>
  existsSync(queueOf(place))
    ? readdirSync(queueOf(place))
        .filter((name) => /^\d.*\.json$/.test(name))
        .sort()
        .map((name) => readFileSync(join(queueOf(place), name), 'utf8'))
    : []

/** Runs a hook and leaves its queued messages in the queue. */
const hookOnly = (place: Place, payload: unknown, ...argv: readonly string[]) =>
  place.runWith({ stdin: JSON.stringify(payload), startedAt: performance.now() + 60_000 }, 'hook', ...argv)

const hearAll = (place: Place) => place.runWith({}, 'hook', 'hear')

const textsIn = async (place: Place, session = 's-1'): Promise<readonly string[]> => {
  const { turns } = await place.json('conversations', 'show', session)
  return turns.map(({ text }: { text: string }) => text)
}

describe('a hook at prompt submit', () => {
  it.each([
    ['claude-code', 'prompt-submit', claudeCodeOutput],
    ['claude-code', 'UserPromptSubmit', claudeCodeOutput],
    ['codex', 'UserPromptSubmit', codexOutput],
    ['gemini', 'BeforeAgent', geminiOutput],
    ['opencode', 'prompt-submit', claudeCodeOutput],
  ] as const)(
    'gives %s at %s the beliefs that the prompt names, in the format of the host',
    async (host, event, schema) => {
      using place = createSandbox()
      await withMemory(place)
      await startSession(place)

      const { exitCode, stdout, stderr } = await hook(
        place,
        prompted(place, 'Why does Redis evict?'),
        event,
        '--host',
        host,
      )

      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
      const said = schema.parse(JSON.parse(stdout))
      expect(said.hookSpecificOutput?.hookEventName).toBe(host === 'gemini' ? 'BeforeAgent' : 'UserPromptSubmit')
      expect(said.hookSpecificOutput?.additionalContext).toContain('Sessions live in Redis 7.')
      // Pinned beliefs were already shown at the start of the session.
      expect(stdout).not.toContain('Tuesday')
      expect(stdout).not.toContain('briefly')
    },
  )

  it('prints nothing if the prompt names nothing, and lets Cursor continue', async () => {
    using place = createSandbox()
    await withMemory(place)
    await startSession(place)
    const payload = { conversation_id: 's-1', workspace_roots: [place.work], prompt: 'Hello there' }

    const claude = await hook(place, prompted(place, 'Hello there'), 'prompt-submit')
    const cursor = await hook(place, payload, 'beforeSubmitPrompt', '--host', 'cursor')

    expect(claude.stdout).toBe('')
    expect(cursorOutput.parse(JSON.parse(cursor.stdout))).toEqual({ continue: true })
  })

  it('prints the lines for the start of a session with its first prompt, once, if the start printed none', async () => {
    using place = createSandbox()
    await withMemory(place)
    await place.json('remember', 'I am allergic to walnuts.', '--scope', 'user:universal')

    const first = await hook(place, prompted(place, 'Why does Redis evict?'), 'prompt-submit')
    const second = await hook(place, prompted(place, 'And does Redis shard?'), 'prompt-submit')

    expect(first.stdout).toContain('Sessions live in Redis 7.')
    expect(first.stdout).toContain('Answer briefly.')
    expect(first.stdout).toContain('Every second Tuesday.')
    expect(first.stdout).toMatch(/About the person.*I am allergic to walnuts\./)
    expect(second.stdout).not.toContain('walnuts')
    expect(second.stdout).toContain('Sessions live in Redis 7.')
    expect(second.stdout).not.toContain('briefly')
  })

  it("stores the person's words, learns from them, and creates a memory for them", async () => {
    using place = createSandbox()
    const prompt = 'Remember that our staging port is 5433.'

    const { stdout } = await hook(place, prompted(place, prompt), 'prompt-submit')

    const { turns } = await place.json('conversations', 'show', 's-1')
    const { items } = await place.json('beliefs')
    expect(stdout).toBe('')
    expect(turns).toMatchObject([
      { text: prompt, role: 'user', session: 's-1', host: 'claude-code', origin: 'person', scope: 'user:universal' },
    ])
    expect(items).toMatchObject([{ provenance: { actor: 'person', origin: 'claude-code', sourceId: turns[0].id } }])
    expect(logOf(place)).toMatchObject([
      { event: 'prompt-submit', outcome: 'no memory yet', queued: 1 },
      { event: 'hear', outcome: 'done', kept: 1, learned: 1 },
    ])
  })

  it('stores statements about the person for every project, and the turn in the project', async () => {
    using place = createSandbox()
    await withMemory(place)

    await hook(place, prompted(place, 'Call me Sam.'), 'prompt-submit')
    await hook(place, prompted(place, 'Remember that the API port is 8080.'), 'prompt-submit')

    const { items } = await place.json('beliefs', '--limit', '2')
    const scopes = Object.fromEntries(
      items.map((one: { content: string; scopes: unknown }) => [one.content, one.scopes]),
    )
    expect(scopes).toMatchObject({
      'Call me Sam.': ['user:universal'],
      'the API port is 8080.': ['project:ledger'],
    })
    expect((await place.json('conversations', 'show', 's-1')).turns).toMatchObject([
      { scope: 'project:ledger' },
      { scope: 'project:ledger' },
    ])
  })

  it('quotes earlier turns if a prompt asks for them', async () => {
    using place = createSandbox()
    await hook(place, prompted(place, 'The boathouse key hangs behind the blue cupboard.'), 'prompt-submit')

    const asked = { ...prompted(place, 'Where does the boathouse key hang?'), session_id: 's-2' }
    const { stdout } = await hook(place, asked, 'prompt-submit')

    expect(stdout).toContain('behind the blue cupboard')
    expect(logOf(place).at(-2)).toMatchObject({ event: 'prompt-submit', recalled: 1 })
  })

  it('stores only the person’s words if Gemini CLI puts the context of another hook before them', async () => {
    using place = createSandbox()
    const prompt =
      '<hook_context>&lt;memory&gt;\nMy name is Dana.\n&lt;/memory&gt;\n</hook_context>\n\nGood morning to you.'

    await hook(place, prompted(place, prompt), 'BeforeAgent', '--host', 'gemini')
    await hook(place, { ...prompted(place, prompt), prompt_response: 'And to you.' }, 'AfterAgent', '--host', 'gemini')

    expect(await textsIn(place)).toEqual(['Good morning to you.', 'And to you.'])
  })

  it('masks secrets before anything reaches the disk', async () => {
    using place = createSandbox()
    const secret = 'sk-abcdefghijklmnop1234'

    await hookOnly(place, prompted(place, `Use the key ${secret} for staging.`), 'prompt-submit')
    const waiting = waitingIn(place)
    await hearAll(place)

    expect(waiting).toHaveLength(1)
    expect(waiting[0]).toContain('for staging')
    expect(waiting[0]).not.toContain(secret)
    expect(JSON.stringify(await textsIn(place))).not.toContain(secret)
  })

  it('queues prompts of any size, one file each, readable by their owner alone', async () => {
    using place = createSandbox()
    const long = `${'x'.repeat(150_000)} end`

    for (let number = 1; number <= 4; number += 1)
      await hookOnly(place, prompted(place, `${number} ${long}`), 'prompt-submit')
    const waiting = waitingIn(place)
    const [name = ''] = readdirSync(queueOf(place))
    const { mode } = statSync(join(queueOf(place), name))
    await hearAll(place)

    expect(waiting).toHaveLength(4)
    expect(mode & 0o777).toBe(0o600)
    expect((await textsIn(place)).map((text) => text.slice(0, 1))).toEqual(['1', '2', '3', '4'])
    expect(waitingIn(place)).toEqual([])
  })

  it('refuses a prompt longer than maxTurnCharacters, and logs it', async () => {
    using place = createSandbox()
    const env = { CREDENCE_MAX_TURN_CHARACTERS: '20' }
    await hookOnly(place, prompted(place, 'This prompt has more than twenty characters.'), 'prompt-submit')
    await hookOnly(place, prompted(place, 'This one has fewer.'), 'prompt-submit')

    await place.runWith({ env }, 'hook', 'hear')

    expect(await textsIn(place)).toEqual(['This one has fewer.'])
    expect(logOf(place).at(-1)).toMatchObject({ event: 'hear', kept: 1, refused: 1 })
  })

  it('queues messages while the store is unavailable, and stores them later', async () => {
    using place = createSandbox()
    await withMemory(place)
    const file = join(ownDir(place), 'state', 'credence.db')
    const whole = readFileSync(file)
    writeFileSync(file, 'this is no database, but long enough to look at')
    await hook(place, prompted(place, 'The API listens on port 8080.'), 'prompt-submit')
    const waiting = waitingIn(place)
    writeFileSync(file, whole)

    await hook(place, { cwd: place.work }, 'session-start')

    expect(waiting).toHaveLength(1)
    expect(await textsIn(place)).toEqual(['The API listens on port 8080.'])
  })

  it.each([
    ['a command', '/remember I prefer tabs in Go code.'],
    ['a text that a program wrote', '<task-notification>I prefer tabs in Go code.</task>'],
    ['a message off the record', 'Off the record: I prefer tabs in Go code.'],
  ])('does not store %s, or the answer to it', async (_what, prompt) => {
    using place = createSandbox()

    await hook(place, prompted(place, prompt), 'prompt-submit')
    await hook(place, { ...prompted(place, ''), last_assistant_message: 'Tabs it is.' }, 'stop')
    const during = { waiting: waitingIn(place), isMade: existsSync(join(ownDir(place), 'state', 'credence.db')) }
    await hook(place, prompted(place, 'What is next?'), 'prompt-submit')
    await hook(place, { ...prompted(place, ''), last_assistant_message: 'Lunch.' }, 'stop')

    expect(during).toEqual({ waiting: [], isMade: false })
    expect(await textsIn(place)).toEqual(['What is next?', 'Lunch.'])
  })

  it.each(['/etc/hosts is wrong.', '# Plan\nShip it.', '<div> is not centred.', '!important does not work.'])(
    'stores %j, which is not a command',
    async (prompt) => {
      using place = createSandbox()

      await hook(place, prompted(place, prompt), 'prompt-submit')

      expect(await textsIn(place)).toEqual([prompt])
    },
  )

  it.each([
    ['Please forget that my dog is called Rex.', 'my dog is called Rex'],
    ['forget that we pay 4.5 percent', 'we pay 4.5 percent'],
    ['Forget that I told you about the merger', 'the merger'],
    ['Delete everything you know about `Acme`!', 'Acme'],
  ])('answers %j with the command, and forgets nothing', async (prompt, words) => {
    using place = createSandbox()
    await withMemory(place)

    const { stdout } = await hook(place, prompted(place, prompt), 'prompt-submit')

    const { additionalContext } = claudeCodeOutput.parse(JSON.parse(stdout)).hookSpecificOutput
    expect(additionalContext).toContain(`credence forget --containing "${words}"`)
    expect((await place.json('conversations')).total).toBe(0)
    expect((await place.json('beliefs')).total).toBe(3)
  })

  it('reports in one line that a request within other text waits for the person, without repeating the text', async () => {
    using place = createSandbox()
    const pasted = 'Always send invoices to Heron.\n\ntl;dr?'

    const { stdout } = await hook(place, prompted(place, pasted), 'prompt-submit')
    const alone = await hook(place, prompted(place, 'Always send invoices to Kite.'), 'prompt-submit')
    const other = await hook(place, prompted(place, 'I prefer the second one. Go on.'), 'prompt-submit')

    const { additionalContext } = claudeCodeOutput.parse(JSON.parse(stdout)).hookSpecificOutput
    expect(additionalContext).toMatch(/^Not remembered yet: .*`credence review`.*\n$/u)
    expect(additionalContext).not.toContain('Heron')
    expect([alone.stdout, other.stdout].join('')).not.toContain('credence review')
    expect(await textsIn(place)).toContain(pasted)
    const waiting = (await place.json('review')).items.map((one: { belief: { content: string } }) => one.belief.content)
    expect(waiting).toContain('Always send invoices to Heron.')
  })

  it.each([
    'Forget that, use the other approach please',
    'forget that idea',
    'Forget that approach and use Redis instead',
    'Forget that approach, let us try NATS now',
    "Don't forget that my dog is called Rex.",
  ])('does not treat %j as a request to forget', async (prompt) => {
    using place = createSandbox()
    await withMemory(place)

    const { stdout } = await hook(place, prompted(place, prompt), 'prompt-submit')

    expect(stdout).not.toContain('credence forget')
    expect(await textsIn(place)).toEqual([prompt])
  })

  it.each([
    ['claude-code', 'additionalContext'],
    ['cursor', 'additional_context'],
  ])(
    'shows %s the command to run if the person asks to forget, and does not store the request',
    async (host, field) => {
      using place = createSandbox()

      const { stdout } = await hook(
        place,
        prompted(place, 'Please forget what I said about my "home" address.'),
        'prompt-submit',
        '--host',
        host,
      )
      const other = await hook(
        place,
        prompted(place, 'Delete everything about the old API from the docs.'),
        'prompt-submit',
      )

      expect(stdout).toContain(field)
      expect(stdout).toContain('credence forget --containing \\"my home address\\"')
      expect(other.stdout).toBe('')
      expect(await textsIn(place)).toEqual(['Delete everything about the old API from the docs.'])
    },
  )
})

describe('a hook at the start of a session', () => {
  it('first stores the messages that an ended host left in the queue', async () => {
    using place = createSandbox()
    await hookOnly(place, prompted(place, 'Always answer in British English.'), 'prompt-submit')

    const { stdout } = await hookOnly(place, { session_id: 's-2', cwd: place.work }, 'session-start')

    expect(stdout).toContain('Always answer in British English.')
    expect(waitingIn(place)).toEqual([])
  })

  it('reports the beliefs of a renamed repository', async () => {
    using place = createSandbox()
    const before = join(place.work, 'ledger')
    const after = join(place.work, 'books')
    mkdirSync(join(before, '.git'), { recursive: true })
    writeFileSync(join(before, '.git', 'HEAD'), 'ref: refs/heads/main\n')
    await place.runWith({ cwd: before }, 'remember', 'Cached on 6380.', '--name', 'Redis')
    renameSync(before, after)

    const { stdout } = await hook(place, { cwd: after, source: 'startup' }, 'session-start')

    const { additionalContext } = claudeCodeOutput.parse(JSON.parse(stdout)).hookSpecificOutput
    expect(additionalContext).toMatch(
      /^This project has no beliefs, but .* credence init --attach project:ledger-\w+\n$/,
    )
  })

  it.each([
    ['claude-code', claudeCodeOutput],
    ['codex', codexOutput],
    ['cursor', cursorOutput],
  ] as const)('gives %s the standing context', async (host, schema) => {
    using place = createSandbox()
    await withMemory(place)

    const { stdout } = await hook(place, { cwd: place.work, source: 'compact' }, 'session-start', '--host', host)

    expect(schema.safeParse(JSON.parse(stdout)).success).toBe(true)
    expect(stdout).toContain('Answer briefly.')
    expect(stdout).toContain('Every second Tuesday.')
    expect(stdout).not.toContain('Redis')
  })

  it('includes the newest universal statements of the person, within a limit, and none of an agent', async () => {
    using place = createSandbox()
    await withMemory(place)
    const everywhere = ['--scope', 'user:universal']
    for (let number = 1; number <= 12; number += 1)
      await place.json(
        'remember',
        `My badge number ${number} opens door ${number}.`,
        '--name',
        `badge ${number}`,
        ...everywhere,
      )
    await place.json('remember', 'My sister Ilse lives in Bergen.', ...everywhere)
    await place.json('remember', 'I wrote this myself.', ...everywhere, '--as', 'agent:robot')
    await place.json('remember', 'I am allergic to walnuts.', ...everywhere)

    const { stdout } = await startSession(place)

    const { additionalContext } = claudeCodeOutput.parse(JSON.parse(stdout)).hookSpecificOutput
    const [, about = ''] = additionalContext.split('## About the person\n')
    const lines =
      about
        .split('\n\n')[0]
        ?.split('\n')
        .filter((line) => line.startsWith('- ')) ?? []
    expect(lines.slice(0, 2)).toEqual([
      expect.stringContaining('I am allergic to walnuts.'),
      expect.stringContaining('My sister Ilse lives in Bergen.'),
    ])
    expect(lines).toHaveLength(8)
    expect(additionalContext).not.toContain('I wrote this myself.')
  })

  it('includes statements about the person only if user:universal is in view', async () => {
    using place = createSandbox()
    await place.json('remember', 'I am allergic to walnuts.', '--scope', 'user:universal')

    const { stdout } = await hook(place, { cwd: place.work }, 'session-start', '--scope', 'project:ledger')

    expect(stdout).not.toContain('walnuts')
  })
})

describe('hooks at stop and before compaction', () => {
  it.each(hookHosts)('print nothing for %s', async (host) => {
    using place = createSandbox()
    await withMemory(place)

    for (const event of ['stop', 'pre-compact']) {
      const { exitCode, stdout } = await hook(place, { cwd: place.work, prompt: 'Redis' }, event, '--host', host)
      expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: '' })
    }
  })

  const stopped = (place: Place, fields: object) => ({ session_id: 's-1', cwd: place.work, ...fields })
  const line = (type: string, uuid: string, content: unknown, fields: object = {}): string =>
    JSON.stringify({ type, uuid, timestamp: '2026-05-03T10:00:00Z', message: { role: type, content }, ...fields })

  it('store nothing for a session of Claude Code that ended without a transcript', async () => {
    using place = createSandbox()
    await withMemory(place)

    const { started } = await hook(place, stopped(place, { transcript_path: join(place.path, 'none') }), 'SessionEnd')

    expect(started).toBe(0)
    expect(logOf(place)).toMatchObject([{ event: 'pre-compact', outcome: 'done', queued: 0 }])
  })

  it("store the answer of Codex as the agent's words", async () => {
    using place = createSandbox()
    await hook(place, prompted(place, 'Remember that the API port is 8080.'), 'prompt-submit', '--host', 'codex')

    await hook(place, stopped(place, { last_assistant_message: 'Noted: always 8080.' }), 'stop', '--host', 'codex')

    const { turns } = await place.json('conversations', 'show', 's-1')
    expect(turns).toMatchObject([
      { role: 'user', origin: 'person', host: 'codex' },
      { role: 'assistant', origin: 'agent', host: 'codex', text: 'Noted: always 8080.' },
    ])
    expect((await place.json('beliefs')).total).toBe(1)
  })

  it('store the last answer in the transcript of Claude Code, with its ids', async () => {
    using place = createSandbox()
    const transcript = join(place.path, 'transcript.jsonl')
    const lines = [
      line('user', 'u-1', 'What is the port?'),
      line('assistant', 'a-1', [{ type: 'text', text: 'Let me look.' }]),
      line('assistant', 'a-2', [{ type: 'tool_use', name: 'Read', input: {} }]),
      line('user', 'u-2', [{ type: 'tool_result', content: '8080' }]),
      line('assistant', 'a-3', [
        { type: 'thinking', thinking: 'secret' },
        { type: 'text', text: 'The port is 8080.' },
      ]),
      line('assistant', 'a-4', [{ type: 'text', text: 'From a subagent.' }], { isSidechain: true }),
      line('assistant', 'a-5', [{ type: 'text', text: 'Said later.' }], { timestamp: '2999-01-01T00:00:00Z' }),
      '{"type": "assistant", "cut o',
    ]
    writeFileSync(transcript, lines.join('\n'))
    const fields = { transcript_path: transcript }

    await hook(place, { ...prompted(place, 'What is the port?'), ...fields }, 'prompt-submit')
    await hook(place, stopped(place, fields), 'stop')

    const exported = await place.json('export', '--turns')
    expect(exported).toMatchObject([
      { role: 'user', text: 'What is the port?', messageId: 'u-1' },
      { role: 'assistant', text: 'The port is 8080.', messageId: 'a-3' },
    ])
  })

  it('store the tool steps before the answer, with their ids, except answers of Credence itself', async () => {
    using place = createSandbox()
    const transcript = join(place.path, 'transcript.jsonl')
    const used = (id: string, name: string, input: object) => [{ type: 'tool_use', id, name, input }]
    const result = (id: string, content: unknown) => [{ type: 'tool_result', tool_use_id: id, content }]
    const lines = [
      line('assistant', 'a-0', used('t-0', 'Bash', { command: 'earlier' })),
      line('user', 'u-0', result('t-0', 'before the prompt')),
      line('user', 'u-1', 'Do the tests pass?'),
      line('assistant', 'a-1', used('t-1', 'Bash', { command: 'npm test' })),
      line('user', 'u-2', result('t-1', [{ type: 'text', text: `12 passed ${'x'.repeat(9_000)} end` }])),
      line('assistant', 'a-2', used('t-2', 'mcp__credence__memory_search', { query: 'tests' })),
      line('user', 'u-3', result('t-2', 'remembered before')),
      line('assistant', 'a-3', [{ type: 'text', text: 'They pass.' }]),
    ]
    writeFileSync(transcript, lines.join('\n'))
    const fields = { transcript_path: transcript }

    await hook(place, { ...prompted(place, 'Do the tests pass?'), ...fields }, 'prompt-submit')
    await hook(place, stopped(place, fields), 'pre-compact')
    await hook(place, stopped(place, fields), 'stop')

    const exported = await place.json('export', '--turns')
    const step = exported.find(({ role }: { role: string }) => role === 'tool')
    expect(exported.map(({ messageId }: { messageId: string }) => messageId).sort()).toEqual(['a-3', 't-1', 'u-1'])
    expect(step).toMatchObject({ messageId: 't-1', session: 's-1' })
    expect(step.text).toMatch(/^Bash \{"command":"npm test"\}\n12 passed x+\n\[… \d+ characters …\]\nx+ end$/)
    expect(step.text.length).toBeLessThan(4_100)
  })

  it('store the steps in the transcript of Codex', async () => {
    using place = createSandbox()
    const transcript = join(place.path, 'rollout.jsonl')
    const item = (payload: object) =>
      JSON.stringify({ timestamp: '2026-05-03T10:00:00Z', type: 'response_item', payload })
    const said = (role: string, id: string, text: string) =>
      item({ type: 'message', role, id, content: [{ type: role === 'user' ? 'input_text' : 'output_text', text }] })
    const lines = [
      said('developer', 'd-1', '<memory>'),
      said('user', 'm-1', 'Is it there?'),
      item({ type: 'function_call', name: 'exec_command', call_id: 'c-1', arguments: '{"cmd":"ls"}' }),
      item({ type: 'function_call_output', call_id: 'c-1', output: 'README.md' }),
      item({
        type: 'function_call',
        name: 'memory_search',
        namespace: 'mcp__credence',
        call_id: 'c-2',
        arguments: '{}',
      }),
      item({ type: 'function_call_output', call_id: 'c-2', output: 'remembered' }),
      said('assistant', 'm-2', 'It is there.'),
    ]
    writeFileSync(transcript, lines.join('\n'))
    const fields = { transcript_path: transcript }
    const codex = ['--host', 'codex'] as const

    await hook(place, { ...prompted(place, 'Is it there?'), ...fields }, 'prompt-submit', ...codex)
    await hook(place, stopped(place, { ...fields, last_assistant_message: 'It is there.' }), 'stop', ...codex)

    const exported = await place.json('export', '--turns')
    const texts = exported.map(({ role, text }: { role: string; text: string }) => `${role}: ${text}`)
    expect(texts.sort()).toEqual([
      'assistant: It is there.',
      'tool: exec_command {"cmd":"ls"}\nREADME.md',
      'user: Is it there?',
    ])
  })

  it('store nothing if the transcript is missing or has no answer', async () => {
    using place = createSandbox()
    const transcript = join(place.path, 'transcript.jsonl')
    const longAgo = JSON.stringify({
      role: 'assistant',
      text: null,
      at: '2026-05-03T10:00:00.000Z',
      host: 'claude-code',
      session: 's-1',
      user: 'local',
      scopes: ['user:universal'],
      homeScopes: ['user:universal'],
      transcript,
    })
    mkdirSync(queueOf(place), { recursive: true })
    writeFileSync(join(queueOf(place), '1777777777777-1-00.json'), longAgo)

    await hearAll(place)

    expect(waitingIn(place)).toEqual([])
    expect(logOf(place)).toMatchObject([{ event: 'hear', outcome: 'done', kept: 0 }])
  })
})

describe('without a hook at stop, the answer in the transcript', () => {
  /** A session whose host writes a transcript. */
  const sessionOf = (place: Place, session: string) => {
    const transcript = join(place.path, `${session}.jsonl`)
    const fields = { session_id: session, transcript_path: transcript, cwd: place.work }
    const write = (role: string, uuid: string, text: string): void => {
      const content = [{ type: 'text', text }]
      const line = { type: role, uuid, timestamp: new Date().toISOString(), message: { role, content } }
      appendFileSync(transcript, `${JSON.stringify(line)}\n`)
    }
    let prompts = 0
    let answers = 0
    return {
      transcript,
      /** Runs the hook of a prompt; then the host records the prompt. */
      prompt: async (text: string) => {
        prompts += 1
        await hookOnly(place, { ...fields, prompt: text }, 'prompt-submit')
        write('user', `${session}-u${prompts}`, text)
      },
      answer: (text: string) => {
        answers += 1
        write('assistant', `${session}-a${answers}`, text)
      },
      end: () => hookOnly(place, fields, 'SessionEnd'),
    }
  }
  const heard = async (place: Place) => {
    await hearAll(place)
    const turns = await place.json('export', '--turns')
    return turns.map(({ text }: { text: string }) => text)
  }
  /** Makes the prompt two minutes old, and the last write of the host one minute old. */
  const letMinutesPass = (place: Place, { transcript }: { readonly transcript: string }): void => {
    for (const name of readdirSync(queueOf(place)).filter((name) => name.startsWith('answer-')))
      utimesSync(join(queueOf(place), name), new Date(), new Date(Date.now() - 120_000))
    utimesSync(transcript, new Date(), new Date(Date.now() - 60_000))
  }

  it('is stored with the next prompt, and the last one at the end of the session', async () => {
    using place = createSandbox()
    const session = sessionOf(place, 's-1')
    await session.prompt('Which port?')
    session.answer('Let me look.')
    session.answer('Port 8080.')
    const before = await heard(place)
    await session.prompt('Which host?')
    session.answer('Host ada.')

    const afterPrompt = await heard(place)
    await session.end()
    const afterEnd = await heard(place)

    expect(before).toEqual(['Which port?'])
    expect(afterPrompt).toEqual(['Which port?', 'Port 8080.', 'Which host?'])
    expect(afterEnd).toEqual([...afterPrompt, 'Host ada.'])
    expect((await place.json('export', '--turns'))[1]).toMatchObject({ messageId: 's-1-a2', role: 'assistant' })
  })

  it('is stored if the host was killed, when another session starts', async () => {
    using place = createSandbox()
    const killed = sessionOf(place, 's-1')
    await killed.prompt('Which port?')
    killed.answer('Port 8080.')
    await hearAll(place)
    letMinutesPass(place, killed)

    await hook(place, { session_id: 's-2', cwd: place.work }, 'session-start')

    expect(await heard(place)).toEqual(['Which port?', 'Port 8080.'])
  })

  it('is stored complete if a turn was quiet for a while and went on', async () => {
    using place = createSandbox()
    const slow = sessionOf(place, 's-1')
    await slow.prompt('Which port?')
    slow.answer('Let me look.')
    letMinutesPass(place, slow)
    const meanwhile = await heard(place)
    slow.answer('Port 8080.')
    await slow.prompt('Which host?')

    expect(meanwhile).toEqual(['Which port?', 'Let me look.'])
    expect(await heard(place)).toEqual(['Which port?', 'Let me look.', 'Port 8080.', 'Which host?'])
  })

  it('is not stored if its prompt was not, or if the turn was interrupted', async () => {
    using place = createSandbox()
    const session = sessionOf(place, 's-1')
    await session.prompt('Off the record: which port?')
    session.answer('Port 666.')
    await session.prompt('Which host?')
    await session.prompt('/status')
    session.answer('Status 667.')
    await session.prompt('Which door?')
    await session.end()

    expect(await heard(place)).toEqual(['Which host?', 'Which door?'])
  })

  it('is not stored if it was given during a pause, even if the prompt was before it and the next is after it', async () => {
    using place = createSandbox()
    const session = sessionOf(place, 's-1')
    const elsewhere = sessionOf(place, 's-2')
    for (const one of [session, elsewhere]) await one.prompt('Which port?')
    elsewhere.answer('Port 8080.')

    await place.run('pause')
    session.answer('Port 666.')
    letMinutesPass(place, session)
    const during = await heard(place)
    await place.run('resume')
    await session.prompt('Which host?')

    expect(during).toEqual(['Which port?', 'Which port?', 'Port 8080.'])
    expect(await heard(place)).toEqual([...during, 'Which host?'])
  })

  it('is not stored if it answers a later prompt, which came while hooks were switched off', async () => {
    using place = createSandbox()
    const session = sessionOf(place, 's-1')
    const file = join(place.work, '.credence.json')
    await session.prompt('Which port?')
    session.answer('Port 8080.')
    writeFileSync(file, '{"enabled": false}')
    await session.prompt('Which password?')
    session.answer('Password 666.')
    rmSync(file)
    letMinutesPass(place, session)

    expect(await heard(place)).toEqual(['Which port?', 'Port 8080.'])
  })

  it('is not stored if it was given during a pause and the session ends after it', async () => {
    using place = createSandbox()
    const session = sessionOf(place, 's-1')
    await session.prompt('Which port?')
    await place.run('pause')
    session.answer('Port 666.')
    await place.run('resume')
    await session.end()

    expect(await heard(place)).toEqual(['Which port?'])
  })

  it('is stored with the next prompt even if the host has moved its transcript', async () => {
    using place = createSandbox()
    const session = sessionOf(place, 's-1')
    await session.prompt('Which port?')
    session.answer('Port 8080.')
    const moved = { session_id: 's-1', transcript_path: join(place.path, 'moved.jsonl'), cwd: place.work }
    await hookOnly(place, { ...moved, prompt: 'Which host?' }, 'prompt-submit')

    expect(await heard(place)).toEqual(['Which port?', 'Port 8080.', 'Which host?'])
  })

  it('is forgotten with a belief that it states, even if it was not stored yet', async () => {
    using place = createSandbox()
    const session = sessionOf(place, 's-1')
    await session.prompt('Remember that our staging port is 8080.')
    session.answer('I will remember that our staging port is 8080.')
    await hearAll(place)
    await place.run('forget', 'staging port', '--yes')
    await session.prompt('Which host?')

    expect(await heard(place)).toEqual(['Which host?'])
  })

  it('is forgotten with what was said before, and does not come back', async () => {
    using place = createSandbox()
    const session = sessionOf(place, 's-1')
    await session.prompt('Which port?')
    session.answer('Port 8080.')
    await hearAll(place)

    await place.run('forget', '--containing', '8080', '--yes')
    letMinutesPass(place, session)
    const afterwards = await heard(place)
    await session.prompt('Which host?')
    await session.end()

    expect(afterwards).toEqual(['Which port?'])
    expect(await heard(place)).toEqual(['Which port?', 'Which host?'])
  })
})

describe('the queue of hooks', () => {
  it('is processed in the order in which messages were said, and stops at a message if the store cannot be written', async () => {
    using place = createSandbox()
    await withMemory(place)
    const file = join(ownDir(place), 'state', 'credence.db')
    await hookOnly(place, prompted(place, 'My time zone is CET.'), 'prompt-submit')
    await hookOnly(place, prompted(place, 'My time zone is WET.'), 'prompt-submit')
    const whole = readFileSync(file)
    writeFileSync(file, 'this is no database, but long enough to look at')
    await hearAll(place)
    const during = waitingIn(place)
    writeFileSync(file, whole)

    await hook(place, prompted(place, 'Thanks.'), 'prompt-submit')

    expect(during.map((text) => JSON.parse(text).text)).toEqual(['My time zone is CET.', 'My time zone is WET.'])
    expect(await textsIn(place)).toEqual(['My time zone is CET.', 'My time zone is WET.', 'Thanks.'])
    const { items } = await place.json('beliefs', '--status', 'active')
    expect(JSON.stringify(items)).toContain('WET')
    expect(JSON.stringify(items)).not.toContain('CET')
    expect(logOf(place).filter(({ event }) => event === 'hear')).toMatchObject([
      { outcome: 'store unavailable', kept: 0 },
      { outcome: 'done', kept: 3 },
    ])
  })

  it('never loses, duplicates or reorders a message, whenever the store can be written', {
    timeout: 60_000,
  }, async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('say', 'hear', 'break', 'mend'), { minLength: 4, maxLength: 12 }),
        async (acts) => {
          using place = createSandbox()
          await withMemory(place)
          const file = join(ownDir(place), 'state', 'credence.db')
          const said: string[] = []
          let whole: Buffer | null = null
          const act = {
            say: async () => {
              said.push(`Sentence number ${said.length}.`)
              await hookOnly(place, prompted(place, said.at(-1) ?? ''), 'prompt-submit')
            },
            hear: () => hearAll(place),
            break: async () => {
              whole ??= readFileSync(file)
              writeFileSync(file, 'this is no database, but long enough to look at')
            },
            mend: async () => {
              if (whole !== null) writeFileSync(file, whole)
              whole = null
            },
          }

          for (const name of acts) await act[name]()
          await act.say()
          await act.mend()
          await act.hear()

          expect(await textsIn(place)).toEqual(said)
        },
      ),
      { numRuns: 6 },
    )
  })

  it('sets aside a message that causes a bug, and stores the rest', async () => {
    using place = createSandbox()
    await hookOnly(place, prompted(place, 'Before.'), 'prompt-submit')
    const [first = ''] = waitingIn(place)
    writeFileSync(join(queueOf(place), '1-1-00.json'), '{"text": "cut o')
    writeFileSync(join(queueOf(place), '2-1-00.json'), JSON.stringify({ ...JSON.parse(first), at: 'yesterday' }))

    await hearAll(place)

    expect(await textsIn(place)).toEqual(['Before.'])
    expect(readdirSync(join(queueOf(place), 'failed')).sort()).toEqual(['1-1-00.json', '2-1-00.json'])
    expect(logOf(place).at(-1)).toMatchObject({ event: 'hear', outcome: 'failed: 2 set aside', kept: 1 })
  })

  it('waits while the system refuses a file, which is not a bug', async () => {
    using place = createSandbox()
    await hookOnly(place, prompted(place, 'Hello there.'), 'prompt-submit')
    const folder = join(ownDir(place), 'state', 'forgetting')
    writeFileSync(folder, '')
    await hearAll(place)
    const during = waitingIn(place)
    rmSync(folder)
    await hearAll(place)

    expect(during).toHaveLength(1)
    expect(await textsIn(place)).toEqual(['Hello there.'])
  })

  it('is left to a running process, and taken over from a dead one', async () => {
    using place = createSandbox()
    await hookOnly(place, prompted(place, 'Hello there.'), 'prompt-submit')
    const lock = join(queueOf(place), 'lock')
    const release = await takeLock(lock, 'The queue of hooks')
    await hearAll(place)
    const during = waitingIn(place)
    release()
    await hearAll(place)
    await hookOnly(place, prompted(place, 'Hello again.'), 'prompt-submit')
    // A lock of an earlier version; its process id now belongs to another program.
    writeFileSync(lock, `${process.pid}\n`)
    await hearAll(place)

    expect(during).toHaveLength(1)
    expect(await textsIn(place)).toEqual(['Hello there.', 'Hello again.'])
  })

  it('stores a message once, even if its process died before removing it from the queue', async () => {
    using place = createSandbox()
    await hookOnly(place, prompted(place, 'Remember that the API port is 8080.'), 'prompt-submit')
    const [name = ''] = readdirSync(queueOf(place))
    const message = readFileSync(join(queueOf(place), name))
    await hearAll(place)
    writeFileSync(join(queueOf(place), name), message)

    await hearAll(place)

    expect(await textsIn(place)).toHaveLength(1)
    expect((await place.json('beliefs')).items).toMatchObject([{ reinforcement: { count: 0 } }])
  })

  it('keeps no markers of conversations that ended long ago', async () => {
    using place = createSandbox()
    await hookOnly(place, prompted(place, '/compact'), 'prompt-submit')
    const marks = () => readdirSync(queueOf(place)).filter((name) => name.startsWith('unkept-'))
    const [mark = ''] = marks()
    const longAgo = new Date(Date.now() - 365 * 86_400_000)
    utimesSync(join(queueOf(place), mark), longAgo, longAgo)
    await hookOnly(place, { ...prompted(place, '/compact'), session_id: 's-2' }, 'prompt-submit')
    const before = marks()
    await hook(place, { ...prompted(place, 'Hello.'), session_id: 's-3' }, 'prompt-submit')

    expect(before).toHaveLength(2)
    expect(marks()).toEqual(before.filter((name) => name !== mark))
  })

  it('forgets turns that are older than keepTurnsDays', async () => {
    using place = createSandbox()
    await place.json('hear', 'Long ago.', '--at', '2020-01-01', '--session', 's-1')
    await place.json('hear', 'Just now.', '--session', 's-1')
    await hookOnly(place, prompted(place, 'And now.'), 'prompt-submit')
    await hearAll(place)
    const forEver = await textsIn(place)
    await hookOnly(place, prompted(place, 'And then.'), 'prompt-submit')

    await place.runWith({ env: { CREDENCE_KEEP_TURNS_DAYS: '30' } }, 'hook', 'hear')

    expect(forEver).toEqual(['Long ago.', 'Just now.', 'And now.'])
    expect(await textsIn(place)).toEqual(['Just now.', 'And now.', 'And then.'])
  })
})

describe('a hook past its time limit', () => {
  it('still answers if its input is there', async () => {
    using place = createSandbox()
    await withMemory(place)
    // The hook starts so late that there is barely time to read the input.
    const stdin = JSON.stringify(prompted(place, 'Why does Redis evict?'))

    const ending = await place.runWith({ stdin, startedAt: performance.now() - 100_000 }, 'hook', 'prompt-submit')

    expect(ending.exitCode).toBe(0)
    expect(ending.stdout).toContain('Sessions live in Redis 7.')
  })

  it('still answers when its input arrives, and stores it', async () => {
    using place = createSandbox()
    await withMemory(place)
    const stdin = new PassThrough()
    const startedAt = performance.now() - 100_000
    setTimeout(() => stdin.end(JSON.stringify({ ...prompted(place, 'Why does Redis evict?') })), 200)

    const { exitCode, stdout } = await place.runWith({ stdin, startedAt }, 'hook', 'prompt-submit')
    await hearAll(place)

    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: expect.stringContaining('Sessions live in Redis 7.') })
    expect(await textsIn(place)).toEqual(['Why does Redis evict?'])
  })
})

describe('a paused memory', () => {
  const say = async (place: Place, prompt: string) => {
    const { stdout } = await hook(place, prompted(place, prompt), 'prompt-submit')
    await hook(place, { session_id: 's-1', cwd: place.work, last_assistant_message: `About: ${prompt}` }, 'stop')
    return stdout
  }

  it('stores and learns nothing through hooks, while recall continues, until it is resumed', async () => {
    using place = createSandbox()
    await withMemory(place)
    await place.json('pause')

    const stdout = await say(place, 'Does Redis evict? Remember that canary-4711 is here.')
    const during = await place.json('conversations')
    await place.json('resume')
    await say(place, 'Hello again.')

    expect(stdout).toContain('Sessions live in Redis 7.')
    expect(during.total).toBe(0)
    expect(JSON.stringify(await place.json('beliefs'))).not.toContain('canary')
    expect(await textsIn(place)).toEqual(['Hello again.', 'About: Hello again.'])
    expect(logOf(place)[0]).toMatchObject({ outcome: 'paused', recalled: 3, queued: 0 })
  })

  it('stores nothing in a paused or excluded directory or below it, and continues elsewhere', async () => {
    using place = createSandbox()
    const inside = join(place.work, 'secret', 'deep')
    mkdirSync(inside, { recursive: true })
    mkdirSync(join(place.work, 'secrets'))
    symlinkSync(inside, join(place.path, 'link'))
    const said = (directory: string, prompt: string) =>
      hookOnly(place, { ...prompted(place, prompt), cwd: directory }, 'prompt-submit')
    await place.json('pause', '--in', 'secret')
    for (const directory of [inside, join(place.path, 'link')]) await said(directory, 'Not this.')
    await said(join(place.work, 'secrets'), 'But this.')
    await place.json('resume', '--in', 'secret')
    mkdirSync(join(place.home, '.config', 'credence'), { recursive: true })
    writeFileSync(
      join(place.home, '.config', 'credence', 'config.json'),
      JSON.stringify({ excludedDirectories: [join(place.work, 'secret')] }),
    )
    await said(inside, 'Not this either.')
    await said(place.work, 'And this.')

    await hearAll(place)

    expect(await textsIn(place)).toEqual(['But this.', 'And this.'])
  })

  it('reports that nothing was stored if a prompt asks to remember something, and is silent otherwise', async () => {
    using place = createSandbox()
    await withMemory(place)
    await place.json('pause')

    const asked = await say(place, 'Remember that our staging port is 5433.')
    const told = await say(place, 'Please run the tests.')

    expect(asked).toContain('Nothing was stored: the memory is paused.')
    expect(asked).toContain('credence resume')
    expect(told).toBe('')
  })

  it('resumes when its time is over', async () => {
    using place = createSandbox()
    await place.json('pause', '--for', '2h')
    const file = join(ownDir(place), 'state', 'paused.json')
    const { pauses } = JSON.parse(readFileSync(file, 'utf8'))
    await hook(place, prompted(place, 'During.'), 'prompt-submit')
    const over = pauses.map((pause: object) => ({ ...pause, until: '2026-01-01T00:00:00.000Z' }))
    writeFileSync(file, JSON.stringify({ pauses: over }))

    await hook(place, prompted(place, 'After.'), 'prompt-submit')

    expect(Date.parse(pauses[0].until) - Date.now()).toBeGreaterThan(3_600_000)
    expect(await textsIn(place)).toEqual(['After.'])
  })

  it('stores nothing if it cannot determine whether it is paused', async () => {
    using place = createSandbox()
    mkdirSync(join(ownDir(place), 'state'), { recursive: true })
    writeFileSync(join(ownDir(place), 'state', 'paused.json'), '{"pauses": [{')

    const { exitCode } = await hook(place, prompted(place, 'Hello.'), 'prompt-submit')

    expect(exitCode).toBe(0)
    expect(waitingIn(place)).toEqual([])
    expect(logOf(place)).toMatchObject([{ outcome: expect.stringMatching(/^failed: invalid: .*paused\.json/) }])
  })
})

describe('the location of a hook', () => {
  it('is the repository of the directory in the payload, whatever its working directory', async () => {
    using place = createSandbox()
    const repository = join(place.path, 'ledger')
    mkdirSync(join(repository, '.git', 'refs'), { recursive: true })
    writeFileSync(join(repository, '.git', 'HEAD'), 'ref: refs/heads/main\n')
    mkdirSync(join(repository, 'src'))
    await place.runWith({ cwd: repository }, 'remember', 'Port 8080.', '--name', 'api port')

    const inside = await hook(place, { cwd: join(repository, 'src'), prompt: 'Which api port?' }, 'prompt-submit')
    const outside = await hook(place, { cwd: place.work, prompt: 'Which api port?' }, 'prompt-submit')

    expect(inside.stdout).toContain('Port 8080.')
    expect(outside.stdout).toBe('')
  })

  it('follows a .credence.json, which can also switch hooks off', async () => {
    using place = createSandbox()
    await place.json('remember', 'Port 8080.', '--name', 'api port', '--scope', 'project:shared')
    const payload = { cwd: place.work, prompt: 'Which api port?' }
    const file = join(place.work, '.credence.json')

    writeFileSync(file, '{"scope": "project:shared"}')
    await place.run('trust', '.credence.json')
    const on = await hook(place, payload, 'prompt-submit')
    writeFileSync(file, '{"scope": "project:shared", "enabled": false}')
    const off = await hook(place, payload, 'prompt-submit')
    writeFileSync(file, '{"scope": "project:shared", "enabeld": false}')
    const misspelt = await hook(place, payload, 'prompt-submit')

    expect(on.stdout).toContain('Port 8080.')
    expect(off).toMatchObject({ exitCode: 0, stdout: '' })
    expect(misspelt).toMatchObject({ exitCode: 0, stdout: '', stderr: '' })
    expect(logOf(place).map(({ outcome }) => outcome)).toEqual([
      'done',
      'done',
      'switched off',
      expect.stringMatching(/^failed: invalid: .*\.credence\.json/),
    ])
  })
})

describe('after any error, a hook', () => {
  it.each([
    ['broken JSON', '{"prompt": ', ['stop']],
    ['a list', '[]', ['stop']],
    ['empty input', '', ['prompt-submit']],
    ['no event', '{}', []],
    ['an unknown event', '{}', ['whenever']],
    ['an unknown host', '{}', ['stop', '--host', 'emacs']],
    ['an unknown option', '{}', ['stop', '--bogus']],
    ['one argument too many', '{}', ['stop', 'stop']],
    ['an invalid scope', '{}', ['stop', '--scope', 'x']],
  ] as const)('with %s exits with 0, prints nothing and writes a line to the log', async (_case, stdin, argv) => {
    using place = createSandbox()
    await withMemory(place)

    const ending = await hook(place, stdin, ...argv)

    expect(ending).toEqual({ exitCode: 0, stdout: '', stderr: '', started: 0 })
    const log = logOf(place)
    expect(log).toHaveLength(1)
    expect(log[0].outcome).toMatch(/^failed: [a-z]+: .+/)
  })

  it('logs the message of an error without the values that it quotes', async () => {
    using place = createSandbox()

    await hook(place, '{"prompt": my "secret" plan}', 'prompt-submit')

    expect(logOf(place)).toMatchObject([{ outcome: expect.stringMatching(/^failed: invalid: .+/) }])
    expect(JSON.stringify(logOf(place))).not.toMatch(/secret|plan/)
  })

  it('exits with 0 on a broken store, without output for the host', async () => {
    using place = createSandbox()
    await withMemory(place)
    writeFileSync(join(ownDir(place), 'state', 'credence.db'), 'this is no database, but long enough to look at')

    const ending = await hook(place, prompted(place, 'Why does Redis evict?'), 'prompt-submit')

    expect(ending).toMatchObject({ exitCode: 0, stdout: '', stderr: '' })
    expect(logOf(place)).toMatchObject([
      { event: 'prompt-submit', outcome: expect.stringMatching(/^failed: invalid: .*credence\.db.+\.$/) },
      { event: 'hear', outcome: 'store unavailable' },
    ])
  })

  it('exits with 0 even if it cannot write its log', async () => {
    using place = createSandbox()
    chmodSync(place.home, 0o500)

    const ending = await hook(place, '{', 'stop')

    expect(ending).toMatchObject({ exitCode: 0, stdout: '', stderr: '' })
    chmodSync(place.home, 0o700)
  })

  it('answers even if it cannot store the message', async () => {
    using place = createSandbox()
    await withMemory(place)
    // A file at the path of the queue, which should be a directory.
    writeFileSync(queueOf(place), '')

    const { stdout, started } = await hook(place, prompted(place, 'We decided to use Redis 8.'), 'prompt-submit')

    expect(stdout).toContain('Sessions live in Redis 7.')
    expect(started).toBe(0)
    expect(logOf(place)).toMatchObject([{ outcome: 'not kept: EEXIST', queued: 0 }])
  })

  it('never prints text in a format that its host does not expect, for any input', async () => {
    using place = createSandbox()
    await withMemory(place)
    const schemas = {
      'claude-code': claudeCodeOutput,
      codex: codexOutput,
      gemini: geminiOutput,
      opencode: claudeCodeOutput,
      cursor: cursorOutput,
      vscode: claudeCodeOutput,
    }
    const field = fc.oneof(fc.string(), fc.constantFrom('Redis', place.work), fc.jsonValue())
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(fc.string(), fc.dictionary(fc.constantFrom('cwd', 'prompt', 'workspace_roots', 'session_id'), field)),
        fc.constantFrom(...hookEvents),
        fc.constantFrom(...hookHosts),
        async (payload, event, host) => {
          const { exitCode, stdout } = await hook(place, payload, event, '--host', host)

          expect(exitCode).toBe(0)
          if (stdout !== '') expect(schemas[host].safeParse(JSON.parse(stdout)).success).toBe(true)
        },
      ),
      { numRuns: 60 },
    )
  })
})

describe('the plugin of Claude Code', () => {
  it('prints and stores nothing while connect has added the same hooks to the settings', async () => {
    using place = createSandbox()
    await withMemory(place)
    const stdin = JSON.stringify(prompted(place, 'Why does Redis evict?'))
    const asPlugin = () =>
      place.runWith(
        { stdin, startedAt: performance.now() + 60_000, env: { CLAUDE_PLUGIN_ROOT: '/plugin' } },
        'hook',
        'prompt-submit',
      )

    const alone = await asPlugin()
    await place.json('connect', 'claude-code', '--yes')
    const doubled = await asPlugin()
    await hearAll(place)

    expect(alone.stdout).toContain('Sessions live in Redis 7.')
    expect(doubled).toMatchObject({ exitCode: 0, stdout: '' })
    expect(await textsIn(place)).toEqual(['Why does Redis evict?'])
    expect(logOf(place)[1]).toMatchObject({ outcome: 'connected as well', queued: 0 })
  })
})

describe('hooks of one event that are configured twice, for the user and for the project,', () => {
  it.each(hookHosts)('answer %s once, and store the message once', async (host) => {
    using place = createSandbox()
    await withMemory(place)
    const start = { session_id: 's-1', cwd: place.work, hook_event_name: 'SessionStart', source: 'startup' }
    const prompt = prompted(place, 'Why does Redis evict?')
    const twice = async (payload: object, event: string) => {
      const both = await Promise.all([1, 2].map(() => hookOnly(place, payload, event, '--host', host)))
      return both.map(({ stdout }) => stdout)
    }

    const starts = await twice(start, 'session-start')
    const compacted = await twice({ ...start, source: 'compact' }, 'session-start')
    const prompts = await twice(prompt, 'prompt-submit')
    await hearAll(place)
    const later = await hookOnly(place, prompted(place, 'Is Redis up?'), 'prompt-submit', '--host', host)
    await hearAll(place)

    const tellsOf = (text: string) => (answers: readonly string[]) => answers.filter((one) => one.includes(text)).length
    expect([starts, compacted].map(tellsOf('Answer briefly.'))).toEqual([1, 1])
    expect(tellsOf('Sessions live in Redis 7.')(prompts)).toBe(1)
    expect(tellsOf('Sessions live in Redis 7.')([later.stdout])).toBe(1)
    expect(await textsIn(place)).toEqual(['Why does Redis evict?', 'Is Redis up?'])
  })
})

describe('the log of hooks', () => {
  it('is private and limited, and contains no words of a message', async () => {
    using place = createSandbox()
    await withMemory(place)
    const file = hookLogFile(ownDir(place))
    writeFileSync(file, `${'x'.repeat(300_000)}\n`)

    await hook(place, prompted(place, 'Why does Redis evict canary-4711?'), 'prompt-submit')
    await hook(place, '{"prompt": "canary-4711', 'stop')

    expect(statSync(file).mode & 0o077).toBe(0)
    expect(statSync(file).size).toBeLessThan(1_000)
    expect(statSync(`${file}.1`).size).toBeGreaterThan(300_000)
    expect(readFileSync(file, 'utf8')).not.toMatch(/canary|Redis|evict/)
    expect(logOf(place)).toHaveLength(3)
  })
})

// These tests run concurrently, because one of them waits for seconds.
describe.concurrent('the program itself', () => {
  it('leaves storing and learning to a process that continues after it has ended', { timeout: 60_000 }, async () => {
    using place = createSandbox()
    await withMemory(place)

    // On a busy machine a hook may be too late to answer, but the message is stored.
    const child = place.start(['hook', 'prompt-submit'])
    const ended = endOf(child)
    child.stdin.end(JSON.stringify(prompted(place, 'Remember that the API port is 8080.')))

    expect((await ended).exitCode).toBe(0)
    const hearing = expect.objectContaining({ event: 'hear', outcome: 'done', kept: 1, learned: 1 })
    await vi.waitFor(() => expect(logOf(place)).toContainEqual(hearing), { timeout: 30_000 })
    expect(JSON.stringify(await place.json('beliefs'))).toContain('8080')
  })

  it('exits if a host never ends its input', { timeout: 20_000 }, async () => {
    using place = createSandbox()
    const child = place.start(['hook', 'prompt-submit'])
    const ended = endOf(child)
    child.stdin.write('{"prompt": "Redis')

    const { exitCode, stdout } = await ended

    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: '' })
    expect(logOf(place)).toMatchObject([{ outcome: 'late' }])
  })

  it('exits with 0 if its reader has gone', { timeout: 60_000 }, async () => {
    using place = createSandbox()
    await withMemory(place)
    const child = place.start(['hook', 'prompt-submit'])
    const ended = endOf(child)
    child.stdout.destroy()
    child.stdin.end(JSON.stringify(prompted(place, 'Why does Redis evict?')))

    expect((await ended).exitCode).toBe(0)
    // Waits for the hook's background process, which still writes to the sandbox.
    const hearing = expect.objectContaining({ event: 'hear', outcome: 'done' })
    await vi.waitFor(() => expect(logOf(place)).toContainEqual(hearing), { timeout: 50_000 })
    expect(logOf(place)).toContainEqual(expect.objectContaining({ event: 'prompt-submit', outcome: 'done' }))
  })
})
