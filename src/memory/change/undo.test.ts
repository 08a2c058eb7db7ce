import { describe, expect, it } from 'vitest'
import {
  about,
  addAliases,
  agent,
  everything,
  lasting,
  now,
  otherAgent,
  pin,
  setWhy,
  tell,
} from '../../../test/memory/fixtures.ts'
import { person, ports } from '../../../test/recall/fixtures.ts'
import { temporaryDirectory } from '../../../test/temporary-directory.ts'
import { openMemory } from '../../open-memory.ts'
import type { Author, Ports } from '../ports.ts'
import { recall } from '../recall/recall.ts'
import { importBeliefs } from '../transfer/import.ts'
import { correct } from './correct.ts'
import { reinforce } from './edit.ts'
import { accept, reject } from './proposals.ts'
import { resolve } from './resolve.ts'
import { undo } from './undo.ts'

const takeBack = (memory: Ports, event?: number, author: Author = person) =>
  undo(memory, { user: 'ann', author, ...(event === undefined ? {} : { event }) })
const state = async (memory: Ports) => (await everything(memory)).map(lasting).sort((a, b) => (a.id < b.id ? -1 : 1))

describe('undo', () => {
  it('refuses a change that only stored turns, and names the command that removes them', async () => {
    using directory = temporaryDirectory()
    const memory = openMemory({ dir: directory.path })
    await memory.hear({ text: 'It rained all day.', session: 's' })

    await expect(memory.undo(1)).rejects.toMatchObject({
      code: 'conflict',
      message: 'Change 1 (hear) changed no belief, so there is nothing to undo.',
      hint: expect.stringContaining('credence forget'),
    })
    await memory.close()
  })

  it('shows a reviewer the change and its beliefs, and changes nothing if the reviewer declines', async () => {
    const memory = ports()
    const { belief } = await tell(memory, 'db', 'Postgres')
    const seen: unknown[] = []
    const reviewed = (isAllowed: boolean, key?: string) =>
      undo(memory, {
        user: 'ann',
        author: person,
        ...(key === undefined ? {} : { key }),
        review: async ({ change, beliefs }) => {
          seen.push([change.number, beliefs.map(({ id }) => id)])
          return isAllowed
        },
      })

    await expect(reviewed(false)).rejects.toMatchObject({ code: 'conflict' })
    expect(await everything(memory)).toHaveLength(1)
    const undone = await reviewed(true, 'k')
    expect(await reviewed(false, 'k')).toMatchObject({ event: undone.event, withdrawn: undone.withdrawn })
    expect(seen).toEqual([
      [1, [belief.id]],
      [1, [belief.id]],
    ])
    expect(await everything(memory)).toEqual([])
  })

  it('reverts the last change of any kind, and undoing the undo repeats it', async () => {
    const memory = ports()
    await tell(memory, 'db', 'Postgres')
    await tell(memory, 'hosting', 'Where?', { type: 'open_question' })
    const { belief: proposed } = await tell(memory, 'db', 'MySQL', { author: agent })
    const json = JSON.stringify({ name: 'imported', content: 'From a file' })
    const changes: (() => Promise<unknown>)[] = [
      () => tell(memory, 'new', 'Something'),
      () => tell(memory, 'db', 'postgres'),
      () => tell(memory, 'db', 'Oracle', { author: agent }),
      () => pin(memory, about('db')),
      () => addAliases(memory, { ...about('db'), aliases: ['pg'] }),
      () => setWhy(memory, { ...about('db'), why: 'Ask.' }),
      () => reinforce(memory, about('db')),
      () => resolve(memory, { ...about('hosting'), by: { name: 'hosted at', content: 'At home' } }),
      () => importBeliefs(memory, { user: 'ann', author: person, text: json, source: 'f', scopes: ['domain:code'] }),
      () => reject(memory, about(proposed.id)),
      () => accept(memory, about(proposed.id)),
      () => correct(memory, { ...about('db'), content: 'SQLite', name: 'storage' }),
    ]
    for (const change of changes) {
      const before = await state(memory)
      await change()
      const after = await state(memory)
      expect(after).not.toEqual(before)

      const undone = await takeBack(memory)
      expect(await state(memory)).toEqual(before)
      const redone = await takeBack(memory, undone.event)
      expect(await state(memory)).toEqual(after)
      await takeBack(memory, redone.event)
      expect(await state(memory)).toEqual(before)
    }
  })

  it('goes back step by step to the beginning, and then reports that no change is left', async () => {
    const memory = ports()
    await tell(memory, 'db', 'Postgres')
    await pin(memory, about('db'))
    await correct(memory, { ...about('db'), content: 'MySQL' })
    await addAliases(memory, { ...about('db'), aliases: ['maria'] })

    const undone = []
    for (let step = 0; step < 4; step += 1) undone.push((await takeBack(memory)).undone.kind)

    expect(undone).toEqual(['alias', 'correct', 'pin', 'remember'])
    expect(await everything(memory)).toEqual([])
    await expect(takeBack(memory)).rejects.toMatchObject({ code: 'not_found' })
  })

  it('returns the restored and the withdrawn beliefs', async () => {
    const memory = ports()
    const { belief: old } = await tell(memory, 'db', 'Postgres')
    const { belief: heir, event: made } = await correct(memory, { ...about('db'), content: 'MySQL' })
    const event = made as number
    const { restored, withdrawn, undone } = await takeBack(memory, event)

    expect(undone).toMatchObject({ number: event, kind: 'correct' })
    expect(restored.map(({ id, status }) => [id, status])).toEqual([[old.id, 'active']])
    expect(withdrawn).toEqual([heir.id])
    expect(await memory.store.event('ann', event)).toMatchObject({ undoneBy: event + 1 })
    const context = await recall(memory, { user: 'ann', scopes: ['domain:code'], message: 'db' })
    expect(context.relevant.map(({ belief }) => belief.content)).toEqual(['Postgres'])
  })

  it('reverts an earlier change of a belief that has not changed since', async () => {
    const memory = ports()
    const { event } = await tell(memory, 'db', 'Postgres')
    await tell(memory, 'cache', 'Redis')
    await takeBack(memory, event)

    expect((await everything(memory)).map(({ name }) => name)).toEqual(['cache'])
  })

  it('refuses if a later change touched the belief, and names the last one', async () => {
    const memory = ports()
    const { event, belief } = await tell(memory, 'db', 'Postgres')
    await pin(memory, about('db'))
    const aliased = await addAliases(memory, { ...about('db'), aliases: ['pg'] })
    const before = await now(memory, belief)

    await expect(takeBack(memory, event)).rejects.toMatchObject({
      code: 'conflict',
      hint: `Undo ${aliased.event} first.`,
    })
    expect(await now(memory, belief)).toEqual(before)
  })

  it('refuses a change that is already undone, and an undo that was followed by a change', async () => {
    const memory = ports()
    await tell(memory, 'db', 'Postgres')
    const { event: pinned } = await pin(memory, about('db'))
    const { event: undone } = await takeBack(memory, pinned as number)
    await expect(takeBack(memory, pinned as number)).rejects.toMatchObject({
      code: 'conflict',
      hint: `Undo ${undone} to redo it.`,
    })
    await addAliases(memory, { ...about('db'), aliases: ['pg'] })

    await expect(takeBack(memory, undone)).rejects.toMatchObject({ code: 'conflict' })
  })

  it('never redoes changes out of order', async () => {
    const memory = ports()
    const { belief } = await tell(memory, 'db', 'Postgres')
    const { event: pinned } = await pin(memory, about('db'))
    const { event: undone } = await takeBack(memory, pinned as number)
    const { event: redone } = await takeBack(memory, undone)
    const { event: undoneAgain } = await takeBack(memory, pinned as number)

    await expect(takeBack(memory, redone)).rejects.toMatchObject({ hint: `Undo ${undoneAgain} first.` })
    expect((await now(memory, belief)).pinned).toBe(false)
    await takeBack(memory, undoneAgain)
    expect((await now(memory, belief)).pinned).toBe(true)
  })

  it('refuses to restore a belief whose name another belief has taken', async () => {
    const memory = ports()
    const { event } = await tell(memory, 'db', 'Postgres')
    const { event: undone } = await takeBack(memory, event)
    const { belief: holder } = await tell(memory, 'db', 'MySQL')

    await expect(takeBack(memory, undone)).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringContaining(holder.id),
    })
    const renamed = await correct(memory, { ...about('db'), content: 'MySQL', name: 'storage' })
    await tell(memory, 'db', 'Oracle')
    await expect(takeBack(memory, renamed.event as number)).rejects.toMatchObject({
      message: expect.stringContaining('"db"'),
    })
  })

  it('by an agent reverts its own changes only', async () => {
    const memory = ports()
    await tell(memory, 'db', 'Postgres')
    const { event } = await tell(memory, 'cache', 'Redis', { author: agent })

    await expect(takeBack(memory, event, otherAgent)).rejects.toMatchObject({ code: 'forbidden' })
    await expect(takeBack(memory, 1, agent)).rejects.toMatchObject({ code: 'forbidden' })
    await takeBack(memory, event, agent)
    await expect(takeBack(memory, undefined, agent)).rejects.toMatchObject({ code: 'forbidden' })
    expect((await everything(memory)).map(({ name }) => name)).toEqual(['db'])
  })

  it('finds only the changes of the user', async () => {
    const memory = ports()
    await tell(memory, 'db', 'Postgres')

    for (const event of [1, 2, 0, -1])
      await expect(undo(memory, { user: 'bob', author: person, event })).rejects.toMatchObject({ code: 'not_found' })
    await expect(undo(memory, { user: 'bob', author: person })).rejects.toMatchObject({ code: 'not_found' })
  })

  it('has one effect if it is done twice concurrently', async () => {
    const memory = ports()
    await tell(memory, 'db', 'Postgres')
    const { event } = await pin(memory, about('db'))
    const both = await Promise.allSettled([takeBack(memory, event as number), takeBack(memory, event as number)])

    expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  })

  it('with a key has one effect and the same answer', async () => {
    const memory = ports()
    await tell(memory, 'db', 'Postgres')
    await tell(memory, 'cache', 'Redis')
    const request = { user: 'ann', author: person, key: 'k1' }
    const first = await undo(memory, request)
    const second = await undo(memory, request)

    expect(second).toMatchObject({ event: first.event, restored: first.restored, withdrawn: first.withdrawn })
    expect(second.undone.number).toBe(first.undone.number)
    expect(await everything(memory)).toHaveLength(1)
  })
})
