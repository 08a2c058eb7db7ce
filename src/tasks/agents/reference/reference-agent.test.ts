import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { temporaryDirectory } from '../../../../test/temporary-directory.ts'
import { openMemory } from '../../../open-memory.ts'
import type { Turn } from '../../agent.ts'
import { referenceAgent } from './reference-agent.ts'

const agent = referenceAgent({ openMemory: async (dir) => openMemory({ dir, mirror: true }) })
const patient = new AbortController().signal

/** Says prompts to the agent; a list of prompts is one conversation, and each list begins a new one. */
async function told(workspace: string, ...conversations: readonly (readonly string[])[]): Promise<readonly Turn[]> {
  const atWork = await agent.start({ workspace, signal: patient })
  const turns: Turn[] = []
  for (const prompts of conversations) {
    const conversation = await atWork.open()
    expect(conversation.messageCount()).toBe(0)
    for (const prompt of prompts) turns.push(await conversation.send(prompt, patient))
    await conversation.close()
  }
  await atWork.stop()
  return turns
}

const toolsOf = ({ messages }: Turn): readonly string[] =>
  messages.flatMap(({ role, content }) =>
    role === 'assistant' ? content.flatMap((block) => (block.type === 'toolCall' ? [block.name] : [])) : [],
  )
const last = (turns: readonly Turn[]): string => turns.at(-1)?.answer ?? ''

describe('the reference agent', () => {
  it('keeps what it is told in memory/MEMORY.md, and says so in the same words', async () => {
    using directory = temporaryDirectory()
    const [turn] = await told(directory.path, [
      ['Please remember: my trainer is Selim and my shoe size is 43.'].join(''),
    ])

    const file = readFileSync(join(directory.path, 'memory', 'MEMORY.md'), 'utf8')
    expect(file).toContain('my trainer is Selim')
    expect(turn?.answer).toMatch(/stored this in memory\/MEMORY\.md:[\s\S]*my trainer is Selim[\s\S]*43/u)
    expect(turn?.usage).toEqual({ input: 0, output: 0, cacheRead: 0, cacheWrite: 0 })
    expect(turn && toolsOf(turn)).toContain('memory_remember')
  })

  it('answers in a fresh conversation, having read the file, with what was said', async () => {
    using directory = temporaryDirectory()
    const turns = await told(directory.path, ['Remember that my vet is Dr. Anders Lund.'], ['Who is my vet?'])

    expect(last(turns)).toBe('You told me: my vet is Dr. Anders Lund.')
    const recall = turns[1] as Turn
    expect(toolsOf(recall)).toEqual(['read_file', 'memory_search'])
    const read = recall.messages.find(({ role }) => role === 'toolResult')
    expect(read).toMatchObject({ toolName: 'read_file', isError: false })
    expect(JSON.stringify(read)).toContain('Anders Lund')
    expect(recall.messages.at(-1)).toMatchObject({ role: 'assistant', content: [{ type: 'text', text: last(turns) }] })
  })

  it('gives every tool call its arguments twice, and a result under the same id', async () => {
    using directory = temporaryDirectory()
    const turns = await told(directory.path, ['Remember that my vet is Dr. Anders Lund. Who is my vet?'])

    const calls = turns[0]?.messages.flatMap((message) =>
      message.role === 'assistant' ? message.content.filter((block) => block.type === 'toolCall') : [],
    )
    const results = turns[0]?.messages.flatMap((message) => (message.role === 'toolResult' ? [message.toolCallId] : []))
    expect(calls?.every((call) => call.arguments === call.params)).toBe(true)
    expect(calls?.map(({ id }) => id)).toEqual(results)
    expect(new Set(results).size).toBe(results?.length)
  })

  it('knows nothing and makes nothing where nothing was told', async () => {
    using directory = temporaryDirectory()
    const turns = await told(directory.path, ['What is my blood type?'])

    expect(last(turns)).toMatch(/I don't know/u)
    expect(existsSync(join(directory.path, 'memory'))).toBe(false)
    expect(turns[0]?.messages.find(({ role }) => role === 'toolResult')).toMatchObject({ isError: true })
  })

  it('knows nothing once its memory is gone', async () => {
    using directory = temporaryDirectory()
    await told(directory.path, ['Remember that my vet is Dr. Anders Lund.'])
    rmSync(join(directory.path, 'memory'), { recursive: true })
    const turns = await told(directory.path, ['Who is my vet?'])

    expect(last(turns)).toMatch(/I don't know/u)
    expect(last(turns)).not.toContain('Lund')
  })

  it('gives what holds now, and not what was corrected', async () => {
    using directory = temporaryDirectory()
    const turns = await told(
      directory.path,
      ['Remember: the release date is May 7.', 'Actually, the release date is May 21, not May 7.'],
      ['What is the release date?'],
    )

    expect(last(turns)).toContain('May 21')
    expect(last(turns)).not.toContain('May 7')
  })

  it('keeps nothing of what is not to be kept, in no file, and says so', async () => {
    using directory = temporaryDirectory()
    const turns = await told(
      directory.path,
      ['Remember that my gym is Nord.', 'Please do not store this: my locker code is heron-5582.'],
      ['What is my locker code?'],
    )

    expect(turns[1]?.answer).toMatch(/left out/u)
    expect(turns[1]?.answer).not.toContain('5582')
    expect(last(turns)).toMatch(/I don't know/u)
    expect(last(turns)).not.toContain('5582')
  })

  it('forgets when asked to', async () => {
    using directory = temporaryDirectory()
    const turns = await told(
      directory.path,
      ['Remember that my shoe size is 44 and my hat size is 58.', 'Please forget my shoe size.'],
      ['What is my shoe size?', 'What is my hat size?'],
    )

    expect(turns[2]?.answer).toMatch(/I don't know/u)
    expect(turns[3]?.answer).toContain('58')
  })

  it('forgets all that was told about something, and says how much that was', async () => {
    using directory = temporaryDirectory()
    const turns = await told(
      directory.path,
      [
        'Remember that my landlord is Mr. Quill, my therapist is Dr. Amadi and my therapist works on Mondays.',
        'You can forget what I said about my therapist.',
      ],
      ['Who is my therapist?', 'Who is my landlord?'],
    )

    expect(turns[1]?.answer).toContain('2 statements')
    expect(turns[2]?.answer).not.toContain('Amadi')
    expect(turns[3]?.answer).toContain('Quill')
    expect(readFileSync(join(directory.path, 'memory', 'MEMORY.md'), 'utf8')).not.toMatch(/Amadi|therapist/u)
  })

  it('keeps what a correction does not repeat', async () => {
    using directory = temporaryDirectory()
    const turns = await told(
      directory.path,
      ['Remember that I take 75 mg of levothyroxine in the morning.', 'The levothyroxine is 95 mg now.'],
      ['How much levothyroxine do I take, and when?'],
    )

    expect(last(turns)).toContain('95 mg')
    expect(last(turns)).toContain('in the morning')
    expect(last(turns)).not.toContain('75 mg')
  })

  it("reads somebody else's memory file", async () => {
    using directory = temporaryDirectory()
    mkdirSync(join(directory.path, 'memory'))
    const file = join(directory.path, 'memory', 'MEMORY.md')
    writeFileSync(file, '# About Priya\n\nPriya works at Northwind. The project codename is **Black Kite**.\n')
    const turns = await told(directory.path, ['What is the project codename, and where does Priya work?'])

    expect(last(turns)).toContain('Black Kite')
    expect(last(turns)).toContain('Northwind')
    expect(readFileSync(file, 'utf8')).toContain('Priya works at Northwind.')
  })

  it('reads a file that the prompt names, and writes the answer where it is wanted', async () => {
    using directory = temporaryDirectory()
    writeFileSync(join(directory.path, 'notes.md'), 'Alpha release: March 15\nBeta release: June 1, 2024\n')
    await told(directory.path, ['Read notes.md. When is the beta release? Write the answer to `out/answer.txt`.'])

    expect(readFileSync(join(directory.path, 'out', 'answer.txt'), 'utf8')).toBe('Beta release: June 1, 2024\n')
  })

  it('writes nothing outside of its workspace', async () => {
    using directory = temporaryDirectory()
    const workspace = join(directory.path, 'workspace')
    mkdirSync(workspace)
    symlinkSync(directory.path, join(workspace, 'out'))
    await told(workspace, [
      'Remember that my gym is Nord.',
      'What is my gym? Write the answer to ../answer.txt and save it to out/answer.txt.',
    ])

    expect(existsSync(join(directory.path, 'answer.txt'))).toBe(false)
  })

  it('tells everything it knows', async () => {
    using directory = temporaryDirectory()
    const turns = await told(
      directory.path,
      ['Please remember: I play the oboe. My favourite mountain is Triglav.'],
      ['List everything you remember about me.'],
    )

    expect(last(turns)).toMatch(/oboe[\s\S]*Triglav/u)
  })

  it('stops when time is up', async () => {
    using directory = temporaryDirectory()
    const atWork = await agent.start({ workspace: directory.path, signal: patient })
    const conversation = await atWork.open()

    await expect(
      conversation.send('Remember that my gym is Nord.', AbortSignal.abort(new Error('late'))),
    ).rejects.toThrow('late')
    expect(existsSync(join(directory.path, 'memory'))).toBe(false)
  })
})
