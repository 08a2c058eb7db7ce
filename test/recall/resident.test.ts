import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { storeWith } from '../../src/memory/explain/what-if.ts'
import { commitOf, gone, next, present, sample } from '../../src/store/sample-beliefs.contract.ts'
import { newFile, openAt } from '../../src/store/sqlite/temporary-store.contract.ts'
import { tries } from '../full-counts.ts'
import { describeResident, foundByText, recalled, residentBytes, untilResident, view } from './resident.contract.ts'

describeResident(
  'the resident index of SQLite',
  async () => {
    const file = newFile()
    const [stored, inMemory] = [openAt(file), openAt(file, { residentBytes })]
    return { stored, inMemory, close: async () => void (await Promise.all([stored.close(), inMemory.close()])) }
  },
  tries(40),
)

describe('the resident index', () => {
  it('is complete although beliefs change while it is made', async () => {
    const file = newFile()
    const store = openAt(file, { residentBytes })
    const other = openAt(file)
    const beliefs = Array.from({ length: 1_500 }, (_, index) =>
      sample({ id: `b${index}`, name: `thing ${index}`, aliases: [`alias ${index} of many`] }),
    )
    await store.commit(commitOf(beliefs.map((belief) => present(belief))))
    await store.resident?.(view)
    await store.resident?.(view)
    await nextTurn()
    const [first, last] = [beliefs[0], beliefs[1_499]] as [ReturnType<typeof sample>, ReturnType<typeof sample>]
    await other.commit(commitOf([gone(first, 'erased'), present(next(last, { name: 'renamed thing', aliases: [] }))]))
    await untilResident(store)

    for (const message of [
      'thing 0',
      'alias 0 of many',
      'thing 1499',
      'renamed thing',
      'thing 700',
      'alias 1498 of many',
    ])
      expect(await recalled(store, message, null)).toEqual(await recalled(other, message, null))
    await store.close()
    await other.close()
  })

  it('does not answer a dry run of a change', async () => {
    const file = newFile()
    const [store, other] = [openAt(file, { residentBytes }), openAt(file)]
    const cache = sample({ id: 'cache', name: 'Redis', aliases: ['session cache'] })
    await store.commit(commitOf([present(cache)]))
    await untilResident(store)
    for (const changed of [
      { ...cache, aliases: [] },
      { ...cache, aliases: ['session cache', 'sixth port'] },
    ])
      for (const message of ['Where is the session cache?', 'What is on the sixth port?', 'Is Redis up?'])
        expect(await recalled(storeWith(store, changed), message, null)).toEqual(
          await recalled(storeWith(other, changed), message, null),
        )
    await store.close()
    await other.close()
  })

  it('gives up the least recently used index when there is no room for another', async () => {
    const store = openAt(newFile(), { residentBytes: 40_000 })
    for (const user of ['ada', 'bob'])
      await store.commit({ ...commitOf([present(sample({ id: `of-${user}`, user }))]), user })
    await untilResident(store, 'ada')
    // Used within the last thousand recalls, so bob's is not made.
    for (let turn = 0; turn < 500; turn += 1) await store.resident?.({ ...view, user: 'bob' })
    expect(await store.resident?.({ ...view, user: 'ada' })).not.toBeNull()

    for (let turn = 0; turn < 1_500; turn += 1) await store.resident?.({ ...view, user: 'bob' })
    await untilResident(store, 'bob')

    expect(await store.resident?.({ ...view, user: 'ada' })).toBeNull()
    await store.close()
  })

  it('is not made where it would not fit', async () => {
    const store = openAt(newFile(), { residentBytes: 1_000 })
    await store.commit(commitOf([present(sample({ id: 'b1' }))]))

    for (let turn = 0; turn < 20; turn += 1) {
      expect(await store.resident?.(view)).toBeNull()
      await nextTurn()
    }
    await store.close()
  })

  it('searches what other processes have changed, and a store whose index was made again', async () => {
    const file = newFile()
    const [store, other] = [openAt(file, { residentBytes }), openAt(file)]
    const words = ['tide', 'noon']
    const tidal = (id: string, scope: string) =>
      sample({ id, name: `Tide ${id}`, content: 'Tides at noon.', scopes: [scope] })
    const last = tidal('c', 'project:ledger')
    // A new index is made in the order of ids, with other numbers for rows and audiences.
    for (const belief of [last, tidal('b', 'project:ledger'), tidal('a', 'project:other')])
      await other.commit(commitOf([present(belief)]))
    const found = async () =>
      (await foundByText(store, words)).map((hits) => hits.map(({ beliefId }) => beliefId).sort())
    const inView = ['b', 'c']
    expect(await found()).toEqual([inView, ['a', ...inView], inView, ['a', ...inView]])

    await other.rebuild()
    expect(await found()).toEqual([inView, ['a', ...inView], inView, ['a', ...inView]])

    await other.commit(commitOf([present(next(last, { scopes: ['project:other'] }))]))
    expect((await found())[0]).toEqual(['b'])

    await other.commit(commitOf([gone(next(last, {}), 'erased')]))
    await other.commit(commitOf([present(tidal('d', 'project:ledger'))]))
    expect((await found())[0]).toEqual(['b', 'd'])
    await store.close()
    await other.close()
  })
})
