import { describe, expect, it } from 'vitest'
import { ports } from '../../../test/recall/beliefs-at-hand.ts'
import { memoryFrom } from '../memory.ts'

const key = 'sk_live_51H8abcdefghijklmnop'
const at = (actor: 'person' | 'agent' | 'tool') => ({
  user: 'ann',
  scopes: ['domain:code'],
  agent: null,
  author: { actor, origin: 'test' },
})

describe.each(['agent', 'tool'] as const)('what an %s says', (actor) => {
  it('is refused by every way of saying it when it holds a secret, without repeating that', async () => {
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
      expect(error, String(index)).toMatchObject({ code: 'invalid', message: expect.stringContaining('It holds ') })
      expect(String(error)).not.toContain(key)
    }
    expect(await memory.events()).toHaveLength(told)
  })
})

describe('what a person says', () => {
  it('is theirs to decide, and an agent may still change the rest of it', async () => {
    const shop = ports()
    const person = memoryFrom(shop, at('person'))
    const agent = memoryFrom(shop, at('agent'))

    await person.remember({ name: 'stripe', content: `The key is ${key}.`, aliases: [key] })

    expect((await agent.addAliases('stripe', ['payments'])).outcome).toBe('proposed')
    expect((await agent.reinforce('stripe')).outcome).toBe('edited')
  })
})
