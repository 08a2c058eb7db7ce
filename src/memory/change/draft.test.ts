import { describe, expect, it } from 'vitest'
import { ports } from '../../../test/recall/fixtures.ts'
import { memoryFrom } from '../memory.ts'
import { type BeliefDraft, limits, parseDraft } from './draft.ts'

const draft = (fields: Partial<BeliefDraft> = {}): BeliefDraft => ({
  name: 'db',
  content: 'Postgres',
  scopes: ['domain:code'],
  ...fields,
})

describe('a draft', () => {
  it('requires only a name, a statement and a scope', () => {
    expect(parseDraft(draft())).toEqual({
      name: 'db',
      content: 'Postgres',
      scopes: ['domain:code'],
      type: 'entity',
      subtype: null,
      aliases: [],
      why: '',
      status: 'active',
      confidence: 1,
      pinned: false,
      agent: null,
      participants: [],
      relation: null,
      expertise: null,
    })
  })

  it('is normalised: trimmed texts, no repeated aliases or scopes, no empty why', () => {
    const tidy = parseDraft(
      draft({
        name: ' Main  DB ',
        content: '\n Postgres\n',
        aliases: ['main_db', 'pg', ' PG ', 'psql'],
        scopes: ['project:z', ' domain:a', 'project:z'],
        why: '   ',
        agent: ' ',
      }),
    )

    expect(tidy).toMatchObject({
      name: 'Main  DB',
      content: 'Postgres',
      aliases: ['pg', 'psql'],
      scopes: ['domain:a', 'project:z'],
      why: '',
      agent: null,
    })
  })

  it('of the maximum length is recalled within the default budget', async () => {
    const memory = memoryFrom(ports(), {
      user: 'ann',
      scopes: ['domain:code'],
      agent: null,
      author: { actor: 'person', origin: 'test' },
    })
    const name = 'word '.repeat(limits.name / 5 - 1).trim()
    const { belief } = await memory.remember({ name, content: 'x'.repeat(limits.content), why: 'y'.repeat(limits.why) })

    expect((await memory.recall(`About ${name}.`)).relevant.map((relevant) => relevant.belief.id)).toEqual([belief.id])
  })

  it('may have text in any script, with tabs and line breaks', () => {
    const texts = ['北京', 'Müller\n\tzwei', 'نیم‌فاصله', '👩‍👩‍👧 family', 'C++']

    for (const text of texts) expect(parseDraft(draft({ name: text, content: text }))).toMatchObject({ content: text })
  })

  it.each<[string, Partial<BeliefDraft>]>([
    ['an empty name', { name: ' ' }],
    ['a name without a letter or digit', { name: '?!' }],
    ['a name that is too long', { name: 'x'.repeat(limits.name + 1) }],
    ['an empty statement', { content: '\n' }],
    ['a statement that is too long', { content: 'x'.repeat(limits.content + 1) }],
    ['a why that is too long', { why: 'x'.repeat(limits.why + 1) }],
    ['too many aliases', { aliases: Array.from({ length: 201 }, (_, index) => `alias ${index}`) }],
    ['an empty alias', { aliases: [''] }],
    ['no scope', { scopes: [] }],
    ['a scope without a kind', { scopes: ['code'] }],
    ['a scope with a space', { scopes: ['domain:my code'] }],
    ['a scope with an invisible character', { scopes: ['domain:co\u200bde'] }],
    ['a scope with a control character', { scopes: ['domain:co\u0000de'] }],
    ['a scope with an empty part', { scopes: ['domain:a//b'] }],
    ['a scope that is too long', { scopes: [`domain:${'x'.repeat(200)}`] }],
    ['an escape character', { content: '\u001b[31mred' }],
    ['a control sequence introducer', { content: '\u009b31mred' }],
    ['a null character in the name', { name: 'a\u0000b' }],
    ['half a surrogate pair', { content: 'a\ud800b' }],
    ['an unknown type', { type: 'fact' as never }],
    ['a status that only the store sets', { status: 'superseded' as never }],
    ['a subtype on a belief that is not a preference', { subtype: 'style' }],
    ['an unknown subtype', { type: 'preference', subtype: 'taste' as never }],
    ['participants of a belief that is not a relation', { participants: ['a'] }],
    ['too many participants', { type: 'relation', participants: Array.from({ length: 101 }, (_, at) => `p${at}`) }],
    ['an empty participant', { type: 'relation', participants: [' '] }],
    ['a relation with an escape character', { type: 'relation', relation: '\u001b[2J' }],
    ['an agent with an escape character', { agent: '\u001b[2J' }],
    ['a confidence above 1', { confidence: 1.1 }],
    ['a confidence below 0', { confidence: -0.1 }],
    ['a confidence that is not a number', { confidence: Number.NaN }],
    ['an unknown depth', { type: 'preference', expertise: { domain: 'rust', depth: 'guru' as never } }],
    ['an empty domain', { type: 'preference', expertise: { domain: '', depth: 'deep' } }],
  ])('is refused with %s, with the next step', (_, fields) => {
    expect(() => parseDraft(draft(fields))).toThrow(
      expect.objectContaining({ code: 'invalid', hint: expect.stringMatching(/./u) }),
    )
  })
})

const key = 'sk_live_51H8abcdefghijklmnop'
const at = (actor: 'person' | 'agent' | 'tool') => ({
  user: 'ann',
  scopes: ['domain:code'],
  agent: null,
  author: { actor, origin: 'test' },
})

describe.each(['agent', 'tool'] as const)('a statement of an %s', (actor) => {
  it('is refused if it contains a secret, in every field, without repeating the secret', async () => {
    const memory = memoryFrom(ports(), at(actor))
    await memory.remember({ name: 'stripe', content: 'It takes the payments.' })
    await memory.remember({ name: 'bank card', content: 'It is blue.' })
    await memory.remember({ name: 'which bank', content: 'Which one?', type: 'open_question' })
    const told = (await memory.events()).length

    const ways = [
      () => memory.remember({ name: 'key', content: `The key is ${key}.` }),
      () => memory.remember({ name: `key ${key}`, content: 'It opens stripe.' }),
      () => memory.remember({ name: 'key', content: 'It opens stripe.', aliases: [key] }),
      () => memory.remember({ name: 'key', content: 'It opens stripe.', why: `Use ${key}.` }),
      () =>
        memory.remember({ name: 'key', content: 'It opens.', type: 'relation', relation: key, participants: ['a'] }),
      () => memory.remember({ name: 'the card PIN', content: '4711' }),
      () => memory.correct('stripe', { content: `It takes ${key}.` }),
      () => memory.addAliases('stripe', [key]),
      () => memory.setWhy('stripe', `Use ${key}.`),
      () => memory.edit('stripe', { addAliases: [key] }),
      () => memory.resolve('which bank', { name: 'our bank', content: `The one with ${key}.` }),
    ]

    for (const [index, way] of ways.entries()) {
      const error = await way().then(
        () => null,
        (caught: unknown) => caught,
      )
      expect(error, String(index)).toMatchObject({ code: 'invalid', message: expect.stringContaining('It contains ') })
      expect(String(error)).not.toContain(key)
    }
    expect(await memory.events()).toHaveLength(told)
  })
})

describe('a statement of a person', () => {
  it('may contain a secret, and an agent may still change the rest of it', async () => {
    const shop = ports()
    const person = memoryFrom(shop, at('person'))
    const agent = memoryFrom(shop, at('agent'))

    await person.remember({ name: 'stripe', content: `The key is ${key}.`, aliases: [key] })

    expect((await agent.addAliases('stripe', ['stripe account'])).outcome).toBe('proposed')
    expect((await agent.reinforce('stripe')).outcome).toBe('edited')
  })
})
