import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { temporaryDirectory } from '../../../test/temporary-directory.ts'
import { openMemory } from '../../open-memory.ts'
import type { AgentTurn } from '../agent.ts'
import { referenceAgent } from './reference-agent.ts'

const open = async (dir: string) => openMemory({ dir })
const agent = referenceAgent({ openMemory: open })
const patient = new AbortController().signal

/** Sends prompts to an agent. Each inner list is a separate conversation. */
async function told(
  workspace: string,
  conversations: readonly (readonly string[])[],
  who = agent,
): Promise<readonly AgentTurn[]> {
  const atWork = await who.start({ workspace, signal: patient })
  const turns: AgentTurn[] = []
  for (const prompts of conversations) {
    const conversation = await atWork.open()
    expect(conversation.messageCount()).toBe(0)
    for (const prompt of prompts) turns.push(await conversation.send(prompt, patient))
    await conversation.close()
  }
  await atWork.stop()
  return turns
}

/** The answer to the last prompt; each prompt starts a new conversation. */
async function answered(...prompts: readonly string[]): Promise<string> {
  using directory = temporaryDirectory()
  const turns = await told(
    directory.path,
    prompts.map((prompt) => [prompt]),
  )
  return turns.at(-1)?.answer ?? ''
}

const notesIn = (workspace: string, path = 'memory/MEMORY.md'): string => readFileSync(join(workspace, path), 'utf8')
const toolsOf = ({ messages }: AgentTurn): readonly string[] =>
  messages.flatMap(({ role, content }) =>
    role === 'assistant' ? content.flatMap((block) => (block.type === 'toolCall' ? [block.name] : [])) : [],
  )
const unknown = 'I do not know.'

describe('the reference agent writes', () => {
  it.each([
    'Please remember: my trainer is Selim.',
    'My brother plays the trombone.',
    'Could you look after a few notes for me?\n\n- My dog is called Tamarind.',
    'Wie heißt das?\n\nMein Hund heißt Tamarind.',
    '## House\n\nIda Berg\nStorgata 14 B\n\n```sh\nssh admin@10.0.0.1  "reboot; exit"\n```\n\n| Room | Colour |\n|---|---|\n| Kitchen | sage |',
  ])('the whole message into memory/MEMORY.md if it names no file: %j', async (message) => {
    using directory = temporaryDirectory()
    const [turn] = await told(directory.path, [[message]])

    expect(notesIn(directory.path)).toBe(`${message}\n`)
    expect(turn?.answer).toContain('Saved in memory/MEMORY.md.')
    expect(turn && toolsOf(turn)).toEqual(expect.arrayContaining(['memory_hear', 'read_file', 'write_file']))
  })

  it('into every file that the message names, below its earlier content', async () => {
    using directory = temporaryDirectory()
    writeFileSync(join(directory.path, 'log.md'), 'Written by hand.\n')
    const messages = ['Put this in `log.md` and notes/all.md: the pump was serviced.', 'Add to log.md: the lid is new.']
    await told(
      directory.path,
      messages.map((message) => [message]),
    )

    expect(notesIn(directory.path, 'log.md')).toBe(`Written by hand.\n\n${messages[0]}\n\n${messages[1]}\n`)
    expect(notesIn(directory.path, 'notes/all.md')).toBe(`${messages[0]}\n`)
    expect(existsSync(join(directory.path, 'memory', 'MEMORY.md'))).toBe(false)
  })

  it('nothing outside the workspace', async () => {
    using directory = temporaryDirectory()
    using elsewhere = temporaryDirectory()
    symlinkSync(elsewhere.path, join(directory.path, 'out'))
    const [turn] = await told(directory.path, [['Save this in out/notes.md and ../up.md: the pump is dead.']])

    expect(turn?.answer).toBe('out/notes.md could not be written.\n../up.md could not be written.')
    expect(readdirSync(elsewhere.path)).toEqual([])
  })

  it.each(['What does my brother play?', 'From memory/MEMORY.md:\n\n1. Who is it?\n2. Where is it?'])(
    'nothing if the message is only a question: %j',
    async (message) => {
      using directory = temporaryDirectory()
      await told(directory.path, [[message]])

      expect(existsSync(join(directory.path, 'memory', 'MEMORY.md'))).toBe(false)
    },
  )

  it('nothing that is off the record', async () => {
    using directory = temporaryDirectory()
    const turns = await told(directory.path, [
      ['Between us, please do not store this: my locker code is heron-5582.'],
      ['What is my locker code?'],
    ])

    expect(turns.map(({ answer }) => answer)).toEqual(['I have not stored this.', unknown])
    const files = readdirSync(directory.path, { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    )
    const leaks = files.filter(({ parentPath, name }) => readFileSync(join(parentPath, name)).includes('heron'))
    expect(leaks.map(({ name }) => name)).toEqual([])
  })

  it('every message character for character', async () => {
    const line = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }).filter((text) => {
      return !/[\r\0\u2028\u2029]|\.md/u.test(text) && text.isWellFormed() && text.trim() !== ''
    })
    await fc.assert(
      fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 4 }), async (lines) => {
        using directory = temporaryDirectory()
        const message = `The incantation of the wizard:\n\n${lines.join('\n')}\n\nIt works.`
        await told(directory.path, [[message]])

        expect(notesIn(directory.path)).toBe(`${message}\n`)
      }),
      { numRuns: 25, seed: 11 },
    )
  })
})

describe('the reference agent answers', () => {
  it('with the sentences that a search finds, in a conversation without earlier messages', async () => {
    using directory = temporaryDirectory()
    const [, turn] = await told(directory.path, [
      ['I have a cat. My vet is Dr. Anders Lund. The garden is wet.'],
      ['Who is my vet?'],
    ])

    expect(turn?.answer).toBe('My vet is Dr. Anders Lund.')
    expect(turn && toolsOf(turn)).toEqual(['memory_search', 'memory_hear'])
  })

  it('every question separately, and admits what it does not know', async () => {
    const facts = '- The gate code is 4711.\n- The cellar is dry.\n- Our plumber is Ilse Kahn.'

    expect(await answered(facts, 'What is the gate code?\nWho is our accountant?\nWho is our plumber?')).toBe(
      ['- The gate code is 4711.', unknown, '- Our plumber is Ilse Kahn.'].join('\n'),
    )
  })

  it('with at most three sentences, and without earlier questions', async () => {
    const facts = [1, 2, 3, 4, 5].map((room) => `The lamp of room ${room} is broken.`).join(' ')
    const answer = await answered(facts, 'Is a lamp broken?', 'Which lamp is broken?')

    expect(answer.split('\n')).toHaveLength(3)
    expect(answer).not.toContain('Is a lamp')
  })

  it('nothing if the memory is gone', async () => {
    expect(await answered('Who is my vet?')).toBe(unknown)
  })

  it('a message without a question with the related sentences', async () => {
    expect(await answered('My vet is Dr. Lund.', 'Tell me about my vet.')).toBe(
      'Saved in memory/MEMORY.md.\nMy vet is Dr. Lund.',
    )
  })
})
