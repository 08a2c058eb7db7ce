import { describe, expect, it } from 'vitest'
import { nothingTaken, personalMemory, withoutLine } from './mirrored-memory.ts'

describe('detail lines whose bullet was taken out', () => {
  it('go with it, and never become those of the item above', async () => {
    await using place = personalMemory()
    const { memory } = place
    const { belief: above } = await memory.remember({ name: 'coffee machine', content: 'In the kitchen.' })
    const content = 'Sessions are in it.\nAnd queues.'
    await memory.remember({ name: 'redis cache', content, aliases: ['Redis'], why: 'Fast.' })

    place.edit((text) => withoutLine(text, 'redis cache'))
    const { taken } = await place.sync()

    expect(taken).toEqual({ ...nothingTaken, retired: 1 })
    expect(await memory.get(above.id)).toMatchObject({ version: 1, aliases: [], content: 'In the kitchen.' })
    expect((await memory.recall('Redis')).relevant).toEqual([])
    expect(place.text()).not.toMatch(/Redis|Fast|queues/u)
    expect((await place.sync()).written).toEqual([])
  })

  it('go where no item stands above, too', async () => {
    await using place = personalMemory()
    const { memory } = place
    await memory.remember({ name: 'redis cache', content: 'Sessions are in it.', aliases: ['Redis'] })
    await memory.remember({ name: 'theme', content: 'dark', scopes: ['project:x'] })

    place.edit((text) => withoutLine(text, 'redis cache'))
    await place.sync()

    expect(await place.beliefs()).toEqual({ theme: 'dark' })
    expect(place.text()).not.toMatch(/aliases|Redis/u)
  })

  it('leave the same details of the item above alone, and what was edited there counts', async () => {
    await using place = personalMemory()
    const { memory } = place
    await memory.remember({ name: 'first cache', content: 'one', aliases: ['Redis'], why: 'Fast.' })
    await memory.remember({ name: 'second cache', content: 'two', aliases: ['Redis'], why: 'Slow.' })
    await memory.remember({ name: 'third cache', content: 'three', aliases: ['Redis'], why: 'Fast.' })

    place.edit((text) => withoutLine(text, 'second cache').replace(': one', ': uno'))
    await place.sync()
    expect(await memory.get('first cache')).toMatchObject({ content: 'uno', aliases: ['Redis'], why: 'Fast.' })

    place.edit((text) => text.replace(/- \*\*third cache[\s\S]*?(?=\n\n)/u, '').replace(': uno', ': ichi'))
    await place.sync({ accept: true })
    expect(await place.beliefs()).toEqual({ 'first cache': 'ichi' })
    expect(await memory.get('first cache')).toMatchObject({ aliases: ['Redis'], why: 'Fast.' })
  })

  it('stay where somebody drops the comments only', async () => {
    await using place = personalMemory()
    await place.memory.remember({ name: 'redis cache', content: 'In it.', aliases: ['Redis'], why: 'Fast.' })

    place.edit((text) => text.replace(/ ?<!--.*?-->/gu, ''))
    await place.sync()

    expect(await place.memory.get('redis cache')).toMatchObject({ version: 1, aliases: ['Redis'], why: 'Fast.' })
  })
})
