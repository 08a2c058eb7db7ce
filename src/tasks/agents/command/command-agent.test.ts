import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { program } from '../../../../test/tasks/program.ts'
import { sampleTask } from '../../../../test/tasks/sample-task.ts'
import { temporaryDirectory } from '../../../../test/temporary-directory.ts'
import type { Agent } from '../../agent.ts'
import { readTranscript } from '../../run/evidence-folder.ts'
import { executeTask } from '../../run/execute-task.ts'
import { commandAgent } from './command-agent.ts'
import { openclaw } from './openclaw.ts'
import { anyCommand, claudeCode } from './profiles.ts'

const run = (agent: Agent, folder: string, task = sampleTask()) =>
  executeTask({
    task,
    agent,
    folder,
    repeat: 1,
    seed: 1,
    control: 'none',
    signal: new AbortController().signal,
    now: () => new Date('2026-01-02T03:04:05Z'),
  })

const messagesOf = async (
  folder: string,
  { transcript }: { transcript: Parameters<typeof readTranscript>[1] | null },
) => {
  if (transcript === null) throw new Error('There is a transcript.')
  const entries = await readTranscript(folder, transcript)
  return entries.flatMap((entry) => (entry.type === 'message' ? [entry.message] : []))
}

/** Prints its arguments, its standard input, its working directory and its environment. */
const mirror = `
const input = require('node:fs').readFileSync(0, 'utf8')
console.log(JSON.stringify({ words: process.argv.slice(2), input, cwd: process.cwd(), env: Object.keys(process.env).sort() }))`

describe.skipIf(process.platform === 'win32')('an agent that is any program', () => {
  const mirrored = async (words: string, environment: Record<string, string> = {}, passThrough: string[] = []) => {
    using directory = temporaryDirectory()
    program(directory.path, 'mirror', mirror)
    const profile = { ...anyCommand(`./mirror ${words}`, { workingDirectory: directory.path }), passThrough }
    const evidence = await run(commandAgent(profile, environment), join(directory.path, 'evidence'))
    return { evidence, seen: evidence.sessions.map(({ answer }) => JSON.parse(answer ?? '{}')) }
  }

  it('gets the prompt on standard input by default', async () => {
    const { seen } = await mirrored('--quiet')

    expect(seen[0]).toMatchObject({ words: ['--quiet'], input: sampleTask().sessions[0]?.prompt })
  })

  it('gets the prompt as an argument, and the workspace as its folder', async () => {
    const { seen } = await mirrored('-m {prompt} --in={workspace}')

    expect(seen[1].words).toEqual(['-m', 'What is my boat called?', `--in=${seen[1].cwd}`])
    expect(seen[1].input).toBe('')
    expect(seen[1].cwd).toMatch(/workspace$/)
  })

  it('gets the prompt as a file outside of the workspace', async () => {
    using directory = temporaryDirectory()
    program(
      directory.path,
      'reader',
      `console.log(require('node:fs').readFileSync(process.argv[2], 'utf8'), process.argv[2])`,
    )
    const agent = commandAgent(anyCommand('./reader {file}', { workingDirectory: directory.path }), {})

    const { sessions, workspace } = await run(agent, join(directory.path, 'evidence'))

    expect(sessions[1]?.answer).toMatch(/^What is my boat called\? .*\.txt$/)
    expect(workspace).toEqual([])
  })

  it('gets the same session id during a conversation, and another one in a new conversation', async () => {
    const { seen, evidence } = await mirrored('--session {session} {prompt}')

    const [first, second, third] = seen.map(({ words }) => words[1])
    expect(second).toBe(first)
    expect(third).not.toBe(first)
    expect(evidence.sessions.map(({ conversationId }) => conversationId)).toEqual([first, first, third])
    expect(new Set(evidence.sessions.map(({ process: pid }) => pid)).size).toBe(3)
  })

  it('gets only the environment variables that every program needs, and the named ones', async () => {
    const environment = { PATH: '/bin', HOME: '/home', LANG: 'C', SECRET_KEY: 's', NAMED: 'n' }

    const { seen } = await mirrored('{prompt}', environment, ['NAMED'])

    expect(seen[0].env).toEqual(['HOME', 'LANG', 'NAMED', 'PATH'])
  })

  it('gets a prompt that contains a placeholder unchanged', async () => {
    using directory = temporaryDirectory()
    program(directory.path, 'mirror', mirror)
    const task = sampleTask({ sessions: 'sessions: ["Say {session} and {workspace}; $(id)"]' })
    const agent = commandAgent(anyCommand('./mirror {prompt}', { workingDirectory: directory.path }), {})

    const { sessions } = await run(agent, join(directory.path, 'evidence'), task)

    expect(JSON.parse(sessions[0]?.answer ?? '{}').words).toEqual(['Say {session} and {workspace}; $(id)'])
  })

  it('fails if it exits with another code than 0, and its output is stored', async () => {
    using directory = temporaryDirectory()
    program(directory.path, 'breaks', `console.log('I try.'); console.error('no more disk'); process.exitCode = 4`)
    const agent = commandAgent(anyCommand('./breaks', { workingDirectory: directory.path }), {})
    const folder = join(directory.path, 'evidence')

    const evidence = await run(agent, folder)

    expect(evidence).toMatchObject({
      outcome: 'agent_failed',
      reason: 'command:breaks ended with exit code 4: no more disk',
    })
    expect(JSON.stringify(await messagesOf(folder, evidence))).toContain('I try.')
  })

  it('is reported as not reached if the program does not exist', async () => {
    using directory = temporaryDirectory()
    const agent = commandAgent(anyCommand('no-such-agent {prompt}', { workingDirectory: directory.path }), {
      PATH: '/bin',
    })

    const evidence = await run(agent, join(directory.path, 'evidence'))

    expect(evidence).toMatchObject({
      outcome: 'infra_error',
      reason: 'The program "no-such-agent" is not on the path.',
    })
  })

  it('may write events as JSON', async () => {
    using directory = temporaryDirectory()
    program(
      directory.path,
      'events',
      `for (const event of [
        { type: 'message', message: { role: 'assistant', content: [{ type: 'toolCall', id: '1', name: 'read', arguments: { path: 'a' } }] } },
        { type: 'message', message: { role: 'toolResult', toolCallId: '1', toolName: 'read', content: [{ type: 'text', text: 'A' }], isError: false } },
        { type: 'message', message: { role: 'assistant', content: 'It is A.' } },
      ]) console.log(JSON.stringify(event))`,
    )
    const agent = commandAgent(anyCommand('./events', { workingDirectory: directory.path }), {})

    const { sessions } = await run(agent, join(directory.path, 'evidence'))

    expect(sessions[0]).toMatchObject({ answer: 'It is A.', toolCalls: 1 })
  })

  it.each([
    ['', 'The command has no program'],
    ['a {promt}', 'The command has {promt}; known are'],
    ['a "b', 'never closed'],
  ])('is refused if its command line is "%s"', (line, message) => {
    expect(() => anyCommand(line, { workingDirectory: '/' })).toThrow(message)
  })
})

/** Stores conversations by id like the real program: --session-id only starts one, --resume only continues one. */
const fakeClaude = `
const fs = require('node:fs')
const words = process.argv.slice(2)
if (words[0] === '--version') { console.log('2.1.0 (Claude Code)'); process.exit(0) }
const after = (name) => words.includes(name) ? words[words.indexOf(name) + 1] : undefined
if (!words.includes('-p') || after('--output-format') !== 'stream-json' || !words.includes('--verbose')) { console.error('wrong flags'); process.exit(1) }
if (process.env.ANTHROPIC_API_KEY !== 'key') {
  console.log(JSON.stringify({ type: 'result', subtype: 'success', is_error: true, result: 'Invalid API key · Please run /login', session_id: 'x' }))
  process.exit(1)
}
const prompt = fs.readFileSync(0, 'utf8')
const store = process.env.CLAUDE_CONFIG_DIR
const id = after('--session-id') ?? after('--resume')
const file = store + '/' + id + '.txt'
if (after('--session-id') && fs.existsSync(file)) { console.error('Session ID is already in use.'); process.exit(1) }
if (after('--resume') && !fs.existsSync(file)) { console.error('No conversation found'); process.exit(1) }
const history = fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : ''
fs.writeFileSync(file, history + prompt)
const say = (event) => console.log(JSON.stringify({ session_id: id, ...event }))
say({ type: 'system', subtype: 'init', model: 'claude-test-1', tools: ['Read', 'Write'] })
let answer
if (prompt.startsWith('My')) {
  fs.mkdirSync('memory', { recursive: true }); fs.writeFileSync('memory/MEMORY.md', prompt)
  say({ type: 'assistant', message: { role: 'assistant', model: 'claude-test-1', content: [{ type: 'thinking', thinking: 'To keep.' }, { type: 'tool_use', id: 't1', name: 'Write', input: { file_path: process.cwd() + '/memory/MEMORY.md', content: prompt } }] } })
  say({ type: 'user', message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: 'written' }] } })
  answer = 'Saved.'
} else if (history !== '') answer = 'As you said: ' + history
else {
  const text = fs.readFileSync('memory/MEMORY.md', 'utf8')
  say({ type: 'assistant', message: { role: 'assistant', content: [{ type: 'tool_use', id: 't2', name: 'Read', input: { file_path: 'memory/MEMORY.md' } }] } })
  say({ type: 'user', message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't2', content: [{ type: 'text', text }], is_error: false }] } })
  answer = 'The file says: ' + text
}
say({ type: 'assistant', message: { role: 'assistant', model: 'claude-test-1', content: [{ type: 'text', text: answer }] } })
say({ type: 'result', subtype: 'success', is_error: false, result: answer, usage: { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 3, cache_creation_input_tokens: 2 } })`

describe.skipIf(process.platform === 'win32')('claude-code', () => {
  const surroundings = (folder: string, key: string) => {
    mkdirSync(join(folder, 'config'))
    mkdirSync(join(folder, 'bin'))
    program(join(folder, 'bin'), 'claude', fakeClaude)
    return { PATH: join(folder, 'bin'), ANTHROPIC_API_KEY: key, CLAUDE_CONFIG_DIR: join(folder, 'config') }
  }

  it('continues a conversation, starts another, and its events become a transcript', async () => {
    using directory = temporaryDirectory()
    const agent = commandAgent(claudeCode(null), surroundings(directory.path, 'key'))
    const folder = join(directory.path, 'evidence')

    const evidence = await run(agent, folder)

    expect(evidence).toMatchObject({
      outcome: 'done',
      agent: { name: 'claude-code', version: '2.1.0 (Claude Code)', model: 'claude-test-1' },
      usage: { input: 30, output: 15, cacheRead: 9, cacheWrite: 6 },
    })
    expect(evidence.sessions.map(({ answer }) => answer?.split(':')[0])).toEqual([
      'Saved.',
      'As you said',
      'The file says',
    ])
    const messages = await messagesOf(folder, evidence)
    expect(messages).toContainEqual({
      role: 'assistant',
      content: [
        {
          type: 'toolCall',
          id: 't2',
          name: 'read',
          arguments: { file_path: 'memory/MEMORY.md', path: 'memory/MEMORY.md' },
          params: { file_path: 'memory/MEMORY.md', path: 'memory/MEMORY.md' },
        },
      ],
    })
    expect(messages).toContainEqual({
      role: 'toolResult',
      toolCallId: 't2',
      toolName: 'read',
      content: [{ type: 'text', text: sampleTask().sessions[0]?.prompt }],
      isError: false,
    })
  })

  it('without a key is reported as not reached, which does not count as its failure', async () => {
    using directory = temporaryDirectory()
    const agent = commandAgent(claudeCode('opus'), surroundings(directory.path, 'wrong'))

    const evidence = await run(agent, join(directory.path, 'evidence'))

    expect(evidence).toMatchObject({ outcome: 'infra_error', reason: expect.stringContaining('Invalid API key') })
  })
})

/**
 * Stores agents and their sessions in its state folder, and always continues an agent's only session, regardless of the
 * given id.
 */
const fakeOpenclaw = `
const fs = require('node:fs')
const words = process.argv.slice(2)
if (words[0] === '--version') { console.log('OpenClaw 2026.5.1'); process.exit(0) }
const after = (name) => words[words.indexOf(name) + 1]
const agents = process.env.OPENCLAW_STATE_DIR + '/agents/'
if (words[0] === 'agents' && words[1] === 'add') {
  if (!words.includes('--non-interactive')) process.exit(1)
  fs.mkdirSync(agents + words[2] + '/sessions', { recursive: true })
  fs.writeFileSync(agents + words[2] + '/workspace', after('--workspace'))
  process.exit(0)
}
if (words[0] === 'agents' && words[1] === 'delete') {
  fs.appendFileSync(process.env.OPENCLAW_STATE_DIR + '/deleted', words[2] + '\\n')
  fs.rmSync(agents + words[2], { recursive: true })
  process.exit(0)
}
const home = agents + after('--agent')
const workspace = fs.readFileSync(home + '/workspace', 'utf8')
const prompt = after('--message')
const sessionId = 'own-' + after('--agent')
const file = home + '/sessions/' + sessionId + '.jsonl'
const history = fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : ''
const note = (message) => fs.appendFileSync(file, JSON.stringify({ type: 'message', id: '1', message }) + '\\n')
note({ role: 'user', content: [{ type: 'text', text: '[Mon 10:00] ' + prompt }] })
let text
if (prompt.startsWith('My')) {
  fs.mkdirSync(workspace + '/memory', { recursive: true }); fs.writeFileSync(workspace + '/memory/MEMORY.md', prompt)
  note({ role: 'assistant', content: [{ type: 'toolCall', id: 'c1', name: 'write', arguments: { path: 'memory/MEMORY.md' } }] })
  note({ role: 'toolResult', toolCallId: 'c1', toolName: 'write', content: [{ type: 'text', text: 'ok' }], isError: false })
  text = 'Saved.'
} else text = history === '' ? 'The file: ' + fs.readFileSync(workspace + '/memory/MEMORY.md', 'utf8') : 'You told me.'
note({ role: 'assistant', content: [{ type: 'text', text }] })
console.log('[plugins] loaded 3')
console.error(JSON.stringify({ payloads: [{ text, mediaUrl: null }], meta: { durationMs: 5, agentMeta: { sessionId, provider: 'openrouter', model: 'some/model', usage: { input: 7, output: 2 } } } }, null, 2))`

describe.skipIf(process.platform === 'win32')('openclaw', () => {
  it('gets a separate agent for each conversation in the same workspace, and removes them all', async () => {
    using directory = temporaryDirectory()
    mkdirSync(join(directory.path, 'bin'))
    mkdirSync(join(directory.path, 'state'))
    program(join(directory.path, 'bin'), 'openclaw', fakeOpenclaw)
    const environment = { PATH: join(directory.path, 'bin'), OPENCLAW_STATE_DIR: join(directory.path, 'state') }
    const folder = join(directory.path, 'evidence')

    const evidence = await run(commandAgent(openclaw(null, environment), environment), folder)

    expect(evidence).toMatchObject({
      outcome: 'done',
      reason: null,
      agent: { name: 'openclaw', version: 'OpenClaw 2026.5.1', model: 'some/model' },
      usage: { input: 21, output: 6 },
    })
    expect(evidence.sessions.map(({ answer, toolCalls }) => [answer?.split(':')[0], toolCalls])).toEqual([
      ['Saved.', 1],
      ['You told me.', 0],
      ['The file', 0],
    ])
    expect(
      readFileSync(join(directory.path, 'state', 'deleted'), 'utf8')
        .trim()
        .split('\n'),
    ).toHaveLength(2)
    const messages = await messagesOf(folder, evidence)
    expect(messages[1]).toMatchObject({ content: [{ name: 'write', params: { path: 'memory/MEMORY.md' } }] })
  })

  it('fails if it writes no document, with its output in the report', async () => {
    using directory = temporaryDirectory()
    program(directory.path, 'openclaw', `if (process.argv[2] === 'agent') console.error('Config is invalid')`)
    const environment = { PATH: directory.path, HOME: directory.path }

    const evidence = await run(commandAgent(openclaw('m', environment), environment), join(directory.path, 'evidence'))

    expect(evidence).toMatchObject({ outcome: 'agent_failed', reason: expect.stringContaining('Config is invalid') })
  })

  it('is reported as not reached if no agent can be created', async () => {
    using directory = temporaryDirectory()
    program(directory.path, 'openclaw', `console.error('gateway locked'); process.exitCode = 2`)
    const environment = { PATH: directory.path, HOME: directory.path }

    const evidence = await run(commandAgent(openclaw(null, environment), environment), join(directory.path, 'evidence'))

    expect(evidence).toMatchObject({ outcome: 'infra_error', reason: expect.stringContaining('gateway locked') })
  })
})
