import { describe, expect, it } from 'vitest'
import { personalMemory } from './mirrored-memory.ts'

describe('a new line', () => {
  it.each([
    ['- **Queue**: We use NATS.', { name: 'Queue', content: 'We use NATS.' }],
    ['- **Queue:** We use NATS.', { name: 'Queue', content: 'We use NATS.' }],
    ['- **Queue** We use NATS.', { name: 'Queue', content: 'We use NATS.' }],
    ['- **Queue** — NATS', { name: 'Queue', content: 'NATS' }],
    ['- **NATS** is our queue.', { name: 'NATS', content: '**NATS** is our queue.' }],
    ['- **Never** push to the main branch.', { content: '**Never** push to the main branch.' }],
    ['- **Always** Use tabs.', { content: '**Always** Use tabs.' }],
  ])('%s is named by its bold part if that is a name', async (line, expected) => {
    await using place = personalMemory()
    await place.memory.remember({ name: 'a', content: 'b' })

    place.edit((text) => `${text}${line}\n`)
    await place.sync()

    const { items } = await place.memory.list({ current: true })
    const [belief] = items.filter(({ name }) => name !== 'a')
    expect(belief).toMatchObject(expected)
    expect(['Never', 'Always']).not.toContain(belief?.name)
  })

  it.each(['- We deploy with `fly deploy`.', '- deployment: on Fly', '- **deployment**: on Fly'])(
    'keeps its aliases and reason: %s',
    async (line) => {
      await using place = personalMemory()
      await place.memory.remember({ name: 'a', content: 'b' })

      place.edit((text) => `${text}${line}\n  - aliases: shipping, roll-out\n  - why: Say so.\n`)
      await place.sync()

      const { items } = await place.memory.list({ current: true })
      const [belief] = items.filter(({ name }) => name !== 'a')
      expect(belief?.aliases).toEqual(expect.arrayContaining(['shipping', 'roll-out']))
      expect(belief?.why).toBe('Say so.')
      expect(place.text()).toContain('  - aliases: shipping, roll-out')
    },
  )

  it('adds its aliases to those of the belief with the same name', async () => {
    await using place = personalMemory()
    await place.memory.remember({ name: 'terms', content: '14 days.', aliases: ['due date'] })

    place.edit((text) => `${text}- terms: 30 days.\n  - aliases: payment\n`)
    await place.sync()

    const belief = await place.memory.get('terms')
    expect([...belief.aliases].sort()).toEqual(['due date', 'payment'])
    expect(belief.content).toBe('30 days.')
  })
})
