import { describe, expect, it } from 'vitest'
import { belief, workshopWith } from '../../test/recall/beliefs-at-hand.ts'
import type { Belief } from '../beliefs/belief.ts'
import { confirm } from './confirm.ts'
import { forget } from './forget.ts'
import { accept, candidates, reject } from './proposals.ts'
import { recall } from './recall.ts'
import { remember } from './remember.ts'
import { undo } from './undo.ts'

const person = { user: 'ann', author: { actor: 'person', origin: 'cli' } } as const
const scopes = ['domain:code']
const candidate = (name: string, fields: Partial<Belief> = {}): Belief => ({
  ...belief({ name, content: `We like ${name}.`, scopes, candidate: true, status: 'inferred', ...fields }),
  version: 1,
})
const recalled = async (workshop: Parameters<typeof recall>[0], message: string) =>
  (await recall(workshop, { user: 'ann', scopes, message })).relevant.map(({ belief: { id } }) => id)

describe('a candidate', () => {
  it('is listed with a reason and not recalled until a person confirms it', async () => {
    const workshop = await workshopWith(candidate('biome'))
    expect(await candidates(workshop, 'ann')).toMatchObject([
      { belief: { name: 'biome' }, reason: expect.stringContaining('Stated once') },
    ])
    expect(await recalled(workshop, 'biome?')).toEqual([])

    const { belief: after } = await confirm(workshop, { ...person, reference: 'id-biome' })

    expect(after).toMatchObject({ candidate: false, status: 'active', editedByPerson: true })
    expect(await recalled(workshop, 'biome?')).toEqual(['id-biome'])
    expect(await candidates(workshop, 'ann')).toEqual([])
  })

  it('is accepted like a proposal, rejected like one, and comes back by undo', async () => {
    const workshop = await workshopWith(candidate('biome'), candidate('vitest'))

    await accept(workshop, { ...person, reference: 'id-biome' })
    const { event } = await reject(workshop, { ...person, reference: 'id-vitest' })
    expect(await candidates(workshop, 'ann')).toEqual([])
    await undo(workshop, { ...person, event })

    expect((await candidates(workshop, 'ann')).map(({ belief: { id } }) => id)).toEqual(['id-vitest'])
    expect(await recalled(workshop, 'biome and vitest')).toEqual(['id-biome'])
  })

  it('replaces nothing: where its name is taken it gets another', async () => {
    const held = { ...belief({ name: 'port', content: 'The port is 5432.', scopes }), version: 1 }
    const workshop = await workshopWith(held, candidate('port', { id: 'other', content: 'The port of call is Brest.' }))

    const { belief: after } = await confirm(workshop, { ...person, reference: 'other' })

    expect(after).toMatchObject({ name: 'port (2)', aliases: ['port'] })
    expect((await recalled(workshop, 'the port')).sort()).toEqual(['id-port', 'other'])
  })

  it('becomes active when a person says it again, and not when an agent does', async () => {
    const workshop = await workshopWith(candidate('biome'))
    const draft = { name: 'biome', content: 'We like biome', scopes }

    await remember(workshop, { user: 'ann', author: { actor: 'agent', origin: 'test' }, draft })
    expect(await recalled(workshop, 'biome?')).toEqual([])
    const { outcome, belief: after } = await remember(workshop, { ...person, draft })

    expect({ outcome, ...after }).toMatchObject({ outcome: 'reinforced', id: 'id-biome', candidate: false })
    expect(await recalled(workshop, 'biome?')).toEqual(['id-biome'])
  })

  it('is forgotten like any belief', async () => {
    const workshop = await workshopWith(candidate('biome'))

    await forget(workshop, { ...person, reference: 'id-biome' })

    expect(await candidates(workshop, 'ann')).toEqual([])
  })

  it('is confirmed by nobody but a person', async () => {
    const workshop = await workshopWith(candidate('biome'))
    const request = { user: 'ann', author: { actor: 'agent', origin: 'test' }, reference: 'id-biome' } as const

    await expect(confirm(workshop, request)).rejects.toMatchObject({ code: 'forbidden' })
    await expect(accept(workshop, request)).rejects.toMatchObject({ code: 'forbidden' })
  })
})
