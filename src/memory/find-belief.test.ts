import { describe, expect, it } from 'vitest'
import { about, tell } from '../../test/memory/fixtures.ts'
import { belief, ports, portsWith } from '../../test/recall/fixtures.ts'
import { correct } from './change/correct.ts'
import { resolve } from './change/resolve.ts'
import { findBelief } from './find-belief.ts'
import type { Ports } from './ports.ts'

const find = async (memory: Ports, reference: string, scopes?: readonly string[]) =>
  (await findBelief(memory, { user: 'ann', reference, ...(scopes === undefined ? {} : { scopes }) })).id

describe('a belief', () => {
  it('is found by its id, its name in any spelling, the beginning of its id, or an alias', async () => {
    const memory = await portsWith(belief({ id: 'b-1234567', name: 'Main Database', aliases: ['Postgres cluster'] }))

    for (const reference of ['b-1234567', ' main_database ', 'b-12', 'postgres clusters', 'MAIN DATABASE'])
      expect(await find(memory, reference)).toBe('b-1234567')
  })

  it('is found by id first, and by name before the beginning of an id or an alias', async () => {
    const memory = await portsWith(
      belief({ id: 'redis', name: 'by id' }),
      belief({ id: 'b1', name: 'redis', scopes: ['domain:other'] }),
      belief({ id: 'b2', name: 'cache' }),
      belief({ id: 'cache-7', name: 'by prefix', aliases: ['cache'], scopes: ['domain:other'] }),
    )

    expect(await find(memory, 'redis')).toBe('redis')
    expect(await find(memory, 'cache')).toBe('b2')
  })

  it('of a person is found by its name or alias, even if a belief of another author has it as id, name or alias', async () => {
    for (const own of [{ name: 'sweeper' }, { name: 'street sweeper', aliases: ['sweeper'] }]) {
      const planted = {
        editedByPerson: false,
        provenance: { ...belief({ name: 'x' }).provenance, actor: 'agent' as const },
      }
      const memory = await portsWith(
        belief({ id: 'own', scopes: ['user:universal'], ...own }),
        belief({ id: 'sweeper', name: 'by id', ...planted }),
        belief({ id: 'b1', name: 'sweeper', ...planted }),
        belief({ id: 'b2', name: 'by alias', aliases: ['sweeper'], ...planted }),
        belief({ id: 'sweeper-9', name: 'by prefix', ...planted }),
      )

      expect(await find(memory, 'sweeper', ['domain:code', 'user:universal'])).toBe('own')
      expect(await find(memory, 'b1')).toBe('b1')
    }
  })

  it('that is current is found by its name or alias before a retired one of that name', async () => {
    const memory = ports()
    const { belief: old } = await tell(memory, 'eslint', 'Lint')
    const { belief: heir } = await correct(memory, { ...about('eslint'), content: 'Lint', name: 'biome' })

    expect(await find(memory, 'biome')).toBe(heir.id)
    expect(await find(memory, 'eslint')).toBe(heir.id)
    expect(await find(memory, old.id)).toBe(old.id)
  })

  it('that is retired is found by name if no other belief matches', async () => {
    const memory = ports()
    const { belief: asked } = await tell(memory, 'hosting', 'Where?', { type: 'open_question' })
    await resolve(memory, about('hosting'))

    expect(await find(memory, 'hosting')).toBe(asked.id)
  })

  it('that was replaced and retired in one change is found at the end of its chain, whatever the ids are', async () => {
    for (const [target, removal] of [
      ['b-1', 'b-2'],
      ['b-2', 'b-1'],
    ] as const) {
      const at = '2026-03-01T00:00:00.000Z'
      const memory = await portsWith(
        belief({ id: target, name: 'mast', status: 'superseded', supersededBy: removal, updatedAt: at }),
        belief({ id: removal, name: 'mast', resolvedAt: at, updatedAt: at }),
      )

      expect(await find(memory, 'mast')).toBe(removal)
    }
  })

  it('is looked up in the given scopes and their ancestors first, then everywhere', async () => {
    const memory = await portsWith(
      belief({ id: 'a', name: 'db', scopes: ['project:a'] }),
      belief({ id: 'b', name: 'db', scopes: ['project:b'] }),
      belief({ id: 'c', name: 'only', aliases: ['one of a kind'], scopes: ['project:c'] }),
    )

    expect(await find(memory, 'db', ['project:a/deep'])).toBe('a')
    expect(await find(memory, 'db', ['project:b'])).toBe('b')
    expect(await find(memory, 'only', ['project:b'])).toBe('c')
    await expect(find(memory, 'db')).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(/a \(db, project:a\).*b \(db, project:b\)/u),
    })
    await expect(find(memory, 'db', ['project:a', 'project:b'])).rejects.toMatchObject({ code: 'conflict' })
  })

  it('is not guessed from a short or ambiguous beginning, or from an alias that several have', async () => {
    const memory = await portsWith(
      belief({ id: 'abcd-1', name: 'one', aliases: ['shared'] }),
      belief({ id: 'abcd-2', name: 'two', aliases: ['shared'] }),
    )

    await expect(find(memory, 'abcd')).rejects.toMatchObject({ code: 'conflict' })
    await expect(find(memory, 'shared')).rejects.toMatchObject({ code: 'conflict' })
    for (const nothing of ['abc', '', '  ', '!?', 'nope', 'abcd-1 x', 'x'.repeat(10_000)])
      await expect(find(memory, nothing)).rejects.toMatchObject({ code: 'not_found' })
  })

  it('of another user is not found', async () => {
    const memory = await portsWith(belief({ id: 'secret-1', user: 'bob', name: 'secret', aliases: ['hidden'] }))

    for (const reference of ['secret-1', 'secret', 'hidden'])
      await expect(find(memory, reference)).rejects.toMatchObject({ code: 'not_found' })
  })
})
