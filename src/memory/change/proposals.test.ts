import { describe, expect, it } from 'vitest'
import { about, agent, everything, importer, lasting, now, tell } from '../../../test/memory/fixtures.ts'
import { belief, person, ports, portsWith } from '../../../test/recall/fixtures.ts'
import { recall } from '../recall/recall.ts'
import { correct } from './correct.ts'
import { forget } from './forget.ts'
import { accept, listProposals, reject } from './proposals.ts'
import { undo } from './undo.ts'

const disputed = async () => {
  const memory = ports()
  const { belief: said } = await tell(memory, 'db', 'Postgres')
  const { belief: proposed, event } = await tell(memory, 'db', 'MySQL', { author: agent })
  return { memory, said, proposed, event }
}
const recalled = async (memory: ReturnType<typeof ports>) =>
  (await recall(memory, { user: 'ann', scopes: ['domain:code'], message: 'db' })).relevant.map(
    ({ belief: { content } }) => content,
  )

describe('a proposal', () => {
  it('is listed with its target, newest first, and is not recalled', async () => {
    const { memory, said, proposed } = await disputed()
    const { belief: newer } = await tell(memory, 'db', 'Oracle', { author: importer })
    const waiting = await listProposals(memory, 'ann')

    expect(waiting.map(({ proposal, target }) => [proposal.id, target?.id])).toEqual([
      [newer.id, said.id],
      [proposed.id, said.id],
    ])
    expect(await recalled(memory)).toEqual(['Postgres'])
    expect(await listProposals(memory, 'bob')).toEqual([])
  })

  it('that is accepted becomes current, and a statement of the person', async () => {
    const { memory, said, proposed } = await disputed()
    const { belief: accepted, replaced } = await accept(memory, about(proposed.id))

    expect(accepted).toMatchObject({ id: proposed.id, status: 'active', proposedFor: null, editedByPerson: true })
    expect(replaced.map(({ id }) => id)).toEqual([said.id])
    expect(await now(memory, said)).toMatchObject({ status: 'superseded', supersededBy: proposed.id })
    expect(await recalled(memory)).toEqual(['MySQL'])
    expect(await listProposals(memory, 'ann')).toEqual([])
    expect((await tell(memory, 'db', 'Oracle', { author: agent })).outcome).toBe('proposed')
    await expect(forget(memory, about(proposed.id, agent))).rejects.toMatchObject({ code: 'forbidden' })
  })

  it('is compared with the current belief; accepted, it keeps what was added since', async () => {
    const { memory, proposed } = await disputed()
    const { belief: newer } = await correct(memory, { ...about('db'), content: 'Postgres 17', aliases: ['pg'] })

    const [waiting] = await listProposals(memory, 'ann')
    expect(waiting?.target).toMatchObject({ id: newer.id, content: 'Postgres 17' })
    expect(waiting?.accepted).toMatchObject({ content: 'MySQL', aliases: expect.arrayContaining(['pg']) })

    const { belief: accepted, replaced } = await accept(memory, { ...about(proposed.id), over: newer.id })
    expect(accepted.aliases).toEqual(waiting?.accepted.aliases)
    expect(replaced.map(({ id }) => id)).toEqual([newer.id])
    expect(await recalled(memory)).toEqual(['MySQL'])
  })

  it('that is rejected is gone, and undo restores it unchanged', async () => {
    const { memory, proposed } = await disputed()
    const { beliefId, event } = await reject(memory, about(proposed.id))

    expect(beliefId).toBe(proposed.id)
    expect(await everything(memory)).toHaveLength(1)
    await undo(memory, { user: 'ann', author: person, event })
    expect(lasting(await now(memory, proposed))).toEqual(lasting(proposed))
  })

  it('can be identified by its target, unless the target has several or none', async () => {
    const { memory, proposed } = await disputed()
    await tell(memory, 'undisputed', 'Yes')
    await expect(accept(memory, about('undisputed'))).rejects.toMatchObject({ code: 'not_found' })
    const { belief: other } = await tell(memory, 'db', 'Oracle', { author: agent })

    await expect(accept(memory, about('db'))).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining(other.id),
    })
    await reject(memory, about(other.id))
    expect((await accept(memory, about('db'))).belief.id).toBe(proposed.id)
  })

  it('is decided by a person only', async () => {
    const { memory, proposed } = await disputed()

    for (const author of [agent, importer, { actor: 'tool', origin: 'ci' } as const]) {
      await expect(accept(memory, about(proposed.id, author))).rejects.toMatchObject({ code: 'forbidden' })
      await expect(reject(memory, about(proposed.id, author))).rejects.toMatchObject({ code: 'forbidden' })
    }
    expect(await recalled(memory)).toEqual(['Postgres'])
  })

  it('cannot be accepted over a later statement of the person', async () => {
    const { memory, proposed } = await disputed()
    const { belief: newer } = await correct(memory, { ...about('db'), content: 'SQLite' })

    await expect(accept(memory, about(proposed.id))).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining(newer.id),
    })
    expect(await recalled(memory)).toEqual(['SQLite'])
  })

  it('cannot be accepted after another one for the same belief was', async () => {
    const { memory, proposed } = await disputed()
    const { belief: other } = await tell(memory, 'db', 'Oracle', { author: agent })
    await accept(memory, about(proposed.id))

    await expect(accept(memory, about(other.id))).rejects.toMatchObject({ code: 'conflict' })
    expect(await recalled(memory)).toEqual(['MySQL'])
  })

  it('can be accepted without its target, if that is gone', async () => {
    const memory = await portsWith(
      belief({ id: 'p', name: 'db', content: 'MySQL', status: 'exploratory', proposedFor: 'gone' }),
    )

    expect(await listProposals(memory, 'ann')).toMatchObject([{ proposal: { id: 'p' }, target: null }])
    expect(await accept(memory, about('db'))).toMatchObject({ belief: { status: 'active' }, replaced: [] })
    expect(await recalled(memory)).toEqual(['MySQL'])
  })

  it('that was decided cannot be decided again', async () => {
    const { memory, proposed } = await disputed()
    await accept(memory, about(proposed.id))

    await expect(accept(memory, about(proposed.id))).rejects.toMatchObject({ code: 'not_found' })
    await expect(reject(memory, about(proposed.id))).rejects.toMatchObject({ code: 'not_found' })
  })

  it('waits again, with its target restored, if accepting it is undone', async () => {
    const { memory, said, proposed } = await disputed()
    const { event } = await accept(memory, about(proposed.id))
    await undo(memory, { user: 'ann', author: person, event })

    expect(lasting(await now(memory, said))).toEqual(lasting(said))
    expect(lasting(await now(memory, proposed))).toEqual(lasting(proposed))
  })
})
