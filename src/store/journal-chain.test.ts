import { expect, it } from 'vitest'
import {
  beforeFirst,
  findUndo,
  hashBody,
  hashChanges,
  hashEvent,
  type SealedChange,
  type SealedEvent,
  toHex,
} from './journal-chain.ts'

const event: SealedEvent = {
  number: 1,
  user: 'ada',
  kind: 'remember',
  actor: 'person',
  origin: 'test',
  at: '2026-03-01T12:00:00.000Z',
  key: { value: 'k', fingerprint: 'f' },
  undoes: null,
}
const change: SealedChange = { beliefId: 'b1', version: 1, outcome: 'present', bodyHash: beforeFirst }

it('gives a text another hash with another salt', () => {
  const [one, other] = [0, 1].map((byte) => toHex(hashBody(new Uint8Array(16).fill(byte), 'text')))

  expect(one).not.toBe(other)
})

it('gives an event another hash if any of its fields differs', () => {
  const variants: readonly SealedEvent[] = [
    event,
    { ...event, number: 2 },
    { ...event, user: 'bob' },
    { ...event, kind: 'edit' },
    { ...event, actor: 'tool' },
    { ...event, origin: 'other' },
    { ...event, at: '2026-03-01T12:00:00.001Z' },
    { ...event, key: null },
    { ...event, key: { value: 'k', fingerprint: 'g' } },
    { ...event, undoes: 1 },
  ]
  const ofChanges = [[], [change], [change, change], [{ ...change, version: 2 }], [{ ...change, bodyHash: null }]].map(
    (changes) => hashChanges(changes),
  )
  const turn = { id: 't-1', hash: new Uint8Array(32).fill(2) }
  const ofTurns = [[turn], [turn, turn], [{ ...turn, id: 't-2' }], [{ ...turn, hash: null }]].map((turns) =>
    hashChanges([change], turns),
  )

  const hashes = [
    ...variants.map((variant) => hashEvent(variant, beforeFirst, beforeFirst)),
    ...[...ofChanges, ...ofTurns].map((changes) => hashEvent(event, changes, beforeFirst)),
    hashEvent(event, beforeFirst, new Uint8Array(32).fill(1)),
  ].map(toHex)

  expect(new Set(hashes).size).toBe(hashes.length)
})

/** `findUndo` for events 1, 2, 3…. Argument n is the number of the event that event n undoes, or null. */
const chain = (...undoes: readonly (number | null)[]) => {
  const undosOf = (number: number): readonly number[] =>
    undoes.flatMap((undone, index) => (undone === number ? [index + 1] : [])).reverse()
  return (number: number) => findUndo(number, undosOf)
}

it('is null for an event that was not undone', () => {
  expect(chain(null, null)(1)).toBeNull()
})

it('names the undo, unless the undo was undone', () => {
  const undone = chain(null, 1)
  const redone = chain(null, 1, 2)
  const undoneAgain = chain(null, 1, 2, 1)

  expect(undone(1)).toBe(2)
  expect([redone(1), redone(2)]).toEqual([null, 3])
  expect(undoneAgain(1)).toBe(4)
})

it('terminates in a damaged journal, in which an event may claim to undo itself or a later one', () => {
  expect(chain(1)(1)).toBeNull()
  expect(chain(2, 1)(1)).toBe(2)
  expect(chain(2, 1)(2)).toBeNull()
})
