import { describe, expect, it } from 'vitest'
import { about, agent, everything, now, tell } from '../../../test/memory/fixtures.ts'
import { ports } from '../../../test/recall/fixtures.ts'
import { recall } from '../recall/recall.ts'
import { correct } from './correct.ts'
import { resolve } from './resolve.ts'

const asking = async () => {
  const memory = ports()
  const { belief: question } = await tell(memory, 'hosting', 'Where do we host?', {
    type: 'open_question',
    pinned: true,
    scopes: ['domain:code', 'project:ledger'],
  })
  return { memory, question }
}

describe('resolving an open question', () => {
  it('closes it: it is stored, dated, and no longer shown', async () => {
    const { memory, question } = await asking()
    const { question: closed, decision } = await resolve(memory, about('hosting'))

    expect(decision).toBeNull()
    expect(closed).toMatchObject({ id: question.id, resolvedAt: closed.updatedAt, resolvedBy: null })
    const context = await recall(memory, { user: 'ann', scopes: ['domain:code'], message: 'hosting', nearMisses: true })
    expect(context.questions).toEqual([])
    expect(context.nearMisses).toMatchObject([{ reason: { kind: 'resolved', at: closed.resolvedAt } }])
  })

  it('can refer to an existing decision', async () => {
    const { memory } = await asking()
    const { belief: decision } = await tell(memory, 'home server', 'At home', { type: 'decision' })
    const resolved = await resolve(memory, { ...about('hosting'), by: { reference: 'home server' } })

    expect(resolved).toMatchObject({ decision: { id: decision.id }, question: { resolvedBy: decision.id } })
    expect(await now(memory, decision)).toEqual(decision)
  })

  it('can refer to a decision made in the same instant', async () => {
    const { memory } = await asking()
    const frozen = { ...memory, now: () => new Date('2026-03-01T13:00:00.000Z') }
    const { belief: decision } = await tell(frozen, 'home server', 'At home', { type: 'decision' })
    const resolved = await resolve(frozen, { ...about('hosting'), by: { reference: decision.id } })

    expect(resolved.question.resolvedBy).toBe(decision.id)
  })

  it('can store a new decision in the scopes of the question', async () => {
    const { memory, question } = await asking()
    const by = { name: 'home server', content: 'At home', why: 'Deploy with ssh.' }
    const { decision, event } = await resolve(memory, { ...about('hosting'), by })

    expect(decision).toMatchObject({
      type: 'decision',
      ...by,
      scopes: ['domain:code', 'project:ledger'],
      provenance: { sourceId: question.id },
    })
    expect((await memory.store.event('ann', event))?.beliefIds).toEqual([question.id, decision?.id])
    const context = await recall(memory, { user: 'ann', scopes: ['project:ledger'], message: 'the home server' })
    expect(context.relevant.map(({ belief }) => belief.id)).toEqual([decision?.id])
  })

  it('can store a new decision with the same name', async () => {
    const { memory } = await asking()
    const { decision } = await resolve(memory, { ...about('hosting'), by: { name: 'hosting', content: 'At home' } })

    expect(await memory.store.holders('ann', 'hosting', ['domain:code'])).toMatchObject([{ id: decision?.id }])
  })

  it('refuses a name that another belief has, and changes nothing', async () => {
    const { memory } = await asking()
    await tell(memory, 'home server', 'A machine')
    const before = await everything(memory)

    const by = { name: 'home server', content: 'At home' }
    await expect(resolve(memory, { ...about('hosting'), by })).rejects.toMatchObject({ code: 'conflict' })
    expect(await everything(memory)).toEqual(before)
  })

  it('refuses the question itself, another question or a retired belief as its answer', async () => {
    const { memory } = await asking()
    await tell(memory, 'budget', 'How much?', { type: 'open_question' })
    const { belief: old } = await tell(memory, 'home server', 'At home', { type: 'decision' })
    await correct(memory, { ...about('home server'), content: 'In the cellar' })

    for (const reference of ['hosting', 'budget', old.id, 'nope'])
      await expect(resolve(memory, { ...about('hosting'), by: { reference } })).rejects.toMatchObject({
        code: reference === 'nope' ? 'not_found' : reference === old.id ? 'conflict' : 'invalid',
      })
  })

  it('refuses a belief that is not a question, and a closed question', async () => {
    const { memory } = await asking()
    await tell(memory, 'db', 'Postgres')
    await resolve(memory, about('hosting'))

    await expect(resolve(memory, about('db'))).rejects.toMatchObject({ code: 'invalid' })
    await expect(resolve(memory, about('hosting'))).rejects.toMatchObject({ code: 'conflict' })
  })

  it('requires authority over the question', async () => {
    const { memory, question } = await asking()
    await tell(memory, 'naming', 'How to call it?', { type: 'open_question', author: agent })

    await expect(resolve(memory, about('hosting', agent))).rejects.toMatchObject({ code: 'forbidden' })
    expect((await now(memory, question)).resolvedAt).toBeNull()
    expect((await resolve(memory, about('naming', agent))).question.resolvedAt).not.toBeNull()
  })

  it('with a key has one effect and the same answer', async () => {
    const { memory } = await asking()
    const request = { ...about('hosting'), by: { name: 'home', content: 'At home' }, key: 'k1' }
    const first = await resolve(memory, request)

    expect(await resolve(memory, request)).toEqual(first)
    expect(await everything(memory)).toHaveLength(2)
  })
})
