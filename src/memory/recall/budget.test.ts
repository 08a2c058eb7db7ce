import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { belief, portsWith } from '../../../test/recall/fixtures.ts'
import type { Belief } from '../../beliefs/belief.ts'
import { preludeOf } from './budget.ts'
import { recall } from './recall.ts'

const universal = (name: string, content: string, fields: Partial<Belief> = {}) => ({
  ...belief({ name, content, type: 'preference', scopes: ['user:universal'], ...fields }),
  version: 1,
})
const day = (number: number) => ({ count: 0, at: `2026-01-${String(number).padStart(2, '0')}T00:00:00.000Z` })
const preludeFor = async (beliefs: readonly Belief[], maxPrelude = 2_000) =>
  (
    await recall(await portsWith(...beliefs), {
      user: 'ann',
      scopes: ['domain:code'],
      message: '',
      budget: { maxPrelude },
    })
  ).prelude

describe('the share of agents', () => {
  const noted = (name: string, length: number) =>
    belief({
      name,
      content: `Tide table: ${'x'.repeat(length)}`,
      aliases: ['tide table'],
      editedByPerson: false,
      provenance: { ...belief({ name }).provenance, actor: 'agent', origin: 'codex' },
    })
  const own = belief({ name: 'own', content: `Tide table: ${'y'.repeat(300)}`, aliases: ['tide table'] })
  const recalled = async (...beliefs: readonly ReturnType<typeof belief>[]) => {
    const memory = await portsWith(...beliefs)
    const budget = { maxCharacters: 1_000 }
    const { relevant } = await recall(memory, { user: 'ann', scopes: ['domain:code'], message: 'tide table', budget })
    return relevant.map(({ belief: { name } }) => name)
  }

  it('does not reduce the beliefs of the person, however long a note is', async () => {
    expect(await recalled(noted('a', 900), own)).toEqual(['own'])
  })

  it('is measured in characters, but one long note can be recalled', async () => {
    expect(await recalled(noted('a', 100), noted('b', 100), noted('c', 100))).toHaveLength(2)
    expect(await recalled(noted('a', 900))).toEqual(['a'])
  })
})

describe('the prelude', () => {
  it('lists beliefs edited by the person, then instructions, then the rest, each with the latest confirmed first', async () => {
    const instruction = { subtype: 'instruction' } as const
    const prelude = await preludeFor([
      universal('r1', 'Likes tea', { reinforcement: day(9) }),
      universal('r2', 'Knows Go', { subtype: 'expertise', reinforcement: day(1), editedByPerson: true }),
      universal('r3', 'Wants no emoji', { subtype: 'style', reinforcement: day(5) }),
      universal('i1', 'Always use metric units', { ...instruction, reinforcement: day(2) }),
      universal('i2', 'Never use tabs here', { ...instruction, scopes: ['domain:code'], reinforcement: day(3) }),
    ])

    expect(prelude?.text.split('\n')).toEqual([
      'Knows Go.',
      'Never use tabs here.',
      'Always use metric units.',
      'Likes tea.',
      'Wants no emoji.',
    ])
    expect(prelude?.beliefIds).toEqual(['r2', 'i2', 'i1', 'r1', 'r3'].map((name) => `id-${name}`))
  })

  it('contains no plain fact, no decision, no candidate, and no instruction of another scope', async () => {
    const prelude = await preludeFor([
      universal('f', 'Invoices are due after 14 days', { type: 'entity' }),
      universal('d', 'Chose vim', { type: 'decision' }),
      universal('q', 'Which car?', { type: 'open_question', pinned: true }),
      universal('c', 'Prefers night trains', { candidate: true }),
      universal('i', 'Always cite the statute', { subtype: 'instruction', scopes: ['domain:law'] }),
      universal('p', 'Likes tabs', { scopes: ['domain:code'] }),
    ])

    expect(prelude).toBeNull()
  })

  it('has the statement in the person’s words, followed by the why', () => {
    const prelude = preludeOf([universal('a', '“Always” use\n tabs!', { why: 'Set up the editor' })], 100)

    expect(prelude?.text).toBe('“Always” use tabs! Set up the editor.')
  })

  it('calls inferred beliefs tendencies, shows the confidence of the others, and leaves out exploratory ones', () => {
    const prelude = preludeOf(
      [
        universal('a', 'works at night', { status: 'inferred' }),
        universal('b', 'May move', { status: 'exploratory' }),
        universal('c', 'Likes tea', { confidence: 0.4, why: 'Offer some.' }),
      ],
      1_000,
    )

    expect(prelude?.text).toBe('Tends to: works at night.\nLikes tea. (confidence 0.4) Offer some.')
    expect(prelude?.beliefIds).toEqual(['id-a', 'id-c'])
  })

  it('is null without standing beliefs, with only exploratory ones, or without space', async () => {
    expect(preludeOf([], 100)).toBeNull()
    expect(preludeOf([universal('a', 'May move', { status: 'exploratory' })], 100)).toBeNull()
    expect(preludeOf([universal('a', 'Likes tea')], 0)).toBeNull()
    expect(await preludeFor([{ ...belief({ name: 'elsewhere' }), version: 1 }])).toBeNull()
  })

  it('fits the budget of each recall, even from the same list of beliefs', () => {
    const standing = [universal('a', 'Use tabs'), universal('b', 'Write short sentences')]

    const texts = [100, 10, 100].map((maxCharacters) => preludeOf(standing, maxCharacters)?.text)

    expect(texts).toEqual(['Use tabs.\nWrite short sentences.', 'Use tabs.', 'Use tabs.\nWrite short sentences.'])
  })

  it('fills its space exactly: statements first, then the reasons that still fit', () => {
    const beliefs = [
      universal('a', 'Likes tea', { why: 'Offer tea' }),
      universal('b', 'Likes cake', { why: 'Offer it' }),
    ]
    const text = (room: number) => preludeOf(beliefs, room)?.text ?? null

    expect(text(9)).toBeNull()
    expect(text(10)).toBe('Likes tea.')
    expect(text(20)).toBe('Likes tea.')
    expect(text(21)).toBe('Likes tea. Offer tea.')
    expect(text(22)).toBe('Likes tea.\nLikes cake.')
    expect(text(32)).toBe('Likes tea.\nLikes cake. Offer it.')
    expect(text(33)).toBe('Likes tea. Offer tea.\nLikes cake.')
    expect(text(43)).toBe('Likes tea. Offer tea.\nLikes cake. Offer it.')
  })

  it('never exceeds its space, for any texts', () => {
    const beliefs = fc.array(
      fc.record({
        content: fc.string({ minLength: 1, maxLength: 40, unit: 'grapheme' }),
        why: fc.string({ maxLength: 40 }),
      }),
      { maxLength: 8 },
    )
    fc.assert(
      fc.property(beliefs, fc.nat(150), (drafts, room) => {
        const prelude = preludeOf(
          drafts.map(({ content, why }, index) => universal(`n${index}`, content, { why })),
          room,
        )
        expect(prelude?.text.length ?? 0).toBeLessThanOrEqual(room)
        expect(prelude?.text.split('\n').length ?? 0).toBe(prelude?.beliefIds.length ?? 0)
      }),
    )
  })

  it('is in no other tier unless its scope is active', async () => {
    const memory = await portsWith(universal('tea', 'Likes tea'), universal('cake', 'Likes cake', { pinned: true }))
    const elsewhere = await recall(memory, { user: 'ann', scopes: ['domain:code'], message: 'tea and cake' })
    const active = await recall(memory, { user: 'ann', scopes: ['user:universal'], message: 'tea and cake' })

    expect(elsewhere).toMatchObject({ pinned: [], relevant: [], prelude: { beliefIds: expect.any(Array) } })
    expect(active.pinned.map(({ name }) => name)).toEqual(['cake'])
    expect(active.relevant.map(({ belief: { name } }) => name)).toEqual(['tea'])
  })
})
