import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { call, person, servedMemory } from './served-memory.ts'

const canary = 'canary-4711'

/** Every tool, with a reference to a belief outside its boundary. */
const attempts = (reference: string): readonly [string, Record<string, unknown>][] => [
  ['memory_search', { query: `Where is ${reference} and the secret plan of ${canary}?` }],
  ['memory_get', { id: reference }],
  ['memory_correct', { id: reference, content: 'Taken over.' }],
  ['memory_forget', { id: reference }],
  ['memory_status', {}],
  ['memory_proposals', {}],
]

describe('a server', () => {
  it('shows and changes nothing of another user or of a scope out of view, with any tool', async () => {
    const elsewhere = fc.constantFrom(
      { user: 'eve', scope: 'project:ledger' },
      { user: 'ada', scope: 'project:other' },
      { user: 'ADA', scope: 'user:universal' },
      { user: 'ada', scope: 'project:ledger/api' },
    )
    await fc.assert(
      fc.asyncProperty(elsewhere, fc.constantFrom('name', 'id', 'start of id', 'alias'), async (home, by) => {
        await using served = servedMemory()
        const owner = served.memoryAs(person, home.user)
        const { belief } = await owner.remember({
          name: 'secret plan',
          aliases: ['plan b'],
          content: `It says ${canary}.`,
          scopes: [home.scope],
        })
        await owner.correct(belief.id, { content: `It says ${canary} again.` })
        const before = await owner.events()
        const client = await served.connect()
        const references = { name: 'secret plan', id: belief.id, 'start of id': belief.id.slice(0, 4), alias: 'plan b' }

        for (const [name, given] of attempts(references[by])) {
          const { text } = await call(client, name, given)
          expect(text.replaceAll(`of ${canary}?`, ''), name).not.toContain(canary)
        }

        expect(await owner.events()).toEqual(before)
      }),
      { numRuns: 40 },
    )
  })

  it('resolves a name that several beliefs have to the one in view', async () => {
    await using served = servedMemory()
    const memory = served.memoryAs(person)
    await memory.remember({ name: 'port', content: `Elsewhere ${canary}.`, scopes: ['project:other'] })
    await memory.remember({ name: 'port', content: `Elsewhere ${canary} too.`, scopes: ['project:third'] })
    const client = await served.connect()

    const missing = await call(client, 'memory_get', { id: 'port' })
    await memory.remember({ name: 'port', content: 'Here.' })
    const found = await call(client, 'memory_get', { id: 'port' })

    expect(missing).toMatchObject({ isError: true })
    expect(missing.text).not.toMatch(/project:other|project:third|canary/)
    expect(found.value).toMatchObject({ belief: { content: 'Here.' } })
  })

  it('opens a project from outside only for a host that the person started there', async () => {
    const outside = { scopes: ['user:universal'], homeScopes: ['user:universal'] }
    await using served = servedMemory(outside)
    await using started = servedMemory({ ...outside, servesEveryProject: true })
    const search = async (from: typeof served) =>
      call(await from.connect(), 'memory_search', { query: 'port', scope: 'project:other' })

    expect((await search(served)).isError).toBe(true)
    expect((await search(started)).isError).toBe(false)
  })

  it('opens a scope that a call names, but no other project, and none if its scopes are fixed', async () => {
    await using open = servedMemory()
    await using fixed = servedMemory({ hasFixedScopes: true })
    for (const served of [open, fixed]) {
      const memory = served.memoryAs(person)
      await memory.remember({
        name: 'port',
        content: `Elsewhere ${canary}.`,
        scopes: ['domain:other', 'project:other', 'project:ledger/payroll'],
      })
    }
    const named = { query: 'port', scope: 'domain:other' }

    const found = await call(await open.connect(), 'memory_search', named)
    const elsewhere = await call(await open.connect(), 'memory_search', { query: 'port', scope: 'project:other' })
    const below = await call(await open.connect(), 'memory_search', { query: 'port', scope: 'project:ledger/payroll' })
    const client = await fixed.connect()
    const refused = await call(client, 'memory_search', named)
    const written = await call(client, 'memory_remember', { names: ['x'], statement: 'y', where: 'project:other' })
    const within = await call(client, 'memory_search', { query: 'port', scope: 'user:universal' })

    expect(found.text).toContain(canary)
    expect([elsewhere, below]).toMatchObject([{ isError: true }, { isError: true }])
    expect(elsewhere.text + below.text).not.toContain(canary)
    expect(refused).toMatchObject({ isError: true })
    expect(refused.text).toContain('Use one of project:ledger, user:universal.')
    expect(written.isError).toBe(true)
    expect(within.isError).toBe(false)
  })

  it('shows beliefs of an agent to that agent alone', async () => {
    const draft = { name: 'own note', content: `Mine: ${canary}.`, agent: 'coder' }
    await using stranger = servedMemory()
    await using owner = servedMemory({ agent: 'coder' })
    for (const served of [stranger, owner]) await served.memoryAs(person).remember(draft)

    const forStranger = await call(await stranger.connect(), 'memory_search', { query: 'own note' })
    const hidden = await call(await stranger.connect(), 'memory_get', { id: 'own note' })
    const forOwner = await call(await owner.connect(), 'memory_search', { query: 'own note' })

    expect(forStranger.text).not.toContain(canary)
    expect(hidden.isError).toBe(true)
    expect(forOwner.text).toContain(canary)
  })
})
