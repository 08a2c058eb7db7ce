import Anthropic from '@anthropic-ai/sdk'
import { betaMemoryTool } from '@anthropic-ai/sdk/helpers/beta/memory'
import { describe, expect, it } from 'vitest'
import { memoryHandlers } from '../../src/adapters/anthropic.ts'
import { openMemory } from '../../src/library.ts'
import { temporaryDirectory } from '../temporary-directory.ts'

type Command = Readonly<Record<string, unknown>>

/** Runs commands of the memory tool through the SDK's own loop, with a scripted model that calls them in order. */
async function runCommands(dir: string, commands: readonly Command[]): Promise<readonly string[]> {
  const handlers = memoryHandlers({ dir, agent: 'helper' })
  const answers: string[] = []
  let place = 0
  const client = new Anthropic({
    apiKey: 'not a key',
    maxRetries: 0,
    fetch: async (_url, init) => {
      const { messages } = JSON.parse(String(init?.body))
      const results = messages.at(-1).content
      if (place > 0)
        answers.push(typeof results[0].content === 'string' ? results[0].content : results[0].content[0].text)
      const input = commands[place++]
      const content =
        input === undefined
          ? [{ type: 'text', text: 'Done.' }]
          : [{ type: 'tool_use', id: `call_${place}`, name: 'memory', input }]
      const stop_reason = input === undefined ? 'end_turn' : 'tool_use'
      return Response.json({
        id: `msg_${place}`,
        type: 'message',
        role: 'assistant',
        model: 'scripted',
        content,
        stop_reason,
        stop_sequence: null,
        usage: { input_tokens: 1, output_tokens: 1 },
      })
    },
  })
  await client.beta.messages.toolRunner({
    model: 'scripted',
    max_tokens: 100,
    max_iterations: commands.length + 1,
    messages: [{ role: 'user', content: 'Look after the notes.' }],
    tools: [betaMemoryTool(handlers)],
  })
  await handlers.close()
  return answers
}

const path = '/memories/staging_port.md'
const create = { command: 'create', path, file_text: 'The staging port is 5433.\nAsk Ben about it.' }

describe('the memory tool of Anthropic', () => {
  it('creates, views, edits, renames and deletes files, which are beliefs of the agent with their history', async () => {
    using directory = temporaryDirectory()
    const dir = directory.path
    const answers = await runCommands(dir, [
      { command: 'view', path: '/memories' },
      create,
      { command: 'view', path },
      { command: 'str_replace', path, old_str: '5433', new_str: '5434' },
      { command: 'insert', path, insert_line: 1, insert_text: 'It changed in May.\n' },
      { command: 'view', path, view_range: [1, 2] },
      { command: 'rename', old_path: path, new_path: '/memories/ports/staging.md' },
      { command: 'view', path: '/memories/ports' },
    ])
    expect(answers[0]).toMatch(/^Here're the files .*\n0\t\/memories$/u)
    expect(answers.slice(1)).toEqual([
      `File created successfully at: ${path}`,
      `Here's the content of ${path} with line numbers:\n     1\tThe staging port is 5433.\n     2\tAsk Ben about it.`,
      'The memory file has been edited.',
      `The file ${path} has been edited.`,
      `Here's the content of ${path} with line numbers:\n     1\tThe staging port is 5434.\n     2\tIt changed in May.`,
      `Successfully renamed ${path} to /memories/ports/staging.md`,
      expect.stringMatching(/\n\d+\t\/memories\/ports\/staging\.md$/u),
    ])

    const memory = openMemory({ dir, scopes: ['agent:helper'] })
    const belief = await memory.get('ports staging')
    expect(belief.provenance).toMatchObject({ actor: 'agent', origin: 'helper' })
    expect(belief.content).toBe('The staging port is 5434.\nIt changed in May.\nAsk Ben about it.')
    expect((await memory.history(belief.id)).chain.length).toBeGreaterThan(1)
    await memory.close()

    const deleted = await runCommands(dir, [
      { command: 'delete', path: '/memories/ports' },
      { command: 'view', path: '/memories/ports/staging.md' },
    ])
    expect(deleted[0]).toBe('Successfully deleted /memories/ports')
    expect(deleted[1]).toContain('does not exist')
  })

  it('makes an edit of a statement of the person wait for review', async () => {
    using directory = temporaryDirectory()
    const memory = openMemory({ dir: directory.path })
    await memory.remember({ name: 'staging port', content: 'The staging port is 5433.' })
    const answers = await runCommands(directory.path, [
      { command: 'str_replace', path: '/memories/staging-port.md', old_str: '5433', new_str: '22' },
      { command: 'delete', path: '/memories/staging-port.md' },
    ])
    expect(answers[0]).toContain('waits for their review')
    expect(answers[1]).toContain('person')
    expect((await memory.get('staging port')).content).toBe('The staging port is 5433.')
    expect(await memory.proposals()).not.toHaveLength(0)
    await memory.close()
  })

  it('refuses to be opened without the name of the agent', () => {
    using directory = temporaryDirectory()
    expect(() => memoryHandlers({ dir: directory.path, agent: ' ' })).toThrow('The option agent is missing.')
  })

  it('shows earlier conversations, which cannot be changed', async () => {
    using directory = temporaryDirectory()
    const memory = openMemory({ dir: directory.path })
    await memory.hear({ text: 'My dog is called Tamarind.', session: 'chat/7' })
    await memory.close()
    const chat = '/memories/conversations/chat%2F7'
    const answers = await runCommands(directory.path, [
      { command: 'view', path: '/memories/conversations' },
      { command: 'view', path: chat },
      { command: 'delete', path: chat },
    ])
    expect(answers[0]).toContain(chat)
    expect(answers[1]).toContain('My dog is called Tamarind.')
    expect(answers[2]).toContain('can only be read')
  })

  it.each([
    [{ command: 'view', path: '/etc/passwd' }, 'must start with /memories'],
    [{ command: 'view', path: '/memories/../etc' }, 'would escape'],
    [{ command: 'view', path: '/memories/none.md' }, 'does not exist'],
    [{ command: 'delete', path: '/memories' }, 'directory itself'],
    [{ command: 'str_replace', path, old_str: '99', new_str: '1' }, 'did not appear verbatim'],
    [{ command: 'str_replace', path, old_str: 't', new_str: '1' }, 'Multiple occurrences'],
    [{ command: 'insert', path, insert_line: 9, insert_text: 'x' }, '[0, 2]'],
    [create, 'already exists'],
    [{ command: 'rename', old_path: path, new_path: path }, 'already exists'],
    [{ command: 'create', path: '/memories/key.md', file_text: 'The password is hunter2-Stage!44.' }, 'password'],
  ])('refuses %j with the reason', async (command, reason) => {
    using directory = temporaryDirectory()
    const [, answer] = await runCommands(directory.path, [create, command])
    expect(answer).toContain(reason)
  })
})
