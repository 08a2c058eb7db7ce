import { describe, expect, it } from 'vitest'
import { about, tell } from '../../../test/memory/fixtures.ts'
import { ports } from '../../../test/recall/fixtures.ts'
import { correct } from '../change/correct.ts'
import { editBelief } from '../change/edit.ts'
import { forget } from '../change/forget.ts'
import { hear } from '../conversation/hear.ts'
import type { Ports } from '../ports.ts'
import { recall } from '../recall/recall.ts'
import { type RemedyRequest, remedies } from './remedies.ts'

const ask = (
  memory: Ports,
  message: string,
  reference: string,
  wish: RemedyRequest['wish'],
  more: Partial<RemedyRequest> = {},
) => remedies(memory, { user: 'ann', scopes: ['domain:code'], message, reference, wish, ...more })

const shownFor = async (memory: Ports, message: string, scopes = ['domain:code']) => {
  const { relevant, pinned } = await recall(memory, { user: 'ann', scopes, message })
  return [...pinned, ...relevant.map(({ belief }) => belief)].map(({ name }) => name)
}

describe('a remedy that makes a belief appear', () => {
  it('is an alias in the words of the message, the one closest to the belief first', async () => {
    const memory = ports()
    await tell(memory, 'release day', 'Releases go out on Tuesdays.')
    const message = 'Can we ship the release on a Friday?'

    const { isFulfilled, remedies: found } = await ask(memory, message, 'release day', 'present')

    expect(isFulfilled).toBe(false)
    expect(found[0]).toMatchObject({ kind: 'add-alias', achieves: true })
    expect(found[0]?.change?.addAliases?.[0]).toContain('release')
    for (const { change, achieves } of found.filter(({ kind }) => kind === 'add-alias')) {
      expect(achieves).toBe(true)
      expect(message).toContain(change?.addAliases?.[0])
    }
  })

  it('really works, each of those offered', async () => {
    const message = 'Can we ship the release on a Friday?'
    const first = ports()
    await tell(first, 'release day', 'Releases go out on Tuesdays.')
    const { remedies: found } = await ask(first, message, 'release day', 'present')
    expect(found.length).toBeGreaterThan(2)

    for (const { change } of found) {
      const memory = ports()
      await tell(memory, 'release day', 'Releases go out on Tuesdays.')
      await editBelief(memory, { ...about('release day'), edits: change ?? {} })
      expect(await shownFor(memory, message)).toContain('release day')
    }
  })

  it.each([
    ['sister Ilse', 'My sister Ilse lives in Ghent.', 'where does my sister live?', 'sister'],
    ['gym code', 'The gym code is 9026.', 'how do I get into the gym?', 'gym'],
  ])('is one word of the name "%s" that no other belief has', async (name, content, message, word) => {
    const memory = ports()
    await tell(memory, name, content, { aliases: [`${name} lives`] })
    await tell(memory, 'release day', 'Releases go out on Tuesdays.')

    const { remedies: found } = await ask(memory, message, name, 'present')

    expect(found[0]?.change).toEqual({ addAliases: [word] })
    expect(found.flatMap(({ change }) => change?.addAliases ?? [])).not.toContain('live')
    await editBelief(memory, { ...about(name), edits: found[0]?.change ?? {} })
    expect(await shownFor(memory, message)).toEqual([name])
  })

  it.each([
    ['name', { name: 'sister company', content: 'Based in Oslo' }],
    ['aliases', { name: 'Ada', content: 'Lives in Oslo', aliases: ['my other sister'] }],
    ['content', { name: 'Ada', content: 'Has two sisters' }],
  ])('is not an everyday word that another belief has in its %s', async (_, { name, content, ...more }) => {
    const memory = ports()
    await tell(memory, 'sister Ilse', 'My sister Ilse lives in Ghent.')
    const { belief: other } = await tell(memory, name, content, { scopes: ['project:other'], ...more })
    const offered = async () =>
      (await ask(memory, 'where does my sister live?', 'sister Ilse', 'present')).remedies.flatMap(
        ({ change }) => change?.addAliases ?? [],
      )

    expect(await offered()).not.toContain('sister')
    await forget(memory, about(other.id))
    expect(await offered()).toContain('sister')
  })

  it('warns of an alias that is an everyday word, or that finds another belief', async () => {
    const memory = ports()
    await tell(memory, 'release day', 'Releases go out on Tuesdays.')
    await tell(memory, 'Zanzibar', 'The cluster', { scopes: ['project:other'] })

    const { remedies: found } = await ask(memory, 'Is zanzibar out?', 'release day', 'present', {
      aliases: ['out', 'zanzibar'],
    })

    const cautionOf = (alias: string) => found.find(({ change }) => change?.addAliases?.[0] === alias)?.caution
    expect(cautionOf('out')).toContain('everyday word')
    expect(cautionOf('zanzibar')).toContain('"Zanzibar" is found by the same words')
  })

  it('is not a phrase of everyday words that is not a name of the belief', async () => {
    const memory = ports()
    await tell(memory, 'refund policy', 'Customers get their money back within 14 days.')

    const { remedies: found } = await ask(memory, 'When do customers get it back?', 'refund policy', 'present')

    expect(found.flatMap(({ change }) => change?.addAliases ?? [])).toEqual([])
  })

  it('is not a change that breaks a kept case, which is reported', async () => {
    const memory = ports()
    const { belief: day } = await tell(memory, 'release day', 'Releases go out on Tuesdays.')
    const cases = [
      { id: 'release-notes', message: 'Ship the release notes', scopes: ['domain:code'], expect: [], reject: [day.id] },
    ]

    const { remedies: found, withheld } = await ask(memory, 'Ship the release', 'release day', 'present', { cases })

    const aliases = found.flatMap(({ change }) => change?.addAliases ?? [])
    expect(aliases).toEqual([])
    expect(withheld).toContainEqual({
      summary: 'Add the alias "Ship the release".',
      reason: 'It would break the saved case release-notes.',
    })
    for (const { effects } of found) expect(effects).toMatchObject({ cases: 1, breaks: [] })
  })

  it('is not an alias that would add the belief to many of the last prompts', async () => {
    const memory = ports()
    await tell(memory, 'release day', 'Releases go out on Tuesdays.')
    const said = [
      'Ship the release today',
      'Who can ship the release?',
      'I ship the release',
      'Ship the release.',
      'Hello there',
    ]
    const author = { actor: 'person', origin: 'test' } as const
    await hear(memory, {
      user: 'ann',
      author,
      agent: null,
      scopes: ['domain:code'],
      view: ['domain:code'],
      turns: said.map((text, index) => ({ text, session: 's', index })),
      learn: 'nothing',
    })

    const { remedies: found, withheld } = await ask(memory, 'Ship the release', 'release day', 'present')

    expect(withheld[0]?.reason).toBe('It would also bring the belief to 4 of your last 5 prompts.')
    expect(found.find(({ kind }) => kind === 'pin')?.effects).toMatchObject({ prompts: 5 })
    expect(found.find(({ kind }) => kind === 'pin')?.effects?.appearsIn).toHaveLength(5)
  })

  it('is not an everyday word that many of the last prompts have', async () => {
    const memory = ports()
    await tell(memory, 'gym code', 'The code is 9026.')
    const said = ['Gym at six?', 'Is the gym open?', 'A gym nearby', 'Which gym is cheap?', 'Hello there']
    const turns = said.map((text, index) => ({ text, session: 's', index }))
    const author = { actor: 'person', origin: 'test' } as const
    const where = { scopes: ['domain:code'], view: ['domain:code'] }
    await hear(memory, { user: 'ann', author, agent: null, ...where, turns, learn: 'nothing' })

    const { withheld } = await ask(memory, 'How do I get into the gym?', 'gym code', 'present')

    expect(withheld).toContainEqual({
      summary: 'Add the alias "gym".',
      reason: 'It would also bring the belief to 4 of your last 5 prompts.',
    })
  })

  it('is a scope, if the message names the belief and it is in another scope', async () => {
    const memory = ports()
    await tell(memory, 'palette', 'Green', { scopes: ['project:website'] })

    const { remedies: found } = await ask(memory, 'Which palette?', 'palette', 'present')

    expect(found.map(({ kind, change, ask: asked }) => [kind, change?.scopes ?? asked?.scopes])).toEqual([
      ['scopes', ['domain:code', 'project:website']],
      ['ask', ['domain:code', 'project:website']],
      ['pin', ['domain:code', 'project:website']],
    ])
  })

  it('is a larger budget, if the budget was full', async () => {
    const memory = ports()
    for (const name of ['redis', 'kafka', 'nginx']) await tell(memory, name, `About ${name}`)
    const budget = { maxBeliefs: 1 }
    const context = await recall(memory, { user: 'ann', scopes: ['domain:code'], message: 'redis kafka nginx', budget })
    const missing = ['redis', 'kafka', 'nginx'].find((name) => context.relevant[0]?.belief.name !== name) as string

    const { remedies: found } = await ask(memory, 'redis kafka nginx', missing, 'present', { budget })

    expect(found.find(({ kind }) => kind === 'ask')?.ask?.budget).toMatchObject({ maxBeliefs: expect.any(Number) })
  })

  it('is to look at the belief that replaced it', async () => {
    const memory = ports()
    const { belief: old } = await tell(memory, 'db', 'Postgres 16')
    const { belief: heir } = await correct(memory, { ...about('db'), content: 'Postgres 17' })

    expect((await ask(memory, 'Which db?', old.id, 'present')).remedies).toMatchObject([
      { kind: 'see', see: heir.id, change: null },
    ])
  })

  it('is empty, if the belief is already there', async () => {
    const memory = ports()
    await tell(memory, 'redis', 'On port 6380')

    expect(await ask(memory, 'Where is redis?', 'redis', 'present')).toMatchObject({ isFulfilled: true, remedies: [] })
  })
})

describe('a remedy that keeps a belief away', () => {
  it('is to drop every alias that matches the message, and nothing else', async () => {
    const memory = ports()
    await tell(memory, 'session cache', 'In Redis', { aliases: ['store', 'the store', 'redis'] })
    const message = 'I went to the store.'

    const [first] = (await ask(memory, message, 'session cache', 'absent')).remedies
    expect(first).toMatchObject({ kind: 'drop-alias', achieves: true })
    await editBelief(memory, { ...about('session cache'), edits: first?.change ?? {} })

    expect(await shownFor(memory, message)).toEqual([])
    expect(await shownFor(memory, 'Is redis up?')).toEqual(['session cache'])
  })

  it('is to unpin it', async () => {
    const memory = ports()
    await tell(memory, 'tone', 'Formal', { pinned: true })

    expect((await ask(memory, 'Hello there', 'tone', 'absent')).remedies[0]).toMatchObject({
      kind: 'unpin',
      change: { pinned: false },
      achieves: true,
    })
  })

  it('is never an alias if the name itself is in the message, nor a scope that the belief does not have', async () => {
    const memory = ports()
    await tell(memory, 'redis', 'On port 6380', { aliases: ['cache'] })
    await tell(memory, 'palette', 'Green', { scopes: ['project:website'] })

    const { remedies: found } = await ask(memory, 'Is redis a cache?', 'redis', 'absent')

    expect(found.map(({ kind }) => kind)).toEqual(['correct'])
  })

  it('lists other beliefs that would appear or disappear', async () => {
    const memory = ports()
    const { belief } = await tell(memory, 'redis', 'On port 6380')
    await tell(memory, 'runbook', 'Restart it', { type: 'relation', participants: [belief.id], aliases: ['restart'] })

    const { remedies: found } = await ask(memory, 'How do I restart?', 'runbook', 'absent')

    expect(found[0]).toMatchObject({ kind: 'drop-alias', disappearing: [belief.id] })
  })
})
