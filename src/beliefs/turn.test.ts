import { describe, expect, it } from 'vitest'
import { isSameTurn, type TurnIdentity } from './turn.ts'

const identity = (fields: Partial<TurnIdentity>): TurnIdentity => ({
  messageId: null,
  index: null,
  at: '2026-05-03T10:00:00.000Z',
  previous: 'before',
  ...fields,
})
const later = '2026-05-03T10:01:00.000Z'

describe('two turns of one conversation with the same words', () => {
  it('are the same turn if they have the same host id, and different turns if the ids differ', () => {
    expect(isSameTurn(identity({ messageId: 'a' }), identity({ messageId: 'a', at: later, previous: null }))).toBe(true)
    expect(isSameTurn(identity({ messageId: 'a' }), identity({ messageId: 'b' }))).toBe(false)
  })

  it('are the same turn if they have the same index', () => {
    expect(isSameTurn(identity({ index: 3 }), identity({ index: 3, at: later, previous: 'other' }))).toBe(true)
  })

  it('are the same turn if they follow the same words of the person', () => {
    expect(isSameTurn(identity({ messageId: 'a' }), identity({ at: later }))).toBe(true)
  })

  it('are the same turn if they are seconds apart, whatever their source', () => {
    const heard = identity({ previous: null, at: '2026-05-03T10:00:04.000Z' })

    expect(isSameTurn(identity({ messageId: 'a' }), heard)).toBe(true)
  })

  it('are different turns if the second comes a minute later, after other words', () => {
    expect(isSameTurn(identity({}), identity({ previous: 'other', at: later }))).toBe(false)
  })
})
