import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { openMemoryStore } from '../../store/memory-store.ts'
import { memoryFrom } from '../memory.ts'

function emptyMemory() {
  let ids = 0
  const emptyStore = async () => openMemoryStore({ random: randomBytes })
  const workshop = {
    store: openMemoryStore({ random: randomBytes }),
    now: () => new Date('2026-06-01T12:00:00Z'),
    newId: () => `b-${++ids}`,
    emptyStore,
  }
  const author = { actor: 'person', origin: 'test' } as const
  return memoryFrom(workshop, { user: 'ann', scopes: ['user:universal'], agent: null, author })
}

const said = (text: string, at: string) => ({ text, at, session: 's1' })

describe('forgetting turns', () => {
  it('takes a day for the whole of it, and refuses what is no date', async () => {
    const memory = emptyMemory()
    await memory.hear([said('In the morning.', '2026-05-03T09:00:00Z'), said('Next day.', '2026-05-04T09:00:00Z')])

    await expect(memory.forgetTurns({ since: 'yesterday' })).rejects.toThrow('"yesterday" is not a date.')
    expect(await memory.forgetTurns({ since: '2026-05-03', until: '2026-05-03' })).toMatchObject({ turns: 1 })
    expect((await memory.turns()).items.map(({ text }) => text)).toEqual(['Next day.'])
  })

  it('of one turn holds to everything else that was given', async () => {
    const memory = emptyMemory()
    const { turns } = await memory.hear(said('The boat is green.', '2026-05-03T09:00:00Z'))
    const turn = turns[0]?.turn?.id ?? ''

    expect(await memory.forgetTurns({ turn, session: 's2' })).toMatchObject({ turns: 0 })
    expect(await memory.forgetTurns({ turn, since: '2026-05-04' })).toMatchObject({ turns: 0 })
    expect(await memory.forgetTurns({ turn, session: 's1', containing: 'GREEN' })).toMatchObject({ turns: 1 })
  })

  it('in one conversation leaves beliefs alone that come from elsewhere', async () => {
    const memory = emptyMemory()
    await memory.remember({ name: 'boat', content: 'The boat is green.' })
    await memory.hear(said('Is the boat green?', '2026-05-03T09:00:00Z'))

    expect(await memory.forgetTurns({ session: 's1', containing: 'boat' })).toMatchObject({ turns: 1, beliefs: 0 })
    expect(await memory.forgetTurns({ containing: 'boat' })).toMatchObject({ turns: 0, beliefs: 1 })
  })
})

describe('searching as of a time', () => {
  it('shows nothing that was said later, however the times are written', async () => {
    const memory = emptyMemory()
    await memory.hear([
      said('The boat is green.', '2026-05-03T09:00:00Z'),
      said('The boat is red.', '2026-05-03T21:00:00Z'),
    ])
    const texts = async (options: { until?: string; asOf?: string }) =>
      (await memory.search('What colour is the boat?', options)).quotes.map(({ text }) => text)

    expect(await texts({ asOf: '2026-05-03T10:00:00Z', until: '2026-05-03' })).toEqual(['The boat is green.'])
    expect(await texts({ asOf: '2026-05-03', until: '2026-05-03T12:00:00+02:00' })).toEqual(['The boat is green.'])
    expect(await texts({ asOf: '2026-05-03' })).toEqual(['The boat is red.', 'The boat is green.'])
  })
})

it('finds candidates by words when only they are asked for', async () => {
  const memory = emptyMemory()
  await memory.remember({ name: 'espresso', content: 'Espresso after lunch.' })
  await memory.hear({ text: 'I prefer espresso over filter coffee.' })

  const names = async (candidates: boolean) =>
    (await memory.find('espresso', { candidates })).items.map(({ belief }) => belief.candidate)

  expect(await names(true)).toEqual([true])
  expect(await names(false)).toEqual([false])
})
