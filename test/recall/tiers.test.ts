import { describe, expect, it } from 'vitest'
import type { Ports } from '../../src/memory/ports.ts'
import { type RecallRequest, recall } from '../../src/memory/recall/recall.ts'
import { belief, portsWith } from './fixtures.ts'

const ask = async (ports: Ports, message: string, options: Partial<RecallRequest> = {}) => {
  const context = await recall(ports, {
    user: 'ann',
    scopes: ['domain:code'],
    message,
    nearMisses: true,
    ...options,
  })
  return {
    context,
    pinned: context.pinned.map(({ name }) => name),
    relevant: context.relevant.map(({ belief: { name } }) => name),
    questions: context.questions.map(({ name }) => name),
    missed: Object.fromEntries((context.nearMisses ?? []).map((miss) => [miss.belief.name, miss.reason.kind])),
  }
}
const day = (number: number) => `2026-01-${String(number).padStart(2, '0')}T00:00:00.000Z`

describe('pinned beliefs', () => {
  it('are included for any message: those edited by a person first, then the most recently reinforced', async () => {
    const ports = await portsWith(
      belief({ name: 'old', pinned: true, reinforcement: { count: 1, at: day(1) } }),
      belief({ name: 'new', pinned: true, reinforcement: { count: 1, at: day(9) } }),
      belief({ name: 'edited', pinned: true, editedByPerson: true, reinforcement: { count: 1, at: day(2) } }),
    )

    expect((await ask(ports, 'hello')).pinned).toEqual(['edited', 'new', 'old'])
  })

  it('are never listed as relevant or left out too, if the message names them', async () => {
    const ports = await portsWith(belief({ name: 'redis', pinned: true }))

    expect(await ask(ports, 'redis?')).toMatchObject({
      pinned: ['redis'],
      relevant: [],
      missed: {},
    })
  })

  it('stay in their scope even if a person edited them, unless requested everywhere', async () => {
    const ports = await portsWith(
      belief({ name: 'tone', pinned: true, editedByPerson: true, scopes: ['domain:writing'] }),
    )

    expect((await ask(ports, '')).pinned).toEqual([])
    expect((await ask(ports, '', { editedPins: 'everywhere' })).pinned).toEqual(['tone'])
  })
})

describe('relevant beliefs', () => {
  it('are ranked: a name over an alias, a rare form over a common one, and ties by reinforcement, then name', async () => {
    const ports = await portsWith(
      belief({ name: 'by alias', aliases: ['redis'] }),
      belief({ name: 'redis' }),
      belief({ name: 'second', aliases: ['shared'], reinforcement: { count: 0, at: day(3) } }),
      belief({ name: 'first', aliases: ['shared'], reinforcement: { count: 0, at: day(7) } }),
      belief({ name: 'b third', aliases: ['shared'], reinforcement: { count: 0, at: day(1) } }),
      belief({ name: 'a third', aliases: ['shared'], reinforcement: { count: 0, at: day(1) } }),
    )

    expect((await ask(ports, 'redis and shared')).relevant).toEqual([
      'redis',
      'by alias',
      'first',
      'second',
      'a third',
      'b third',
    ])
  })

  it('exclude questions and expertise, with the reason', async () => {
    const ports = await portsWith(
      belief({ name: 'auth strategy', aliases: ['JWT'], type: 'open_question' }),
      belief({ name: 'rust depth', aliases: ['rust'], type: 'preference', subtype: 'expertise' }),
    )

    expect(await ask(ports, 'JWT in rust')).toMatchObject({
      relevant: [],
      questions: [],
      missed: { 'auth strategy': 'open-question', 'rust depth': 'expertise' },
    })
  })

  it('are returned with the ones left out and the reasons', async () => {
    const ports = await portsWith(
      belief({ id: 'new', name: 'biome' }),
      belief({ name: 'eslint', status: 'superseded', supersededBy: 'new' }),
      belief({ name: 'hosting', type: 'open_question', resolvedAt: day(2) }),
      belief({ name: 'the ship', aliases: ['redis'], scopes: ['domain:writing'] }),
      belief({ name: 'secret of another', aliases: ['vault'], agent: 'codex' }),
      belief({ name: 'a proposal', aliases: ['tabs'], proposedFor: 'new', status: 'exploratory' }),
    )

    expect(await ask(ports, 'eslint, hosting, redis, vault and tabs')).toMatchObject({
      relevant: [],
      missed: {
        eslint: 'superseded',
        hosting: 'resolved',
        'the ship': 'other-scope',
        'secret of another': 'other-agent',
        'a proposal': 'proposed',
      },
    })
  })

  it('belong to everyone or to the requesting agent', async () => {
    const ports = await portsWith(belief({ name: 'vault', agent: 'codex' }), belief({ name: 'redis' }))

    expect((await ask(ports, 'vault and redis')).relevant).toEqual(['redis'])
    expect((await ask(ports, 'vault and redis', { agent: 'codex' })).relevant.sort()).toEqual(['redis', 'vault'])
    expect((await ask(ports, 'vault and redis', { agent: 'cursor' })).relevant).toEqual(['redis'])
  })

  it('belong to the active scopes and their ancestors, never to descendants or siblings', async () => {
    const ports = await portsWith(
      belief({ name: 'upper', aliases: ['redis'], scopes: ['domain:code'] }),
      belief({ name: 'lower', aliases: ['redis'], scopes: ['domain:code/typescript'] }),
      belief({ name: 'sibling', aliases: ['redis'], scopes: ['domain:code/python'] }),
      belief({ name: 'lookalike', aliases: ['redis'], scopes: ['domain:codecs'] }),
    )

    expect((await ask(ports, 'redis')).relevant).toEqual(['upper'])
    expect((await ask(ports, 'redis', { scopes: ['domain:code/typescript'] })).relevant.sort()).toEqual([
      'lower',
      'upper',
    ])
  })
})

describe('relations', () => {
  it('add their participants after all named beliefs, one hop, never questions, retired ones or those out of scope', async () => {
    const ports = await portsWith(
      belief({
        name: 'auth uses redis',
        aliases: ['auth stack'],
        type: 'relation',
        participants: ['p1', 'p2', 'p3', 'p4', 'p5', 'token store'],
      }),
      belief({ id: 'p1', name: 'auth service' }),
      belief({ id: 'p2', name: 'open point', type: 'open_question' }),
      belief({ id: 'p3', name: 'replaced', status: 'superseded', supersededBy: 'p1' }),
      belief({ id: 'p4', name: 'elsewhere', scopes: ['domain:writing'] }),
      belief({ id: 'p5', name: 'second hop', type: 'relation', participants: ['p6'] }),
      belief({ id: 'p6', name: 'too far' }),
      belief({ id: 'p7', name: 'sessions', aliases: ['token store'] }),
      belief({ name: 'docker' }),
    )
    const { context, relevant } = await ask(ports, 'is docker part of the auth stack?')

    expect(relevant).toEqual(['docker', 'auth uses redis', 'auth service', 'second hop', 'sessions'])
    expect(context.relevant.at(-1)).toMatchObject({ score: 0, through: 'id-auth-uses-redis' })
  })
})

it('follows a participant to its correction, if that has the same name', async () => {
  const ports = await portsWith(
    belief({ name: 'quill link', type: 'relation', participants: ['k1', 'k3'] }),
    belief({ id: 'k1', name: 'quill', status: 'superseded', supersededBy: 'k2' }),
    belief({ id: 'k2', name: 'quill 2', aliases: ['quill'] }),
    belief({ id: 'k3', name: 'inkpot', status: 'superseded', supersededBy: 'k4' }),
    belief({ id: 'k4', name: 'biro' }),
  )

  expect((await ask(ports, 'the quill link')).relevant).toEqual(['quill link', 'quill 2'])
})

describe('questions', () => {
  it('are the pinned open ones of the scope', async () => {
    const ports = await portsWith(
      belief({ name: 'pinned', type: 'open_question', pinned: true }),
      belief({ name: 'not pinned', type: 'open_question' }),
      belief({ name: 'elsewhere', type: 'open_question', pinned: true, scopes: ['domain:writing'] }),
      belief({ name: 'closed', type: 'open_question', pinned: true, resolvedAt: day(1) }),
    )

    expect(await ask(ports, 'anything open?')).toMatchObject({ questions: ['pinned'], pinned: [], relevant: [] })
  })
})

describe('the budget', () => {
  it('is used for pinned beliefs first, then for relevant ones by score', async () => {
    const ports = await portsWith(
      belief({ name: 'always', pinned: true }),
      belief({ name: 'redis' }),
      belief({ name: 'by alias', aliases: ['redis'] }),
    )

    expect(await ask(ports, 'redis', { budget: { maxBeliefs: 2 } })).toMatchObject({
      pinned: ['always'],
      relevant: ['redis'],
      missed: { 'by alias': 'over-budget' },
    })
    expect(await ask(ports, 'redis', { budget: { maxBeliefs: 0 } })).toMatchObject({ pinned: [], relevant: [] })
    expect(await ask(ports, 'redis', { budget: { maxCharacters: 60 } })).toMatchObject({
      pinned: ['always'],
      relevant: ['redis'],
    })
  })

  it('is refused if it is invalid', async () => {
    const ports = await portsWith()

    await expect(ask(ports, '', { budget: { maxBeliefs: -1 } })).rejects.toMatchObject({ code: 'invalid' })
    await expect(ask(ports, '', { budget: { maxBelief: 1 } as never })).rejects.toThrow(
      '"maxBelief" is not part of a budget',
    )
  })
})

describe('the prelude', () => {
  it('contains instructions in view and universal preferences, with tendencies marked as such', async () => {
    const universal = { scopes: ['user:universal'] }
    const ports = await portsWith(
      belief({ name: 'plain', content: 'Lives in Lisbon', ...universal }),
      belief({
        name: 'style',
        type: 'preference',
        subtype: 'style',
        content: 'Likes short answers',
        why: 'Skip preambles',
        ...universal,
      }),
      belief({ name: 'depth', type: 'preference', subtype: 'expertise', content: 'Knows Rust deeply.', ...universal }),
      belief({ name: 'guess', type: 'preference', status: 'inferred', content: 'works at night', ...universal }),
      belief({ name: 'maybe', type: 'preference', status: 'exploratory', content: 'May move', ...universal }),
      belief({ name: 'rule', type: 'preference', subtype: 'instruction', content: 'Never push to main' }),
      belief({ name: 'asked', type: 'open_question', content: 'Which car?', ...universal }),
    )
    const { context } = await ask(ports, 'plain style')

    expect(context.prelude?.text).toBe(
      'Never push to main.\nKnows Rust deeply.\nTends to: works at night.\nLikes short answers. Skip preambles.',
    )
    expect(context.relevant).toEqual([])
  })

  it('keeps statements before reasons if space is short, and is null without preferences', async () => {
    const ports = await portsWith(
      belief({ name: 'one', type: 'preference', content: 'Likes tea', why: 'Offer tea', scopes: ['user:universal'] }),
      belief({ name: 'two', type: 'preference', content: 'Likes cake', why: 'Offer cake', scopes: ['user:universal'] }),
    )

    expect((await ask(ports, '', { budget: { maxPrelude: 34 } })).context.prelude?.text).toBe(
      'Likes tea. Offer tea.\nLikes cake.',
    )
    expect((await ask(ports, '', { user: 'nobody' })).context.prelude).toBeNull()
  })
})
