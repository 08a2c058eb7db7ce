import { describe, expect, it } from 'vitest'
import { about, addAliases, agent, pin, tell } from '../../../test/memory/fixtures.ts'
import { exported, nothing, take } from '../../../test/memory/transfer.ts'
import { belief, ports, portsWith } from '../../../test/recall/fixtures.ts'
import type { Belief } from '../../beliefs/belief.ts'
import { correct } from '../change/correct.ts'
import { exportBeliefs } from './export.ts'

describe('an export', () => {
  it('imported into an empty memory gives the same memory, and importing it again changes nothing', async () => {
    const memory = ports()
    await tell(memory, 'db', 'Postgres', { aliases: ['pg'], pinned: true, why: 'Ask.', confidence: 0.3 })
    await correct(memory, { ...about('db'), content: 'MySQL', name: 'storage' })
    await tell(memory, 'storage', 'Oracle', { author: agent })
    await tell(memory, 'rust', 'Knows it', {
      type: 'preference',
      subtype: 'expertise',
      expertise: { domain: 'rust', depth: 'deep' },
      scopes: ['user:universal'],
    })
    await addAliases(memory, { ...about('rust'), aliases: ['cargo'] })
    await pin(memory, about('rust'))
    const file = await exported(memory)
    const copy = ports()
    expect(await take(copy, file)).toMatchObject({ ...nothing, added: file.length })

    const plain = (beliefs: readonly Belief[]) =>
      beliefs.map(({ version: _, ...rest }) => rest).sort((a, b) => (a.id < b.id ? -1 : 1))
    expect(plain(await exported(copy))).toEqual(plain(file))
    expect(await take(copy, file)).toEqual({ ...nothing, unchanged: file.length, warnings: [], events: [] })
  })

  it('contains all beliefs that match the filter, once, over many pages, and none of other users', async () => {
    const memory = await portsWith(
      ...Array.from({ length: 1_203 }, (_, at) => belief({ id: `b${at}`, name: `name ${at}`, pinned: at % 3 === 0 })),
      belief({ id: 'other', user: 'bob', name: 'other' }),
    )

    expect(new Set((await exported(memory)).map(({ id }) => id)).size).toBe(1_203)
    const pinned = []
    for await (const one of exportBeliefs(memory, { user: 'ann', pinned: true })) pinned.push(one)
    expect(pinned).toHaveLength(401)
    expect(await exported(ports())).toEqual([])
  })
})
