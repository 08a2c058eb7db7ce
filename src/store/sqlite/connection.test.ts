import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { commitOf, presentChange, sample } from '../sample-beliefs.contract.ts'
import { newFile, openAt } from './temporary-store.contract.ts'

it('reads that share a transaction see what others write once their caller has waited, although it is not done', async () => {
  const file = newFile()
  const store = openAt(file)
  const other = openAt(file)
  await store.commit(commitOf([presentChange(sample({ id: 'b1' }))]))

  const found = await store.withSnapshot(async () => {
    const before = await store.getMany('ada', ['b1', 'b2'])
    await other.commit(commitOf([presentChange(sample({ id: 'b2', name: 'Second' }))]))
    let after = before
    while (after.length < 2) {
      await nextTurn()
      after = await store.getMany('ada', ['b1', 'b2'])
    }
    return [before, after].map((beliefs) => beliefs.map(({ id }) => id))
  })

  expect(found).toEqual([['b1'], ['b1', 'b2']])
  await Promise.all([store.close(), other.close()])
})
