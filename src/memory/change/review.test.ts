import { describe, expect, it } from 'vitest'
import { ports } from '../../../test/recall/fixtures.ts'
import { memoryFrom } from '../memory.ts'
import type { Author } from '../ports.ts'

const person: Author = { actor: 'person', origin: 'test' }

function memories() {
  const shop = ports()
  const as = (author: Author, user = 'ann') =>
    memoryFrom(shop, { user, scopes: ['project:ledger'], agent: null, author })
  return { memory: as(person), robot: as({ actor: 'agent', origin: 'robot' }), bob: as(person, 'bob') }
}

const imported = { learn: 'review', scopes: ['project:ledger'] } as const

describe('an item that waits for review', () => {
  it('is listed with the turn it was found in, the latest statement first', async () => {
    const { memory, bob } = memories()
    const early = { text: 'Always answer in British English.', session: 'a', at: '2026-03-01T10:00:00Z' }
    const late = { text: 'I prefer tabs over spaces in Go files.', session: 'b', at: '2026-04-01T10:00:00Z' }
    await memory.hear([late, early], imported)

    const { items, total } = await memory.review()

    expect(total).toBe(2)
    expect(items.map(({ belief, kind, turn }) => [belief.content, kind, turn?.session])).toEqual([
      ['I prefer tabs over spaces in Go files.', 'statement', 'b'],
      ['Always answer in British English.', 'statement', 'a'],
    ])
    expect((await memory.review({ limit: 1, offset: 1 })).items).toMatchObject([{ at: '2026-03-01T10:00:00.000Z' }])
    expect((await memory.review({ scopes: ['project:other'] })).items).toEqual([])
    expect(await bob.review()).toEqual({ items: [], total: 0 })
  })

  it('has a correction of a known belief as a proposal, which replaces the belief when accepted', async () => {
    const { memory } = memories()
    await memory.remember({ content: 'The staging database listens on port 5432.', name: 'staging database' })
    const said = 'Actually, the staging database listens on port 5433, not 5432.'
    await memory.hear({ text: said, at: '2026-04-01T10:00:00Z' }, imported)
    await memory.hear({ text: said, session: 'again', at: '2026-04-02T10:00:00Z' }, imported)

    const { items } = await memory.review()

    expect(items).toMatchObject([{ kind: 'correction', target: { content: expect.stringContaining('5432') } }])
    expect((await memory.get('staging database')).content).toContain('5432.')
    await memory.accept(items[0]?.belief.id ?? '')
    expect((await memory.get('staging database')).content).toContain('5433')
    expect((await memory.review()).total).toBe(0)
  })

  it('has no correction if it names no known belief', async () => {
    const { memory } = memories()

    await memory.hear({ text: 'It is a feature, not a bug.' }, imported)

    expect((await memory.review()).total).toBe(0)
  })

  it('may be a proposal of an agent', async () => {
    const { memory, robot } = memories()
    await memory.remember({ content: 'Deploys happen on Monday.', name: 'deploys' })
    await robot.remember({ content: 'Deploys happen on Tuesday.', name: 'deploys' })

    expect((await memory.review()).items).toMatchObject([
      { kind: 'correction', turn: null, reason: 'The agent robot contradicts a known belief.' },
    ])
  })
})
