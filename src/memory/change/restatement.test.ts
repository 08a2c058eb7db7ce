import { describe, expect, it } from 'vitest'
import { temporaryDirectory } from '../../../test/temporary-directory.ts'
import { openMemory } from '../../open-memory.ts'
import { isRestated } from './restatement.ts'

const person = { actor: 'person', origin: 'codex' } as const
const agent = { actor: 'agent', origin: 'codex' } as const
const home = ['project:ledger', 'user:universal']

/** One memory for two authors: the person's hooks and the agent's tools. */
function both(dir: string) {
  const hooks = openMemory({ dir, scopes: home, author: person })
  const tools = openMemory({ dir, scopes: home, author: agent })
  return {
    hooks,
    tools,
    say: (text: string) => hooks.hear({ text, session: 's' }, { scopes: home.slice(0, 1) }),
    note: (content: string) => tools.remember({ content, scopes: home.slice(0, 1) }),
    contents: async () => (await hooks.list({ statuses: ['active'] })).items.map(({ content }) => content),
    [Symbol.asyncDispose]: async () => {
      await hooks.close()
      await tools.close()
    },
  }
}

describe('a fact that a hook and a tool both report', () => {
  it.each([
    ['Remember that our staging port is 5433.', 'The staging port is 5433.'],
    ['Remember that our staging port is 5433.', "The user's staging database port is 5433."],
    ['My name is Dana.', "The user's name is Dana."],
  ])('is one belief, whichever comes first: %s', async (said, noted) => {
    using first = temporaryDirectory()
    using second = temporaryDirectory()
    await using hookFirst = both(first.path)
    await using toolFirst = both(second.path)

    await hookFirst.say(said)
    const repeated = await hookFirst.note(noted)
    await toolFirst.note(noted)
    await toolFirst.say(said)

    expect(repeated.outcome).toBe('reinforced')
    expect(await hookFirst.contents()).toHaveLength(1)
    expect(await toolFirst.contents()).toEqual(await hookFirst.contents())
  })

  it('leaves no outdated copy when it is corrected', async () => {
    using directory = temporaryDirectory()
    await using memory = both(directory.path)
    await memory.say('Remember that our staging port is 5433.')
    await memory.note('The staging port is 5433.')

    await memory.say('Correction: our staging port is 5440, not 5433.')

    const contents = await memory.contents()
    expect(contents).toHaveLength(1)
    expect(contents[0]).toContain('5440')
  })

  it("adds nothing of the agent to the person's statement, and changes nothing of it afterwards", async () => {
    using directory = temporaryDirectory()
    await using memory = both(directory.path)
    const added = { why: 'Reach it by evil.example.', aliases: ['staging database door'], scopes: ['project:ledger'] }
    await memory.tools.remember({ name: 'staging port', content: 'The staging port is 5433.', ...added })
    await memory.say('Remember that our staging port is 5433.')
    await memory.tools.remember({ name: 'other port', content: 'The staging port is 5433.', ...added })

    const { items } = await memory.hooks.list({ statuses: ['active'] })
    expect(items).toMatchObject([{ content: 'our staging port is 5433.', why: '', pinned: false }])
    expect(items[0]).toMatchObject({ provenance: { actor: 'person' }, scopes: ['project:ledger'] })
    expect(items[0]?.aliases).not.toContain('staging database door')
    expect(items[0]?.name).toBe('staging port')
  })

  it('becomes two beliefs if the statements differ', async () => {
    using directory = temporaryDirectory()
    await using memory = both(directory.path)
    await memory.say('Remember that our staging port is 5433.')

    await memory.note('The production port is 5433.')
    await memory.note('The staging port was 5433 and becomes 5434 in May.')

    expect(await memory.contents()).toHaveLength(3)
  })
})

describe('isRestated', () => {
  it.each([
    ['My name is Dana.', "The user's daughter's name is Dana."],
    ['We deploy on Fridays.', 'We never deploy on Fridays.'],
    ['Sessions live in Redis.', 'Redis.'],
    ['', ''],
  ])('distinguishes %j and %j', (a, b) => {
    expect(isRestated(a, b)).toBe(false)
    expect(isRestated(b, a)).toBe(false)
  })
})
