import { describe, expect, it } from 'vitest'
import { sample } from '../store/sample-beliefs.contract.ts'
import { type ActorKind, actorKinds, mayChange } from './belief.ts'

describe('who may change a belief', () => {
  /** The kinds of actors by rank: a person, a document, and all others. */
  const ranks: readonly (readonly ActorKind[])[] = [['person'], ['document'], ['agent', 'tool', 'model']]
  const rankOf = (actor: ActorKind): number => ranks.findIndex((rank) => rank.includes(actor))
  const byEveryPair = actorKinds.flatMap((author) => actorKinds.map((writer) => [author, writer] as const))

  it.each(byEveryPair)('is decided by rank and author: a %s changing a belief of a %s', (author, writer) => {
    const { provenance } = sample({ id: 'b' })
    const belief = sample({ id: 'b', provenance: { ...provenance, actor: writer, origin: 'x' } })
    const isAllowed = (origin: string): boolean => mayChange({ actor: author, origin }, belief)

    const isHigher = rankOf(author) < rankOf(writer)
    const isOfOneKind = author === writer && (author === 'person' || author === 'document')
    expect(isAllowed('x')).toBe(isHigher || author === writer)
    expect(isAllowed('y')).toBe(isHigher || isOfOneKind)
    expect(mayChange({ actor: author, origin: 'x' }, { ...belief, editedByPerson: true })).toBe(author === 'person')
  })
})
