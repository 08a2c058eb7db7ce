import { existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { temporaryDirectory } from '../../../../test/temporary-directory.ts'
import { openMemory } from '../../../open-memory.ts'
import type { AgentTurn } from '../../agent.ts'
import { referenceAgent } from './reference-agent.ts'

const open = async (dir: string) => openMemory({ dir })
const agent = referenceAgent({ openMemory: open })
const patient = new AbortController().signal

/** Says prompts to an agent; a list of prompts is one conversation, and each list begins a new one. */
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

/** What is answered to the last prompt, each prompt in a conversation of its own. */
async function answered(...prompts: readonly string[]): Promise<string> {
  using directory = temporaryDirectory()
  const turns = await told(
    directory.path,
    prompts.map((prompt) => [prompt]),
  )
  return (turns.at(-1)?.answer ?? '').replaceAll(/You told me on \d{4}-\d\d-\d\d: /gu, '')
}

const notesIn = (workspace: string, path = 'memory/MEMORY.md'): string => readFileSync(join(workspace, path), 'utf8')
const toolsOf = ({ messages }: AgentTurn): readonly string[] =>
  messages.flatMap(({ role, content }) =>
    role === 'assistant' ? content.flatMap((block) => (block.type === 'toolCall' ? [block.name] : [])) : [],
  )
const unknown = 'I do not know: I was not told.'

describe('what the reference agent writes down', () => {
  it('goes into memory/MEMORY.md where no file is named, and the answer says so in the same words', async () => {
    using directory = temporaryDirectory()
    const [turn] = await told(directory.path, [['Please remember: my trainer is Selim and my shoe size is 43.']])

    expect(notesIn(directory.path)).toBe('my trainer is Selim and my shoe size is 43.\n')
    expect(turn?.answer).toContain('Saved in memory/MEMORY.md:\n\nmy trainer is Selim and my shoe size is 43.')
    expect(turn && toolsOf(turn)).toEqual(['memory_hear', 'read_file', 'write_file'])
  })

  it('goes into the file that is named, newest first, and what was there stays', async () => {
    using directory = temporaryDirectory()
    writeFileSync(join(directory.path, 'log.txt'), 'Written by hand.\n')
    await told(directory.path, [
      ['Put this in log.txt: the pump was serviced.'],
      ['Add this to log.txt: the lid is new.'],
    ])

    expect(notesIn(directory.path, 'log.txt')).toBe('the lid is new.\n\nthe pump was serviced.\n\nWritten by hand.\n')
    expect(existsSync(join(directory.path, 'memory', 'MEMORY.md'))).toBe(false)
  })

  it('never lands outside the workspace', async () => {
    using directory = temporaryDirectory()
    using elsewhere = temporaryDirectory()
    symlinkSync(elsewhere.path, join(directory.path, 'out'))
    const [turn] = await told(directory.path, [['Please save this in out/notes.md: the pump is dead.']])

    expect(turn?.answer).toBe('out/notes.md could not be written.')
    expect(readdirSync(elsewhere.path)).toEqual([])
  })

  it('is not what is only said, and not what is asked', async () => {
    using directory = temporaryDirectory()
    await told(directory.path, [['My brother plays the trombone.', 'What does my brother play?']])

    expect(existsSync(join(directory.path, 'memory', 'MEMORY.md'))).toBe(false)
  })

  it('keeps blocks, lists and tables as they stand', async () => {
    using directory = temporaryDirectory()
    const body = [
      '## House',
      'My postal address:\n\nIda Berg\nStorgata 14 B\n7012 Trondheim',
      '```sh\nssh admin@10.0.0.1  "reboot; exit"\n```',
      '| Room | Colour |\n|------|--------|\n| Kitchen | sage |',
      '- Ola: 555-0101\n- Kari: 555-0102',
    ].join('\n\n')
    await told(directory.path, [[`Please save all of this in memory/MEMORY.md.\n\n${body}\n\nThank you!`]])

    expect(notesIn(directory.path)).toContain(body)
  })

  it('is the same character for character, in the file and in the answer, whatever a block of code holds', async () => {
    const line = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }).filter((text) => {
      return !/[`~\r\n\0\u2028\u2029]/u.test(text) && text.isWellFormed() && text.trim() !== ''
    })
    await fc.assert(
      fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 4 }), async (lines) => {
        using directory = temporaryDirectory()
        const code = `\`\`\`\n${lines.join('\n')}\n\`\`\``
        const [, turn] = await told(directory.path, [
          [`Please keep this in memory/MEMORY.md.\n\nThe incantation of the wizard:\n\n${code}`],
          ['What is the incantation of the wizard?'],
        ])

        expect(notesIn(directory.path)).toContain(code)
        expect(turn?.answer).toContain(code)
      }),
      { numRuns: 25, seed: 11 },
    )
  })
})

describe('what the reference agent answers', () => {
  it('is what was told, with the day, after a search of the memory', async () => {
    using directory = temporaryDirectory()
    const [, turn] = await told(directory.path, [['Remember that my vet is Dr. Anders Lund.'], ['Who is my vet?']])

    expect(turn?.answer).toMatch(/^You told me on \d{4}-\d\d-\d\d: my vet is Dr\. Anders Lund\.$/u)
    expect(turn && toolsOf(turn)).toEqual(['memory_hear', 'memory_search'])
    expect(JSON.stringify(turn?.messages)).toContain('Anders Lund')
  })

  const facts =
    "Please remember these:\n- Ana's desk is 3A.\n- The code of Tom's bike lock is 4417.\n- My dog is called Biscuit."

  it.each([
    ['What is my dog called?', 'My dog is called Biscuit.'],
    [
      "Where is Ana's desk, and what is the code of Tom's bike lock?",
      "Ana's desk is 3A.\nThe code of Tom's bike lock is 4417.",
    ],
    [
      "1. Tom's bike lock\n2. Ana's desk\n\nTell me these.",
      "1. The code of Tom's bike lock is 4417.\n2. Ana's desk is 3A.",
    ],
    ['What is my blood type?', unknown],
    ["Where is Tom's desk?", unknown],
    ["What is the code of Ana's bike lock?", unknown],
    [
      'What is my dog called, and who is my accountant?',
      'My dog is called Biscuit.\nI do not know who is my accountant: I was not told.',
    ],
  ])('to %s is %s', async (question, expected) => {
    expect(await answered(facts, question)).toBe(expected)
  })

  it('is the newest of what was told about a thing, without the old value', async () => {
    const corrected = 'Actually, the release date of Paperboat is May 21, not May 7.'

    expect(
      await answered('The release date of Paperboat is May 7.', corrected, 'What is the release date of Paperboat?'),
    ).toBe('Actually, the release date of Paperboat is May 21.')
  })

  it('is the older one too where the question asks for it', async () => {
    const answer = await answered('My editor is Vim.', 'My editor is Helix now.', 'Which editor did I use before?')

    expect(answer).toBe('My editor is Helix now.\nMy editor is Vim.')
  })

  it('is not what somebody else said of themselves, nor the preface of an earlier question', async () => {
    expect(
      await answered(
        'My boat is called Aurelia.',
        'A colleague wrote to me: "My boat is called Stormvogel." Nice for him.',
        'I lost the papers of my boat. What is my boat called?',
        'What is my boat called?',
      ),
    ).toBe('My boat is called Aurelia.')
  })

  it.each([
    [
      'a row of a table with its header',
      '| Room | Colour |\n|---|---|\n| Kitchen | sage |\n| Bedroom | ochre |',
      'What colour is the bedroom?',
      '| Room | Colour | | Bedroom | ochre |',
    ],
    [
      'an address with what announces it',
      'My postal address:\n\nIda Berg\nStorgata 14 B',
      'What is my postal address?',
      'My postal address:\n\nIda Berg\nStorgata 14 B',
    ],
    [
      'a whole list by what announces it',
      'Emergency contacts:\n- Ola\n- Kari',
      'Who are my emergency contacts?',
      'Emergency contacts:\n- Ola\n- Kari',
    ],
    [
      'a sentence and the one that goes on with it',
      'The regatta cannot be on Sunday. It is on 20 June.',
      'When is the regatta?',
      'The regatta cannot be on Sunday. It is on 20 June.',
    ],
    [
      'the clause that is meant',
      "Ana's birthday is August 9, and Tom's birthday is November 30.",
      "When is Tom's birthday?",
      "Tom's birthday is November 30.",
    ],
  ])('may be %s', async (_, statement, question, expected) => {
    expect(await answered(statement, question)).toBe(expected)
  })
})

describe('what is not to be kept', () => {
  it.each([
    'Between us, please do not store this: my locker code is heron-5582.',
    "My locker code is heron-5582. Please don't save that.",
    'My locker code is heron-5582. It does not go in the file!',
    'One thing must not go in the file: my locker code is heron-5582.',
    "Don't write this one down, my locker code is heron-5582.",
  ])('is in no file, and the rest of the message is kept: %s', async (secret) => {
    using directory = temporaryDirectory()
    const turns = await told(directory.path, [
      [`Please save this in memory/MEMORY.md.\n\nMy gym is Kraftwerk Nord.\n\n${secret}`],
      ['What is my gym? What is my locker code?'],
    ])

    expect(turns[0]?.answer).toContain('I left out what you asked me not to keep.')
    expect(turns[1]?.answer).toMatch(/Kraftwerk Nord\.\nI do not know: I was not told\.$/u)
    const files = readdirSync(directory.path, { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    )
    const leaks = files.filter(({ parentPath, name }) => readFileSync(join(parentPath, name)).includes('heron'))
    expect(leaks.map(({ name }) => name)).toEqual([])
  })

  it.each(['I want to sit down.', 'Do not go down that road.', 'The lid is not in the file yet.'])(
    'is not %s',
    async (statement) => {
      using directory = temporaryDirectory()
      const [turn] = await told(directory.path, [[statement]])

      expect(turn?.answer).not.toContain('left out')
    },
  )
})
