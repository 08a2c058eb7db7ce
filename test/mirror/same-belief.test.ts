import { describe, expect, it } from 'vitest'
import { nothingTaken, personalMemory } from './mirrored-memory.ts'

describe('a new line with a known name', () => {
  it('is a correction, which keeps aliases, why, pin and type of the old belief, and is counted as one', async () => {
    await using place = personalMemory()
    const { memory } = place
    const said = { aliases: ['due date'], why: 'Say it.', type: 'decision', pinned: true } as const
    const { belief: old } = await memory.remember({ name: 'payment terms', content: '14 days.', ...said })

    place.edit((text) => `${text}- **payment terms**: 30 days.\n`)
    const { taken } = await place.sync()

    expect(taken).toEqual({ ...nothingTaken, corrected: 1 })
    const belief = await memory.get('payment terms')
    expect(belief).toMatchObject({ content: '30 days.', ...said, status: 'active' })
    expect((await memory.get(old.id)).supersededBy).toBe(belief.id)
    expect(place.text().match(/\*\*payment terms\*\*/gu)).toHaveLength(1)

    await memory.undo()

    expect(await place.beliefs()).toEqual({ 'payment terms': '14 days.' })
  })

  it('adds no belief if its statement is known under any name, and is not counted', async () => {
    await using place = personalMemory()
    const { memory } = place
    await memory.remember({ name: 'Bo', content: 'Bo is my dog.' })
    await memory.remember({ name: 'food', content: 'Bo likes fish.' })

    place.edit((text) => `${text}- Bo likes fish\n- Bo is my dog.\n`)
    const first = await place.sync()
    place.edit((text) => `${text}- Bo sleeps a lot.\n- Bo sleeps a lot.\n`)
    const second = await place.sync()
    place.edit((text) => `${text}- Bo sleeps a lot.\n`)
    const third = await place.sync()

    expect([first, second, third].map(({ taken }) => taken.added)).toEqual([0, 1, 0])
    expect(Object.values(await place.beliefs()).sort()).toEqual(['Bo is my dog.', 'Bo likes fish.', 'Bo sleeps a lot.'])
    expect(place.text().match(/likes fish/gu)).toHaveLength(1)
  })

  it('adds no belief if the same sentence is imported either', async () => {
    await using place = personalMemory()
    const { memory } = place
    await memory.remember({ name: 'Bo', content: 'Bo is my dog.' })
    await memory.remember({ name: 'food', content: 'Bo likes fish.' })

    const imported = await memory.import('- Bo likes fish.\n', { source: 'notes.md', format: 'markdown' })

    expect(imported).toMatchObject({ added: 0, corrected: 0 })
    expect(Object.keys(await place.beliefs()).sort()).toEqual(['Bo', 'food'])
  })
})
