import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { fails, says, scriptedEndpoint } from '../../../test/models/scripted-endpoint.ts'
import { sampleTask } from '../../../test/tasks/sample-task.ts'
import { temporaryDirectory } from '../../../test/temporary-directory.ts'
import { MemoryError } from '../../errors.ts'
import type { ChatMessage, ChatModel, ChatReply, ChatRequest } from '../../models/chat-model.ts'
import { modelFrom } from '../../models/open-chat-model.ts'
import { openMemory } from '../../open-memory.ts'
import { executeTask } from '../run/execute-task.ts'
import { toolLoopAgent } from './tool-loop-agent.ts'
import { fileTools } from './tools.ts'

type Said = Partial<ChatReply>

/** A scripted model: a function computes each reply from the request. */
const modelOf = (
  say: (request: ChatRequest) => Said | Promise<Said>,
): ChatModel & { readonly requests: ChatRequest[] } => {
  const requests: ChatRequest[] = []
  return {
    provider: 'openai',
    model: 'test-model',
    requests,
    reply: async (request) => {
      requests.push(request)
      const usage = { input: 10, output: 1, cacheRead: 0, cacheWrite: 0 }
      const said = await say(request)
      return { text: '', toolCalls: [], stopReason: 'end', usage, model: 'test-model-2026', ...said }
    },
  }
}

const call = (name: string, given: Record<string, unknown>): Said => ({
  toolCalls: [{ id: `call-${name}`, name, arguments: given }],
  stopReason: 'tools',
})
const last = ({ messages }: ChatRequest): ChatMessage => {
  const message = messages.at(-1)
  if (message === undefined) throw new Error('A request has messages.')
  return message
}

const run = (model: ChatModel, folder: string, more: object = {}) =>
  executeTask({
    task: sampleTask(),
    agent: toolLoopAgent({
      model,
      openMemory: (dir) => openMemory({ dir, scopes: ['project:task'], author: { actor: 'agent', origin: 'test' } }),
    }),
    folder,
    repeat: 1,
    seed: 1,
    control: 'none',
    signal: new AbortController().signal,
    now: () => new Date('2026-01-02T03:04:05Z'),
    ...more,
  })

/** Stores each statement, and searches for the answer to each question. */
const rememberingModel = () =>
  modelOf((request) => {
    const said = last(request)
    if (said.role === 'tool') return { text: said.name === 'memory_search' ? `I found: ${said.text}` : 'Saved.' }
    if (said.role === 'user' && said.text.startsWith('My')) {
      return call('memory_remember', { name: 'boat', content: 'My boat is called Petrel.', aliases: ['ship'] })
    }
    return call('memory_search', { query: 'boat' })
  })

describe('a model with tools', () => {
  it('remembers across conversations through the memory, and every call is in the transcript', async () => {
    using directory = temporaryDirectory()
    const model = rememberingModel()

    const evidence = await run(model, directory.path)

    expect(evidence).toMatchObject({
      outcome: 'done',
      agent: { name: 'openai', model: 'test-model' },
      usage: { input: 60, output: 6 },
    })
    expect(evidence.sessions.map(({ answer, priorMessages, toolCalls }) => [answer, priorMessages, toolCalls])).toEqual(
      [
        ['Saved.', 0, 1],
        ['I found: - (from the agent test) boat: My boat is called Petrel.', 4, 1],
        ['I found: - (from the agent test) boat: My boat is called Petrel.', 0, 1],
      ],
    )
    expect(model.requests.map(({ messages }) => messages.length)).toEqual([1, 3, 5, 7, 1, 3])
    const text = readFileSync(join(directory.path, 'transcript.jsonl'), 'utf8')
    expect(text).toContain(
      '"type":"toolCall","id":"call-memory_search","name":"memory_search","arguments":{"query":"boat"},"params":{"query":"boat"}',
    )
  })

  it('knows nothing in a new conversation if the memory was removed', async () => {
    using directory = temporaryDirectory()

    const evidence = await run(rememberingModel(), directory.path, { control: 'no-memory' })

    expect(evidence.sessions[2]?.answer).toBe('I found: Nothing is remembered about that.')
    expect(evidence.events).toContainEqual(expect.objectContaining({ kind: 'memory_removed', paths: ['memory'] }))
  })

  it('gets an error for a wrong call, and may correct it', async () => {
    using directory = temporaryDirectory()
    const attempts = [
      call('fly', {}),
      call('read_file', { file: 'a' }),
      call('read_file', { path: '../../etc/passwd' }),
      call('memory_forget', { name: 'nothing like it' }),
      { text: 'I give up.' },
    ]
    const model = modelOf(() => attempts.shift() ?? { text: 'done' })

    const { sessions } = await run(model, directory.path)

    const results = model.requests[4]?.messages.flatMap((message) => (message.role === 'tool' ? [message] : []))
    expect(results?.map(({ isError }) => isError)).toEqual([true, true, true, true])
    expect(results?.map(({ text }) => text)).toEqual([
      expect.stringContaining('There is no tool fly. There are read_file'),
      expect.stringContaining('read_file: '),
      '../../etc/passwd is not a path inside the workspace.',
      expect.stringContaining('nothing like it'),
    ])
    expect(sessions[0]?.answer).toBe('I give up.')
  })

  it('fails if it never stops using tools', async () => {
    using directory = temporaryDirectory()

    const evidence = await run(
      modelOf(() => call('list_files', {})),
      directory.path,
    )

    expect(evidence).toMatchObject({ outcome: 'agent_failed', reason: expect.stringContaining('used tools 24 times') })
    expect(evidence.sessions[0]?.toolCalls).toBe(24)
  })

  it('is reported as not reached if its endpoint does not exist', async () => {
    using directory = temporaryDirectory()
    const model = modelOf(() => Promise.reject(new MemoryError('unavailable', 'No endpoint.', { hint: 'Start it.' })))

    const evidence = await run(model, directory.path)

    expect(evidence).toMatchObject({ outcome: 'infra_error', reason: 'No endpoint. Start it.' })
  })

  it('runs out of time if the endpoint does not answer in time', async () => {
    using directory = temporaryDirectory()
    const model = modelOf(
      ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    )

    const evidence = await run(model, directory.path, { timeoutMultiplier: 0.01 })

    expect(evidence.outcome).toBe('agent_timeout')
  })
})

describe.each(['openai', 'anthropic'] as const)('%s over HTTP', (provider) => {
  it('reads a file that it wrote in an earlier conversation', async () => {
    using directory = temporaryDirectory()
    const use = (name: string, given: object) => ({ kind: 'answer' as const, toolCalls: [{ name, arguments: given }] })
    await using endpoint = await scriptedEndpoint([
      use('write_file', { path: 'memory/MEMORY.md', content: 'The boat is Petrel.' }),
      says('Saved.'),
      says('Petrel.'),
      use('read_file', { path: 'memory/MEMORY.md' }),
      says('It is called Petrel.'),
    ])
    const url = provider === 'openai' ? endpoint.openaiUrl : endpoint.anthropicUrl

    const evidence = await run(modelFrom({ provider, model: 'some-model', url }, 'k'), directory.path)

    expect(evidence).toMatchObject({ outcome: 'done', agent: { name: provider, model: 'some-model' } })
    expect(evidence.sessions.map(({ answer }) => answer)).toEqual(['Saved.', 'Petrel.', 'It is called Petrel.'])
    expect(JSON.stringify(endpoint.requests[3]?.body)).not.toContain('Saved.')
    expect(JSON.stringify(endpoint.requests[4]?.body)).toContain('The boat is Petrel.')
    expect(evidence.workspace.map(({ path }) => path)).toEqual(['workspace/memory/MEMORY.md'])
  })

  it('is reported as not reached if the endpoint refuses the request', async () => {
    using directory = temporaryDirectory()
    await using endpoint = await scriptedEndpoint([fails(401, 'wrong key')])
    const url = provider === 'openai' ? endpoint.openaiUrl : endpoint.anthropicUrl

    const evidence = await run(modelFrom({ provider, model: 'some-model', url }, 'k'), directory.path)

    expect(evidence).toMatchObject({
      outcome: 'infra_error',
      reason: expect.stringContaining('does not accept the key'),
    })
  })
})

describe('the file tools', () => {
  const toolIn = (workspace: string, name: string) => {
    const tool = fileTools(workspace).find((one) => one.name === name)
    if (tool === undefined) throw new Error(`There is a tool ${name}.`)
    return tool.use
  }

  it('write, list and read files of the workspace', async () => {
    using directory = temporaryDirectory()
    const [write, list, read] = ['write_file', 'list_files', 'read_file'].map((name) => toolIn(directory.path, name))

    await write?.({ path: 'memory/MEMORY.md', content: 'Petrel' })

    expect(await list?.({})).toBe('memory/MEMORY.md (6 bytes)')
    expect(await list?.({ path: 'memory/' })).toBe('memory/MEMORY.md (6 bytes)')
    expect(await list?.({ path: 'mem' })).toBe('There are no files in mem.')
    expect(await read?.({ path: './memory/MEMORY.md' })).toBe('Petrel')
  })

  it.each([
    '../outside.txt',
    '/etc/hostname',
    'a/../../outside.txt',
    'C:\\outside.txt',
    'link/inside.txt',
    'file-link',
    'dangling',
    '',
    'folder',
  ])('neither read nor write %s', async (path) => {
    using directory = temporaryDirectory()
    const workspace = join(directory.path, 'workspace')
    const outside = join(directory.path, 'outside')
    for (const folder of [workspace, outside, join(workspace, 'folder')]) mkdirSync(folder)
    writeFileSync(join(outside, 'inside.txt'), 'secret')
    symlinkSync(outside, join(workspace, 'link'))
    symlinkSync(join(outside, 'inside.txt'), join(workspace, 'file-link'))
    symlinkSync(join(outside, 'new.txt'), join(workspace, 'dangling'))

    await expect(toolIn(workspace, 'read_file')({ path })).rejects.toMatchObject({ name: 'ToolRefusal' })
    await expect(toolIn(workspace, 'write_file')({ path, content: 'x' })).rejects.toMatchObject({ name: 'ToolRefusal' })

    expect(readFileSync(join(outside, 'inside.txt'), 'utf8')).toBe('secret')
    expect(existsSync(join(outside, 'new.txt'))).toBe(false)
    expect(existsSync(join(directory.path, 'outside.txt'))).toBe(false)
  })

  it('do not create folders through a link', async () => {
    using directory = temporaryDirectory()
    const workspace = join(directory.path, 'workspace')
    for (const name of ['workspace', 'outside']) mkdirSync(join(directory.path, name))
    symlinkSync(join(directory.path, 'outside'), join(workspace, 'link'))

    await expect(toolIn(workspace, 'write_file')({ path: 'link/a/b.txt', content: 'x' })).rejects.toThrow(
      'not a path inside',
    )

    expect(existsSync(join(directory.path, 'outside', 'a'))).toBe(false)
  })

  it('show only the first part of a huge file, with a note', async () => {
    using directory = temporaryDirectory()
    writeFileSync(join(directory.path, 'big'), 'x'.repeat(300 * 1024))

    const text = await toolIn(directory.path, 'read_file')({ path: 'big' })

    expect(text).toContain('[cut: the file has 307200 bytes')
    await expect(
      toolIn(directory.path, 'write_file')({ path: 'more', content: 'x'.repeat(2 * 1024 * 1024) }),
    ).rejects.toThrow('at most')
  })
})
