import { describe, expect, it } from 'vitest'
import { belief, portsWith } from '../../../test/recall/fixtures.ts'
import type { Ports } from '../ports.ts'
import { type WhyRequest, why } from './why.ts'

const ask = async (memory: Ports, message: string, reference: string, options: Partial<WhyRequest> = {}) =>
  (await why(memory, { user: 'ann', scopes: ['domain:code'], message, reference, ...options })).verdict

describe('why', () => {
  it('explains how a belief was found', async () => {
    const memory = await portsWith(
      belief({ name: 'redis', aliases: ['valkey'] }),
      belief({ name: 'ledger', pinned: true }),
      belief({ name: 'hosting', type: 'open_question', pinned: true }),
      belief({ name: 'cache', aliases: ['redis'] }),
    )

    expect(await ask(memory, 'is valkey redis?', 'redis')).toMatchObject({
      kind: 'relevant',
      rank: 1,
      relevant: { matches: [{ words: [{ text: 'valkey' }] }, { words: [{ text: 'redis' }] }] },
    })
    expect(await ask(memory, 'redis', 'cache')).toMatchObject({ kind: 'relevant', rank: 2 })
    expect(await ask(memory, 'hello', 'ledger')).toEqual({ kind: 'pinned', rank: 1 })
    expect(await ask(memory, 'hello', 'hosting')).toEqual({ kind: 'question', rank: 1 })
  })

  it('explains why a mentioned belief was left out', async () => {
    const memory = await portsWith(
      belief({ name: 'redis', scopes: ['domain:other'] }),
      belief({ id: 'old', name: 'eslint', status: 'superseded', supersededBy: 'new' }),
      belief({ id: 'new', name: 'biome' }),
      belief({ name: 'auth', type: 'open_question' }),
    )

    const left = { kind: 'left-out', inPrelude: false }
    expect(await ask(memory, 'redis', 'redis')).toEqual({
      ...left,
      reason: { kind: 'other-scope', scopes: ['domain:other'] },
    })
    expect(await ask(memory, 'eslint', 'old')).toEqual({ ...left, reason: { kind: 'superseded', by: 'new' } })
    expect(await ask(memory, 'auth', 'auth')).toEqual({ ...left, reason: { kind: 'open-question' } })
    expect(await ask(memory, 'biome', 'biome', { budget: { maxBeliefs: 0 } })).toEqual({
      ...left,
      reason: { kind: 'over-budget', limit: 'maxBeliefs' },
    })
  })

  it('reports that a left-out belief is in the prelude', async () => {
    const memory = await portsWith(belief({ name: 'tea', type: 'preference', scopes: ['user:universal'] }))

    expect(await ask(memory, 'some tea', 'tea')).toMatchObject({
      kind: 'left-out',
      reason: { kind: 'other-scope' },
      inPrelude: true,
    })
  })

  it('reports which words of an unmentioned belief the message has', async () => {
    const memory = await portsWith(
      belief({ name: 'error handling', aliases: ['exceptions'], type: 'preference', scopes: ['user:universal'] }),
    )

    expect(await ask(memory, 'many errors here', 'error handling')).toEqual({
      kind: 'not-mentioned',
      forms: [
        { form: 'error handling', present: ['error'], missing: ['handling'] },
        { form: 'exceptions', present: [], missing: ['exceptions'] },
      ],
      inPrelude: true,
      meaning: null,
    })
  })

  it('answers correctly among many beliefs', async () => {
    const elsewhere = Array.from({ length: 80 }, (_, at) =>
      belief({ id: `x${at}`, name: `elsewhere ${at}`, aliases: ['redis'], scopes: ['domain:other'] }),
    )
    const memory = await portsWith(...elsewhere)

    for (const { id } of elsewhere)
      expect(await ask(memory, 'redis', id)).toMatchObject({ kind: 'left-out', reason: { kind: 'other-scope' } })
  })

  it('reports beliefs that ranked too low as over budget', async () => {
    const beliefs = Array.from({ length: 90 }, (_, at) =>
      belief({ id: `x${at}`, name: at < 60 ? `word${at}` : `low ${at}`, aliases: at < 60 ? [] : ['redis'] }),
    )
    const memory = await portsWith(...beliefs)
    const message = `redis ${beliefs
      .slice(0, 60)
      .map(({ name }) => name)
      .join(', ')}`
    const kinds = new Map<string, number>()
    for (const { id } of beliefs) {
      const verdict = await ask(memory, message, id)
      const kind = verdict.kind === 'left-out' ? verdict.reason.kind : verdict.kind
      kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
    }

    expect(Object.fromEntries(kinds)).toEqual({ relevant: 20, 'over-budget': 70 })
  })

  it('refuses an unknown belief', async () => {
    await expect(ask(await portsWith(), 'hello', 'nothing')).rejects.toMatchObject({ code: 'not_found' })
  })
})
