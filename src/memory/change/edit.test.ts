import { describe, expect, it } from 'vitest'
import {
  about,
  addAliases,
  agent,
  everything,
  importer,
  lasting,
  now,
  pin,
  removeAliases,
  setWhy,
  tell,
  unpin,
} from '../../../test/memory/fixtures.ts'
import { person, ports } from '../../../test/recall/fixtures.ts'
import { recall } from '../recall/recall.ts'
import { correct } from './correct.ts'
import { type Edits, editBelief, reinforce } from './edit.ts'
import { forget } from './forget.ts'
import { accept, listProposals, reject } from './proposals.ts'
import { undo } from './undo.ts'

const aliased = (reference: string, ...aliases: string[]) => ({ ...about(reference), aliases })

describe('pin and unpin', () => {
  it('set whether a belief is recalled with every message', async () => {
    const memory = ports()
    await tell(memory, 'db', 'Postgres')
    const pinned = async () =>
      (await recall(memory, { user: 'ann', scopes: ['domain:code'], message: '' })).pinned.length

    expect(await pin(memory, about('db'))).toMatchObject({ outcome: 'edited', belief: { pinned: true, version: 2 } })
    expect(await pinned()).toBe(1)
    expect(await unpin(memory, about('db'))).toMatchObject({ outcome: 'edited', belief: { pinned: false } })
    expect(await pinned()).toBe(0)
  })

  it('change nothing, and write nothing, if the belief is already in that state', async () => {
    const memory = ports()
    await tell(memory, 'db', 'Postgres', { pinned: true })

    expect(await pin(memory, about('db'))).toMatchObject({ outcome: 'unchanged', event: null, belief: { version: 1 } })
    expect(await pin(memory, about('db', agent))).toMatchObject({ outcome: 'unchanged' })
    expect(await memory.store.events('ann', { limit: 10 })).toHaveLength(1)
  })

  it('make a belief of an agent the person’s, so that the agent can no longer change it', async () => {
    const memory = ports()
    await tell(memory, 'db', 'Postgres', { author: agent })
    expect(await setWhy(memory, { ...about('db', agent), why: 'Ask.' })).toMatchObject({ outcome: 'edited' })
    expect(await pin(memory, about('db'))).toMatchObject({ outcome: 'edited' })
    await unpin(memory, about('db'))

    expect(await setWhy(memory, { ...about('db', agent), why: 'Do.' })).toMatchObject({ outcome: 'proposed' })
  })

  it('are only proposed if an agent asks, even for its own beliefs', async () => {
    const memory = ports()
    await tell(memory, 'db', 'Postgres', { author: agent })

    expect(await pin(memory, about('db', agent))).toMatchObject({ outcome: 'proposed', belief: { pinned: true } })
    expect((await now(memory, { id: 'new-1' })).pinned).toBe(false)
  })
})

describe("an agent that edits a person's belief", () => {
  it('only makes a proposal', async () => {
    const memory = ports()
    const { belief: said } = await tell(memory, 'db', 'Postgres', { pinned: true, aliases: ['storage'], why: 'Ask.' })
    const attempts = [
      await unpin(memory, about('db', agent)),
      await addAliases(memory, { ...about('db', agent), aliases: ['pg'] }),
      await removeAliases(memory, { ...about('db', agent), aliases: ['storage'] }),
      await setWhy(memory, { ...about('db', agent), why: 'Never ask.' }),
      await setWhy(memory, { ...about('db', importer), why: 'Sometimes ask.' }),
    ]

    for (const { outcome, belief } of attempts) {
      expect(outcome).toBe('proposed')
      expect(belief).toMatchObject({ proposedFor: said.id, status: 'exploratory', editedByPerson: false })
    }
    expect(lasting(await now(memory, said))).toEqual(lasting(said))
    expect(await listProposals(memory, 'ann')).toHaveLength(attempts.length)
  })

  it('gets exactly that edit when the person accepts it, with all changes that the person made meanwhile', async () => {
    const memory = ports()
    await tell(memory, 'db', 'Postgres', { aliases: ['storage', 'engine'] })
    const wish = await removeAliases(memory, { ...about('db', agent), aliases: ['storage'] })
    await pin(memory, about('db'))
    await setWhy(memory, { ...about('db'), why: 'Ask first.' })
    await addAliases(memory, aliased('db', 'pg'))
    await removeAliases(memory, aliased('db', 'engine'))
    const { belief } = await accept(memory, about(wish.belief.id))

    expect(belief).toMatchObject({ aliases: ['pg'], pinned: true, why: 'Ask first.', content: 'Postgres' })
    expect((await everything(memory)).filter(({ supersededBy }) => supersededBy === null)).toHaveLength(1)
  })

  it('may always confirm the belief', async () => {
    const memory = ports()
    const { belief: said } = await tell(memory, 'db', 'Postgres')
    const { outcome, belief } = await reinforce(memory, about('db', agent))

    expect(outcome).toBe('edited')
    expect(belief.reinforcement.count).toBe(1)
    expect({ ...lasting(belief), reinforcement: said.reinforcement }).toEqual(lasting(said))
  })
})

describe('reinforce', () => {
  it('counts and dates, and does not change the author', async () => {
    const memory = ports()
    await tell(memory, 'db', 'Postgres', { author: agent })
    await reinforce(memory, about('db'))
    const { belief } = await reinforce(memory, about('db'))

    expect(belief).toMatchObject({ reinforcement: { count: 2, at: belief.updatedAt }, editedByPerson: false })
  })
})

describe('aliases', () => {
  it('are added once, in order, without repeating the name', async () => {
    const memory = ports()
    await tell(memory, 'Postgres', 'Our database', { aliases: ['pg'] })
    const { belief } = await addAliases(memory, aliased('postgres', 'PG', 'psql', 'POSTGRES', 'Elephant', 'psql'))

    expect(belief.aliases).toEqual(['pg', 'psql', 'Elephant'])
    expect((await addAliases(memory, aliased('postgres', 'pg'))).outcome).toBe('unchanged')
    expect((await addAliases(memory, aliased('postgres'))).outcome).toBe('unchanged')
  })

  it('are removed in any spelling; an unknown alias is an error that lists the known ones', async () => {
    const memory = ports()
    await tell(memory, 'Postgres', 'Our database', { aliases: ['main DB', 'pg'] })
    const { belief } = await removeAliases(memory, aliased('postgres', ' MAIN_db'))

    expect(belief.aliases).toEqual(['pg'])
    await expect(removeAliases(memory, aliased('postgres', 'pg', 'nope'))).rejects.toMatchObject({
      code: 'not_found',
      hint: expect.stringContaining('pg'),
    })
    expect((await now(memory, belief)).aliases).toEqual(['pg'])
  })

  it('must be findable, and are limited to 200', async () => {
    const memory = ports()
    await tell(memory, 'Postgres', 'Our database')
    await expect(addAliases(memory, aliased('postgres', '!!'))).rejects.toMatchObject({ code: 'invalid' })
    const many = Array.from({ length: 201 }, (_, index) => `alias ${index}`)

    await expect(addAliases(memory, aliased('postgres', ...many))).rejects.toMatchObject({ code: 'invalid' })
    expect((await addAliases(memory, aliased('postgres', ...many.slice(1)))).belief.aliases).toHaveLength(200)
  })
})

describe('setting the why', () => {
  it('changes it, clears it, and refuses a text that is too long', async () => {
    const memory = ports()
    await tell(memory, 'db', 'Postgres')

    expect((await setWhy(memory, { ...about('db'), why: ' Ask first. ' })).belief.why).toBe('Ask first.')
    expect((await setWhy(memory, { ...about('db'), why: '  ' })).belief.why).toBe('')
    await expect(setWhy(memory, { ...about('db'), why: 'x'.repeat(4_001) })).rejects.toMatchObject({ code: 'invalid' })
  })
})

describe('a key', () => {
  it('identifies one request of one kind', async () => {
    const memory = ports()
    const { belief } = await tell(memory, 'db', 'Postgres', { aliases: ['pg'] })
    const keyed = { ...about('db'), key: 'k1' }
    const first = await pin(memory, keyed)

    expect(await pin(memory, keyed)).toEqual(first)
    await expect(unpin(memory, keyed)).rejects.toMatchObject({ code: 'conflict' })
    await expect(reinforce(memory, keyed)).rejects.toMatchObject({ code: 'conflict' })
    expect(await now(memory, belief)).toMatchObject({ pinned: true, reinforcement: { count: 0 }, version: 2 })

    const same = { ...aliased('db', 'psql'), key: 'k2' }
    await addAliases(memory, same)
    await expect(removeAliases(memory, same)).rejects.toMatchObject({ code: 'conflict' })
  })

  it('distinguishes accepting from rejecting', async () => {
    const memory = ports()
    await tell(memory, 'db', 'Postgres')
    const { belief } = await tell(memory, 'db', 'MySQL', { author: agent })
    const keyed = { ...about(belief.id), key: 'k1' }
    const first = await accept(memory, keyed)

    expect((await accept(memory, keyed)).event).toBe(first.event)
    await expect(reject(memory, keyed)).rejects.toMatchObject({ code: 'conflict' })
    expect(await now(memory, belief)).toMatchObject({ status: 'active' })
  })
})

describe('several edits in one change', () => {
  it('are one change, which one undo reverts', async () => {
    const memory = ports()
    await tell(memory, 'db', 'Postgres', { aliases: ['database'] })
    const edits = {
      why: 'Use SQL.',
      pinned: true,
      addAliases: ['pg'],
      removeAliases: ['database'],
      scopes: ['domain:ops'],
    }

    const { belief, event } = await editBelief(memory, { ...about('db'), edits })
    expect(belief).toMatchObject({ why: 'Use SQL.', pinned: true, aliases: ['pg'], scopes: ['domain:ops'], version: 2 })
    expect((await memory.store.event('ann', event as number))?.kind).toBe('edit')
    const { restored } = await undo(memory, { user: 'ann', author: person })

    expect(restored).toMatchObject([{ why: '', pinned: false, aliases: ['database'], scopes: ['domain:code'] }])
  })

  it('are reported with the most specific name', async () => {
    const memory = ports()
    await tell(memory, 'db', 'Postgres')
    const kindOf = async (edits: Edits) => {
      const { event } = await editBelief(memory, { ...about('db'), edits })
      return (await memory.store.event('ann', event as number))?.kind
    }

    expect(await kindOf({ pinned: true })).toBe('pin')
    expect(await kindOf({ pinned: false })).toBe('unpin')
    expect(await kindOf({ addAliases: ['pg'] })).toBe('alias')
    expect(await kindOf({ addAliases: ['sql'], pinned: true })).toBe('edit')
  })

  it('do not move a belief to a scope in which its name is taken, or remove its last scope', async () => {
    const memory = ports()
    const { belief } = await tell(memory, 'db', 'Postgres')
    await tell(memory, 'db', 'MySQL', { scopes: ['project:old'] })
    const moved = (scopes: readonly string[]) => editBelief(memory, { ...about(belief.id), edits: { scopes } })

    await expect(moved(['domain:code', 'project:old'])).rejects.toMatchObject({ code: 'conflict' })
    await expect(moved([])).rejects.toMatchObject({ code: 'invalid' })
    await expect(moved(['nowhere'])).rejects.toMatchObject({ code: 'invalid' })
    expect(await now(memory, belief)).toMatchObject({ scopes: ['domain:code'], version: 1 })
  })
})

describe('an expected version', () => {
  it('allows a change only if nobody else has changed the belief', async () => {
    const memory = ports()
    const { belief } = await tell(memory, 'db', 'Postgres')
    await pin(memory, about(belief.id))
    const stale = { ...about(belief.id), expectedVersion: 1 }
    const refused = { code: 'conflict', message: expect.stringContaining('version 2 now, not 1') }

    await expect(editBelief(memory, { ...stale, edits: { why: 'x' } })).rejects.toMatchObject(refused)
    await expect(correct(memory, { ...stale, content: 'MySQL' })).rejects.toMatchObject(refused)
    await expect(forget(memory, stale)).rejects.toMatchObject(refused)
    expect(await now(memory, belief)).toMatchObject({ version: 2, content: 'Postgres' })
    expect((await correct(memory, { ...stale, expectedVersion: 2, content: 'MySQL' })).outcome).toBe('corrected')
  })

  it('does not block a repeated request with a key', async () => {
    const memory = ports()
    const { belief } = await tell(memory, 'db', 'Postgres')
    const request = { ...about(belief.id), expectedVersion: 1, key: 'k', edits: { pinned: true } }

    const first = await editBelief(memory, request)

    expect(await editBelief(memory, request)).toEqual(first)
  })
})
