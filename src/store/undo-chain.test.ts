import { expect, it } from 'vitest'
import { undoneBy } from './undo-chain.ts'

/** Events 1, 2, 3…; each entry says which earlier event it undoes. */
const chain = (...undoes: readonly (number | null)[]) => {
  const undosOf = (number: number): readonly number[] =>
    undoes.flatMap((undone, index) => (undone === number ? [index + 1] : [])).reverse()
  return (number: number) => undoneBy(number, undosOf)
}

it('says nothing of what nobody took back', () => {
  expect(chain(null, null)(1)).toBeNull()
})

it('names the undo, until that is undone itself', () => {
  const undone = chain(null, 1)
  const redone = chain(null, 1, 2)
  const undoneAgain = chain(null, 1, 2, 1)

  expect(undone(1)).toBe(2)
  expect([redone(1), redone(2)]).toEqual([null, 3])
  expect(undoneAgain(1)).toBe(4)
})
