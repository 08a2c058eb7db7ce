import { describe, expect, it } from 'vitest'
import { belief, portsWith } from '../../../test/recall/fixtures.ts'
import type { Belief } from '../../beliefs/belief.ts'
import { recall } from '../recall/recall.ts'
import { forget } from './forget.ts'
import { accept, confirm, listCandidates, reject } from './proposals.ts'
import { remember } from './remember.ts'
import { undo } from './undo.ts'

const person = { user: 'ann', author: { actor: 'person', origin: 'cli' } } as const
const scopes = ['domain:code']
const candidate = (name: string, fields: Partial<Belief> = {}): Belief => ({
  ...belief({
    name,
    content: `We like ${name}.`,
    scopes,
    candidate: true,
    status: 'inferred',
    provenance: { actor: 'person', origin: 'test', sourceId: null, model: null, at: '2026-01-01T00:00:00.000Z' },
    ...fields,
  }),
  version: 1,
})
const recalled = async (ports: Parameters<typeof recall>[0], message: string) =>
  (await recall(ports, { user: 'ann', scopes, message })).relevant.map(({ belief: { id } }) => id)

describe('a candidate', () => {
  it('is listed with a reason and not recalled until a person confirms it', async () => {
    const ports = await portsWith(candidate('biome'))
    expect(await listCandidates(ports, 'ann')).toMatchObject([
      { belief: { name: 'biome' }, reason: expect.stringContaining('It was said once.') },
    ])
    expect(await recalled(ports, 'biome?')).toEqual([])

    const { belief: after } = await confirm(ports, { ...person, reference: 'id-biome' })

    expect(after).toMatchObject({ candidate: false, status: 'active', editedByPerson: true })
    expect(await recalled(ports, 'biome?')).toEqual(['id-biome'])
    expect(await listCandidates(ports, 'ann')).toEqual([])
  })

  it('is accepted and rejected like a proposal, and restored by undo', async () => {
    const ports = await portsWith(candidate('biome'), candidate('vitest'))

    await accept(ports, { ...person, reference: 'id-biome' })
    const { event } = await reject(ports, { ...person, reference: 'id-vitest' })
    expect(await listCandidates(ports, 'ann')).toEqual([])
    await undo(ports, { ...person, event })

    expect((await listCandidates(ports, 'ann')).map(({ belief: { id } }) => id)).toEqual(['id-vitest'])
    expect(await recalled(ports, 'biome and vitest')).toEqual(['id-biome'])
  })

  it('replaces no belief, and gets another name if its name is taken', async () => {
    const held = { ...belief({ name: 'port', content: 'The port is 5432.', scopes }), version: 1 }
    const ports = await portsWith(held, candidate('port', { id: 'other', content: 'The port of call is Brest.' }))

    const { belief: after } = await confirm(ports, { ...person, reference: 'other' })

    expect(after).toMatchObject({ name: 'port (2)', aliases: ['port'] })
    expect((await recalled(ports, 'the port')).sort()).toEqual(['id-port', 'other'])
  })

  it('becomes active when a person repeats it, but not when an agent does', async () => {
    const ports = await portsWith(candidate('biome'))
    const draft = { name: 'biome', content: 'We like biome', scopes }

    await remember(ports, { user: 'ann', author: { actor: 'agent', origin: 'test' }, draft })
    expect(await recalled(ports, 'biome?')).toEqual([])
    const { outcome, belief: after } = await remember(ports, { ...person, draft })

    expect({ outcome, ...after }).toMatchObject({ outcome: 'reinforced', id: 'id-biome', candidate: false })
    expect(await recalled(ports, 'biome?')).toEqual(['id-biome'])
  })

  it('is forgotten like any belief', async () => {
    const ports = await portsWith(candidate('biome'))

    await forget(ports, { ...person, reference: 'id-biome' })

    expect(await listCandidates(ports, 'ann')).toEqual([])
  })

  it('is confirmed only by a person', async () => {
    const ports = await portsWith(candidate('biome'))
    const request = { user: 'ann', author: { actor: 'agent', origin: 'test' }, reference: 'id-biome' } as const

    await expect(confirm(ports, request)).rejects.toMatchObject({ code: 'forbidden' })
    await expect(accept(ports, request)).rejects.toMatchObject({ code: 'forbidden' })
  })
})
