import { describe, expect, it } from 'vitest'
import { agent } from '../../test/memory/fixtures.ts'
import { person, ports } from '../../test/recall/fixtures.ts'
import { memoryFrom } from './memory.ts'

const standpoint = { user: 'ann', scopes: ['project:ledger'], agent: null, author: person }

describe('a memory', () => {
  it('has a fixed user, scopes and author', async () => {
    const memory = memoryFrom(ports(), standpoint)
    const { belief } = await memory.remember({ name: 'db', content: 'Postgres', sourceId: 's', model: 'm', key: 'k' })

    expect(belief).toMatchObject({ user: 'ann', scopes: ['project:ledger'], editedByPerson: true })
    expect(belief.provenance).toMatchObject({ actor: 'person', sourceId: 's', model: 'm' })
    expect((await memory.recall('the db')).relevant.map(({ belief: { id } }) => id)).toEqual([belief.id])
    expect((await memory.recall('the db', { scopes: ['project:other'] })).relevant).toEqual([])
    expect(await memory.get('db')).toEqual(belief)
    expect(await memory.scopes()).toEqual([{ scope: 'project:ledger', beliefs: 1 }])
  })

  it('has every operation', async () => {
    const shared = ports()
    const memory = memoryFrom(shared, standpoint)
    const asAgent = memoryFrom(shared, { ...standpoint, author: agent })
    await memory.remember({ name: 'db', content: 'Postgres' })
    await memory.pin('db')
    await memory.unpin('db')
    await memory.addAliases('db', ['pg', 'psql'])
    await memory.removeAliases('db', ['psql'])
    await memory.setWhy('db', 'Ask.')
    await memory.reinforce('db')
    await memory.correct('pg', { content: 'MySQL', name: 'storage' })
    const wish = await asAgent.pin('storage')
    expect(await memory.proposals()).toHaveLength(1)
    await memory.reject(wish.belief.id)
    await memory.undo()
    await memory.accept('storage')
    await memory.remember({ name: 'hosting', content: 'Where?', type: 'open_question' })
    await memory.resolve('hosting', { name: 'home', content: 'At home' }, { key: 'k' })

    expect((await memory.why('storage?', 'storage')).verdict).toMatchObject({ kind: 'pinned' })
    expect((await memory.search('mysql')).beliefs).toMatchObject([{ belief: { name: 'storage', why: 'Ask.' } }])
    expect((await memory.history('storage')).chain).toHaveLength(3)
    expect((await memory.list({ current: true })).items.map(({ name }) => name).sort()).toEqual(['home', 'storage'])
    const lines: string[] = []
    for await (const one of memory.export()) lines.push(JSON.stringify(one))
    expect(await memory.import(lines.join('\n'))).toMatchObject({ unchanged: 5, events: [] })
    await memory.forget('storage', { wholeChain: true })
    expect((await memory.events({ limit: 1 }))[0]).toMatchObject({ kind: 'forget' })
    expect((await memory.list()).total).toBe(2)
    await memory.close()
  })

  it('never uses a user, author or belief from the arguments of a call', async () => {
    const shared = ports()
    const bobs = memoryFrom(shared, { ...standpoint, user: 'bob' })
    await bobs.remember({ name: 'db', content: 'Secret' })
    await memoryFrom(shared, standpoint).remember({ name: 'db', content: 'Postgres' })
    const asAgent = memoryFrom(shared, { ...standpoint, author: agent })
    // Options that a program may pass on from an unchecked request.
    const forged = { user: 'bob', author: person, reference: 'db', content: 'Forged' } as never

    expect((await asAgent.recall('db', forged)).relevant.map(({ belief }) => belief.content)).toEqual(['Postgres'])
    expect((await asAgent.search('secret', forged)).total).toBe(0)
    expect((await asAgent.list(forged)).items.map(({ content }) => content)).toEqual(['Postgres'])
    expect((await asAgent.why('db', 'db', forged)).belief.user).toBe('ann')
    expect((await asAgent.correct('db', forged)).outcome).toBe('proposed')
    expect((await asAgent.pin('db', forged)).outcome).toBe('proposed')
    await expect(asAgent.forget('db', forged)).rejects.toMatchObject({ code: 'forbidden' })
    await expect(asAgent.undo(1, forged)).rejects.toMatchObject({ code: 'not_found' })
    await asAgent.import('{"name":"x","content":"X","pinned":true}', forged)
    expect(await asAgent.get('x')).toMatchObject({ user: 'ann', provenance: { actor: 'agent' } })
    expect((await bobs.list()).items.map(({ content }) => content)).toEqual(['Secret'])
  })
})
